"""Naive Bayes on measures instead of words: in each class every measure is normally distributed.

    log N(m; μ, σ²) = −(m − μ)² / 2σ² − ½ log 2πσ² = a m² + b m + c

The variances come in four forms, by what shares one:

    each        σ²_yf = Σ_{i in y} (m_if − μ_yf)² / (n_y − 1)                 a class's own, for each measure
    features    σ²_f  = Σ_y Σ_{i in y} (m_if − μ_yf)² / (n − K)               shared between the classes: a linear model
    classes     σ²_y  = Σ_f Σ_{i in y} (m_if − μ_yf)² / F (n_y − 1)           shared between the measures
    one         σ²    = Σ_f Σ_y Σ_{i in y} (m_if − μ_yf)² / F (n − K)         one for all: the nearest mean wins

Maximum likelihood divides by n_y, n, F n_y and F n instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measuring import LONG_TAILED
from ..tokens import MEASURES

VARIANCES = ("each", "features", "classes", "one")
FLOOR = 0.1  # of a measure's variance over all mail; 1e-9: from 50 messages, 27 % judged wrongly instead of 22 %
ROUNDING = 1e-12  # of that variance; what is less comes of rounding and counts as 0

Floats = NDArray[np.float64]


def scaled(measures: NDArray[Any]) -> Floats:
    """measuring.scaled_measures for many messages, a row each."""
    found = np.array(measures, np.float64)
    tailed = [name in LONG_TAILED for name in MEASURES]
    found[:, tailed] = np.log1p(found[:, tailed])
    return found


def gaussian_parameters(
    measures: Floats, labels: NDArray[np.int8], classes: int, variance: str = "features", unbiased: bool = True
) -> tuple[Floats, Floats]:
    """Means and variances, both classes × measures; every class has a message or more."""
    of_class = np.eye(classes)[:, labels]  # classes × messages
    messages = of_class.sum(axis=1, keepdims=True)
    means = of_class @ measures / messages
    squares = of_class @ (measures - means[labels]) ** 2
    degrees = np.broadcast_to(messages - unbiased, squares.shape)  # a mean that is estimated takes one of them
    over = {"each": (), "features": (0,), "classes": (1,), "one": (0, 1)}[variance]
    total, divisor = (array.sum(axis=over, keepdims=True) for array in (squares, degrees))
    return means, floored(total / np.maximum(divisor, 1.0), np.broadcast_to(divisor > 0, squares.shape), measures)


def floored(variances: Floats, known: NDArray[np.bool_], measures: Floats) -> Floats:
    """Variances a measure can be judged by, also where a class has none of its own.

    0 becomes FLOOR of the variance over all mail: a class that has shown no image yet may get one. What is not known,
    for want of a second message, is taken to be as over all mail. A measure that never varied gets the same in every
    class, and tells nothing. What varies is left as it is, so that the formulas hold.
    """
    overall = np.where(np.ptp(measures, axis=0) > 0.0, measures.var(axis=0), 1.0)
    return np.where(known, np.where(variances > ROUNDING * overall, variances, FLOOR * overall), overall)


def log_quadratic(means: Floats, variances: Floats) -> Floats:
    """(a, b, c) for each class and measure, with log N(m; μ, σ²) = a m² + b m + c."""
    a = -0.5 / variances
    b = means / variances
    c = -0.5 * (means**2 / variances + np.log(2.0 * np.pi * variances))
    return np.stack([a, b, c], axis=-1)


def log_densities(measures: Floats, quadratic: Floats) -> Floats:
    """Σ_f log N(m_f; μ_yf, σ²_yf) for each message and class."""
    a, b, c = np.moveaxis(quadratic, -1, 0)
    return np.asarray(measures**2 @ a.T + measures @ b.T + c.sum(axis=1))
