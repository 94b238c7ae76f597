"""The textbook's likelihoods: against scikit-learn, by hand, and what becomes of them without smoothing."""

from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse, stats
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, MultinomialNB

from spamnb.corpus import Corpus
from spamnb.models import Choice, score_rows
from spamnb.models.generative import bernoulli, categorical, class_counts, multinomial, poisson, word_alphas
from spamnb.models.textbook import fit_words
from spamnb.naive import NEVER, smoothing
from spamnb.tokens import MEASURES, token_id
from spamnb.training import read_labelled

SAMPLE = Path(__file__).parent.parent / "sample_mail"
KINDS = ("multinomial", "bernoulli", "categorical", "poisson")
ALPHAS = pytest.mark.parametrize("alpha", [1.0, 0.5, 0.01])
ALL_KINDS = pytest.mark.parametrize("kind", KINDS)


def corpus_of(rows, labels):
    """A corpus of words without names, from rows of numbers."""
    tokens = sorted((f"word{number}" for number in range(np.shape(rows)[1])), key=token_id)
    return Corpus(
        tokens=tokens,
        ids=np.array([token_id(token) for token in tokens], np.uint64),
        counts=sparse.csr_matrix(np.array(rows, np.int32)),
        labels=np.array(labels, bool),
        digests=np.array([f"{number:032x}".encode() for number in range(len(rows))], "S32"),
        dates=np.zeros(len(rows), np.int64),
        senders=np.zeros(len(rows), np.uint64),
        measures=np.zeros((len(rows), len(MEASURES)), np.float32),
        lessons=np.zeros(len(rows), bool),
    )


def scores_of(kind, alpha, rows, labels, queries):
    """The scores of some messages by a model of others."""
    card = fit_words(corpus_of(rows, labels), Choice(kind, alpha))
    return score_rows(card, corpus_of(queries, [True] * len(queries)))


# scikit-learn

PEERS = {
    "multinomial": (lambda alpha: MultinomialNB(alpha=alpha), lambda counts: counts),
    "bernoulli": (lambda alpha: BernoulliNB(alpha=alpha), lambda counts: counts),
    "categorical": (lambda alpha: CategoricalNB(alpha=alpha, min_categories=4), lambda counts: np.minimum(counts, 3)),
}


def peer_scores(kind, alpha, rows, labels, queries):
    """Log odds by scikit-learn."""
    model, seen = PEERS[kind]
    joint = model(alpha).fit(seen(rows), labels).predict_joint_log_proba(seen(queries))
    return joint[:, 1] - joint[:, 0]


@pytest.fixture(scope="module")
def sample():
    """Half of the sample mail to learn from, and the other half to judge, under the dictionary of the first."""
    whole = read_labelled([str(SAMPLE / "ham")], [str(SAMPLE / "spam")], jobs=1).corpus
    learned = whole.take(np.arange(0, len(whole.labels), 2))
    judged = whole.take(np.arange(1, len(whole.labels), 2))
    both = whole.counts.toarray()[:, np.isin(whole.ids, learned.ids)]
    return learned, judged, both[0::2], both[1::2]


@ALPHAS
@pytest.mark.parametrize("kind", PEERS)
def test_log_odds_of_the_sample_mail_agree_with_scikit_learn(sample, kind, alpha):
    learned, judged, learned_counts, judged_counts = sample
    card = fit_words(learned, Choice(kind, alpha))
    for corpus, counts in ((learned, learned_counts), (judged, judged_counts)):
        expected = peer_scores(kind, alpha, learned_counts, learned.labels, counts)
        np.testing.assert_allclose(score_rows(card, corpus), expected, rtol=0, atol=1e-9)


@st.composite
def mail(draw, most=6):
    """Rows of counts of both classes, with their labels, and rows to judge."""
    messages, words = draw(st.integers(2, 7)), draw(st.integers(1, 5))
    counts = arrays(np.int64, (messages, words), elements=st.integers(0, most))
    labels = draw(st.lists(st.booleans(), min_size=messages, max_size=messages).filter(lambda found: len({*found}) > 1))
    return draw(counts), np.array(labels), draw(counts)


