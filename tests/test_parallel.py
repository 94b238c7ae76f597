"""Work is cut into portions and comes back in order, from one process or several."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.counting import count_chunk
from spamnb.errors import TryLater
from spamnb.mailbox import Unit
from spamnb.parallel import (
    PORTION_BYTES,
    PORTION_UNITS,
    beside,
    from_forks,
    in_groups,
    in_parallel,
    portions,
)


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


def names_of(share):
    return os.getpid(), [unit.path for unit in share]


def killed(share):
    os.kill(os.getpid(), signal.SIGKILL)


def answers_from_other_processes(run):
    shares = [[unit(number)] for number in range(20)]
    found = list(run(names_of, shares, 2))
    assert [names for _, names in found] == [[share[0].path] for share in shares]
    assert os.getpid() not in {process for process, _ in found}


def test_forked_workers_answer_in_order():
    answers_from_other_processes(from_forks)


def test_workers_that_are_not_forked_answer_in_order():
    script = "import test_parallel, spamnb.parallel as p; test_parallel.answers_from_other_processes(p.from_loky)"
    subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, check=True)  # its threads end with it


def test_no_portion_is_of_two_groups():
    groups = {True: [unit(number) for number in range(5)], False: [unit(number) for number in range(5, 9)]}
    found = [(group, name) for group, (_, names) in in_groups(names_of, groups, 2) for name in names]
    assert found == [(group, one.path) for group, units in groups.items() for one in units]


def test_a_worker_that_is_killed_is_told_of_and_not_waited_for():
    with pytest.raises(TryLater, match="worker was killed"):
        list(from_forks(killed, [[unit(1)], [unit(2)]], 2))


def test_workers_are_gone_when_nobody_wants_more_of_them():
    results = from_forks(names_of, [[unit(number)] for number in range(20)], 2)
    process, _ = next(results)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_process_with_threads_is_not_forked():
    code = """
import threading
from spamnb.parallel import may_fork
assert may_fork()
done = threading.Event()
threading.Thread(target=done.wait).start()
alone = may_fork()
done.set()
assert not alone
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).stderr == b""


@pytest.mark.parametrize("worth", [True, False])
def test_work_beside_gives_its_result(worth):
    found = beside(lambda: sum(range(1000)), worth)
    assert found() == 499500


@pytest.mark.parametrize("worth", [True, False])
def test_work_beside_that_fails_fails_where_its_result_is_wanted(worth):
    found = beside(lambda: [][0], worth)
    with pytest.raises(IndexError):
        found()
