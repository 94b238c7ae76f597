"""Learn, correct and forget: exact, whatever the order, and on disk before it is acknowledged."""

import os
import shutil
from functools import cache
from math import log
from pathlib import Path

import pytest
from conftest import invented_mail
from hypothesis import given, settings
from hypothesis import strategies as st

from spamnb import learning
from spamnb.errors import BadConfig, CannotWrite, DamagedModel, NoModel
from spamnb.filtering import Judge
from spamnb.gathering import from_lessons
from spamnb.journal import append_lessons, read_journal
from spamnb.learning import ensure_model, fold_is_due, label_of, learn, learn_if_sure, lesson_of
from spamnb.mailbox import Mail
from spamnb.models import Choice, fit
from spamnb.scorecard import FORGOTTEN, HAM, SPAM, UNSURE, Scorecard, Verdict
from spamnb.settings import Settings
from spamnb.store import Store
from spamnb.training import begin, keep, refit

KINDS = ("corrected", "multinomial")  # those that hear lessons at once; test_contract.py has them all

POOL = invented_mail(16, 16, seed=3)  # the first of each class are in the model from the start
BASE = [*range(11), *range(16, 27)]
UNSEEN = [raw for _, raw in invented_mail(6, 6, seed=4)]
LABELS = {"ham": False, "spam": True, "forget": None}


def mail(*numbers: int) -> list[Mail]:
    return [Mail(str(number), POOL[number][1]) for number in numbers]


def model_of(path: Path, labels: dict[int, bool], kind: str) -> Store:
    """A model trained on messages of the pool."""
    store = Store(path)
    with store.locked():
        keep(store, corpus_of(labels), Choice(kind))
    return store


def corpus_of(labels: dict[int, bool]):
    return from_lessons([lesson_of(POOL[number][1], label, 0) for number, label in labels.items()])


BASE_LABELS = {number: POOL[number][0] for number in BASE}


@pytest.fixture(scope="module")
def base_models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    return {kind: model_of(folder / kind, BASE_LABELS, kind).path for kind in KINDS}


@pytest.fixture
def store(base_models, tmp_path) -> Store:
    """The base model of the textbook's kind, to be taught."""
    shutil.copytree(base_models["multinomial"], tmp_path / "model")
    return Store(tmp_path / "model")


@cache
def trained_from_the_start(kind: str, labels: frozenset[tuple[int, bool]]) -> dict[str, object]:
    return facts(fit(corpus_of(dict(labels)), Choice(kind)))


def facts(card: Scorecard) -> dict[str, object]:
    """All that a scorecard says: what it counts, where it cuts, and how it judges mail that it has not seen."""
    tables = card.tables
    words = {number: card.counts(card.row(number)) for number in {*map(int, tables["ids"]), *card.later_rows}}
    addresses = {*map(int, tables["senders"]), *card.later_senders}
    senders = {number: card.sender_counts(number) for number in addresses}
    classes = {**dict(zip(map(int, tables["digests"]), tables["classes"], strict=True)), **card.later_classes}
    return {
        "messages": tuple(card.messages),
        "totals": tuple(card.totals),
        "words": card.words,
        "counts": {number: pair for number, pair in words.items() if any(pair)},
        "senders": {number: pair for number, pair in senders.items() if any(pair)},
        "classes": {number: int(label) for number, label in classes.items() if label != FORGOTTEN},
        "cutoffs": (card.c, card.ham_cutoff),
        "scores": [Judge(card).judge(raw).score for raw in UNSEEN],
    }


def assert_alike(found: dict[str, object], expected: dict[str, object]) -> None:
    """Equal in every count; scores, which may be added up in another order, to the last digits."""
    assert found.pop("scores") == pytest.approx(expected["scores"], rel=1e-12, abs=1e-12)
    assert found == {name: fact for name, fact in expected.items() if name != "scores"}


def snapshot(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.path.iterdir()}


# Exact


