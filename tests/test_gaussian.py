"""Gaussian naive Bayes on measures: against scikit-learn, and against examples worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.naive_bayes import GaussianNB

from spamnb.measuring import scaled_measures
from spamnb.models.gaussian import (
    FLOOR,
    VARIANCES,
    gaussian_parameters,
    log_densities,
    log_quadratic,
    scaled,
)
from spamnb.tokens import MEASURES

# Two measures; three messages of class 0, two of class 1. Means (2, 20) and (5, 40).
MEASURED = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 30.0], [6.0, 50.0]])
LABELS = np.array([0, 0, 0, 1, 1], np.int8)
MEANS = [[2.0, 20.0], [5.0, 40.0]]
# Squared distances from the means: (2, 200) over 3 messages, (2, 200) over 2.


@pytest.mark.parametrize(
    ("variance", "unbiased", "expected"),
    [
        ("each", True, [[2 / 2, 200 / 2], [2 / 1, 200 / 1]]),
        ("each", False, [[2 / 3, 200 / 3], [2 / 2, 200 / 2]]),
        ("features", True, [[4 / 3, 400 / 3]] * 2),  # 5 messages, 2 means
        ("features", False, [[4 / 5, 400 / 5]] * 2),
        ("classes", True, [[202 / 4] * 2, [202 / 2] * 2]),  # 6 numbers, 2 means; 4 numbers, 2 means
        ("classes", False, [[202 / 6] * 2, [202 / 4] * 2]),
        ("one", True, [[404 / 6] * 2] * 2),  # 10 numbers, 4 means
        ("one", False, [[404 / 10] * 2] * 2),
    ],
)
def test_the_four_forms_worked_by_hand(variance, unbiased, expected):
    means, variances = gaussian_parameters(MEASURED, LABELS, 2, variance, unbiased)
    np.testing.assert_allclose(means, MEANS, rtol=1e-14)
    np.testing.assert_allclose(variances, expected, rtol=1e-14)


@pytest.mark.parametrize("classes", [2, 4])
def test_log_odds_are_those_of_scikit_learn(classes):
    random = np.random.default_rng(classes)
    labels = np.arange(400).astype(np.int8) % classes
    measures = random.normal(labels[:, None] * [0.5, -1.0, 2.0], [1.0, 3.0, 0.2], (400, 3)) + 5.0
    unseen = random.normal(3.0, 5.0, (50, 3))
    theirs = GaussianNB(var_smoothing=0.0).fit(measures, labels).predict_joint_log_proba(unseen)
    ours = log_densities(unseen, log_quadratic(*gaussian_parameters(measures, labels, classes, "each", unbiased=False)))
    ours += np.log(np.bincount(labels) / len(labels))
    np.testing.assert_allclose(ours - ours[:, :1], theirs - theirs[:, :1], rtol=1e-9, atol=1e-9)


def test_log_odds_on_mail_are_those_of_scikit_learn(corpus):
    varied = np.ptp(corpus.measures, axis=0) > 0
    labels = corpus.labels.astype(np.int8)
    measures = scaled(corpus.measures)[:, varied]
    means, variances = gaussian_parameters(measures, labels, 2, "each", unbiased=False)
    inner = (np.ptp(measures[labels == 0], axis=0) > 0) & (np.ptp(measures[labels == 1], axis=0) > 0)
    assert inner.sum() >= 3  # scikit-learn has no floor
    theirs = GaussianNB(var_smoothing=0.0).fit(measures[:, inner], labels)
    theirs = theirs.predict_joint_log_proba(measures[:, inner]) - np.log(np.bincount(labels) / len(labels))
    ours = log_densities(measures[:, inner], log_quadratic(means[:, inner], variances[:, inner]))
    np.testing.assert_allclose(ours[:, 1] - ours[:, 0], theirs[:, 1] - theirs[:, 0], rtol=1e-9, atol=1e-9)


@given(
    m=st.floats(-100, 100),
    mean=st.floats(-100, 100),
    deviation=st.floats(0.1, 100),
)
def test_the_quadratic_is_the_logarithm_of_the_density(m, mean, deviation):
    a, b, c = log_quadratic(np.array([[mean]]), np.array([[deviation**2]]))[0, 0]
    assert a * m * m + b * m + c == pytest.approx(norm.logpdf(m, mean, deviation), rel=1e-9, abs=1e-8)


def test_shared_variances_make_the_log_odds_linear():
    quadratic = log_quadratic(*gaussian_parameters(MEASURED, LABELS, 2, "features"))
    np.testing.assert_array_equal(quadratic[1, :, 0] - quadratic[0, :, 0], 0.0)


# What has no variance


def test_a_measure_without_variance_in_one_class_gets_a_share_of_the_overall_variance():
    measures = np.array([[0.0], [0.0], [0.0], [4.0], [8.0]])
    _, variances = gaussian_parameters(measures, LABELS, 2, "each")
    np.testing.assert_allclose(variances, [[FLOOR * measures.var()], [8.0]], rtol=1e-14)


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("unbiased", [True, False])
def test_a_measure_that_never_varies_tells_nothing(variance, unbiased):
    # five times log 7, divided by five, is not quite log 7: the variance computed of it is not quite 0
    constant = np.column_stack([MEASURED, np.full(5, np.log(7.0))])
    densities = log_densities(constant, log_quadratic(*gaussian_parameters(constant, LABELS, 2, variance, unbiased)))
    assert np.isfinite(densities).all()
    if variance in ("each", "features"):
        without = log_densities(MEASURED, log_quadratic(*gaussian_parameters(MEASURED, LABELS, 2, variance, unbiased)))
        np.testing.assert_allclose(densities[:, 1] - densities[:, 0], without[:, 1] - without[:, 0], rtol=1e-9)


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("unbiased", [True, False])
def test_a_class_with_one_message_has_a_variance(variance, unbiased):
    labels = np.array([0, 0, 0, 0, 1], np.int8)
    means, variances = gaussian_parameters(MEASURED, labels, 2, variance, unbiased)
    np.testing.assert_array_equal(means[1], MEASURED[4])
    assert (variances > 0).all()
    densities = log_densities(MEASURED, log_quadratic(means, variances))
    assert densities[4, 1] > densities[4, 0]
    assert densities[0, 0] > densities[0, 1]


def test_one_message_of_a_class_is_taken_to_spread_as_all_mail_does():
    _, variances = gaussian_parameters(MEASURED, np.array([0, 0, 0, 0, 1], np.int8), 2, "each")
    np.testing.assert_allclose(variances[1], MEASURED.var(axis=0), rtol=1e-14)


@pytest.mark.parametrize("variance", VARIANCES)
def test_one_message_of_each_class_is_enough(variance):
    measures = MEASURED[[0, 4]]
    densities = log_densities(
        measures, log_quadratic(*gaussian_parameters(measures, np.array([0, 1], np.int8), 2, variance))
    )
    assert densities[0, 0] > densities[0, 1]
    assert densities[1, 1] > densities[1, 0]


def test_the_order_of_messages_does_not_matter():
    order = np.array([3, 0, 4, 2, 1])
    for variance in VARIANCES:
        for one, other in zip(
            gaussian_parameters(MEASURED, LABELS, 2, variance),
            gaussian_parameters(MEASURED[order], LABELS[order], 2, variance),
            strict=True,
        ):
            np.testing.assert_allclose(one, other, rtol=1e-14)


# The scale


@given(st.lists(st.floats(0, 1e7), min_size=len(MEASURES), max_size=len(MEASURES)))
def test_one_message_is_scaled_as_many_are(measures):
    np.testing.assert_allclose(scaled(np.array([measures]))[0], scaled_measures(measures), rtol=1e-15)


def test_tails_are_drawn_in_and_the_rest_is_left_as_it_is():
    found = dict(zip(MEASURES, scaled_measures([999.0, 0.0, 12.5, 3.0, 9.0, 0.0, 1.0, 2.0, -1.0]), strict=True))
    assert found["size"] == pytest.approx(np.log(1000.0))
    assert (found["words"], found["capitals"], found["digits"], found["hour"]) == (0.0, 12.5, 3.0, -1.0)
    assert found["links"] == pytest.approx(np.log(10.0))
