"""Neighbours: distances as scipy has them, votes as scikit-learn counts them, projection as chi-squared says."""

from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse
from scipy.spatial.distance import cdist, jensenshannon, pdist
from scipy.stats import chi2, kstest
from sklearn.neighbors import KNeighborsClassifier

from spamnb.models import neighbours
from spamnb.models.neighbours import (
    DENSE_DISTANCES,
    DISTANCES,
    VOTES,
    dense_distances,
    dimension_for,
    distances,
    distortion,
    nearest,
    neighbour_scores,
    normal_rows,
    project,
    score_neighbours,
)
from spamnb.tokens import token_id

EVERY_DISTANCE = pytest.mark.parametrize("metric", DISTANCES)
SMALL_TABLES = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(0, 3))


def counts(messages, words, seed, share=0.1):
    """Rows of small counts, most of them 0, none empty."""
    random = np.random.default_rng(seed)
    found = random.geometric(0.5, (messages, words)) * (random.random((messages, words)) < share)
    found[:, 0] += 1
    return sparse.csr_matrix(found.astype(np.int32))


def ids_of(words):
    return np.array([token_id(f"word{number}") for number in range(words)], np.uint64)


def by_scipy(queries, rows, metric):
    left, right = queries.toarray().astype(float), rows.toarray().astype(float)
    return cdist(left, right, jensenshannon if metric == "jensen-shannon" else metric)


# Distances


@EVERY_DISTANCE
def test_distances_are_those_of_scipy(metric):
    queries, rows = counts(40, 60, seed=1), counts(50, 60, seed=2)
    assert distances(queries, rows, metric) == pytest.approx(by_scipy(queries, rows, metric), abs=1e-12)


@EVERY_DISTANCE
def test_distances_are_the_same_in_small_blocks(metric, monkeypatch):
    queries, rows = counts(40, 60, seed=1), counts(50, 60, seed=2)
    whole = distances(queries, rows, metric)
    monkeypatch.setattr(neighbours, "BLOCK", 120)
    assert np.array_equal(distances(queries, rows, metric), whole)


@EVERY_DISTANCE
def test_a_row_is_at_no_distance_from_itself(metric):
    rows = counts(60, 200, seed=3)
    assert not distances(rows, rows, metric).diagonal().any()


@EVERY_DISTANCE
def test_zeros_that_are_stored_and_unsorted_words_change_nothing(metric):
    plain = sparse.csr_matrix([[2, 0, 1], [0, 3, 1]])
    untidy = sparse.csr_matrix(([1, 0, 2, 1, 0, 3], [2, 1, 0, 2, 0, 1], [0, 3, 6]), shape=(2, 3))
    assert distances(untidy, untidy, metric) == pytest.approx(distances(plain, plain, metric), abs=1e-12)
    assert untidy.nnz == 6  # what was handed in is left as it was


@pytest.mark.parametrize(("metric", "far"), [("euclidean", sqrt(5)), ("cosine", 1.0), ("jensen-shannon", sqrt(log(2)))])
def test_an_empty_row_is_far_from_all_but_the_empty(metric, far):
    rows = sparse.csr_matrix([[0, 0, 0], [2, 0, 1], [0, 0, 0]])
    expected = [[0, far, 0], [far, 0, far], [0, far, 0]]
    assert distances(rows, rows, metric) == pytest.approx(np.array(expected))


@EVERY_DISTANCE
@given(SMALL_TABLES)
def test_distances_are_symmetric_and_bounded_on_any_counts(metric, table):
    rows = sparse.csr_matrix(table)
    found = distances(rows, rows, metric)
    assert found == pytest.approx(found.T, abs=1e-7)
    assert found.diagonal() == pytest.approx(0, abs=1e-7)
    assert (found <= {"euclidean": np.inf, "cosine": 1, "jensen-shannon": sqrt(log(2)) + 1e-12}[metric]).all()


@pytest.mark.parametrize("metric", ["euclidean", "jensen-shannon"])
@given(SMALL_TABLES)
def test_these_distances_are_metrics(metric, table):
    rows = sparse.csr_matrix(table)
    found = distances(rows, rows, metric)
    assert (found[:, None, :] <= found[:, :, None] + found[None, :, :] + 1e-7).all()


