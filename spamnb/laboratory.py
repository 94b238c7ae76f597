"""Models compared on the very same messages: figures with intervals, a paired test, learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from .corpus import Corpus
from .errors import BadData
from .evaluation import Figures, Outcome, Progress, Trial, figures, judged_by, one_minus_auc
from .models import Choice
from .protocols import Plan

Z = 1.959964  # standard errors on either side of which 95 % of a normal distribution lie
REPEATS = 5
SIZES = 8
SMALLEST = 10  # messages of the first point of a learning curve, or what has two of each class
PART_HELD_OUT = 3  # a third of the mail judges a learning curve
Interval = tuple[float, float]


@dataclass(frozen=True)
class Compared:
    """A model's figures, their 95 % intervals in percent, and its errors beside those of the best."""

    kind: str
    found: Figures
    error: Interval
    ham_lost: Interval
    spam_missed: Interval
    one_minus_auc: Interval
    seconds: float
    best: str  # the kind it is compared with
    only_it_errs: int
    only_best_errs: int
    p: float  # how often as uneven a count comes about when both err equally often

    @property
    def is_best(self) -> bool:
        return self.kind == self.best


def compared(trials: Sequence[Trial]) -> list[Compared]:
    """Each model beside the one of fewest errors."""
    leader = best(trials)
    return [beside(trial, leader) for trial in trials]


def best(trials: Sequence[Trial]) -> Trial:
    """The model of fewest errors; of equals the one that ranks better, then the first."""
    return min(trials, key=lambda trial: (errors(trial.outcome).sum(), one_minus_auc_of(trial.outcome)))


def beside(trial: Trial, leader: Trial) -> Compared:
    """One model beside the best."""
    found = figures(trial.outcome)
    wrong, leader_wrong = errors(trial.outcome), errors(leader.outcome)
    only_it, only_best = int((wrong & ~leader_wrong).sum()), int((leader_wrong & ~wrong).sum())
    missed = found.spam - found.spam_as_spam
    return Compared(
        kind=trial.kind,
        found=found,
        error=wilson(found.ham_lost + missed, found.ham + found.spam),
        ham_lost=wilson(found.ham_lost, found.ham),
        spam_missed=wilson(missed, found.spam),
        one_minus_auc=auc_interval(found.one_minus_auc_percent / 100, found.ham, found.spam),
        seconds=trial.seconds,
        best=leader.kind,
        only_it_errs=only_it,
        only_best_errs=only_best,
        p=mcnemar(only_it, only_best),
    )


def errors(outcome: Outcome) -> NDArray[np.bool_]:
    """Which messages were misjudged; unsure counts as ham."""
    return np.asarray(outcome.called_spam != outcome.labels)


def one_minus_auc_of(outcome: Outcome) -> float:
    return one_minus_auc(outcome.labels, outcome.scores)


def wilson(hits: int, total: int) -> Interval:
    """Wilson's 95 % interval of a rate, in percent; it has a width even where nothing was hit."""
    share, z2 = hits / total, Z * Z
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    reach = Z / (1 + z2 / total) * sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    return 100 * max(0.0, middle - reach) if hits else 0.0, 100 * min(1.0, middle + reach) if hits < total else 100.0


