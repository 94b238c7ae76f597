"""How well a model judges: folds, mail of known class, figures, a sweep over the threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, floor, log, log10
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus
from .errors import BadData
from .models import Choice, fit, score_rows
from .models.nearest import score_texts
from .protocols import Plan, planned
from .scorecard import SPAM, UNSURE, Scorecard, Verdict

SWEEP = (0.1, 1.0, 3.0, 9.0, 19.0, 99.0, 999.0, 1e4, 1e6, 1e9)
LARGEST_C = 1e300
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """Scores of messages of known class, and the model's own decisions on them."""

    labels: NDArray[np.bool_]  # True for spam
    scores: NDArray[np.float64]
    called_spam: NDArray[np.bool_]
    unsure: NDArray[np.bool_]

    def at(self, c: float) -> Outcome:
        """The decisions at another threshold: spam iff score > log c, nothing unsure."""
        return Outcome(self.labels, self.scores, self.scores > log(c), np.zeros(len(self.labels), bool))


@dataclass(frozen=True)
class Trial:
    """What one model made of the mail, and how long it took to fit and to judge."""

    kind: str
    outcome: Outcome
    seconds: float

    def at(self, c: float | None) -> Trial:
        """The same, decided at another threshold if there is one."""
        return self if c is None else Trial(self.kind, self.outcome.at(c), self.seconds)


@dataclass(frozen=True)
class Figures:
    """What a user wants to know of an outcome. Rates are in percent; in them, unsure counts as ham."""

    ham: int
    ham_as_ham: int
    ham_unsure: int
    ham_lost: int
    spam: int
    spam_as_spam: int
    spam_unsure: int
    spam_missed: int  # called ham outright
    ham_lost_percent: float
    spam_missed_percent: float
    error_percent: float
    one_minus_auc_percent: float


def figures(outcome: Outcome) -> Figures:
    """Count the decisions."""
    spam, called, unsure = outcome.labels, outcome.called_spam, outcome.unsure
    ham_lost, caught = int((called & ~spam).sum()), int((called & spam).sum())
    hams, spams = int((~spam).sum()), int(spam.sum())
    ham_unsure, spam_unsure = int((unsure & ~spam).sum()), int((unsure & spam).sum())
    return Figures(
        ham=hams,
        ham_as_ham=hams - ham_lost - ham_unsure,
        ham_unsure=ham_unsure,
        ham_lost=ham_lost,
        spam=spams,
        spam_as_spam=caught,
        spam_unsure=spam_unsure,
        spam_missed=spams - caught - spam_unsure,
        ham_lost_percent=100.0 * ham_lost / hams,
        spam_missed_percent=100.0 * (spams - caught) / spams,
        error_percent=100.0 * (ham_lost + spams - caught) / len(spam),
        one_minus_auc_percent=100.0 * one_minus_auc(spam, outcome.scores),
    )


