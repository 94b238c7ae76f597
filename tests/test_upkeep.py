"""Expire, merge, export, import: rows go and come exactly, and word totals are those of bogofilter."""

import os
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from conftest import invented_mail

from spamnb.cardfile import to_bytes
from spamnb.corpus import with_block
from spamnb.errors import BadData
from spamnb.filtering import Judge
from spamnb.gathering import from_lessons
from spamnb.learning import learn, lesson_of
from spamnb.mailbox import Mail
from spamnb.models import KINDS, Choice
from spamnb.models.multinomial import word_totals
from spamnb.store import Store
from spamnb.tokens import token_id
from spamnb.training import begin, current, keep, refit
from spamnb.upkeep import bogofilter_lines, expire, export_lines, import_lines, merge

MAIL = [lesson_of(raw, label, 1000 + number) for number, (label, raw) in enumerate(invented_mail(14, 14, seed=6))]
RAW = [raw for _, raw in invented_mail(14, 14, seed=6)]
UNSEEN = [raw for _, raw in invented_mail(5, 5, seed=7)]
BLOCK = {"casino": (0, 9), "lunch": (7, 1), "subject:meeting": (4, 0)}


def store_of(path, lessons, choice=None, block=None) -> Store:
    """A model that has learned some lessons."""
    store, corpus = Store(path), from_lessons(list(lessons))
    with store.locked():
        keep(store, with_block(corpus, block, (20, 30)) if block else corpus, choice or Choice("multinomial"))
    return store


def rows(store: Store) -> dict[str, tuple[bool, int]]:
    """What was learned, as what and when."""
    corpus = current(store)[0].corpus
    facts = zip(corpus.labels.tolist(), corpus.dates.tolist(), strict=True)
    return dict(zip((name.decode() for name in corpus.digests.tolist()), facts, strict=True))


def rows_of(lessons) -> dict[str, tuple[bool, int]]:
    return {lesson.digest: (lesson.label, lesson.date) for lesson in lessons}


def scorecard_file(store: Store) -> bytes:
    """The compiled model but for the name of its generation."""
    card = store.scorecard()
    card.generation = ""
    return to_bytes(card)


def scores(store: Store) -> list[float]:
    return [Judge(store.scorecard()).judge(raw).score for raw in UNSEEN]


# Expire


@pytest.mark.parametrize(("before", "left"), [(0, 28), (1000, 28), (1001, 27), (1020, 8), (9999, 0)])
def test_messages_learned_before_a_time_go(tmp_path, before, left):
    store = store_of(tmp_path / "model", MAIL)
    assert expire(store, before=before) == 28 - left
    assert rows(store) == rows_of(MAIL[28 - left :])


@pytest.mark.parametrize("most", [0, 1, 10, 27, 28, 99])
def test_the_newest_are_kept(tmp_path, most):
    store = store_of(tmp_path / "model", MAIL)
    assert expire(store, most=most) == max(28 - most, 0)
    assert rows(store) == rows_of(MAIL[max(28 - most, 0) :])


def test_both_limits_hold(tmp_path):
    store = store_of(tmp_path / "model", MAIL)
    expire(store, before=1010, most=5)
    assert rows(store) == rows_of(MAIL[23:])
    expire(store, before=1025, most=5)
    assert rows(store) == rows_of(MAIL[25:])


@pytest.mark.parametrize("kind", KINDS)
def test_an_expired_message_leaves_no_trace(tmp_path, kind):
    store = store_of(tmp_path / "model", MAIL, Choice(kind))
    expire(store, before=1007)
    assert scorecard_file(store) == scorecard_file(store_of(tmp_path / "other", MAIL[7:], Choice(kind)))


def test_lessons_in_the_journal_expire_by_their_own_date(tmp_path):
    store = store_of(tmp_path / "model", MAIL[:20])
    learn(store, [Mail("", RAW[20])], True, fold=False)  # learned now
    learn(store, [Mail("", RAW[0])], True, fold=False)  # moved now
    assert expire(store, before=2000) == 19
    assert set(rows(store)) == {MAIL[0].digest, MAIL[20].digest}


def test_nothing_to_expire_writes_nothing(tmp_path):
    store = store_of(tmp_path / "model", MAIL)
    generation = store.generation()
    assert expire(store, before=5, most=500) == 0
    assert store.generation() == generation


