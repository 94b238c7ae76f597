"""From a corpus to a scorecard that knows its own error: fit, hold out, calibrate, set the cutoffs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import exp

import numpy as np
from numpy.typing import NDArray

from ..corpus import Corpus
from ..scorecard import Scorecard
from .corrected import ALPHA, fit_corrected
from .logistic import calibration
from .multinomial import fit_multinomial
from .rows import score_rows

KINDS = ("corrected", "multinomial")
HELD_OUT_FOLDS = 3
MOST_HAM_LOST = 0.001  # share of held-out ham that may score above the spam cutoff
MOST_SPAM_LOST = 0.01  # share of held-out spam that may score below the ham cutoff


@dataclass(frozen=True)
class Choice:
    """Which model, and the user's say in it; None stands for the model's own default."""

    kind: str = "corrected"
    alpha: float | None = None
    counts: str | None = None  # raw or binary
    contacts: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))


def fit(corpus: Corpus, choice: Choice) -> Scorecard:
    """The model, with its scores as log odds and its cutoffs set on mail that it had not seen."""
    card = fit_plain(corpus, choice)
    folds = min(HELD_OUT_FOLDS, *corpus.messages)
    if folds < 2:
        return card
    held_out = held_out_scores(corpus, choice, folds)
    if choice.kind == "corrected":
        slope, card.prior = calibration(held_out, corpus.labels)
        for column in card.columns:
            column.scale *= slope
        held_out = slope * held_out + card.prior
    spam_cutoff, card.ham_cutoff = cutoffs(held_out, corpus.labels)
    card.c = exp(min(spam_cutoff, 700.0))  # as large as a number can be
    return card


def fit_plain(corpus: Corpus, choice: Choice) -> Scorecard:
    """The model's formula alone."""
    seen = corpus.with_senders(choice.contacts, corpus.has_other_ham_sender())
    if choice.kind == "multinomial":
        card = fit_multinomial(seen, 1.0 if choice.alpha is None else choice.alpha, choice.counts == "binary")
    else:
        card = fit_corrected(seen, ALPHA if choice.alpha is None else choice.alpha)
    card.known = corpus.ham_senders()
    card.contacts = choice.contacts
    return card


def folds_of(labels: NDArray[np.bool_], folds: int, seed: int = 0) -> NDArray[np.intp]:
    """A fold for each message, every fold with its share of either class."""
    random = np.random.default_rng(seed)
    fold = np.empty(len(labels), np.intp)
    for label in (False, True):
        rows = np.flatnonzero(labels == label)
        fold[random.permutation(rows)] = np.arange(len(rows)) % folds
    return fold


def train_and_test(corpus: Corpus, folds: int, seed: int = 0) -> Iterator[tuple[Corpus, NDArray[np.bool_]]]:
    """For each fold, the corpus without it and the rows in it."""
    fold = folds_of(corpus.labels, folds, seed)
    for number in range(folds):
        yield corpus.take(fold != number), fold == number


def held_out_scores(corpus: Corpus, choice: Choice, folds: int, seed: int = 0) -> NDArray[np.float64]:
    """The plain model's score of each message when it was not among those learned."""
    scores = np.empty(len(corpus.labels))
    for train, test in train_and_test(corpus, folds, seed):
        scores[test] = score_rows(fit_plain(train, choice), corpus.take(test))
    return scores


def cutoffs(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> tuple[float, float]:
    """The spam cutoff and the ham cutoff, as scores, that keep to the losses allowed."""
    ham = np.sort(scores[~labels])[::-1]
    spam = np.sort(scores[labels])
    spam_cutoff = max(0.0, float(ham[int(MOST_HAM_LOST * len(ham))]))
    ham_cutoff = float(spam[int(MOST_SPAM_LOST * len(spam))])
    return spam_cutoff, min(ham_cutoff, spam_cutoff)
