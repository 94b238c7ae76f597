"""Logistic regression on rows of unit length, fitted with L-BFGS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from ..corpus import columns_of

RIDGE = 1e-6  # times ½|w|²; the few iterations regularise more than this does (decisions/003)
ITERATIONS = 30  # 60: the same accuracy, in twice the time (decisions/003)
LEAST_SLOPE = 0.01  # on little mail chance can rank the held-out spam below the ham; the model must not turn round


def unit_rows(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Presence of each word, divided by √(number of words): 1 in length for every message."""
    lengths = np.diff(counts.indptr)
    values = np.repeat(1.0 / np.sqrt(np.maximum(lengths, 1)), lengths)
    return sparse.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)


def fit_logistic(rows: sparse.csr_matrix, labels: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    """Weights and intercept that make the labels likeliest."""
    from scipy.optimize import minimize  # a tenth of a second that the textbook's model need not wait for

    start = np.zeros(rows.shape[1] + 1)
    data = rows, rows.T.tocsr(), np.where(labels, 1.0, -1.0)
    found = minimize(logistic_loss, start, data, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}).x
    return found[:-1], float(found[-1])


def logistic_loss(
    parameters: NDArray[np.float64], rows: sparse.csr_matrix, columns: sparse.csr_matrix, target: NDArray[np.float64]
) -> tuple[float, Any]:
    """How unlikely weights and intercept make the targets of ±1, and its gradient; columns are the rows transposed."""
    weights, intercept = parameters[:-1], parameters[-1]
    margin = target * (rows @ weights + intercept)
    slope = -target * expit(-margin) / len(target)
    value = np.logaddexp(0.0, -margin).mean() + 0.5 * RIDGE * weights @ weights
    return float(value), np.append(columns @ slope + RIDGE * weights, slope.sum())


def logistic_weights(counts: sparse.csr_matrix, labels: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    """Weights of the words that stand in two messages or more; a word seen once only names its message."""
    repeated = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) > 1)
    weights, intercept = np.full(counts.shape[1], np.nan), 0.0
    if len(repeated) and labels.any() and not labels.all():
        weights[repeated], intercept = fit_logistic(unit_rows(columns_of(counts, repeated)), labels)
    return weights, intercept


def calibration(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and intercept that turn scores into log odds (Platt); the targets stop short of certainty."""
    from scipy.optimize import minimize

    ham, spam = int((~labels).sum()), int(labels.sum())
    target = np.where(labels, (spam + 1.0) / (spam + 2.0), 1.0 / (ham + 2.0))

    def loss(parameters: NDArray[np.float64]) -> tuple[float, Any]:
        odds = parameters[0] * scores + parameters[1]
        error = expit(odds) - target
        value = (np.logaddexp(0.0, odds) - target * odds).mean()
        return float(value), np.array([(error * scores).mean(), error.mean()])

    bounds = ((LEAST_SLOPE, None), (None, None))
    exact = {"ftol": 1e-12, "gtol": 1e-8}
    slope, intercept = minimize(loss, np.array([1.0, 0.0]), jac=True, bounds=bounds, options=exact).x
    return float(slope), float(intercept)