def test_imported_totals_do_not_expire(tmp_path):
    store = store_of(tmp_path / "model", MAIL, block=BLOCK)
    expire(store, most=0)
    assert store.scorecard().messages == (20, 30)
    assert totals(store, BLOCK) == BLOCK


# Merge


def test_a_merge_brings_what_is_missing(tmp_path):
    ours, theirs = store_of(tmp_path / "ours", MAIL[:18]), store_of(tmp_path / "theirs", MAIL[10:])
    assert merge(ours, [theirs]) == 10
    assert rows(ours) == rows_of(MAIL)
    assert scorecard_file(ours) == scorecard_file(store_of(tmp_path / "all", MAIL))


def test_a_second_merge_changes_nothing(tmp_path):
    ours, theirs = store_of(tmp_path / "ours", MAIL[:18]), store_of(tmp_path / "theirs", MAIL[10:])
    merge(ours, [theirs])
    generation = ours.generation()
    assert merge(ours, [theirs]) == 0
    assert merge(ours, [ours]) == 0
    assert ours.generation() == generation


def test_lessons_in_both_journals_count(tmp_path):
    ours, theirs = store_of(tmp_path / "ours", MAIL[:10]), store_of(tmp_path / "theirs", MAIL[14:24])
    learn(ours, [Mail("", RAW[10])], False, fold=False)
    learn(theirs, [Mail("", RAW[27])], True, fold=False)
    assert merge(ours, [theirs]) == 11
    assert set(rows(ours)) == {lesson.digest for lesson in [*MAIL[:11], *MAIL[14:24], MAIL[27]]}


def at(number, label, date):
    return replace(MAIL[number], label=label, date=date)


@pytest.mark.parametrize(
    ("ours", "theirs", "holds"),
    [((False, 5), (True, 6), (True, 6)), ((False, 6), (True, 5), (False, 6)), ((False, 5), (True, 5), (False, 5)),
     ((False, 5), (False, 6), (False, 6))],
)  # fmt: skip
def test_of_two_lessons_about_a_message_the_later_holds(tmp_path, ours, theirs, holds):
    rest = MAIL[1:]
    one = store_of(tmp_path / "one", [at(0, *ours), *rest])
    assert merge(one, [store_of(tmp_path / "two", [at(0, *theirs), *rest])]) == (ours[0] != holds[0])
    assert rows(one)[MAIL[0].digest] == holds


def test_the_latest_of_three_holds_whatever_the_order(tmp_path):
    made = [store_of(tmp_path / name, [at(0, label, date), *MAIL[1:]])
            for name, label, date in (("a", False, 1), ("b", False, 5), ("c", True, 3))]  # fmt: skip
    for name, others in (("x", (0, 1, 2)), ("y", (2, 1, 0)), ("z", (0, 2, 1))):
        store = store_of(tmp_path / name, MAIL[1:])
        merge(store, [made[number] for number in others])
        assert rows(store)[MAIL[0].digest] == (False, 5)


def test_a_merge_brings_imported_totals_and_keeps_its_own(tmp_path):
    ours, theirs = store_of(tmp_path / "ours", MAIL[:5]), store_of(tmp_path / "theirs", MAIL[5:], block=BLOCK)
    merge(ours, [theirs])
    assert totals(ours, BLOCK, minus=MAIL) == BLOCK
    other = store_of(tmp_path / "other", [], block={"casino": (1, 1)})
    merge(ours, [other])
    assert totals(ours, BLOCK, minus=MAIL) == BLOCK


# Export and import


def exported(store: Store) -> list[str]:
    return list(export_lines(current(store)[0]))


@pytest.mark.parametrize("block", [None, BLOCK])
@pytest.mark.parametrize(
    "choice",
    [
        Choice(),
        Choice("multinomial", 0.3, "raw"),
        Choice("corrected", 0.2, None, np.array([MAIL[0].sender], np.uint64)),
    ],
)
def test_an_export_imported_is_the_same_model(tmp_path, choice, block):
    store = store_of(tmp_path / "model", MAIL, choice, block)
    learn(store, [Mail("", RAW[0])], True, fold=False)
    learn(store, [Mail("", RAW[1])], None, fold=False)
    lines = exported(store)
    other = Store(tmp_path / "other")
    with other.locked():
        begin(other, Choice())
    imported = import_lines(other, lines, "export")
    assert (imported.messages, imported.words) == (27, len(BLOCK) if block else 0)
    with store.locked():
        refit(store)
    assert scorecard_file(other) == scorecard_file(store)
    assert exported(other) == lines


