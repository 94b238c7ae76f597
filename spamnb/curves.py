"""What a picture shows, as numbers: ROC, losses against c, a histogram of scores, reliability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .evaluation import Outcome, Trial
from .laboratory import LearningCurves, best
from .projecting import Projected

Array = NDArray[Any]
LOG_C = (-3.0, 9.0)  # the range of c in pictures, as powers of ten
BINS = 24
TENTHS = 10


@dataclass(frozen=True)
class Findings:
    """What a run has to show: models on the same mail, and perhaps their learning curves."""

    trials: Sequence[Trial]
    curves: LearningCurves | None = None
    projected: Projected | None = None

    @property
    def best(self) -> Trial:
        return best(self.trials)


def roc(outcome: Outcome) -> tuple[Array, Array]:
    """Ham lost and spam missed in percent at every threshold, from the lowest up."""
    return losses(outcome, np.append(-np.inf, np.unique(outcome.scores)))


def losses(outcome: Outcome, cutoffs: Array) -> tuple[Array, Array]:
    """Ham lost and spam missed in percent where spam scores above each cutoff."""
    ham, spam = np.sort(outcome.scores[~outcome.labels]), np.sort(outcome.scores[outcome.labels])
    lost = len(ham) - np.searchsorted(ham, cutoffs, side="right")
    missed = np.searchsorted(spam, cutoffs, side="right")
    return 100.0 * lost / len(ham), 100.0 * missed / len(spam)


def histogram(outcome: Outcome, bins: int = BINS) -> tuple[Array, Array, Array]:
    """Edges, and the messages of ham and of spam between them; the outermost bins hold all beyond as well.

    One message in fifty may lie beyond on either side: scores of long messages would squeeze all others together.
    """
    low, high = np.quantile(outcome.scores, [0.02, 0.98])
    edges = np.linspace(low, high, bins + 1) if high > low else np.linspace(low - 1, low + 1, bins + 1)
    within = np.clip(outcome.scores, edges[0], edges[-1])
    ham, spam = (np.histogram(within[which], edges)[0] for which in (~outcome.labels, outcome.labels))
    return edges, ham, spam


def reliability(outcome: Outcome) -> tuple[Array, Array, Array]:
    """For each tenth of the probability that has messages: its mean, the share of spam (percent), and how many."""
    probability = expit(outcome.scores)
    tenth = np.minimum((probability * TENTHS).astype(np.intp), TENTHS - 1)
    messages = np.bincount(tenth, minlength=TENTHS)
    held = messages > 0
    mean = np.bincount(tenth, probability, minlength=TENTHS)[held] / messages[held]
    spam = np.bincount(tenth, outcome.labels, minlength=TENTHS)[held] / messages[held]
    return 100.0 * mean, 100.0 * spam, messages[held]
