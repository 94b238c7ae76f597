"""Smoothing from data: leave-one-out equals real refits, and the empirical alpha is where the likelihood is highest."""

from functools import partial
from math import inf, lgamma, log, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.special import digamma
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from spamnb.models.smoothing import (
    ALPHA_FLAT,
    ALPHA_LEAST,
    ALPHA_MOST,
    auto_alpha,
    class_totals,
    digamma_rise,
    dirichlet_urns,
    empirical_alpha,
    empirical_alpha_beta,
    leave_one_out_bernoulli,
    leave_one_out_scores,
    log_marginal,
    log_marginal_beta,
)

REFITS = 200
CLASSES = pytest.mark.parametrize("classes", [2, 3])
BINARY = pytest.mark.parametrize("binary", [False, True], ids=["raw", "binary"])
ALPHAS = pytest.mark.parametrize("alpha", [1e-4, 0.5, 1.0, 10.0])
GOLDEN = 3 * (1 + sqrt(5)) / 4  # the alpha of 4 and 1 occurrences of two words, worked out below


def some_mail(classes, messages=REFITS, words=60, seed=1):
    """Counts and labels of classes of unequal size; some messages are empty, some words in one message only."""
    random = np.random.default_rng(seed)
    labels = random.choice(classes, messages, p=np.arange(1, classes + 1) / sum(range(classes + 1))).astype(np.int8)
    rates = random.gamma(0.2, 1.5, (classes, words)) + 0.02
    counts = random.poisson(rates[labels] * random.gamma(2.0, 0.5, (messages, 1)))
    counts[::50] = 0
    counts[:5, :5] += 3 * np.eye(5, dtype=int)
    counts[:, 5] = 1  # a word that every message has
    return sparse.csr_matrix(counts.astype(np.int32)), labels


def refitted(counts, labels, classes, score):
    """Each message's scores by a model that was truly fitted to the others alone."""
    dense, rows = counts.toarray(), np.arange(len(labels))
    return np.array([score(dense[rows != row], labels[rows != row], classes, dense[row]) for row in rows])


def plain_multinomial(alpha, binary):
    def score(rows, labels, classes, x):
        rows, x = (np.minimum(rows, 1), np.minimum(x, 1)) if binary else (rows, x)
        found = []
        for label in range(classes):
            n = rows[labels == label].sum(axis=0)
            p = (n + alpha) / (n.sum() + alpha * len(n))
            found.append(log((labels == label).sum()) + sum(x * np.log(p)))
        return found

    return score


def plain_bernoulli(alpha):
    def score(rows, labels, classes, x):
        found = []
        for label in range(classes):
            own = rows[labels == label] > 0
            p = (own.sum(axis=0) + alpha) / (len(own) + 2 * alpha)
            found.append(log(len(own)) + np.log(np.where(x > 0, p, 1 - p)).sum())
        return found

    return score


def by_scikit_learn(model, binary=False):
    """The same by scikit-learn, whose prior is divided by all messages."""

    def score(rows, labels, classes, x):
        rows, x = (np.minimum(rows, 1), np.minimum(x, 1)) if binary else (rows, x)
        return model.fit(rows, labels).predict_joint_log_proba(x[None, :])[0] + log(len(labels))

    return score


# Leave-one-out


@CLASSES
@BINARY
@ALPHAS
def test_leave_one_out_equals_two_hundred_refits(classes, binary, alpha):
    counts, labels = some_mail(classes)
    scores = leave_one_out_scores(counts, labels, classes, alpha, binary)
    for score in (plain_multinomial(alpha, binary), by_scikit_learn(MultinomialNB(alpha=alpha), binary)):
        np.testing.assert_allclose(scores, refitted(counts, labels, classes, score), rtol=0, atol=1e-9)


@CLASSES
@ALPHAS
def test_leave_one_out_of_bernoulli_equals_two_hundred_refits(classes, alpha):
    counts, labels = some_mail(classes)
    scores = leave_one_out_bernoulli(counts, labels, classes, alpha)
    for score in (plain_bernoulli(alpha), by_scikit_learn(BernoulliNB(alpha=alpha))):
        np.testing.assert_allclose(scores, refitted(counts, labels, classes, score), rtol=0, atol=1e-9)