def one_minus_auc(labels: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """The share of pairs of a ham and a spam in which the ham scores higher; ties count half."""
    spam = np.sort(scores[labels])
    below = np.searchsorted(spam, scores[~labels], side="left")  # spam that scores lower than each ham
    level = np.searchsorted(spam, scores[~labels], side="right") - below
    return float((below + level / 2).mean() / len(spam))


def cross_validate(
    corpus: Corpus, choice: Choice, folds: int, seed: int = 0, progress: Progress = lambda done, total: None
) -> Outcome:
    """Every message judged by a model that was fitted without its fold."""
    [trial] = trials(corpus, [choice], planned(corpus, "folds", folds, seed), progress)
    return trial.outcome


def trials(
    corpus: Corpus, choices: Sequence[Choice], plan: Plan, progress: Progress = lambda done, total: None
) -> list[Trial]:
    """The same messages judged by each model, fitted to the same mail; what the plan leaves out is judged by none."""
    shape = len(choices), len(corpus.labels)
    scores, called, unsure = np.zeros(shape), np.zeros(shape, bool), np.zeros(shape, bool)
    seconds, judged_rows = [0.0] * len(choices), np.zeros(shape[1], bool)
    for done, (train, test) in enumerate(plan.splits):
        rows = corpus.take(test)
        judged_rows[test] = True
        for place, choice in enumerate(choices):
            began = perf_counter()
            card, scores[place, test] = judged_by(train, rows, choice)
            seconds[place] += perf_counter() - began
            called[place, test], unsure[place, test] = decisions(card, scores[place, test])
            progress(done * len(choices) + place + 1, plan.number * len(choices))
    spam = (corpus.labels == 1)[judged_rows]
    found = zip(scores[:, judged_rows], called[:, judged_rows], unsure[:, judged_rows], strict=True)
    outcomes = [Outcome(spam, *each) for each in found]
    return [Trial(choice.kind, outcome, took) for choice, outcome, took in zip(choices, outcomes, seconds, strict=True)]


def judged_by(train: Corpus, rows: Corpus, choice: Choice) -> tuple[Scorecard, NDArray[np.float64]]:
    """A model of some messages, and the scores that it gives to others."""
    if choice.texts is not None:
        return score_texts(train, rows, choice)
    card = fit(train, choice)
    return card, score_rows(card, rows)


def decisions(card: Scorecard, scores: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which scores the scorecard calls spam, and of which it is unsure."""
    labels = np.array([card.verdict(float(score)).label for score in scores])
    return labels == SPAM, labels == UNSURE


def judged(verdicts: Iterable[tuple[bool, Verdict]]) -> Outcome:
    """The outcome of verdicts on mail whose class is known."""
    known = list(verdicts)
    labels = np.array([label for label, _ in known], bool)
    if not labels.any() or labels.all():
        raise BadData(f"there is no {'ham' if labels.any() else 'spam'} to judge; name mail of both classes")
    return Outcome(
        labels,
        np.array([verdict.score for _, verdict in known]),
        np.array([verdict.label == SPAM for _, verdict in known]),
        np.array([verdict.label == UNSURE for _, verdict in known]),
    )


def recommended(outcome: Outcome, max_ham_loss: float) -> float:
    """The smallest c of three digits, from 1 on, that loses at most this share of the ham."""
    ham = np.sort(outcome.scores[~outcome.labels])[::-1]
    allowed = np.count_nonzero(np.arange(1, len(ham) + 1) / len(ham) <= max_ham_loss)
    cutoff = float(ham[allowed]) if allowed < len(ham) else 0.0
    if cutoff <= 0:
        return 1.0
    return rounded_up(cutoff) if cutoff < log(LARGEST_C) else LARGEST_C


def rounded_up(cutoff: float) -> float:
    """The first c of three digits with log c at the cutoff or above: easy to remember, and it keeps the promise."""
    c = exp(cutoff)
    exponent = floor(log10(c)) - 2
    nearest = round(c / 10.0**exponent)
    near = (float(f"{digits}e{exponent}") for digits in (nearest - 1, nearest, nearest + 1))
    return next(c for c in near if log(c) >= cutoff)


def sweep(outcome: Outcome, max_ham_loss: float) -> list[tuple[float, Figures]]:
    """Figures at a range of thresholds, the recommended one among them, as far as any spam is caught."""
    best = recommended(outcome, max_ham_loss)
    rows = [(c, figures(outcome.at(c))) for c in sorted({*SWEEP, best})]
    return [(c, found) for c, found in rows if found.spam_as_spam or c <= best]


@dataclass(frozen=True)
class Cost:
    """What a lost ham and a missed spam cost."""

    ham_lost: float
    spam_missed: float

    @property
    def c(self) -> float:
        """The threshold of least expected cost, if the scores are log odds: ham · p(ham) < spam · p(spam) above it."""
        return self.ham_lost / self.spam_missed

    def mean(self, outcome: Outcome) -> float:
        """The cost of a message on average; unsure counts as ham."""
        found = figures(outcome)
        lost = self.ham_lost * found.ham_lost + self.spam_missed * (found.spam - found.spam_as_spam)
        return lost / (found.ham + found.spam)

    def cheapest(self, outcome: Outcome) -> float:
        """The c of least cost on these very messages; of several the nearest to the one of theory, with few digits."""
        ends, theory, limit = np.unique(outcome.scores), log(self.c), log(LARGEST_C)  # nothing changes between two ends
        between = np.concatenate([[theory, ends[0] - 1], (ends[:-1] + ends[1:]) / 2, [ends[-1] + 1]])
        tried = np.array([log(exp(cutoff)) for cutoff in np.clip(between, -limit, limit).tolist()])
        spam, ham = np.sort(outcome.scores[outcome.labels]), np.sort(outcome.scores[~outcome.labels])
        lost = len(ham) - np.searchsorted(ham, tried, side="right")
        costs = self.ham_lost * lost + self.spam_missed * np.searchsorted(spam, tried, side="right")
        best = np.flatnonzero(costs <= costs.min() * (1 + 1e-12))
        nearest = int(best[np.argmin(abs(tried[best] - theory))])
        if not nearest:
            return self.c
        c = exp(tried[nearest])
        return min(float(f"{c:.3g}"), c, key=lambda c: self.mean(outcome.at(c)))