@ALPHAS
@pytest.mark.parametrize("kind", PEERS)
@settings(max_examples=40, deadline=None)
@given(mail())
def test_log_odds_of_any_counts_agree_with_scikit_learn(kind, alpha, found):
    rows, labels, queries = found
    expected = peer_scores(kind, alpha, rows, labels, queries)
    np.testing.assert_allclose(scores_of(kind, alpha, rows, labels, queries), expected, rtol=0, atol=1e-9)


# Poisson: scikit-learn has none


def test_poisson_by_hand():
    """Ham: 2 messages with 3 and 1 of the words. Spam: 3 messages with 1 and 6. Alpha 1."""
    rows, labels = [[2, 0], [1, 1], [0, 3], [1, 1], [0, 2]], [False, False, True, True, True]
    ham, spam = [(3 + 1) / (2 + 1), (1 + 1) / (2 + 1)], [(1 + 1) / (3 + 1), (6 + 1) / (3 + 1)]
    for message in ([0, 0], [1, 0], [0, 1], [4, 2]):
        likelihoods = [stats.poisson.logpmf(message, rates).sum() for rates in (ham, spam)]
        expected = log(3 / 2) + likelihoods[1] - likelihoods[0]
        assert scores_of("poisson", 1.0, rows, labels, [message]) == pytest.approx([expected], abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(mail(), st.floats(0.001, 10.0))
def test_poisson_of_any_counts_is_the_odds_of_its_probabilities(found, alpha):
    rows, labels, queries = found
    odds = np.full(len(queries), log(labels.sum() / (~labels).sum()))
    for sign, here in ((+1, rows[labels]), (-1, rows[~labels])):
        odds += sign * stats.poisson.logpmf(queries, (here.sum(axis=0) + alpha) / (len(here) + alpha)).sum(axis=1)
    np.testing.assert_allclose(scores_of("poisson", alpha, rows, labels, queries), odds, rtol=0, atol=1e-9)


# Estimates


@pytest.mark.parametrize(
    ("estimate", "shares"),
    [("mean", [6 / 16, 4 / 16, 3 / 16, 3 / 16]), ("map", [5 / 12, 3 / 12, 2 / 12, 2 / 12]), ("mle", [3 / 4, 1 / 4])],
)
def test_the_estimates_of_a_dirichlet_posterior_by_hand(estimate, shares):
    """Counts 3, 1, 0, 0 under Dirichlet (3, 3, 3, 3): posterior Dirichlet (6, 4, 3, 3)."""
    added = smoothing(3.0, estimate)
    found = np.exp(multinomial(np.array([3.0, 1.0, 0.0, 0.0]), np.full(4, added)).weights[0])
    assert found == pytest.approx(shares + [0.0] * (4 - len(shares)), abs=1e-15)


@pytest.mark.parametrize(("estimate", "share"), [("mean", 4 / 10), ("map", 3 / 8), ("mle", 1 / 4)])
def test_the_estimates_of_a_beta_posterior_by_hand(estimate, share):
    """A word in 1 of 4 messages under Beta (3, 3): posterior Beta (4, 6)."""
    likelihood = bernoulli(np.array([1.0]), 4, smoothing(3.0, estimate))
    assert likelihood.bias == pytest.approx(log(1 - share))
    assert likelihood.weights[0] == pytest.approx([log(share) - log(1 - share)])


@given(st.lists(st.integers(0, 30), min_size=2, max_size=6), st.floats(1.01, 20.0))
def test_mean_and_mode_are_those_of_the_dirichlet_posterior(counts, alpha):
    totals, words = np.array(counts, float), len(counts)
    posterior = stats.dirichlet(totals + alpha)
    mean, mode = (
        np.exp(multinomial(totals, np.full(words, smoothing(alpha, estimate))).weights[0])
        for estimate in ("mean", "map")
    )
    np.testing.assert_allclose(mean, posterior.mean(), rtol=1e-9)
    for j in range(words):  # no way from the mode leads up
        beside = mode * 0.99 + 0.01 * np.eye(words)[j]
        assert posterior.logpdf(beside / beside.sum()) <= posterior.logpdf(mode / mode.sum()) + 1e-9


@given(st.integers(0, 30), st.integers(0, 30), st.floats(1.01, 20.0))
def test_mean_and_mode_are_those_of_the_beta_posterior(having, lacking, alpha):
    posterior = stats.beta(having + alpha, lacking + alpha)
    mean, mode = (
        1 - np.exp(bernoulli(np.array([float(having)]), having + lacking, smoothing(alpha, estimate)).bias)
        for estimate in ("mean", "map")
    )
    assert mean == pytest.approx(posterior.mean(), abs=1e-9)
    for beside in (mode * 0.99, mode * 0.99 + 0.01):
        assert posterior.logpdf(beside) <= posterior.logpdf(mode) + 1e-9


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("estimate", ["mean", "map", "mle"])
def test_a_model_is_fitted_by_the_estimate_asked_for(kind, estimate):
    rows, labels = [[2, 0, 1], [1, 1, 0], [0, 3, 1], [1, 1, 0]], [False, False, True, True]
    alpha = None if estimate == "mle" else 3.0
    card = fit_words(corpus_of(rows, labels), Choice(kind, alpha, estimate=estimate))
    added = {"mean": 3.0, "map": 2.0, "mle": 0.0}[estimate]
    assert score_rows(card, corpus_of(rows, labels)) == pytest.approx(scores_of(kind, added, rows, labels, rows))


def test_a_prior_in_proportion_to_the_words_frequency_by_hand():
    """Ham: tea 3, milk 1. Spam: tea 1, pills 3, rum 1. Of 9 words, 4 different: alpha is 16/9, 4/9, 12/9 and 4/9."""
    rows, labels = [[3, 1, 0, 0], [1, 0, 3, 1]], [False, True]
    card = fit_words(corpus_of(rows, labels), Choice("multinomial", 1.0, prior="frequency"))
    tea = log((1 + 16 / 9) / (5 + 4)) - log((3 + 16 / 9) / (4 + 4))
    rum = log((1 + 4 / 9) / (5 + 4)) - log((0 + 4 / 9) / (4 + 4))
    queries = corpus_of([[1, 0, 0, 0], [2, 0, 0, 1]], [True, True])
    assert score_rows(card, queries) == pytest.approx([tea, 2 * tea + rum], abs=1e-12)


def test_a_prior_of_overwhelming_weight_leaves_every_word_as_frequent_as_it_is_anywhere():
    rows, labels = [[3, 1, 0, 0], [1, 0, 3, 1]], [False, True]
    card = fit_words(corpus_of(rows, labels), Choice("multinomial", 1e12, prior="frequency"))
    assert score_rows(card, corpus_of(rows, labels)) == pytest.approx([0.0, 0.0], abs=1e-9)


@given(arrays(float, st.integers(1, 8), elements=st.integers(0, 50).map(float)), st.floats(0.0, 10.0))
def test_both_priors_add_as_much_to_a_class_in_all(overall, alpha):
    assume(overall.any())
    uniform, frequency = (word_alphas(overall, alpha, prior) for prior in ("uniform", "frequency"))
    assert uniform.sum() == pytest.approx(frequency.sum())
    assert uniform.sum() == pytest.approx(alpha * len(overall))


# Categorical


@given(mail(), st.sampled_from([1.0, 0.5, 0.03]))
def test_the_label_term_of_the_categorical_model(found, v):
    """log N_y − d log (N_y + 4 v) + Σ_j log (c_j0 + v): what a message without a word gets of a class."""
    rows, labels, _ = found
    here = rows[labels]
    counted = class_counts(sparse.csr_matrix(here))
    label_term = log(len(here)) - here.shape[1] * log(len(here) + 4 * v)
    empty = sum(log((here[:, j] == 0).sum() + v) for j in range(here.shape[1]))
    assert categorical(counted.reached, counted.messages, v).bias + log(len(here)) == pytest.approx(label_term + empty)


def test_the_label_term_without_virtual_examples():
    """v = 0: −(d − 1) log N_y, beside the messages that lack each of the d words."""
    here = np.array([[0, 1, 5], [2, 0, 0], [0, 0, 3], [1, 0, 0]])
    counted = class_counts(sparse.csr_matrix(here))
    bias = categorical(counted.reached, counted.messages, 0.0).bias
    assert bias + log(4) == pytest.approx(-(3 - 1) * log(4) + log(2) + log(3) + log(2))


def test_the_categorical_model_hears_no_more_than_three_occurrences():
    rows, labels = [[1, 0], [3, 0], [0, 2], [0, 9]], [False, False, True, True]
    three, four, many = scores_of("categorical", 1.0, rows, labels, [[3, 0], [4, 0], [1000, 0]])
    two = scores_of("categorical", 1.0, rows, labels, [[2, 0]])[0]
    assert three == four == many != two


# Without smoothing


@ALL_KINDS
def test_a_word_that_a_class_has_never_shown_decides_against_all_others(kind):
    """Words: 0 in ham alone, 1 in spam alone, 2 and 3 mostly in ham, in half of the messages or fewer."""
    ham = [[1, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 1]] * 8
    spam = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]] * 8
    labels = [False] * len(ham) + [True] * len(spam)
    odds = scores_of(kind, 0.0, ham + spam, labels, [[0, 0, 1, 1], [0, 1, 1, 1], [1, 0, 0, 0]])
    assert -100 < odds[0] < 0  # the words of both classes speak for ham,
    assert odds[1] > 0.9 * -NEVER  # which is impossible with a word that ham never had;
    assert odds[2] < 0.9 * NEVER
    smoothed = scores_of(kind, 1.0, ham + spam, labels, [[0, 0, 1, 1], [0, 1, 1, 1], [1, 0, 0, 0]])
    assert abs(smoothed).max() < 100  # with smoothing it is merely unlikely


