"""Logistic regression on rows of unit length, fitted with L-BFGS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

RIDGE = 1e-6  # times ½|w|²; the few iterations regularise more than this does (decisions/003)
ITERATIONS = 60


def unit_rows(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Presence of each word, divided by √(number of words): 1 in length for every message."""
    lengths = np.diff(counts.indptr)
    values = np.repeat(1.0 / np.sqrt(np.maximum(lengths, 1)), lengths)
    return sparse.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)


def fit_logistic(rows: sparse.csr_matrix, labels: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    """Weights and intercept that make the labels likeliest."""
    target = np.where(labels, 1.0, -1.0)
    columns = rows.T.tocsr()

    def loss(parameters: NDArray[np.float64]) -> tuple[float, Any]:
        weights, intercept = parameters[:-1], parameters[-1]
        margin = target * (rows @ weights + intercept)
        slope = -target * expit(-margin) / len(target)
        value = np.logaddexp(0.0, -margin).mean() + 0.5 * RIDGE * weights @ weights
        return float(value), np.append(columns @ slope + RIDGE * weights, slope.sum())

    start = np.zeros(rows.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}).x
    return found[:-1], float(found[-1])


def calibration(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and intercept that turn scores into log odds (Platt); the targets stop short of certainty."""
    ham, spam = int((~labels).sum()), int(labels.sum())
    target = np.where(labels, (spam + 1.0) / (spam + 2.0), 1.0 / (ham + 2.0))

    def loss(parameters: NDArray[np.float64]) -> tuple[float, Any]:
        odds = parameters[0] * scores + parameters[1]
        error = expit(odds) - target
        value = (np.logaddexp(0.0, odds) - target * odds).mean()
        return float(value), np.array([(error * scores).mean(), error.mean()])

    slope, intercept = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS").x
    return float(slope), float(intercept)
