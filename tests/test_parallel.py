"""Work is cut into portions and comes back in order, from one process or several."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.counting import count_chunk
from spamnb.mailbox import Unit
from spamnb.parallel import PORTION_BYTES, PORTION_UNITS, in_parallel, portions


def unit(number):
    raw = b"Subject: %d\n\nword%d\n" % (number, number)
    found = Unit(f"mail/{number}", len(raw))
    found.raw = raw
    return found


@given(st.lists(st.integers(0, 2 * PORTION_BYTES), max_size=30))
def test_portions_joined_are_the_units_in_order(sizes):
    units = [Unit(str(number), size) for number, size in enumerate(sizes)]
    assert [unit for portion in portions(units) for unit in portion] == units


@given(st.lists(st.integers(0, 2 * PORTION_BYTES), max_size=30))
def test_a_portion_ends_with_the_unit_that_makes_it_large_enough(sizes):
    found = list(portions(Unit("", size) for size in sizes))
    for portion in found:
        assert sum(unit.size for unit in portion[:-1]) < PORTION_BYTES
    for portion in found[:-1]:
        assert sum(unit.size for unit in portion) >= PORTION_BYTES


def test_many_small_units_are_shared_out_too():
    sizes = [len(portion) for portion in portions(Unit("", 0) for _ in range(2 * PORTION_UNITS + 1))]
    assert sizes == [PORTION_UNITS, PORTION_UNITS, 1]


def test_no_units_are_no_work():
    assert list(portions([])) == []
    assert list(in_parallel(len, [], jobs=1)) == []


@pytest.mark.parametrize("jobs", [1, 2, None])
def test_results_come_in_the_order_of_the_units_whatever_the_jobs(jobs):
    units = [unit(number) for number in range(2 * PORTION_UNITS + 50)]
    chunks = list(in_parallel(count_chunk, units, jobs))
    assert [name for chunk in chunks for name in chunk.names] == [unit.path for unit in units]
    assert len(chunks) >= len(units) / PORTION_UNITS
    assert all(f"word{chunk.names[0].partition('/')[2]}" in chunk.tokens for chunk in chunks)


def test_an_error_in_a_worker_reaches_the_caller():
    with pytest.raises(TypeError):
        list(in_parallel(int, [unit(1)], jobs=2))  # int([...]) is no number