@pytest.mark.parametrize(
    ("kind", "left_over"),
    [
        ("multinomial", log(2 / 3) - log(1 / 1) + log(1 / 3) - log(1 / 1)),  # of 3 words of spam and 1 of ham
        ("bernoulli", log(2 / 4) - log(1 / 4) + log(3 / 4) - log(4 / 4)),  # the last for the word that is absent
        ("categorical", log(2 / 4) - log(1 / 4) + log(3 / 4) - log(4 / 4)),
        ("poisson", log(2 / 4) - log(1 / 4) - 3 / 4 + 1 / 4),
    ],
)
def test_words_that_either_class_has_never_shown_are_weighed_against_each_other(kind, left_over):
    """Words: 0 in ham alone, 1 in spam alone and oftener, 2 in spam alone. What was never shown is so on both sides."""
    ham = [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    spam = [[0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    labels = [False] * 4 + [True] * 4
    one_each, two_to_one = scores_of(kind, 0.0, ham + spam, labels, [[1, 1, 0], [1, 1, 1]])
    assert one_each == pytest.approx(left_over, abs=1e-6)
    assert two_to_one > 0.9 * -NEVER


@ALL_KINDS
@settings(max_examples=150, deadline=None)
@given(mail(most=3))
def test_the_score_without_smoothing_is_finite_and_its_verdict_the_limit(kind, found):
    """Alpha 1e-200 is near enough to 0: its logarithm outweighs all that these few words say otherwise."""
    rows, labels, queries = found
    assume(rows[labels].any() and rows[~labels].any())
    none, hardly = (scores_of(kind, alpha, rows, labels, queries) for alpha in (0.0, 1e-200))
    assert np.isfinite(none).all()
    balanced = abs(none) < 1e5
    np.testing.assert_allclose(none[balanced], hardly[balanced], rtol=0, atol=1e-6)
    assert (np.sign(none) == np.sign(hardly))[~balanced].all()


@ALL_KINDS
def test_less_and_less_smoothing_leads_to_none(kind):
    """One word that only ham has against one that only spam has: what is left over settles as alpha goes."""
    rows, labels = [[1, 0, 2], [0, 0, 1], [0, 2, 0], [0, 1, 1], [0, 0, 0]], [False, False, True, True, True]
    query = [[1, 1, 1]]
    limit = scores_of(kind, 0.0, rows, labels, query)[0]
    apart = [abs(scores_of(kind, alpha, rows, labels, query)[0] - limit) for alpha in (1e-2, 1e-4, 1e-6, 1e-8)]
    assert (np.diff(apart) < 1e-9).all()
    assert apart[-1] < 1e-6


def test_a_class_without_a_message_and_without_smoothing_makes_numbers_all_the_same():
    nothing = np.zeros(3)
    found = [
        multinomial(nothing, nothing), bernoulli(nothing, 0, 0.0), categorical(np.zeros((3, 3)), 0, 0.0),
        poisson(nothing, 0, 0.0),
    ]  # fmt: skip
    assert all(np.isfinite([likelihood.bias, *np.concatenate(likelihood.weights)]).all() for likelihood in found)
