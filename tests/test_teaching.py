"""One message at a time: counts exact at once, naive Bayes weights with them, logistic weights a step."""

from math import isnan, log

import numpy as np
import pytest
from conftest import invented_mail

from spamnb.cardfile import from_bytes, later_to_bytes, to_bytes
from spamnb.filtering import Judge
from spamnb.gathering import from_lessons
from spamnb.learning import lesson_of
from spamnb.message import short_digest
from spamnb.models import Choice, fit
from spamnb.scorecard import Column
from spamnb.teaching import naive_weight, speaks_for, step, teach, touched
from spamnb.tokens import ENVELOPE_BIT, known_token, token_id

KINDS = ("corrected", "multinomial")  # those that hear lessons at once; test_contract.py has them all

MAIL = [lesson_of(raw, label, 0) for label, raw in invented_mail(15, 15, seed=5)]
KNOWN, NEW = MAIL[:12] + MAIL[15:27], MAIL[12:15] + MAIL[27:]
FIRST = invented_mail(1, 0, seed=5)[0][1]


def card_of(lessons, kind, **options):
    """A model trained on lessons, as it comes from its file."""
    return from_bytes(to_bytes(fit(from_lessons(list(lessons)), Choice(kind, **options))))


def taught(card, lesson, label):
    teach(card, short_digest(lesson.digest), label, lesson.counts, lesson.sender)
    return card


def counts_of(card):
    numbers = {*map(int, card.tables["ids"]), *card.later_rows}
    return {number: pair for number in numbers if any(pair := card.counts(card.row(number)))}


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_exact_at_once(kind):
    card = card_of(KNOWN, kind)
    for lesson in NEW:
        taught(card, lesson, int(lesson.label))
    whole = card_of(MAIL, kind)
    assert counts_of(card) == counts_of(whole)
    assert (card.messages, card.totals, card.words) == (whole.messages, whole.totals, whole.words)