TEA = sparse.csr_matrix(np.array([[2, 0], [1, 1], [0, 3]], np.int32))  # tea tea, tea milk; milk milk milk
TEA_LABELS = np.array([0, 0, 1], np.int8)


def test_leave_one_out_by_hand():
    """Without "tea tea" class 0 has tea 1, milk 1; without "tea milk" tea 2. Class 1 has milk 3, and is one message."""
    scores = leave_one_out_scores(TEA, TEA_LABELS, 2, alpha=1.0)
    assert scores[0] == pytest.approx([log(1) + 2 * log(2 / 4), log(1) + 2 * log(1 / 5)])
    assert scores[1] == pytest.approx([log(1) + log(3 / 4) + log(1 / 4), log(1) + log(1 / 5) + log(4 / 5)])
    assert scores[2] == pytest.approx([log(2) + 3 * log(2 / 6), -inf])


def test_leave_one_out_of_bernoulli_by_hand():
    """Without "tea tea" class 0 is tea and milk, in the one message left: (1 + 1) / (1 + 2) both."""
    scores = leave_one_out_bernoulli(TEA, TEA_LABELS, 2, alpha=1.0)
    assert scores[0] == pytest.approx([log(2 / 3) + log(1 / 3), log(1 / 3) + log(1 / 3)])
    assert scores[1] == pytest.approx([log(2 / 3) + log(1 / 3), log(1 / 3) + log(2 / 3)])
    assert scores[2] == pytest.approx([log(2) + log(1 / 4) + log(2 / 4), -inf])  # 2 of 2 have tea, 1 of 2 milk


SCORERS = pytest.mark.parametrize("scores_of", [leave_one_out_scores, leave_one_out_bernoulli])


@SCORERS
@given(
    counts=arrays(np.int32, st.tuples(st.integers(1, 9), st.integers(0, 5)), elements=st.integers(0, 4)),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_order_of_messages_does_not_matter(scores_of, counts, seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, len(counts)).astype(np.int8)
    order = random.permutation(len(labels))
    scores = scores_of(sparse.csr_matrix(counts), labels, 3, 0.7)
    np.testing.assert_array_equal(scores_of(sparse.csr_matrix(counts[order]), labels[order], 3, 0.7), scores[order])
    alone = np.bincount(labels, minlength=3)[labels] == 1
    assert np.isneginf(scores[np.arange(len(labels)), labels]).tolist() == alone.tolist()


@SCORERS
def test_a_zero_that_the_matrix_stores_is_no_word(scores_of):
    counts, labels = some_mail(2)
    stored = counts.copy()
    stored.data[::3] = 0
    dropped = stored.copy()
    dropped.eliminate_zeros()
    np.testing.assert_allclose(scores_of(stored, labels, 2, 1.0), scores_of(dropped, labels, 2, 1.0), rtol=1e-12)


@SCORERS
def test_messages_without_words_are_judged_by_the_prior(scores_of):
    scores = scores_of(sparse.csr_matrix((5, 0), dtype=np.int32), np.array([0, 0, 0, 1, 1], np.int8), 2, 1.0)
    assert scores == pytest.approx(np.log([[2, 2], [2, 2], [2, 2], [3, 1], [3, 1]]))


# The alpha of fewest errors


KINDS = pytest.mark.parametrize(
    ("kind", "binary", "scores_of"),
    [
        ("multinomial", False, leave_one_out_scores),
        ("multinomial", True, lambda *given: leave_one_out_scores(*given, binary=True)),
        ("bernoulli", False, leave_one_out_bernoulli),
    ],
)


def hard_mail():
    """Two classes that differ little: no alpha gets all messages right."""
    random = np.random.default_rng(8)
    labels = (np.arange(300) % 3 == 0).astype(np.int8)
    rates = random.gamma(0.1, 1.0, 400)
    rates = np.stack([rates, rates * np.exp(random.normal(0, 0.4, 400))])
    return sparse.csr_matrix(random.poisson(rates[labels]).astype(np.int32)), labels


@KINDS
def test_auto_picks_the_fewest_errors_then_the_lowest_loss(kind, binary, scores_of):
    counts, labels = hard_mail()
    tuned = auto_alpha(counts, labels, 2, binary, kind)
    assert len({errors for _, errors, _ in tuned.tried}) > 3
    assert [alpha for alpha, _, _ in tuned.tried] == sorted({alpha for alpha, _, _ in tuned.tried})
    for alpha, errors, loss in tuned.tried:
        scores = scores_of(counts, labels, 2, alpha)
        margin = scores[:, 1] - scores[:, 0]
        assert errors == ((margin > 0) != labels).sum()
        assert loss == pytest.approx(np.log1p(np.exp(np.where(labels, -margin, margin))).mean())
    best = {(errors, loss) for alpha, errors, loss in tuned.tried if alpha == tuned.alpha}
    assert best == {min((errors, loss) for _, errors, loss in tuned.tried)}


@KINDS
def test_auto_tries_the_whole_range_and_closely_about_the_best_of_it(kind, binary, scores_of):
    tried = [alpha for alpha, _, _ in auto_alpha(*hard_mail(), 2, binary, kind).tried]
    assert (min(tried), max(tried)) == (1e-4, 10.0)
    assert 25 <= len(tried) <= 29
    assert max(np.diff(np.log10(tried))) <= 0.2501
    assert min(np.diff(np.log10(tried))) == pytest.approx(0.05)


def test_of_alphas_alike_in_all_the_largest_is_taken():
    tuned = auto_alpha(sparse.csr_matrix((4, 0), dtype=np.int32), np.array([0, 0, 0, 1], np.int8), 2)
    assert tuned.alpha == 10.0
    assert all((errors, loss) == (1, pytest.approx(log(3 / 2))) for _, errors, loss in tuned.tried)


def test_a_message_alone_in_its_class_is_an_error_that_leaves_the_loss_finite():
    tuned = auto_alpha(TEA, TEA_LABELS, 2)
    assert all(errors >= 1 and 0 < loss < inf for _, errors, loss in tuned.tried)


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
def test_no_messages_are_no_errors(kind):
    tuned = auto_alpha(sparse.csr_matrix((0, 3), dtype=np.int32), np.zeros(0, np.int8), 2, kind=kind)
    assert {(errors, loss) for _, errors, loss in tuned.tried} == {(0, 0.0)}


# The alpha of the highest marginal likelihood


TOTALS = arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(0, 8)), elements=st.integers(0, 300))