def test_an_export_is_one_line_a_message(tmp_path):
    lines = exported(store_of(tmp_path / "model", MAIL, block=BLOCK))
    assert len(lines) == 1 + len(MAIL) + 1
    assert all("\n" not in line for line in lines)


def test_an_import_again_changes_nothing(tmp_path):
    store = store_of(tmp_path / "model", MAIL, block=BLOCK)
    before = scorecard_file(store)
    assert import_lines(store, exported(store), "export").messages == 0
    assert scorecard_file(store) == before


def test_an_import_into_a_model_with_mail_leaves_its_kind_and_takes_what_is_new(tmp_path):
    store = store_of(tmp_path / "model", MAIL[:20], Choice("corrected"))
    import_lines(store, exported(store_of(tmp_path / "other", MAIL[10:], Choice("multinomial"))), "export")
    assert store.scorecard().kind == "corrected"
    assert rows(store) == rows_of(MAIL)


ABOUT = '{"format": "spamnb export 1", "kind": "corrected", "alpha": null, "counts": null, "contacts": []}\n'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "hello\n",
        "{}\n",
        "{\n",
        '{"format": "spamnb export 9"}\n',
        "word 1 2 20200101\n",
        "one two three four\n",
        ".MSG_COUNT 1 x 20200101\n",
        ".MSG_COUNT 1 1 20200101\nword -1 2 20200101\n",
        ".MSG_COUNT 1 1 20200101\nword 1 4294967296 20200101\n",
        '{"format": "spamnb export 1", "kind": "other"}\n',
        ABOUT + '{"digest": 5}\n',
        ABOUT + "[1]\n",
        ABOUT + "{}\n",
        ABOUT + '{"block": [1, 1], "totals": {"a": [1, -1]}}\n',
        ABOUT
        + '{"digest": "aa", "learned": "2020-01-01", "class": "ham", "sender": -1, "measures": [1], "words": {}}\n',
    ],
)
def test_what_is_no_export_is_refused_and_changes_nothing(tmp_path, text):
    store = Store(tmp_path / "model")
    with store.locked():
        begin(store, Choice())
    generation = store.generation()
    with pytest.raises(BadData, match="some file: neither an export of spamnb nor a dump"):
        import_lines(store, text.splitlines(keepends=True), "some file")
    assert store.generation() == generation


# bogofilter


def totals(store: Store, words, minus=()) -> dict[str, tuple[int, int]]:
    """In how many ham and spam each word stood, as the model counts it, without some messages of its own."""
    card = store.scorecard()
    found = {word: card.counts(card.row(token_id(word))) for word in words}
    for word in words:
        for lesson in minus:
            ham, spam = found[word]
            count = (lesson.counts or {}).get(word, 0)
            found[word] = (ham, spam - count) if lesson.label else (ham - count, spam)
    return found


DUMP = """\
.MSG_COUNT 30 20 20240101
.ENCODING 2 0 20240101
casino 9 0 20240101
lunch 1 7 20240102
subj:meeting 0 4 20240103
head:x-mailer 2 3 20240103
d\u00e9j\u00e0\u00a0vu 5 0 20240103
nothing 0 0 20240103
"""


def test_totals_of_a_dump_are_those_of_the_model(tmp_path):
    store = store_of(tmp_path / "model", [])
    imported = import_lines(store, DUMP.splitlines(keepends=True), "dump")
    assert (imported.messages, imported.words) == (0, 5)
    expected = {**BLOCK, "head:x-mailer": (3, 2), "d\u00e9j\u00e0\u00a0vu": (0, 5)}
    assert totals(store, expected) == expected
    assert store.scorecard().messages == (20, 30)
    assert store.scorecard().words == 5


def test_totals_and_lessons_add_up_and_a_second_dump_replaces_the_first(tmp_path):
    store = store_of(tmp_path / "model", MAIL, Choice("corrected"))
    alone = totals(store, BLOCK)
    for _ in range(2):
        import_lines(store, DUMP.splitlines(keepends=True), "dump")
        assert store.scorecard().messages == (34, 44)
        assert totals(store, BLOCK) == {
            word: (ham + BLOCK[word][0], spam + BLOCK[word][1]) for word, (ham, spam) in alone.items()
        }


