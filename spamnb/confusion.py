"""How well classes of the user's naming are told apart: who is taken for whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus
from .errors import BadData
from .evaluation import Progress
from .laboratory import Interval, wilson
from .models import Choice, fit
from .models.rows import class_scores
from .naming import ranked
from .protocols import Plan
from .scorecard import Verdict


@dataclass(frozen=True)
class Confusion:
    """Messages of each class by the class that they were given; the last column counts those given none."""

    classes: tuple[str, ...]
    counts: NDArray[np.int64]  # is × called

    @property
    def messages(self) -> int:
        return int(self.counts.sum())

    @property
    def errors(self) -> int:
        return self.messages - int(np.trace(self.counts))

    @property
    def error_percent(self) -> float:
        return 100.0 * self.errors / self.messages

    @property
    def interval(self) -> Interval:
        """Of the error, in percent."""
        return wilson(self.errors, self.messages)


def confused(
    corpus: Corpus,
    choice: Choice,
    plan: Plan,
    offsets: Mapping[str, float],
    progress: Progress = lambda done, total: None,
) -> Confusion:
    """Every message named by a model that was fitted without it."""
    counts = np.zeros((len(corpus.classes), len(corpus.classes) + 1), np.int64)
    for done, (train, test) in enumerate(plan.splits, 1):
        rows = corpus.take(test)
        scores = class_scores(fit(train, choice), rows)
        called = [ranked(of_message, corpus.classes, offsets)[0] for of_message in scores.tolist()]
        for label, name in zip(rows.labels.tolist(), called, strict=True):
            counts[label, name] += 1
        progress(done, plan.number)
    return Confusion(corpus.classes, counts)


def confusion_of(classes: tuple[str, ...], verdicts: Iterable[tuple[str, Verdict]]) -> Confusion:
    """The verdicts of a model on mail of known classes."""
    counts = np.zeros((len(classes), len(classes) + 1), np.int64)
    place = {name: number for number, name in enumerate(classes)}
    for name, verdict in verdicts:
        counts[place[name], place.get(verdict.label, len(classes))] += 1
    if not counts.any():
        raise BadData("there is no message to judge; name mail of the model's classes")
    return Confusion(classes, counts)
