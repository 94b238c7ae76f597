"""One message or many, explained or judged, the scorecard gives one score; and a score is a verdict."""

from math import exp, inf, log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import DamagedModel
from spamnb.filtering import Judge
from spamnb.message import digest, parse
from spamnb.models import Choice, fit, score_rows
from spamnb.scorecard import ENOUGH, HAM, SPAM, UNSURE, Column, Scorecard, Verdict
from spamnb.tokens import sender, token_id

CHOICES = {
    "corrected": Choice(),
    "corrected, smooth": Choice(alpha=2.0),
    "corrected, contacts": Choice(contacts=np.sort(np.array([token_id("friend3@home.example")], np.uint64))),
    "multinomial": Choice("multinomial"),
    "multinomial, binary": Choice("multinomial", counts="binary"),
    "multinomial, contacts": Choice("multinomial", contacts=np.array([token_id("friend3@home.example")], np.uint64)),
}
PLENTY = (10 * ENOUGH, 10 * ENOUGH)


def scorecard(*columns, kind="corrected", prior=0.0, messages=PLENTY, ids=(), **rest):
    """By hand: only what a verdict or a score needs."""
    return Scorecard(
        kind=kind,
        alpha=1.0,
        binary=False,
        prior=prior,
        messages=messages,
        totals=(0, 0),
        words=len(ids),
        columns=list(columns),
        tables={"ids": ids},
        **rest,
    )


# Score


@pytest.mark.parametrize(
    ("rows", "score"),
    [
        ({}, 0.5),
        ({0: 1}, 0.5 + 2.0),
        ({0: 3, 1: 1}, 0.5 + 3 * 2.0 - 1.0),
        ({2: 7}, 0.5),  # NaN is no weight
    ],
)
def test_a_plain_column_adds_weights_as_often_as_the_token_stands_there(rows, score):
    assert scorecard(Column("words", [2.0, -1.0, nan]), prior=0.5, ids=range(3)).score(rows) == score


@pytest.mark.parametrize(
    ("rows", "score"),
    [
        ({}, 1.0),  # the bias alone
        ({1: 5}, 1.0 + 10 * (4.0 + 0.5) / 1),  # once, however often
        ({1: 5, 2: 1, 3: 1, 4: 1}, 1.0 + 10 * (4.0 + 2.0 + 0.0 + 4 * 0.5 - 1.0) / 4**0.5),  # 0 is a weight
        ({0: 1}, 1.0),  # row 0 is another column's
    ],
)
def test_a_column_has_bias_scale_offset_exponent_and_its_own_rows(rows, score):
    column = Column("text", [4.0, 2.0, 0.0, -1.0], first=1, bias=1.0, scale=10.0, offset=0.5, exponent=0.5, binary=True)
    assert scorecard(column, ids=range(5)).score(rows) == pytest.approx(score)


@pytest.mark.parametrize("weight", [inf, -inf])
def test_a_scorecard_that_adds_up_to_no_number_is_damaged(weight):
    with pytest.raises(DamagedModel):
        scorecard(Column("words", [weight]), ids=range(1)).score({0: 1})


def test_the_row_of_a_token_is_found_by_its_id():
    card = scorecard(ids=np.array([3, 5, 2**64 - 1], np.uint64))
    assert [card.row(number) for number in (3, 5, 2**64 - 1)] == [0, 1, 2]
    assert [card.row(number) for number in (0, 4, 6, 2**64 - 2)] == [-1] * 4


@pytest.fixture(scope="module", params=CHOICES)
def card(request, corpus):
    return fit(corpus, CHOICES[request.param])


def rows_in(judge, message):
    """The rows that a message names, and how often."""
    found = judge.tokens_of(message)
    return {row: found[token] for token, row in judge.rows_of(found).items()}


@pytest.mark.parametrize("which", ["learned", "unseen"])
def test_a_message_alone_scores_as_it_does_among_others(request, card, which):
    mail, corpus = map(
        request.getfixturevalue, {"learned": ("mail", "corpus"), "unseen": ("unseen_mail", "unseen_corpus")}[which]
    )
    together = dict(zip(corpus.digests.tolist(), score_rows(card, corpus), strict=True))
    judge = Judge(card)
    known = set()
    for _, raw in mail:
        message = parse(raw)
        rows = rows_in(judge, message)
        known.add(bool(sender(message)) and card.sender_counts(token_id(sender(message)))[0] > 0)
        assert card.score(rows) == pytest.approx(together[digest(raw).encode()], abs=1e-9)
    assert known == {True, False}  # senders of both sorts were among them