@pytest.mark.parametrize("metric", DENSE_DISTANCES)
def test_dense_rows_are_as_far_apart_as_sparse_ones(metric):
    queries, rows = counts(20, 60, seed=1), counts(30, 60, seed=2)
    dense = dense_distances(queries.toarray().astype(float), rows.toarray().astype(float), metric)
    assert dense == pytest.approx(distances(queries, rows, metric), abs=1e-12)


def test_no_rows_and_no_queries_give_empty_tables():
    some, none = counts(3, 5, seed=0), sparse.csr_matrix((0, 5), dtype=np.int32)
    for metric, (queries, rows) in product(DISTANCES, [(some, none), (none, some), (none, none)]):
        assert distances(queries, rows, metric).shape == (queries.shape[0], rows.shape[0])


def test_what_does_not_exist_is_refused():
    rows = counts(3, 5, seed=0)
    with pytest.raises(ValueError, match="manhattan"):
        distances(rows, rows, "manhattan")
    with pytest.raises(ValueError, match="jensen-shannon"):
        dense_distances(rows.toarray(), rows.toarray(), "jensen-shannon")
    with pytest.raises(ValueError, match="acclamation"):
        neighbour_scores(np.ones((1, 3), bool), "acclamation")


# Neighbours and their votes


@given(arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 3)), st.integers(1, 12))
def test_the_nearest_are_the_first_of_a_stable_sort(distance, k):
    assert np.array_equal(nearest(distance, k), np.argsort(distance, axis=1, kind="stable")[:, :k])


def test_no_rows_have_no_nearest():
    assert nearest(np.zeros((3, 0)), 5).shape == (3, 0)


def test_votes_by_hand():
    spam = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]], np.int8)
    assert neighbour_scores(spam, "average") == pytest.approx([log(9), log(3.5 / 1.5), 0, -log(9)])
    assert neighbour_scores(spam, "majority") == pytest.approx([log(9), log(9), 0, -log(9)])
    assert np.array_equal(neighbour_scores(spam.astype(bool), "average"), neighbour_scores(spam, "average"))


@pytest.mark.parametrize("vote", VOTES)
def test_without_a_neighbour_there_is_no_opinion(vote):
    queries, none = counts(3, 5, seed=0), sparse.csr_matrix((0, 5), dtype=np.int32)
    assert score_neighbours(queries, none, np.zeros(0, bool), 5, "cosine", vote).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("metric", "k", "vote"), [*product(DISTANCES, (1, 5), VOTES)])
def test_verdicts_are_those_of_scikit_learn(metric, k, vote, monkeypatch):
    queries, rows = counts(60, 400, seed=4, share=0.3), counts(90, 400, seed=5, share=0.3)
    random = np.random.default_rng(6)
    values = random.random(400) + 0.5  # of words: distances that no two pairs share
    queries, rows = (sparse.csr_matrix(each.multiply(values)) for each in (queries, rows))
    spam = random.random(90) < 0.5
    distance = jensenshannon if metric == "jensen-shannon" else metric
    judge = KNeighborsClassifier(k, metric=distance, algorithm="brute").fit(rows.toarray(), spam)
    monkeypatch.setattr(neighbours, "BLOCK", 700)  # several blocks
    scores = score_neighbours(queries, rows, spam, k, metric, vote)
    assert np.array_equal(scores > 0, judge.predict(queries.toarray()))
    if vote == "average":
        s = k * judge.predict_proba(queries.toarray())[:, 1]
        assert scores == pytest.approx(np.log((s + 0.5) / (k - s + 0.5)))


# Random projection


def test_the_random_matrix_is_normal_and_its_entries_are_uncorrelated():
    table = normal_rows(ids_of(4000), 50, seed=0)
    assert kstest(table.ravel(), "norm").pvalue > 0.001
    between_dimensions = np.corrcoef(table.T)[np.triu_indices(50, 1)]
    between_words = np.corrcoef(table[:200])[np.triu_indices(200, 1)]
    assert np.abs(between_dimensions).max() < 5.5 / sqrt(4000)  # a chance of 5e-5 in 1,225 pairs
    assert between_words.std() == pytest.approx(1 / sqrt(50), rel=0.05)
    assert abs(np.mean(table**4) - 3) < 0.1