@pytest.mark.parametrize("kind", KINDS)
def test_any_lessons_leave_the_model_that_training_would_have_made(kind, base_models, tmp_path):
    @settings(max_examples=40 if "SPAMNB_SOAK" not in os.environ else 300, deadline=None)
    @given(st.lists(st.tuples(st.sampled_from(list(LABELS)), st.integers(0, 31), st.booleans()), max_size=9))
    def lessons_in_any_order(lessons):
        shutil.rmtree(tmp_path / "model", ignore_errors=True)
        shutil.copytree(base_models[kind], tmp_path / "model")
        store = Store(tmp_path / "model")
        labels = dict(BASE_LABELS)
        for lesson, number, fold in lessons:
            learn(store, mail(number), LABELS[lesson], fold=fold)
            labels.pop(number, None)
            if LABELS[lesson] is not None:
                labels[number] = LABELS[lesson]
        expected = trained_from_the_start(kind, frozenset(labels.items()))
        if kind == "multinomial":  # at once
            assert_alike(facts(store.scorecard()), expected)
        with store.locked():
            refit(store)
        assert facts(store.scorecard()) == expected

    lessons_in_any_order()


def test_a_lesson_already_known_changes_no_file(store):
    learn(store, mail(12), False, fold=False)
    before = snapshot(store)
    learned = learn(store, mail(12, 0), False)
    assert (learned.new, learned.moved, learned.unchanged) == (0, 0, 2)
    assert snapshot(store) == before