@st.composite
def presences(draw):
    messages = draw(arrays(np.int64, st.integers(1, 3), elements=st.integers(0, 60)))
    shares = draw(arrays(np.float64, (len(messages), draw(st.integers(0, 6))), elements=st.floats(0, 1)))
    return np.rint(shares * messages[:, None]).astype(np.int64), messages


@given(TOTALS, st.floats(1e-3, 50))
def test_the_marginal_likelihood_is_its_definition(totals, alpha):
    assume(totals.shape[1])
    expected = 0.0
    for row in totals.tolist():
        expected += lgamma(alpha * len(row)) - lgamma(sum(row) + alpha * len(row))
        expected += sum(lgamma(n + alpha) - lgamma(alpha) for n in row)
    assert log_marginal(totals, alpha) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(presences(), st.floats(1e-3, 50))
def test_the_marginal_likelihood_of_presence_is_its_definition(given_mail, alpha):
    present, messages = given_mail
    expected = 0.0
    for row, m in zip(present.tolist(), messages.tolist(), strict=True):
        for n in row:
            expected += lgamma(n + alpha) + lgamma(m - n + alpha) - lgamma(m + 2 * alpha)
            expected -= 2 * lgamma(alpha) - lgamma(2 * alpha)
    assert log_marginal_beta(present, messages, alpha) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_marginal_likelihood_by_hand():
    """tea tea milk, alpha 1: 1/2 · 2/3 · 1/4 in any order; tea in 2 of 3 messages: the same."""
    assert log_marginal(np.array([[2, 1]]), 1.0) == pytest.approx(log(1 / 12))
    assert log_marginal_beta(np.array([[2]]), np.array([3]), 1.0) == pytest.approx(log(1 / 12))