def auc_interval(share: float, ham: int, spam: int) -> Interval:
    """Newcombe's 95 % interval of 1-AUC in percent (2006, method 5): Wilson's idea, so a perfect order has a width too.

    The shares θ whose own standard error, √V(θ), keeps them within reach of the one observed, with
    V(θ) = θ (1 − θ) (1 + n (1 − θ)/(2 − θ) + n θ/(1 + θ)) / (ham · spam) and n = (ham + spam)/2 − 1.
    """
    n = (ham + spam) / 2 - 1

    def beyond(theta: float) -> bool:
        spread = (1 + n * (1 - theta) / (2 - theta) + n * theta / (1 + theta)) / (ham * spam)
        return abs(theta - share) > Z * sqrt(theta * (1 - theta) * spread)

    def edge(inside: float, outside: float) -> float:
        for _ in range(60):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if beyond(middle) else (middle, outside)
        return 100 * inside

    return edge(share, 0.0) if share > 0 else 0.0, edge(share, 1.0) if share < 1 else 100.0


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test: of the messages that just one of two models misjudged, either misjudges half by chance."""
    return min(1.0, 2.0 * float(bdtr(min(only_first, only_second), only_first + only_second, 0.5)))


@dataclass(frozen=True)
class Point:
    """How a model fitted to so many messages judges the held-out ones, in several repeats."""

    kind: str
    messages: int
    errors: tuple[float, ...]  # percent
    one_minus_auc: tuple[float, ...]  # percent

    @property
    def mean(self) -> float:
        return float(np.mean(self.errors))

    @property
    def spread(self) -> float:
        """The standard deviation over the repeats; of one, 0."""
        return float(np.std(self.errors, ddof=1)) if len(self.errors) > 1 else 0.0


@dataclass(frozen=True)
class LearningCurves:
    """The points of each model, all judged on the same messages at the same c."""

    held_out: int
    c: float
    points: list[Point]

    def of(self, kind: str) -> list[Point]:
        return [point for point in self.points if point.kind == kind]


def learning_curves(
    corpus: Corpus,
    choices: Sequence[Choice],
    plan: Plan,
    c: float = 1.0,
    seed: int = 0,
    progress: Progress = lambda done, total: None,
) -> LearningCurves:
    """Models of ever more messages from the plan's first part, judged on its rows: the likelier class at c = 1.

    The cutoffs of the models' own are not used: they are set with care for ham, and with few messages say unsure.
    """
    pool, test = next(plan.splits)
    held_out = corpus.take(test)
    subsets = growing_subsets(pool, seed)
    found: dict[tuple[int, int], list[tuple[float, float]]] = {}
    done, total = 0, len(choices) * sum(len(rows) for rows in subsets)
    for rows in subsets:
        train = pool.take(rows)
        for place, choice in enumerate(choices):
            _, scores = judged_by(train, held_out, choice)
            found.setdefault((place, len(rows)), []).append(quality(held_out.labels == 1, scores, c))
            done += len(rows)
            progress(done, total)
    points = [Point(choices[place].kind, size, *zip(*each, strict=True)) for (place, size), each in found.items()]
    return LearningCurves(len(held_out.labels), c, points)


def quality(spam: NDArray[np.bool_], scores: NDArray[np.float64], c: float) -> tuple[float, float]:
    """Error and 1-AUC in percent."""
    return 100.0 * float(np.mean((scores > np.log(c)) != spam)), 100.0 * one_minus_auc(spam, scores)


def growing_subsets(pool: Corpus, seed: int) -> list[NDArray[np.intp]]:
    """Rows of the pool, from few to all, with their share of each class; in each repeat the larger hold the smaller."""
    if min(pool.messages) < 2:
        raise BadData(f"a learning curve needs 3 messages of each class; there is {min(pool.messages)} to train on")
    classes = [np.flatnonzero(pool.labels == number) for number in range(len(pool.messages))]
    wanted = sizes(pool.messages)
    drawn = []
    for repeat in range(REPEATS):
        random = np.random.default_rng([seed, repeat])
        shuffled = [random.permutation(rows) for rows in classes]
        for size in wanted[:-1]:
            parts = [rows[: max(2, round(size * len(rows) / len(pool.labels)))] for rows in shuffled]
            drawn.append(np.sort(np.concatenate(parts)))
    return [*sorted(drawn, key=len), np.arange(len(pool.labels))]


def sizes(messages: Sequence[int]) -> list[int]:
    """Numbers of training messages, each a constant factor above the last."""
    total = sum(messages)
    least = min(total, max(SMALLEST, ceil(2 * total / min(messages))))
    return sorted({round(size) for size in np.geomspace(least, total, SIZES).tolist()})
