"""Models compared: intervals and the paired test by hand and by scipy, the same folds for all, curves that count."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from spamnb.errors import BadData
from spamnb.evaluation import Outcome, Trial, cross_validate, one_minus_auc, trials
from spamnb.laboratory import (
    REPEATS,
    Point,
    auc_interval,
    best,
    compared,
    growing_subsets,
    learning_curves,
    mcnemar,
    sizes,
    wilson,
)
from spamnb.models import KINDS, Choice, fit, score_rows
from spamnb.protocols import planned


def trial(kind, spam, called, scores=None):
    spam, called = np.array(spam, bool), np.array(called, bool)
    scores = called.astype(float) if scores is None else np.array(scores, float)
    return Trial(kind, Outcome(spam, scores, called, np.zeros(len(spam), bool)), 1.0)


# McNemar


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (0, 0, 1.0),  # they never differ
        (1, 1, 1.0),
        (5, 0, 2 / 32),  # five heads in five throws, either way
        (6, 1, 2 * (1 + 7) / 128),  # by hand: C(7,0) + C(7,1) of 2^7, two-sided
        (2, 8, 2 * (1 + 10 + 45) / 1024),
    ],
)
def test_mcnemar_by_hand(first, second, p):
    assert mcnemar(first, second) == pytest.approx(p)


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_agrees_with_scipy(first, second):
    expected = binomtest(first, first + second, 0.5).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(expected, rel=1e-9)


def test_models_are_paired_message_by_message():
    #        ham ------------ spam -------
    spam = [0, 0, 0, 0, 1, 1, 1, 1]
    good = trial("good", spam, [1, 0, 0, 0, 1, 1, 1, 1])
    poor = trial("poor", spam, [0, 1, 1, 0, 1, 1, 0, 1])
    found = {row.kind: row for row in compared([poor, good])}
    assert found["poor"].best == found["good"].best == "good"
    assert (found["poor"].only_it_errs, found["poor"].only_best_errs) == (3, 1)
    assert found["poor"].p == pytest.approx(2 * (1 + 4) / 16)
    assert (found["good"].only_it_errs, found["good"].only_best_errs, found["good"].p) == (0, 0, 1.0)
    assert (found["good"].is_best, found["poor"].is_best) == (True, False)


def test_of_models_with_as_many_errors_the_one_that_ranks_better_is_best():
    spam, called = [0, 0, 1, 1], [0, 1, 1, 1]
    first, second = trial("first", spam, called, [1, 9, 5, 6]), trial("second", spam, called, [1, 4, 5, 6])
    assert best([first, second]).kind == "second"
    assert best([first, replace(first, kind="again")]).kind == "first"


# Intervals


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    # Newcombe 1998, Statistics in Medicine 17, table I: score method without continuity correction.
    [(81, 263, 25.53, 36.62), (15, 148, 6.24, 16.05), (0, 20, 0.0, 16.11), (1, 29, 0.61, 17.18)],
)
def test_wilson_intervals_are_those_of_a_known_table(hits, total, low, high):
    assert wilson(hits, total) == pytest.approx((low, high), abs=0.006)


@given(st.integers(1, 500).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_a_wilson_interval_holds_the_rate_and_mirrors(case):
    hits, total = case
    low, high = wilson(hits, total)
    assert 0 <= low <= 100 * hits / total <= high <= 100
    mirrored = wilson(total - hits, total)
    assert mirrored == pytest.approx((100 - high, 100 - low), abs=1e-9)


@given(st.floats(0, 1), st.integers(2, 300), st.integers(2, 300))
def test_an_interval_of_one_minus_auc_holds_it_and_mirrors(share, ham, spam):
    low, high = auc_interval(share, ham, spam)
    assert 0 <= low <= 100 * share + 1e-9
    assert 100 * share - 1e-9 <= high <= 100
    assert high > low
    assert auc_interval(1 - share, spam, ham) == pytest.approx((100 - high, 100 - low), abs=1e-6)


def test_the_ends_of_an_interval_of_one_minus_auc_solve_newcombes_equation():
    share, ham, spam = 0.05, 90, 70
    n = (ham + spam) / 2 - 1
    for end in auc_interval(share, ham, spam):
        theta = end / 100
        variance = theta * (1 - theta) * (1 + n * (1 - theta) / (2 - theta) + n * theta / (1 + theta)) / (ham * spam)
        assert abs(theta - share) == pytest.approx(norm.ppf(0.975) * variance**0.5, rel=1e-5)


@pytest.mark.parametrize("apart", [1.0, 2.0, 3.0])
def test_intervals_of_one_minus_auc_hold_the_truth_about_as_often_as_they_say(apart):
    random = np.random.default_rng(5)
    truth = 100 * norm.cdf(-apart / 2**0.5)
    spam = np.arange(100) < 40
    draws = random.normal(size=(400, 100)) + apart * spam
    held = [low <= truth <= high for low, high in (auc_interval(one_minus_auc(spam, row), 60, 40) for row in draws)]
    assert 0.92 <= np.mean(held) <= 0.99


# The same folds


def test_all_kinds_are_judged_on_the_very_same_folds(corpus):
    chosen = [Choice(kind) for kind in KINDS[:3]]
    found = trials(corpus, chosen, planned(corpus, "folds", 3, seed=4))
    assert [each.kind for each in found] == [choice.kind for choice in chosen]
    for each, choice in zip(found, chosen, strict=True):
        alone = cross_validate(corpus, choice, 3, seed=4)
        assert each.outcome.scores.tolist() == alone.scores.tolist()
        assert each.outcome.called_spam.tolist() == alone.called_spam.tolist()
        assert each.outcome.labels.tolist() == alone.labels.tolist()
        assert each.seconds > 0


def test_what_a_plan_does_not_judge_is_in_no_outcome(corpus):
    dated = replace(corpus, dates=np.arange(len(corpus.labels), dtype=np.int64))
    [found] = trials(dated, [Choice("multinomial")], planned(dated, "half"))
    [(train, test)] = planned(dated, "half").splits
    assert found.outcome.scores == pytest.approx(score_rows(fit(train, Choice("multinomial")), dated.take(test)))
    assert found.outcome.labels.tolist() == (dated.labels[test] == 1).tolist()


def test_trials_tell_how_far_they_are(corpus):
    told = []
    chosen = [Choice("multinomial"), Choice("multinomial")]
    trials(corpus, chosen, planned(corpus, "folds", 3), lambda done, total: told.append((done, total)))
    assert told == [(done, 6) for done in range(1, 7)]


# Learning curves


def test_sizes_grow_by_a_factor_up_to_all():
    assert sizes((60, 46)) == [10, 14, 20, 28, 39, 54, 76, 106]
    assert sizes((990, 10))[0] == 200  # two of the rarer class
    assert sizes((2, 2)) == [4]


def test_subsets_have_their_share_of_each_class_and_hold_the_smaller_ones(corpus):
    subsets = growing_subsets(corpus, seed=1)
    wanted = sizes(corpus.messages)
    assert len(subsets) == REPEATS * (len(wanted) - 1) + 1
    assert subsets[-1].tolist() == list(range(len(corpus.labels)))
    share = np.mean(corpus.labels == 1)
    for rows in subsets:
        spam = int(np.sum(corpus.labels[rows] == 1))
        assert 2 <= spam <= len(rows) - 2
        assert abs(spam - share * len(rows)) <= 1
    smallest = [set(rows.tolist()) for rows in subsets if len(rows) == len(subsets[0])]
    assert all(sum(small < set(rows.tolist()) for rows in subsets) >= len(wanted) - 1 for small in smallest)
    assert len({frozenset(small) for small in smallest}) > 1


def test_a_learning_curve_judges_the_same_held_out_messages_at_every_size(corpus):
    chosen = [Choice("multinomial"), Choice("bernoulli")]
    curves = learning_curves(corpus, chosen, planned(corpus, "folds", 3, seed=2), seed=2)
    pool, test = next(planned(corpus, "folds", 3, seed=2).splits)
    assert curves.held_out == np.sum(test)
    assert [point.messages for point in curves.of("multinomial")] == [
        point.messages for point in curves.of("bernoulli")
    ]
    last = curves.of("multinomial")[-1]
    assert last.messages == len(pool.labels)
    assert len(last.errors) == 1
    assert all(len(point.errors) == REPEATS for point in curves.of("multinomial")[:-1])
    wrong = (score_rows(fit(pool, chosen[0]), corpus.take(test)) > 0) != (corpus.labels[test] == 1)
    assert last.mean == pytest.approx(100 * np.mean(wrong))


def test_a_learning_curve_follows_from_the_seed_and_falls(corpus):
    first, again, other = (
        learning_curves(corpus, [Choice("logistic")], planned(corpus, "folds", 3), seed=seed) for seed in (1, 1, 2)
    )
    assert first.points == again.points
    assert first.points != other.points
    assert first.points[-1].mean <= first.points[0].mean


def test_a_learning_curve_tells_how_far_it_is(corpus):
    told = []
    learning_curves(
        corpus, [Choice("multinomial")], planned(corpus, "folds", 3), progress=lambda *how_far: told.append(how_far)
    )
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]


def test_the_spread_is_the_standard_deviation_of_the_repeats():
    point = Point("multinomial", 10, (1.0, 2.0, 3.0), (0.0, 0.0, 0.0))
    assert (point.mean, point.spread) == (2.0, pytest.approx(1.0))
    assert replace(point, errors=(2.0,)).spread == 0.0


def test_too_few_messages_make_no_learning_curve(corpus_of_words):
    corpus = corpus_of_words((False, "tea"), (False, "milk"), (True, "pills"))
    with pytest.raises(BadData, match="learning curve needs"):
        growing_subsets(corpus, 0)