def test_contributions_add_up_to_the_score(card, mail, unseen_mail):
    judge = Judge(card)
    for _, raw in (*mail, *unseen_mail, (False, b"")):
        rows = rows_in(judge, parse(raw))
        fixed, shares = card.contributions(rows)
        assert shares.keys() == rows.keys()
        assert fixed + sum(shares.values()) == pytest.approx(card.score(rows), abs=1e-9)


# Verdict


@given(st.floats(-50, 50), st.floats(1e-3, 1e6), st.floats(0.0, 20.0))
def test_spam_is_above_log_c_and_unsure_lies_between_the_cutoffs(score, c, between):
    ham_cutoff = log(c) - between
    expected = SPAM if score > log(c) else HAM if score <= ham_cutoff else UNSURE
    assert scorecard(c=c, ham_cutoff=ham_cutoff).verdict(score).label == expected


@given(st.floats(-50, 50), st.floats(1e-3, 1e6))
def test_with_a_c_of_the_callers_nothing_is_unsure(score, c):
    card = scorecard(c=1e6, ham_cutoff=-40.0)
    assert card.verdict(score, c).label == (SPAM if score > log(c) else HAM)


@pytest.mark.parametrize("c", [0.5, 1.0, 9.0])
def test_a_score_of_log_c_is_not_spam(c):
    assert scorecard(c=c).verdict(log(c)).label == HAM
    assert scorecard().verdict(log(c), c).label == HAM
    assert scorecard(c=c).verdict(np.nextafter(log(c), inf)).label == SPAM


def test_a_ham_cutoff_above_the_spam_cutoff_leaves_nothing_between():
    card = scorecard(c=1.0, ham_cutoff=5.0)
    assert (card.verdict(3.0).label, card.verdict(0.0).label) == (SPAM, HAM)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ((ENOUGH - 1, ENOUGH), f"only {ENOUGH - 1} ham learned"),
        ((ENOUGH, ENOUGH - 1), f"only {ENOUGH - 1} spam learned"),
        ((0, 0), "only 0 ham learned"),
    ],
)
@pytest.mark.parametrize("kind", ["corrected", "multinomial"])
def test_a_model_that_learned_little_is_unsure_and_says_why(kind, messages, reason):
    verdict = scorecard(kind=kind, messages=messages).verdict(30.0)
    assert (verdict.label, verdict.reason, verdict.score) == (UNSURE, reason, 30.0)


def test_only_the_textbooks_model_with_a_c_judges_after_little_mail():
    assert scorecard(kind="multinomial", messages=(1, 1)).verdict(1.0, c=1.0).label == SPAM
    assert scorecard(kind="multinomial", messages=(1, 1)).verdict(-1.0, c=1.0).label == HAM
    assert scorecard(kind="corrected", messages=(1, 1)).verdict(1.0, c=1.0).label == UNSURE
    assert scorecard(kind="multinomial", messages=(1, 0)).verdict(1.0, c=1.0).label == UNSURE  # it knows no spam


def test_enough_mail_of_both_classes_is_judged():
    assert scorecard(messages=(ENOUGH, ENOUGH)).verdict(1.0).label == SPAM


def test_a_verdict_between_the_cutoffs_says_so():
    assert scorecard(c=9.0, ham_cutoff=-1.0).verdict(0.0).reason == "between the cutoffs"


# Probability


@given(st.floats(-30, 30))
def test_probability_is_the_score_as_odds(score):
    assert Verdict(score, HAM).probability == pytest.approx(1 / (1 + exp(-score)))
    assert log(Verdict(score, HAM).probability) - log(Verdict(-score, HAM).probability) == pytest.approx(
        score, abs=1e-3
    )


@pytest.mark.parametrize("score", [700.0, 710.0, 800.0, 1e6, 1.7e308])
def test_extreme_scores_are_certain_and_do_not_overflow(score):
    assert Verdict(score, SPAM).probability == 1.0
    assert Verdict(-score, HAM).probability == pytest.approx(0.0, abs=1e-300)