def test_seeds_give_different_matrices_and_more_dimensions_the_same_beginning():
    ids = ids_of(500)
    first, second = (normal_rows(ids, 20, seed).ravel() for seed in (0, 1))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05
    assert np.array_equal(normal_rows(ids, 33, seed=0)[:, :20], normal_rows(ids, 20, seed=0))


def test_neighbouring_ids_have_unlike_rows():
    table = normal_rows(np.arange(2000, dtype=np.uint64), 20, seed=0)
    assert abs(np.corrcoef(table[:-1].ravel(), table[1:].ravel())[0, 1]) < 0.03
    assert kstest(table.ravel(), "norm").pvalue > 0.001


def test_a_message_is_projected_alike_whatever_else_is_there(monkeypatch):
    rows, ids = counts(30, 500, seed=7, share=0.05), ids_of(500)
    whole = project(rows, ids, 40)
    some = rows[10:15]
    used = np.flatnonzero(np.diff(some.tocsc().indptr))
    assert project(some[:, used], ids[used], 40) == pytest.approx(whole[10:15], abs=1e-5)
    order = np.random.default_rng(0).permutation(500)
    assert project(rows[:, order], ids[order], 40) == pytest.approx(whole, abs=1e-5)
    monkeypatch.setattr(neighbours, "NUMBERS_AT_ONCE", 300)
    assert project(rows, ids, 40) == pytest.approx(whole, abs=1e-5)


def test_projection_is_the_product_with_the_matrix():
    rows, ids = counts(10, 80, seed=8), ids_of(80)
    assert project(rows, ids, 25) == pytest.approx(rows.toarray() @ normal_rows(ids, 25, seed=0) / 5, abs=1e-5)
    assert not project(sparse.csr_matrix((2, 80), dtype=np.int32), ids, 25).any()


def test_squared_length_follows_the_chi_squared_law():
    ids, row = ids_of(100), counts(1, 100, seed=9)
    squares = [(project(row, ids, 12, seed) ** 2).sum() for seed in range(600)]
    length = float(row.multiply(row).sum())
    assert kstest(np.array(squares) * 12 / length, chi2(12).cdf).pvalue > 0.001
    assert np.mean(squares) == pytest.approx(length, rel=0.06)


@pytest.mark.parametrize(("epsilon", "share"), [(0.2, 0.95), (0.2, 0.99), (0.1, 0.95), (0.5, 0.5)])
def test_the_dimension_is_the_least_that_keeps_the_share(epsilon, share):
    found = dimension_for(epsilon, share)
    kept = [chi2.cdf(d * (1 + epsilon), d) - chi2.cdf(d * (1 - epsilon), d) for d in (found - 1, found)]
    assert kept[0] < share <= kept[1]


def test_a_dimension_beyond_reason_is_refused():
    with pytest.raises(ValueError, match="no dimension"):
        dimension_for(1e-6)


def test_pairs_of_random_rows_keep_their_distances():
    rows, ids, dimension = counts(300, 2000, seed=10, share=0.02), ids_of(2000), dimension_for(0.2, 0.95)
    kept = distortion(pdist(rows.toarray()), pdist(project(rows, ids, dimension)), 0.2)
    assert kept.pairs == 300 * 299 // 2
    assert kept.squared_within == pytest.approx(0.95, abs=0.02)
    assert kept.within > 0.999
    assert kept.quantiles == pytest.approx((0.9, 1.0, 1.1), abs=0.02)


def test_distortion_by_hand_leaves_out_pairs_at_no_distance():
    found = distortion(np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.0, 1.15, 2.0, 2.0]), 0.2)
    assert (found.pairs, found.within, found.squared_within) == (3, pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert found.quantiles[1] == 1.0
    assert distortion(np.zeros(2), np.zeros(2)).within == 1.0