def test_learning_the_other_way_moves_a_message(store):
    learned = learn(store, mail(0), True)
    assert (learned.new, learned.moved, learned.unchanged) == (0, 1, 0)
    assert store.scorecard().messages == (10, 12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_lessons_leaves_no_trace(kind, base_models, tmp_path):
    seen = []
    for name, order in (("one", (12, 13, 28, 29)), ("other", (29, 13, 28, 12))):
        store = Store(shutil.copytree(base_models[kind], tmp_path / name))
        for number in order:
            learn(store, mail(number), POOL[number][0], fold=False)
        if kind == "multinomial":
            assert_alike(facts(store.scorecard()), trained_from_the_start(kind, labels_with(12, 13, 28, 29)))
        with store.locked():
            refit(store)
        seen.append(facts(store.scorecard()))
    assert seen[0] == seen[1] == trained_from_the_start(kind, labels_with(12, 13, 28, 29))


@pytest.mark.parametrize("kind", KINDS)
def test_mail_learned_one_by_one_makes_the_model_that_reading_mailboxes_makes(kind, tmp_path, gathered_from):
    store = model_of(tmp_path / "model", {}, kind)
    numbers = (*range(6), *range(16, 22))
    for number in numbers:
        learn(store, mail(number), POOL[number][0], fold=False)
    with store.locked():
        refit(store)
    trained = fit(gathered_from([POOL[number] for number in numbers]).corpus, Choice(kind))
    assert facts(store.scorecard()) == facts(trained)


def labels_with(*more: int) -> frozenset[tuple[int, bool]]:
    return frozenset({**BASE_LABELS, **{number: POOL[number][0] for number in more}}.items())


def test_a_message_named_twice_in_one_batch_counts_once(store):
    learned = learn(store, mail(12, 12, 12), False)
    assert (learned.new, learned.unchanged) == (1, 2)
    assert store.scorecard().messages == (12, 11)


def test_forgetting_what_was_never_learned_changes_nothing(store):
    before = snapshot(store)
    learned = learn(store, mail(12), None)
    assert (learned.forgotten, learned.unknown) == (0, 1)
    assert snapshot(store) == before


def test_learning_and_forgetting_restores_the_scorecard(store):
    before = facts(store.scorecard())
    learn(store, mail(12, 29), True, fold=False)
    learn(store, mail(29, 12), None, fold=False)
    assert_alike(facts(store.scorecard()), before)


def test_forgetting_takes_away_the_row(store):
    learn(store, mail(0), None)
    with store.locked():
        refit(store)
    assert lesson_of(POOL[0][1], None, 0).digest.encode() not in store.load().corpus.digests.tolist()


# Whole batches


def test_more_mail_than_a_batch_is_learned_to_the_last(store, monkeypatch):
    monkeypatch.setattr(learning, "BATCH", 3)
    learned = learn(store, mail(11, 12, 13, 14, 15, 27, 28, 29), True, fold=False)
    assert learned.new == 8
    assert store.scorecard().messages == (11, 19)
    assert len(read_journal(store.journal, store.load().generation).lessons) == 8


def test_a_failure_in_a_later_batch_leaves_the_earlier_ones_learned(store, monkeypatch):
    monkeypatch.setattr(learning, "BATCH", 2)

    def broken_mailbox():
        yield from mail(11, 12, 13)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        learn(store, broken_mailbox(), False, fold=False)
    assert store.scorecard().messages == (13, 11)


# The journal


@pytest.mark.parametrize("cut", [2, 60, 400])
def test_a_torn_journal_loses_that_record_only_and_says_so_once(store, cut):
    learn(store, mail(12, 13), False, fold=False)
    store.later.unlink()  # the machine went down before this was written, too
    os.truncate(store.journal, store.journal.stat().st_size - cut)
    learned = learn(store, mail(14), False, fold=False)
    assert learned.damaged == 1
    assert label_of(store.scorecard(), lesson_of(POOL[12][1], None, 0)) == 0
    assert label_of(store.scorecard(), lesson_of(POOL[13][1], None, 0)) is None
    assert learn(store, mail(13), False, fold=False).damaged == 0
    assert_alike(facts(store.scorecard()), trained_from_the_start("multinomial", labels_with(12, 13, 14)))


def test_a_record_altered_in_the_middle_costs_itself_alone(store):
    learn(store, mail(12, 13, 14), False, fold=False)
    lines = store.journal.read_bytes().split(b"\n")
    lines[2] = lines[2].replace(b'"label":false', b'"label":true ')
    store.journal.write_bytes(b"\n".join(lines))
    assert learn(store, mail(15), False, fold=False).damaged == 1
    assert_alike(facts(store.scorecard()), trained_from_the_start("multinomial", labels_with(12, 14, 15)))


def test_lessons_that_did_not_reach_the_scorecard_are_heard_after_the_next_writer(store):
    generation = store.load().generation
    append_lessons(store.journal, generation, [lesson_of(POOL[12][1], False, 0), lesson_of(POOL[28][1], True, 0)])
    assert store.scorecard().messages == (11, 11)
    assert learn(store, mail(12), False, fold=False).unchanged == 1  # a writer that has nothing of its own to say
    assert_alike(facts(store.scorecard()), trained_from_the_start("multinomial", labels_with(12, 28)))


def test_a_journal_that_cannot_be_written_teaches_nothing(store):
    store.journal.mkdir()
    card, lessons = store.scorecard(), [lesson_of(POOL[12][1], False, 0)]
    with pytest.raises(CannotWrite, match=f"{store.journal}: .*nothing was learned"):
        store.teach(card, lessons)
    assert store.scorecard().messages == (11, 11)


# The scorecard is derived


def spoiled(store: Store, how: str) -> None:
    if how == "missing":
        store.card.unlink()
    elif how == "truncated":
        os.truncate(store.card, store.card.stat().st_size // 2)
    elif how == "altered":
        contents = bytearray(store.card.read_bytes())
        contents[-9] ^= 255
        store.card.write_bytes(contents)
    elif how == "later altered":
        store.later.write_bytes(b"nothing of ours")
    else:
        older = store.card.read_bytes()
        with store.locked():
            refit(store)
        learn(store, mail(14), False, fold=False)
        store.card.write_bytes(older)


@pytest.mark.parametrize("how", ["missing", "truncated", "altered", "later altered", "behind"])
def test_a_writer_makes_a_scorecard_anew_that_is(how, store):
    learn(store, mail(12, 13), False, fold=False)
    spoiled(store, how)
    learn(store, mail(14, 28), False, fold=False)
    learn(store, mail(28), True, fold=False)
    assert store.scorecard().generation == store.load().generation
    assert_alike(facts(store.scorecard()), trained_from_the_start("multinomial", labels_with(12, 13, 14, 28)))


@pytest.mark.parametrize("how", ["missing", "truncated", "altered", "later altered"])
def test_a_reader_rebuilds_nothing(how, store):
    learn(store, mail(12), False, fold=False)
    spoiled(store, how)
    before = snapshot(store)
    with pytest.raises(BadConfig if how == "missing" else DamagedModel, match="'spamnb refit' makes it anew"):
        store.scorecard()
    assert snapshot(store) == before


def test_later_rows_of_another_generation_are_ignored(store):
    learn(store, mail(12), True, fold=False)
    rows = store.later.read_bytes()
    with store.locked():
        refit(store)
    learn(store, mail(12), None)
    with store.locked():
        refit(store)
    store.later.write_bytes(rows)
    assert facts(store.scorecard()) == trained_from_the_start("multinomial", labels_with())


def test_a_damaged_model_is_never_replaced_by_an_empty_one(store):
    os.truncate(store.model, 1000)
    before = snapshot(store)
    ensure_model(store, Settings(model=str(store.path)))
    with pytest.raises(DamagedModel):
        learn(store, mail(12), False)
    assert snapshot(store) == before


# No model yet


def test_there_is_no_learning_into_no_model(tmp_path):
    with pytest.raises(NoModel, match="no model here"):
        learn(Store(tmp_path / "model"), mail(0), False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_begun_from_nothing_grows_into_the_one_that_training_makes(kind, tmp_path):
    store = Store(tmp_path / "model")
    ensure_model(store, Settings(model=str(store.path), kind=kind))
    for number in (0, 1, 16, 17):
        learn(store, mail(number), POOL[number][0])
        assert not store.journal.exists()  # a small model is refitted at every lesson
    expected = trained_from_the_start(kind, frozenset((number, POOL[number][0]) for number in (0, 1, 16, 17)))
    assert facts(store.scorecard()) == expected


def test_an_existing_model_is_not_begun_again(store):
    before = snapshot(store)
    ensure_model(store, Settings(model=str(store.path)))
    assert snapshot(store) == before


# When to fold


@pytest.mark.parametrize(
    ("lessons", "messages", "due"),
    [(0, (1, 1), False), (1, (1, 1), True), (1, (10, 10), True), (1, (11, 11), False), (50, (500, 501), False),
     (51, (500, 501), True)],
)  # fmt: skip
def test_a_fold_is_due_when_the_lessons_are_a_twentieth_of_the_mail(store, lessons, messages, due):
    card = store.scorecard()
    card.lessons, card.messages = lessons, messages
    assert fold_is_due(card) is due


def test_a_fold_empties_the_journal_and_keeps_the_lessons(store):
    learn(store, mail(12), False)
    assert store.journal.exists()
    learn(store, mail(13), False)
    assert not store.journal.exists()
    assert not store.later.exists()
    assert facts(store.scorecard()) == trained_from_the_start("multinomial", labels_with(12, 13))


def test_without_a_fold_the_journal_grows(store):
    learn(store, mail(12, 13, 14, 15, 27, 28), False, fold=False)
    assert len(store.lessons(store.load().generation).lessons) == 6


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_message_of_a_class_gives_an_opinion_and_the_last_one_takes_it_away(kind, tmp_path):
    ham = {number: False for number in range(32) if number != 20}
    store = model_of(tmp_path / "model", ham, kind)
    learn(store, mail(20), True)
    assert facts(store.scorecard()) == trained_from_the_start(kind, frozenset({**ham, 20: True}.items()))
    learn(store, mail(20), None)
    assert facts(store.scorecard()) == trained_from_the_start(kind, frozenset(ham.items()))


# What a filter teaches itself


@pytest.mark.parametrize(
    ("label", "beyond", "ham", "spam", "sure"),
    [
        (SPAM, 3.1, 11, 11, True), (SPAM, 2.9, 11, 11, False), (SPAM, 50.0, 11, 12, False), (SPAM, 3.1, 12, 11, True),
        (HAM, 3.1, 11, 11, True), (HAM, 2.9, 11, 11, False), (HAM, 50.0, 12, 11, False), (HAM, 3.1, 11, 12, True),
        (UNSURE, 50.0, 11, 11, False),
    ],
)  # fmt: skip
def test_only_what_is_far_from_the_cutoffs_and_of_the_rarer_class_is_learned(store, label, beyond, ham, spam, sure):
    learn(store, mail(*range(11, 11 + ham - 11)), False, fold=False)
    learn(store, mail(*range(27, 27 + spam - 11)), True, fold=False)
    card = store.scorecard()
    score = log(card.c) + beyond if label == SPAM else card.ham_cutoff - beyond
    assert learn_if_sure(store, POOL[15][1], Verdict(score, label)) is sure
    learned = {SPAM: True, HAM: False}.get(label) if sure else None
    assert label_of(store.scorecard(), lesson_of(POOL[15][1], None, 0)) == learned


def test_an_empty_model_teaches_itself_nothing(tmp_path):
    store = Store(tmp_path / "model")
    with store.locked():
        begin(store, Choice())
    verdict = Judge(store.scorecard()).judge(POOL[0][1])
    assert verdict.label == UNSURE
    assert not learn_if_sure(store, POOL[0][1], verdict)