def test_the_empirical_alpha_by_hand():
    """4 and 1 of two words: p = α (α + 3) / (8 (2α + 1) (2α + 3)), whose slope is 0 where 4α² − 6α − 9 is."""
    assert empirical_alpha(np.array([[4, 1]])) == pytest.approx(GOLDEN, rel=1e-12)
    assert empirical_alpha_beta(np.array([[4]]), np.array([5])) == pytest.approx(GOLDEN, rel=1e-12)
    assert log_marginal(np.array([[4, 1]]), 2.0) == pytest.approx(log(2 * 5 / (8 * 5 * 7)))


def drawn(alpha, classes, words, occurrences, seed=6):
    random = np.random.default_rng(seed)
    rates = random.dirichlet(np.full(words, alpha), classes)
    return np.array([random.multinomial(occurrences, rate) for rate in rates])


@pytest.mark.parametrize("alpha", [0.003, 0.05, 1.0, 20.0])
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_the_empirical_alpha_is_at_the_maximum(alpha, classes):
    totals = drawn(alpha, classes, words=3000, occurrences=200_000)
    found = empirical_alpha(totals)
    assert found == pytest.approx(alpha, rel=0.2)  # and is the alpha that the rates were drawn with
    check_maximum(partial(log_marginal, totals), partial(slope, totals), found)


@pytest.mark.parametrize("alpha", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_the_empirical_alpha_of_presence_is_at_the_maximum(alpha, classes):
    random = np.random.default_rng(6)
    messages = np.arange(1, classes + 1) * 300
    present = random.binomial(messages[:, None], random.beta(alpha, alpha, (classes, 1000)))
    found = empirical_alpha_beta(present, messages)
    assert found == pytest.approx(alpha, rel=0.2)
    urns = np.stack([present, messages[:, None] - present], axis=-1).reshape(-1, 2)  # a word of a class: a table of 2
    check_maximum(partial(log_marginal_beta, present, messages), partial(slope, urns), found)


def check_maximum(likelihood, growth, found):
    """Nothing on a grid is higher, and the likelihood rises until just before and falls from just after."""
    highest = likelihood(found)
    assert all(likelihood(alpha) <= highest for alpha in np.geomspace(1e-5, 1e3, 400))
    assert growth(found * (1 - 1e-9)) > 0 > growth(found * (1 + 1e-9))


def slope(totals, alpha):
    """d log_marginal / d alpha, term by term."""
    words, sizes = totals.shape[1], totals.sum(axis=1)
    of_words = (digamma(totals + alpha) - digamma(alpha)).sum()
    return of_words - words * (digamma(sizes + words * alpha) - digamma(words * alpha)).sum()


@given(TOTALS)
@settings(deadline=None)
def test_no_alpha_is_likelier_than_the_empirical_one(totals):
    found = empirical_alpha(totals)
    assert ALPHA_LEAST <= found <= ALPHA_MOST
    assume(found not in (ALPHA_LEAST, ALPHA_FLAT, ALPHA_MOST))
    highest = log_marginal(totals, found)
    assert all(log_marginal(totals, alpha) <= highest + 1e-7 for alpha in np.geomspace(ALPHA_LEAST, ALPHA_MOST, 60))
    assert fixed_point(totals, found) == pytest.approx(found, rel=1e-9)


def fixed_point(totals, alpha):
    """One step of Minka's: α Σ (ψ(n + α) − ψ(α)) / (V Σ (ψ(N + αV) − ψ(αV)))."""
    words = totals.shape[1]
    up = (digamma(totals + alpha) - digamma(alpha)).sum()
    return alpha * up / (words * (digamma(totals.sum(axis=1) + alpha * words) - digamma(alpha * words)).sum())


def test_minkas_steps_lead_to_the_empirical_alpha():
    totals, alpha = drawn(0.3, 2, 500, 20_000), 1.0
    for _ in range(400):
        alpha = fixed_point(totals, alpha)
    assert empirical_alpha(totals) == pytest.approx(alpha, rel=1e-10)


@given(presences())
@settings(deadline=None)
def test_presence_and_absence_have_the_same_alpha(given_mail):
    present, messages = given_mail
    absent = messages[:, None] - present
    assert empirical_alpha_beta(present, messages) == pytest.approx(empirical_alpha_beta(absent, messages), rel=1e-9)


@given(TOTALS, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_words_does_not_matter(totals, chance):
    order = chance.sample(range(totals.shape[1]), totals.shape[1])
    assert empirical_alpha(totals[:, order]) == empirical_alpha(totals)


@pytest.mark.parametrize(
    ("totals", "alpha"),
    [
        (np.zeros((2, 0)), ALPHA_FLAT),  # no dictionary
        (np.zeros((2, 5)), ALPHA_FLAT),  # no words
        (np.array([[7], [9]]), ALPHA_FLAT),  # one word in the dictionary: it is certain
        (np.array([[0, 1], [1, 0]]), ALPHA_FLAT),  # one occurrence a class: 1 / V whatever alpha is
        (np.array([[7, 0], [0, 9]]), ALPHA_LEAST),  # a class knows one word only
        (np.array([[7, 7, 7], [5, 5, 5]]), ALPHA_MOST),  # words all alike
        (np.array([[1, 1, 1, 0]]), ALPHA_MOST),  # no word twice
        (np.array([[3, 1]]), ALPHA_MOST),  # just as uneven as chance: χ² = its degrees of freedom
    ],
)
def test_the_ends_of_the_empirical_alpha(totals, alpha):
    assert empirical_alpha(totals) == alpha


@pytest.mark.parametrize(
    ("present", "messages", "alpha"),
    [
        (np.zeros((2, 0)), [3, 4], ALPHA_FLAT),
        (np.zeros((2, 3)), [0, 0], ALPHA_FLAT),
        (np.array([[1, 0], [1, 1]]), [1, 1], ALPHA_FLAT),
        (np.array([[5, 0], [0, 9]]), [5, 9], ALPHA_LEAST),  # a word is in all of a class or in none
        (np.array([[5, 5], [5, 5]]), [10, 10], ALPHA_MOST),
    ],
)
def test_the_ends_of_the_empirical_alpha_of_presence(present, messages, alpha):
    assert empirical_alpha_beta(present, np.array(messages)) == alpha


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.int32, np.float64])
def test_totals_may_be_numbers_of_any_kind(kind):
    totals = np.array([[200, 100, 5], [0, 250, 30]])
    assert empirical_alpha(totals.astype(kind)) == empirical_alpha(totals)
    assert log_marginal(totals.astype(kind), 0.5) == log_marginal(totals, 0.5)


