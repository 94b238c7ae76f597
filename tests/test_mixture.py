"""EM never loses ground, leaves labels alone, and finds groups that are there."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.naive_bayes import MultinomialNB

from spamnb.models.mixture import (
    Mixture,
    cluster,
    evened,
    fit_mixture,
    group_words,
    k_means,
    means_of,
    posterior,
    repeated,
    semi_supervised,
    spread_out,
)

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=60, deadline=None)


def invented_counts(seed, messages=12, words=8):
    """Counts of words, some messages without any."""
    return sparse.csr_matrix(np.random.default_rng(seed).poisson(0.7, (messages, words)).astype(float))


def two_topics(messages=60, seed=0):
    """Messages of two topics that share a few words, and their topics."""
    random = np.random.default_rng(seed)
    topic = np.arange(messages) % 2
    rate = np.array([[1.0] * 10 + [0.05] * 10 + [0.5] * 5, [0.05] * 10 + [1.0] * 10 + [0.5] * 5])
    return sparse.csr_matrix(random.poisson(rate[topic]).astype(float)), topic


def never_falls(values):
    return all(after >= before - 1e-9 * abs(before) for before, after in pairwise(values))


def same_groups(one, other):
    """Whether two assignments part the messages alike, whatever the groups are called."""
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))


# EM


@few
@given(seeds, st.integers(1, 4), st.floats(1e-3, 3.0), st.floats(0.0, 1.0))
def test_the_objective_never_falls(seed, classes, alpha, fixed_share):
    random = np.random.default_rng(seed)
    counts = invented_counts(seed)
    start = random.dirichlet(np.ones(classes), 12)
    fixed = random.random(12) < fixed_share
    mixture = fit_mixture(counts, start, fixed, random.uniform(0.05, 1.0, 12), alpha, most_steps=30, tolerance=0.0)
    assert never_falls(mixture.log_likelihoods)
    assert len(mixture.log_likelihoods) <= 30


@few
@given(seeds, st.floats(1e-3, 3.0), st.floats(0.01, 1.0))
def test_the_objective_never_falls_from_a_start_by_labels(seed, alpha, weight):
    labels = np.array([0, 1, 2] + [-1] * 9, np.int8)
    mixture = semi_supervised(invented_counts(seed), labels, 3, alpha, weight, tolerance=0.0)
    assert never_falls(mixture.log_likelihoods)


def test_the_objective_is_what_the_formula_says():
    counts, _ = two_topics(8)
    labels = np.array([0, 1, -1, -1, -1, -1, -1, -1], np.int8)
    mixture = semi_supervised(counts, labels, 2, 0.5, 0.3, most_steps=1)
    priors, words = np.exp(mixture.log_priors), np.exp(mixture.log_words)
    likelihood = np.array(
        [[p * np.prod(w**row) for p, w in zip(priors, words, strict=True)] for row in counts.toarray()]
    )
    expected = np.log(likelihood[0, 0]) + np.log(likelihood[1, 1])
    expected += 0.3 * np.log(likelihood[2:].sum(axis=1)).sum() + 0.5 * np.log(words).sum()
    assert mixture.log_likelihoods == [pytest.approx(expected, rel=1e-12)]


@few
@given(seeds)
def test_fixed_rows_keep_their_responsibilities_and_all_rows_sum_to_one(seed):
    random = np.random.default_rng(seed)
    start = random.dirichlet(np.ones(3), 12)
    fixed = random.random(12) < 0.5
    found = fit_mixture(invented_counts(seed), start, fixed, np.ones(12), 0.5).responsibilities
    np.testing.assert_array_equal(found[fixed], start[fixed])
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


def test_labelled_messages_stay_what_they_are_even_against_their_words():
    counts, topic = two_topics()
    labels = np.full(60, -1, np.int8)
    labels[:6] = topic[:6]
    labels[5] = 1 - topic[5]
    found = semi_supervised(counts, labels, 2, 0.1, 1.0).responsibilities
    np.testing.assert_array_equal(found[:6], np.eye(2)[labels[:6]])


@pytest.mark.parametrize("alpha", [1.0, 0.01])
@pytest.mark.parametrize("classes", [2, 3])
def test_without_unlabelled_messages_it_is_multinomial_naive_bayes(alpha, classes):
    counts = invented_counts(classes, messages=30)
    labels = (np.arange(30) % classes).astype(np.int8)
    labels[:4] = 0  # priors that differ
    mixture = semi_supervised(counts, labels, classes, alpha, 0.5)
    theirs = MultinomialNB(alpha=alpha).fit(counts, labels)
    np.testing.assert_allclose(mixture.log_words, theirs.feature_log_prob_, rtol=1e-9)
    np.testing.assert_allclose(mixture.log_priors, theirs.class_log_prior_, rtol=1e-9)
    assert len(mixture.log_likelihoods) == 1
    found = posterior(counts, mixture.log_priors, mixture.log_words)
    np.testing.assert_allclose(found, theirs.predict_proba(counts), rtol=1e-9)


def test_unlabelled_messages_of_no_weight_change_nothing_in_the_model():
    counts, topic = two_topics()
    labels = np.where(np.arange(60) < 10, topic, -1).astype(np.int8)
    with_them = semi_supervised(counts, labels, 2, 0.5, 0.0)
    alone = semi_supervised(counts[:10], labels[:10], 2, 0.5, 0.0)
    np.testing.assert_allclose(with_them.log_words, alone.log_words, rtol=1e-12)
    np.testing.assert_allclose(with_them.log_priors, alone.log_priors, rtol=1e-12)


def test_the_order_of_messages_does_not_matter():
    counts, topic = two_topics()
    labels = np.where(np.arange(60) < 10, topic, -1).astype(np.int8)
    order = np.random.default_rng(3).permutation(60)
    one = semi_supervised(counts, labels, 2, 0.1, 0.5)
    other = semi_supervised(counts[order], labels[order], 2, 0.1, 0.5)
    np.testing.assert_allclose(one.log_words, other.log_words, rtol=1e-9)
    np.testing.assert_allclose(one.responsibilities[order], other.responsibilities, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.log_likelihoods, other.log_likelihoods, rtol=1e-9)


def test_unlabelled_messages_teach_words_that_the_labelled_do_not_have():
    # Labelled mail knows 'casino' and 'choir'; 'bonus' stands beside the one, 'tenor' beside the other.
    casino, choir, bonus, tenor = np.eye(4)
    rows = [casino, choir, *[casino + bonus] * 5, *[choir + tenor] * 5]
    labels = np.array([1, 0] + [-1] * 10, np.int8)
    mixture = semi_supervised(sparse.csr_matrix(np.array(rows)), labels, 2, 0.1, 1.0)
    evidence = mixture.log_words[1] - mixture.log_words[0]
    assert evidence[2] > 1.0
    assert evidence[3] < -1.0


def test_the_labelled_alone_say_where_the_others_start():
    # Five words that no labelled message has speak for neither class, though ham has shown more text than spam.
    labelled = [[1, 0, 0, 0, 0, 0, 0], [0, 10, 0, 0, 0, 0, 0]]
    counts = sparse.csr_matrix(np.array([*labelled, [0, 0, 1, 1, 1, 1, 1]], float))
    first = semi_supervised(counts, np.array([1, 0, -1], np.int8), 2, 0.01, 1.0, most_steps=1)
    np.testing.assert_allclose(first.log_priors, np.log([0.5, 0.5]), rtol=1e-12)
    counts = sparse.csr_matrix(np.array([*labelled, [1, 0, 1, 1, 1, 1, 1]], float))
    first = semi_supervised(counts, np.array([1, 0, -1], np.int8), 2, 0.01, 1.0, most_steps=1)
    np.testing.assert_allclose(first.log_priors, np.log([1 / 3, 2 / 3]), rtol=0.01)


def test_a_class_that_loses_all_its_messages_leaves_numbers():
    start = np.array([[1.0, 0.0]] * 4)
    mixture = fit_mixture(invented_counts(1, messages=4), start, np.zeros(4, bool), np.ones(4), 0.5)
    assert np.isfinite(mixture.log_priors).all()
    assert np.isfinite(mixture.log_likelihoods).all()


# Rows


def test_rows_of_one_length_hold_presence_and_an_empty_row_stays_empty():
    counts = sparse.csr_matrix(np.array([[3.0, 1.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(evened(counts, 20.0).toarray(), [[10, 10, 0], [0, 20, 0], [0, 0, 0]])


def test_words_that_stand_in_several_messages():
    counts = sparse.csr_matrix(np.array([[3.0, 1.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 1.0]]))
    assert repeated(counts).tolist() == [1]
    assert repeated(counts, 1).tolist() == [0, 1, 2]


# Groups


@pytest.mark.parametrize("method", ["em", "kmeans"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_two_clearly_separate_groups_are_found(method, seed):
    counts, topic = two_topics(seed=seed)
    assignment, fitted, steps = cluster(counts, 2, method, seed)
    assert same_groups(assignment, topic)
    assert isinstance(fitted, Mixture) == (method == "em")
    assert never_falls(steps if method == "em" else [-value for value in steps])


@pytest.mark.parametrize("method", ["em", "kmeans"])
def test_a_seed_gives_the_same_groups_again(method):
    counts = invented_counts(5, messages=40)
    one, other = (cluster(counts, 4, method, 7) for _ in range(2))
    np.testing.assert_array_equal(one[0], other[0])
    assert one[2] == other[2]


@few
@given(seeds, st.integers(1, 12))
def test_the_objective_of_k_means_never_rises(seed, groups):
    rows = invented_counts(seed)
    assignment, centres, objective = k_means(rows, groups, seed % 100)
    assert never_falls([-value - 1e-9 for value in objective])
    distances = ((rows.toarray()[:, None] - centres[None]) ** 2).sum(axis=2)
    assert distances[np.arange(12), assignment].sum() == pytest.approx(objective[-1], abs=1e-9)
    np.testing.assert_allclose(distances[np.arange(12), assignment], distances.min(axis=1), atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_k_means_starts_from_messages_that_differ(seed):
    rows = sparse.csr_matrix(np.eye(3)[[0] * 50 + [1, 2]])
    centres = spread_out(rows, 3, np.random.default_rng(seed))
    assert sorted(centres.argmax(axis=1)) == [0, 1, 2]


def test_a_centre_without_messages_moves_to_the_message_that_is_farthest_from_its_own():
    rows = sparse.csr_matrix(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]))
    centres = means_of(rows, np.array([0, 0, 0]), 2, np.array([0.1, 0.2, 0.9]))
    np.testing.assert_allclose(centres, [[0.6, 1.6 / 3], [0.0, 1.0]])


def test_the_best_of_several_starts_is_kept():
    counts = invented_counts(5, messages=40)
    single = {method: [cluster(counts, 4, method, seed, restarts=1)[2][-1] for seed in range(8, 12)]
              for method in ("em", "kmeans")}  # fmt: skip
    assert len(set(single["kmeans"])) > 1
    assert cluster(counts, 4, "em", 2, restarts=4)[2][-1] == max(single["em"])
    assert cluster(counts, 4, "kmeans", 2, restarts=4)[2][-1] == min(single["kmeans"])


def test_k_means_with_a_group_for_each_different_message_leaves_no_distance():
    rows = sparse.csr_matrix(np.eye(6))
    assignment, _, objective = k_means(rows, 6, 0)
    assert sorted(assignment) == list(range(6))
    assert objective[-1] == pytest.approx(0.0, abs=1e-12)


def test_messages_that_are_all_alike_can_be_grouped():
    rows = sparse.csr_matrix(np.ones((5, 3)))
    for method in ("em", "kmeans"):
        assert len(set(cluster(rows, 3, method)[0].tolist())) <= 3


def test_messages_without_words_can_be_grouped():
    counts = sparse.vstack([two_topics(20)[0], sparse.csr_matrix((2, 25))], format="csr")
    for method in ("em", "kmeans"):
        assert len(cluster(counts, 2, method)[0]) == 22


def test_a_groups_words_are_those_it_has_and_the_others_have_not():
    counts, topic = two_topics()
    tokens = [f"casino{n}" for n in range(10)] + [f"choir{n}" for n in range(10)] + [f"common{n}" for n in range(5)]
    first, second = group_words(counts, topic, tokens, 5)
    assert len(first) == len(second) == 5
    assert all(word.startswith("casino") for word in first)
    assert all(word.startswith("choir") for word in second)


def test_a_word_of_one_message_is_not_telling():
    counts = sparse.csr_matrix(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]))
    assert group_words(counts, np.array([0, 0, 1, 1]), ["both", "once", "other"], 3) == [["both"], ["other"]]