def test_mail_learned_and_forgotten_leaves_imported_totals_alone(tmp_path):
    store = store_of(tmp_path / "model", [], block=BLOCK)
    before = scores(store)
    learn(store, [Mail("", raw) for raw in RAW[:3]], False)
    learn(store, [Mail("", raw) for raw in RAW[:3]], None)
    assert totals(store, BLOCK) == BLOCK
    assert scores(store) == pytest.approx(before)


def test_a_dump_of_ours_holds_the_totals_of_the_model(tmp_path):
    store = store_of(tmp_path / "model", MAIL, block=BLOCK)
    saved = current(store)[0]
    lines = list(bogofilter_lines(saved))
    assert lines[0] == ".MSG_COUNT 44 34 19700101"
    again = store_of(tmp_path / "again", [], Choice("multinomial", counts="binary"))
    import_lines(again, [line + "\n" for line in lines], "dump")
    ham, spam = (word_totals(saved.corpus, label, binary=True).tolist() for label in (False, True))
    assert totals(again, saved.corpus.tokens) == dict(
        zip(saved.corpus.tokens, zip(ham, spam, strict=True), strict=True)
    )


def bogofilter(*arguments, home, given=b"") -> bytes:
    done = subprocess.run(arguments, input=given, capture_output=True, timeout=60, check=True,
                          env={**os.environ, "BOGOFILTER_DIR": str(home), "LC_ALL": "C.UTF-8"})  # fmt: skip
    return done.stdout


def pairs(dump: str) -> dict[str, tuple[int, int]]:
    """word ─▶ (spam, ham) of the words that a dump has."""
    found = {}
    for line in dump.splitlines():
        word, spam, ham, _ = line.rsplit(" ", 3)
        if not word.startswith(".") or word == ".MSG_COUNT":
            found[word] = int(spam), int(ham)
    return found


@pytest.mark.needs("bogofilter", "bogoutil")
def test_a_real_word_list_moves_in_and_out_again(tmp_path):
    home = tmp_path / "bogofilter"
    home.mkdir()
    for number, lesson in enumerate(MAIL):
        bogofilter("bogofilter", "-s" if lesson.label else "-n", home=home, given=RAW[number])
    dump = bogofilter("bogoutil", "-d", home / "wordlist.db", home=home).decode("utf-8", "surrogateescape")
    theirs = pairs(dump)
    assert theirs[".MSG_COUNT"] == (14, 14)
    assert len(theirs) > 100
    store = store_of(tmp_path / "model", [])
    import_lines(store, dump.splitlines(keepends=True), "dump")
    out = "\n".join(bogofilter_lines(current(store)[0])) + "\n"
    assert pairs(out) == theirs
    bogofilter("bogoutil", "-l", tmp_path / "again.db", home=home, given=out.encode("utf-8", "surrogateescape"))
    again = bogofilter("bogoutil", "-d", tmp_path / "again.db", home=home).decode("utf-8", "surrogateescape")
    assert pairs(again) == theirs


@pytest.mark.needs("bogoutil")
def test_bogofilter_takes_a_model_of_ours(tmp_path):
    out = "\n".join(bogofilter_lines(current(store_of(tmp_path / "model", MAIL))[0])) + "\n"
    given = out.encode("utf-8", "surrogateescape")
    bogofilter("bogoutil", "-l", tmp_path / "words.db", home=tmp_path, given=given)
    again = bogofilter("bogoutil", "-d", tmp_path / "words.db", home=tmp_path).decode("utf-8", "surrogateescape")
    assert pairs(again) == pairs(out)


# A reader beside a writer


def test_a_reader_never_sees_a_model_without_its_lessons(tmp_path):
    """The model and the journal are two files; a fold between the two readings must not hide what was learned."""
    store = store_of(tmp_path / "model", MAIL[:20])
    learn(store, [Mail("", RAW[20])], True, fold=False)
    load, folded = store.load, []

    def load_and_be_overtaken():
        saved = load()
        if not folded:
            folded.append(True)
            with Store(store.path).locked():
                refit(Store(store.path))
        return saved

    store.load = load_and_be_overtaken
    assert MAIL[20].digest in rows(store)