@pytest.mark.parametrize("counts", ["raw", "binary"])
def test_a_textbook_model_is_the_trained_one_at_once(counts):
    card = card_of(KNOWN, "multinomial", counts=counts)
    for lesson in NEW:
        taught(card, lesson, int(lesson.label))
    score = Judge(card_of(MAIL, "multinomial", counts=counts)).judge(FIRST).score
    assert Judge(card).judge(FIRST).score == pytest.approx(score, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lesson_already_known_changes_nothing(kind):
    card = card_of(KNOWN, kind)
    before = later_to_bytes(card)
    taught(card, KNOWN[0], 0)
    taught(card, NEW[0], None)
    assert later_to_bytes(card) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_moves_from_class_to_class_and_back(kind):
    card = card_of(KNOWN, kind)
    before = counts_of(card), card.messages, card.totals, card.words
    taught(card, KNOWN[0], 1)
    assert card.learned_as(short_digest(KNOWN[0].digest)) == 1
    assert card.messages == (11, 13)
    taught(card, KNOWN[0], 0)
    assert (counts_of(card), card.messages, card.totals, card.words) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_forgotten_message_takes_its_words_along(kind):
    card = card_of([*KNOWN, NEW[0]], kind)
    taught(card, NEW[0], None)
    assert card.learned_as(short_digest(NEW[0].digest)) is None
    assert counts_of(card) == counts_of(card_of(KNOWN, kind))


def test_a_lesson_leaves_the_base_rows_alone():
    card = card_of(KNOWN, "corrected")
    before = base_rows(card)
    taught(card, NEW[0], 0)
    taught(card, KNOWN[0], 1)
    assert base_rows(card) == before


def base_rows(card):
    return [bytes(memoryview(table)) for table in (*card.tables.values(), *(column.weights for column in card.columns))]


@pytest.mark.parametrize("kind", KINDS)
def test_later_rows_come_back_from_their_file(kind):
    card = card_of(KNOWN, kind)
    base = to_bytes(card)
    for lesson in NEW:
        taught(card, lesson, int(lesson.label))
    again = from_bytes(base, later_to_bytes(card))
    assert counts_of(again) == counts_of(card)
    assert Judge(again).judge(FIRST).score == Judge(card).judge(FIRST).score
    taught(again, NEW[0], None)  # and can be taught on
    taught(card, NEW[0], None)
    assert later_to_bytes(again) == later_to_bytes(card)


def test_a_copy_that_holds_more_than_was_learned_takes_no_count_below_nothing():
    card = card_of(KNOWN, "multinomial")
    more = {token: 10 * count for token, count in KNOWN[0].counts.items()} | {"unheard-of": 3}
    teach(card, short_digest(KNOWN[0].digest), None, more, KNOWN[0].sender)
    assert min(min(pair) for pair in counts_of(card).values()) == 0
    assert card.totals == tuple(sum(pair[label] for pair in counts_of(card).values()) for label in (0, 1))
    assert card.words == len(counts_of(card))


def test_a_sender_that_was_never_counted_is_not_counted_down():
    card = card_of(KNOWN, "corrected")
    teach(card, short_digest(KNOWN[0].digest), None, KNOWN[0].counts, 12345)
    assert card.sender_counts(12345) == (0, 0)
    later_to_bytes(card)


# Senders


def test_a_second_ham_makes_its_sender_known_for_both():
    known, unknown = (token_id(known_token(False, from_ham)) for from_ham in (True, False))
    card = card_of(KNOWN, "corrected")
    before = counts_of(card)
    for number in (1, 2):
        teach(card, number, 0, {"word": 1}, 777)
    after = counts_of(card)
    assert card.sender_counts(777) == (2, 0)
    assert after[known][0] == before.get(known, (0, 0))[0] + 2
    assert after[unknown] == before[unknown]


def test_spam_from_a_known_sender_counts_as_such_as_long_as_the_ham_is_there():
    known, unknown = (token_id(known_token(False, from_ham)) for from_ham in (True, False))
    card = card_of(KNOWN, "corrected")
    before = {number: counts_of(card).get(number, (0, 0)) for number in (known, unknown)}
    teach(card, 1, 0, {"word": 1}, 777)
    teach(card, 2, 1, {"word": 1}, 777)
    assert counts_of(card)[known][1] == before[known][1] + 1
    teach(card, 1, None, {"word": 1}, 777)
    assert counts_of(card)[unknown][1] == before[unknown][1] + 1


def test_a_contact_is_a_contact_whatever_he_sent():
    lessons = [*KNOWN]
    contact = next(lesson.sender for lesson in lessons if lesson.sender)
    card = card_of(lessons, "corrected", contacts=np.array([contact], np.uint64))
    token = token_id(known_token(True, False))
    before = counts_of(card)[token]
    teach(card, 1, 1, {"word": 1}, contact)
    assert counts_of(card)[token] == (before[0], before[1] + 1)


# Weights


def test_a_word_without_messages_is_not_heard():
    assert isnan(naive_weight(card_of(KNOWN, "multinomial"), 0, 0))


def test_a_word_weighs_its_evidence_in_the_textbook_model_and_only_a_telling_one_in_the_corrected():
    textbook, corrected = card_of(KNOWN, "multinomial"), card_of(KNOWN, "corrected")
    assert naive_weight(textbook, 3, 3) == 0.0
    assert naive_weight(textbook, 0, 5) == pytest.approx(log(6.0))
    assert isnan(naive_weight(corrected, 3, 3))
    assert naive_weight(corrected, 0, 5) == pytest.approx(log(5 + corrected.alpha) - log(corrected.alpha))


@pytest.mark.parametrize(
    ("name", "text", "envelope"), [("text naive", 1, 0), ("envelope logistic", 0, 1), ("words", 1, 1)]
)
def test_a_witness_speaks_for_its_own_words(name, text, envelope):
    column = Column(name, [])
    assert speaks_for(column, 5) == text
    assert speaks_for(column, 5 | ENVELOPE_BIT) == envelope


@pytest.mark.parametrize("label", [0, 1])
def test_a_logistic_step_goes_towards_the_lesson(label):
    card = card_of(KNOWN, "corrected")
    lesson = KNOWN[0] if label else KNOWN[12]  # one that stands in the other class
    column = next(column for column in card.columns if column.name == "text logistic")
    numbers = [token_id(token) for token in lesson.counts]
    taught(card, lesson, label)
    heard = [place for number in numbers if (place := touched(card, number)) >= 0 and speaks_for(column, number)]
    before = [column.later[place] for place in heard]
    step(card, column, numbers, label)
    moved = [after - was for was, place in zip(before, heard, strict=True) if (after := column.later[place]) != was]
    moved = [change for change in moved if not isnan(change)]
    assert moved
    assert all(change > 0 if label else change < 0 for change in moved)


def test_one_class_alone_gives_no_weights_yet():
    card = card_of(KNOWN[:12], "multinomial")
    taught(card, NEW[0], 0)
    assert card.messages == (13, 0)
    assert Judge(card).judge(FIRST).score == 0.0
