"""Figures by hand and by scikit-learn, and a recommended c that keeps its promise."""

from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from spamnb.errors import BadData
from spamnb.evaluation import (
    LARGEST_C,
    SWEEP,
    Outcome,
    cross_validate,
    figures,
    judged,
    one_minus_auc,
    recommended,
    sweep,
)
from spamnb.models import KINDS, Choice, fit, score_rows, train_and_test
from spamnb.scorecard import HAM, SPAM, UNSURE, Verdict

ALL_KINDS = pytest.mark.parametrize("kind", KINDS)
THREE_DIGITS = sorted({float(f"{digits}e{power}") for digits in range(100, 1000) for power in range(-2, 6)})
LOGS = np.array([log(c) for c in THREE_DIGITS])
# Round scores, and some that sit on the edge of a number of three digits.
EDGES = st.sampled_from(THREE_DIGITS[:4000]).flatmap(
    lambda c: st.sampled_from([log(c), np.nextafter(log(c), 99), np.nextafter(log(c), -99)])
)
SCORE = st.one_of(st.integers(-5, 11).map(float), st.floats(-3, 11), EDGES)


def outcome(ham, spam, c=1.0):
    """Of scores alone, decided at c."""
    labels = np.arange(len(ham) + len(spam)) >= len(ham)
    nothing = np.zeros(len(labels), bool)
    return Outcome(labels, np.array([*ham, *spam], float), nothing, nothing).at(c)


# Ranking


@pytest.mark.parametrize(
    ("ham", "spam", "share"),
    [
        ([1, 2], [3, 4], 0.0),
        ([3, 4], [1, 2], 1.0),
        ([1, 1], [1, 1], 0.5),
        ([1, 3], [2], 0.5),
        ([1, 2, 5], [3, 4], 2 / 6),
        ([0, 2], [2, 9, 9], 0.5 / 6),
        ([-1000], [1e9], 0.0),
    ],
)
def test_one_minus_auc_is_the_share_of_pairs_in_the_wrong_order(ham, spam, share):
    found = outcome(ham, spam)
    assert one_minus_auc(found.labels, found.scores) == pytest.approx(share)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=30), st.lists(st.integers(-4, 4), min_size=1, max_size=30))
def test_one_minus_auc_agrees_with_scikit_learn_ties_and_all(ham, spam):
    found = outcome(ham, spam)
    expected = 1 - roc_auc_score(found.labels, found.scores)
    assert one_minus_auc(found.labels, found.scores) == pytest.approx(expected, abs=1e-12)


# Figures


def test_figures_by_hand():
    verdicts = [(False, HAM), (False, HAM), (False, UNSURE), (False, SPAM), (True, SPAM), (True, SPAM), (True, SPAM),
                (True, UNSURE), (True, HAM), (True, HAM)]  # fmt: skip
    found = figures(
        judged((label, Verdict({HAM: -1.0, UNSURE: 0.0, SPAM: 1.0}[said], said)) for label, said in verdicts)
    )
    assert (found.ham, found.ham_as_ham, found.ham_unsure, found.ham_lost) == (4, 2, 1, 1)
    assert (found.spam, found.spam_as_spam, found.spam_unsure, found.spam_missed) == (6, 3, 1, 2)
    assert found.ham_lost_percent == pytest.approx(100 * 1 / 4)
    assert found.spam_missed_percent == pytest.approx(100 * 3 / 6)  # in rates, unsure counts as ham
    assert found.error_percent == pytest.approx(100 * 4 / 10)
    # pairs that rank wrongly: ham −1 −1 0 1 against spam 1 1 1 0 −1 −1, ties half
    assert found.one_minus_auc_percent == pytest.approx(100 * (2 * 1.0 + 2.5 + 4.5) / 24)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([HAM, SPAM, UNSURE])), min_size=2).filter(
    lambda said: len({label for label, _ in said}) == 2))  # fmt: skip
def test_every_message_is_counted_once(said):
    found = figures(judged((label, Verdict(0.0, answer)) for label, answer in said))
    assert found.ham_as_ham + found.ham_unsure + found.ham_lost == found.ham
    assert found.spam_as_spam + found.spam_unsure + found.spam_missed == found.spam
    assert found.ham + found.spam == len(said)
    assert found.ham_lost == said.count((False, SPAM))
    assert found.spam_missed == said.count((True, HAM))