@given(st.floats(1e-6, 1e10), st.integers(1, 2000))
def test_the_rise_of_digamma_is_a_sum_of_reciprocals(z, n):
    """ψ(z + n) − ψ(z) = Σ_{i < n} 1 / (z + i), also where both are so large that their difference is lost."""
    assert digamma_rise(z, np.array([float(n)])) == pytest.approx((1 / (z + np.arange(n))).sum(), rel=1e-12, abs=0)


def test_equal_totals_are_counted_once():
    totals = np.random.default_rng(2).poisson(1.0, (2, 1_000_000))
    urns = dirichlet_urns(totals)
    assert urns.counts.tolist() == np.unique(totals[totals > 0]).tolist()
    assert urns.counts @ urns.times == totals.sum()


@pytest.mark.parametrize(("uneven", "highest"), [(6, ALPHA_MOST), (8, 0.160911)])
def test_of_several_peaks_the_highest_is_taken(uneven, highest):
    """Classes of one word pull towards 0, a large class of equal words towards infinity; between them is a valley."""
    totals = np.array([[2, 0]] * uneven + [[100, 100]])
    likelihood = np.array([log_marginal(totals, alpha) for alpha in np.geomspace(ALPHA_LEAST, ALPHA_MOST, 300)])
    rising = np.diff(likelihood) > 0
    assert (rising[:-1] & ~rising[1:]).sum() == 1  # a peak within,
    assert rising[-1]  # and another at the end
    assert empirical_alpha(totals) == pytest.approx(highest, rel=1e-5)
    assert log_marginal(totals, empirical_alpha(totals)) >= likelihood.max()


def test_class_totals_are_sums_of_the_rows():
    counts, labels = some_mail(3)
    for binary, dense in ((False, counts.toarray()), (True, counts.toarray() > 0)):
        expected = [dense[labels == label].sum(axis=0) for label in range(4)]  # the fourth class has no messages
        np.testing.assert_array_equal(class_totals(counts, labels, 4, binary), expected)
