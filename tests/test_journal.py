"""A lesson is on disk before it is acknowledged, and a crash costs no lesson but the one being written."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spamnb.journal import Journal, Lesson, append_lessons, read_journal

NOW, BEFORE = "0123456789abcdef", "fedcba9876543210"
FIRST = Lesson("aa" * 16, True, 1_700_000_000, 2**63, (1.0, -1.0, 0.5), {"pills": 3, "subject:you\nme": 1})
SECOND = Lesson("bb" * 16, False, 1_700_000_001, 0, (2.0,), {"lunch": 1})
THIRD = Lesson("aa" * 16, None)

words = st.text(max_size=20)  # any characters at all, line ends and lone surrogates too
lessons = st.builds(
    Lesson,
    digest=st.binary(min_size=16, max_size=16).map(bytes.hex),
    label=st.sampled_from([True, False, None]),
    date=st.integers(0, 2**40),
    sender=st.integers(0, 2**64 - 1),
    measures=st.lists(st.floats(allow_nan=False), max_size=9).map(tuple),
    counts=st.none() | st.dictionaries(words, st.integers(1, 10**6), max_size=5),
)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(lessons, max_size=3), min_size=1, max_size=3))
def test_any_lessons_come_back_as_they_were_and_in_their_order(journal, batches):
    journal.unlink(missing_ok=True)
    for batch in batches:
        append_lessons(journal, NOW, batch)
    assert read_journal(journal, NOW) == Journal([lesson for batch in batches for lesson in batch])


def test_a_journal_that_is_not_there_holds_nothing(journal):
    assert read_journal(journal, NOW) == Journal([])


def test_a_journal_of_another_generation_is_ignored(journal):
    append_lessons(journal, BEFORE, [FIRST, SECOND])
    assert read_journal(journal, NOW) == Journal([])


def test_any_generation_will_do_when_none_is_asked_for(journal):
    append_lessons(journal, BEFORE, [FIRST, SECOND])
    assert read_journal(journal, None).lessons == [FIRST, SECOND]


def test_the_first_lesson_for_a_new_generation_begins_the_journal_anew(journal):
    append_lessons(journal, BEFORE, [FIRST, SECOND])
    append_lessons(journal, NOW, [THIRD])
    assert read_journal(journal, None) == Journal([THIRD])
    assert read_journal(journal, BEFORE) == Journal([])


@pytest.mark.parametrize("cut", [1, 2, 5, 40])
def test_a_torn_tail_costs_the_last_lesson_alone_and_is_counted(journal, cut):
    append_lessons(journal, NOW, [FIRST, SECOND])
    os.truncate(journal, journal.stat().st_size - cut)
    found = read_journal(journal, NOW)
    whole = [FIRST, SECOND] if cut == 1 else [FIRST]  # without its line end alone, a lesson is still whole
    assert found == Journal(whole, damaged=2 - len(whole))


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_lesson_after_a_torn_tail_is_readable(journal, cut):
    append_lessons(journal, NOW, [FIRST, SECOND])
    os.truncate(journal, journal.stat().st_size - cut)
    append_lessons(journal, NOW, [THIRD])
    assert read_journal(journal, NOW).lessons[-1] == THIRD
    assert read_journal(journal, NOW).lessons[0] == FIRST


def test_every_place_to_tear_a_journal_leaves_the_lessons_before_it(journal):
    append_lessons(journal, NOW, [FIRST])
    one = journal.stat().st_size
    append_lessons(journal, NOW, [SECOND])
    contents = journal.read_bytes()
    for size in range(one, len(contents) - 1):
        journal.write_bytes(contents[:size])
        assert read_journal(journal, NOW) == Journal([FIRST], damaged=int(size > one))


def test_an_altered_lesson_is_counted_and_its_neighbours_are_read(journal):
    append_lessons(journal, NOW, [FIRST, SECOND, THIRD])
    contents = journal.read_bytes()
    journal.write_bytes(contents.replace(b'"lunch":1', b'"lunch":9'))
    assert read_journal(journal, NOW) == Journal([FIRST, THIRD], damaged=1)


def test_a_journal_torn_within_its_first_line_is_begun_anew(journal):
    append_lessons(journal, NOW, [FIRST])
    os.truncate(journal, 10)
    append_lessons(journal, NOW, [SECOND])
    assert read_journal(journal, NOW) == Journal([SECOND])


def test_the_words_of_private_mail_are_for_their_owner_alone(journal):
    before = os.umask(0)
    try:
        append_lessons(journal, NOW, [FIRST])
    finally:
        os.umask(before)
    assert journal.stat().st_mode & 0o777 == 0o600


def test_a_journal_that_is_a_link_is_not_followed(journal, tmp_path):
    other = tmp_path / "precious"
    other.write_text("precious")
    journal.symlink_to(other)
    with pytest.raises(OSError, match="symbolic link"):
        append_lessons(journal, NOW, [FIRST])
    assert other.read_text() == "precious"