def test_at_another_c_spam_is_what_scores_above_log_c():
    found = outcome([-1.0, log(9), 5.0], [log(9), 3.0]).at(9.0)
    assert found.called_spam.tolist() == [False, False, True, False, True]
    assert not found.unsure.any()


@pytest.mark.parametrize(("label", "missing"), [(True, "ham"), (False, "spam")])
def test_mail_of_one_class_alone_cannot_be_evaluated(label, missing):
    with pytest.raises(BadData, match=f"no {missing} to judge"):
        judged([(label, Verdict(1.0, SPAM))])


def test_no_mail_cannot_be_evaluated():
    with pytest.raises(BadData):
        judged([])


# The recommended c


@given(st.lists(SCORE, min_size=1, max_size=40), st.one_of(st.floats(0, 1), st.integers(0, 100).map(lambda n: n / 100)))
@example([1.0] * 29 + [-1.0] * 71, 0.29)  # 0.29 · 100 is less than 29
@example([1e-17], 0.0)  # e^1e-17 is 1, and log 1 less than 1e-17
@example([log(1.1)], 0.0)  # 1.1 / 0.01 is more than 110
def test_the_recommended_c_is_the_smallest_of_three_digits_that_keeps_to_the_limit(ham, limit):
    lost = (np.array(ham)[:, None] > LOGS).sum(axis=0) / len(ham)
    assert recommended(outcome(ham, [0.0]), limit) == THREE_DIGITS[np.flatnonzero(lost <= limit)[0]]


def test_the_recommended_c_has_an_end():
    """Scores of long messages go beyond what a c can be."""
    assert recommended(outcome([2000.0], [0.0]), 0.0) == LARGEST_C


@given(st.lists(SCORE, min_size=1, max_size=20), st.lists(SCORE, min_size=1, max_size=20), st.floats(0, 1))
def test_a_sweep_tries_the_recommended_c_among_others_in_order(ham, spam, limit):
    found = outcome(ham, spam)
    tried = dict(sweep(found, limit))
    assert list(tried) == sorted(tried)
    best = recommended(found, limit)
    assert tried.keys() == {c for c in (*SWEEP, best) if c <= best or (found.at(c).called_spam & found.labels).any()}
    assert tried[best].ham_lost <= limit * len(ham) + 1e-9
    assert tried[0.1] == figures(found.at(0.1))


# Cross-validation


@ALL_KINDS
def test_cross_validation_scores_each_message_by_a_model_without_its_fold(corpus, kind):
    found = cross_validate(corpus, Choice(kind), folds=3, seed=4)
    for train, test in train_and_test(corpus, 3, seed=4):
        card = fit(train, Choice(kind))
        scores = score_rows(card, corpus.take(test))
        assert found.scores[test] == pytest.approx(scores)
        assert found.called_spam[test].tolist() == [card.verdict(score).label == SPAM for score in scores]
        assert found.unsure[test].tolist() == [card.verdict(score).label == UNSURE for score in scores]
    assert found.labels.tolist() == corpus.labels.tolist()


def test_cross_validation_follows_from_the_seed(corpus):
    first, again, other = (cross_validate(corpus, Choice("multinomial"), 3, seed).scores.tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_cross_validation_ranks_spam_above_ham(corpus):
    found = cross_validate(corpus, Choice(), folds=3)
    assert one_minus_auc(found.labels, found.scores) < 0.1


def test_cross_validation_tells_how_far_it_is(corpus):
    told = []
    cross_validate(corpus, Choice("multinomial"), 3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_more_folds_than_messages_are_bad_data(corpus_of_words):
    corpus = corpus_of_words((False, "tea"), (False, "milk"), (False, "bread"), (True, "pills"), (True, "rum"))
    with pytest.raises(BadData, match="3 folds need 3 messages of each class; there are 2"):
        cross_validate(corpus, Choice("multinomial"), folds=3)
    assert len(cross_validate(corpus, Choice("multinomial"), folds=2).scores) == 5


def test_a_number_of_three_digits_is_recommended_when_scores_are_not():
    assert recommended(outcome([log(1234.5)], [0.0]), 0.0) == 1240.0
    assert recommended(outcome([log(1234.5)], [0.0]), 1.0) == 1.0
