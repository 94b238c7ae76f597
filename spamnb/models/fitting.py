"""From a corpus to a scorecard that knows its own error: fit, hold out, calibrate, set the cutoffs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..corpus import Corpus
from ..message import short_digest
from ..parallel import beside
from ..scorecard import Scorecard
from ..selecting import parse_selection
from .choice import SEVERAL, Choice, default_alpha
from .corrected import fit_corrected
from .logistic import calibration
from .multinomial import counted
from .nearest import fit_neighbours
from .rows import score_rows
from .selection import selected
from .semisupervised import fit_em
from .textbook import fit_gaussian, fit_logistic_kind, fit_words, is_binary

FITS: dict[str, Callable[[Corpus, Choice], Scorecard]] = {
    "corrected": lambda corpus, choice: fit_corrected(corpus, default_alpha(choice)),
    **dict.fromkeys(SEVERAL, fit_words),
    "logistic": fit_logistic_kind,
    "gaussian": fit_gaussian,
    "neighbours": fit_neighbours,
    "em": fit_em,
}
NEED_ROWS = ("logistic", "gaussian", "neighbours", "em")  # totals without their messages tell these nothing
HELD_OUT_FOLDS = 3
# Counts of words in messages: fewer are fitted before a process has begun, more would take too much memory twice.
WORTH_A_PROCESS = 500_000, 4_000_000
ENOUGH_HELD_OUT = 8000  # messages to calibrate and set cutoffs on; more would only take time
CONTRADICTED = 0.2  # share of the other class that a message must outdo to be taken for a label error (decisions/008)
STRAY_SHARE = 0.003  # of such that is borne: honest mail has less
FEWEST_TO_DOUBT = 500  # messages; with fewer, odd is not wrong. What the user taught himself is never doubted
MOST_HAM_LOST = 0.004  # share of held-out ham that may score above the spam cutoff; the full fit loses half of it
LEAST_C, MOST_C = log(2.0), log(9.0)  # few held-out messages say little of rare errors (decisions/004)
MOST_SPAM_LOST = 0.01  # share of held-out spam that may score below the ham cutoff


def fit(corpus: Corpus, choice: Choice) -> Scorecard:
    """The model, with its scores as log odds and its cutoffs set on mail that it had not seen."""
    folds = min(HELD_OUT_FOLDS, *corpus.messages)
    held_out = choice.kind == "corrected" and folds > 1
    card = fit_calibrated(corpus, choice, folds) if held_out else fit_plain(corpus, choice)
    card.tables |= digest_tables(corpus)
    return card


def fit_calibrated(corpus: Corpus, choice: Choice, folds: int) -> Scorecard:
    """The model fitted to what can be trusted, its scale and cutoffs to held-out scores."""
    low, high = WORTH_A_PROCESS
    held_out_found = beside(
        lambda: held_out_scores(corpus, choice, folds, enough=ENOUGH_HELD_OUT), worth=low < corpus.counts.nnz < high
    )
    card = fit_plain(corpus, choice)
    trusted, held_out = trustworthy(corpus, choice, folds, held_out_found())
    if trusted is not corpus:
        card = grafted(fit_plain(trusted, choice), fit_plain(corpus, choice, opinions=False))
    scored = ~np.isnan(held_out)
    scores, labels = held_out[scored], trusted.labels[scored]
    slope, card.prior = calibration(scores, labels)
    for column in card.columns:
        column.scale *= slope
    spam_cutoff, card.ham_cutoff = cutoffs(slope * scores + card.prior, labels)
    card.c = exp(spam_cutoff)
    return card


def trustworthy(
    corpus: Corpus, choice: Choice, folds: int, held_out: NDArray[np.float64]
) -> tuple[Corpus, NDArray[np.float64]]:
    """The messages to fit on, without label errors if those are more than stray; and held-out scores of enough."""
    scored = ~np.isnan(held_out)
    doubted = contradicted(held_out[scored], corpus.labels[scored]) & ~corpus.lessons[scored]
    if len(doubted) < FEWEST_TO_DOUBT or doubted.sum() <= STRAY_SHARE * len(doubted):
        return corpus, held_out
    if not scored.all():
        held_out = held_out_scores(corpus, choice, folds)
    trusted = corpus.take(~contradicted(held_out, corpus.labels) | corpus.lessons)
    return trusted, held_out_scores(trusted, choice, min(folds, *trusted.messages), enough=ENOUGH_HELD_OUT)


def contradicted(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> Any:
    """Ham that scores as most spam does, and spam that scores as most ham does."""
    most_spam = np.quantile(scores[labels], CONTRADICTED)
    most_ham = np.quantile(scores[~labels], 1.0 - CONTRADICTED)
    return np.where(labels, scores < most_ham, scores > most_spam) & (most_ham < most_spam)


def grafted(card: Scorecard, whole: Scorecard) -> Scorecard:
    """The opinions of a model fitted to some of the messages, on the counts of all."""
    place = np.searchsorted(whole.tables["ids"], card.tables["ids"])
    for column in card.columns:
        weights = np.full(whole.base_rows, np.nan)
        weights[place[column.first : column.first + len(column.weights)]] = column.weights
        column.weights, column.first = weights, 0
    whole.columns, whole.prior = card.columns, card.prior
    return whole


def fit_plain(corpus: Corpus, choice: Choice, opinions: bool = True) -> Scorecard:
    """The model's formula alone; one class, or none, gives counts without an opinion."""
    if not corpus.is_ham_and_spam:
        return FITS[choice.kind](with_selected(corpus, choice), choice)
    seen = with_selected(corpus.with_senders(choice.contacts, corpus.has_other_ham_sender()), choice)
    rows = corpus.messages if choice.kind in NEED_ROWS or choice.measures else corpus.messages_counted
    if opinions and all(rows):
        card = FITS[choice.kind](seen, choice)
    else:
        card = counted(seen, choice.kind, default_alpha(choice), is_binary(choice))
    card.teachable = choice.plain
    card.tables |= sender_tables(corpus) | {"contacts": choice.contacts}
    return card


def with_selected(corpus: Corpus, choice: Choice) -> Corpus:
    """The corpus with the words that were selected, if any were to be."""
    if not choice.select:
        return corpus
    labels = corpus.labels.astype(np.int8)
    return corpus.with_words(selected(corpus.counts, labels, len(corpus.classes), parse_selection(choice.select)))


def sender_tables(corpus: Corpus) -> dict[str, NDArray[Any]]:
    """Which addresses mail came from, and how much of either class."""
    addresses, place = np.unique(corpus.senders, return_inverse=True)
    spam = np.bincount(place[corpus.labels], minlength=len(addresses))
    ham = np.bincount(place[~corpus.labels], minlength=len(addresses))
    real = addresses != 0
    return {
        "senders": addresses[real],
        "sender_ham": ham[real].astype(np.uint32),
        "sender_spam": spam[real].astype(np.uint32),
    }


def digest_tables(corpus: Corpus) -> dict[str, NDArray[Any]]:
    """Which messages were learned, and as what."""
    digests = np.array([short_digest(name) for name in corpus.digests.tolist()], np.uint64)
    order = np.argsort(digests)
    return {"digests": digests[order], "classes": corpus.labels[order].astype(np.uint8)}


def folds_of(labels: NDArray[Any], folds: int, seed: int = 0) -> NDArray[np.intp]:
    """A fold for each message, every fold with its share of each class."""
    random = np.random.default_rng(seed)
    fold = np.empty(len(labels), np.intp)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        fold[random.permutation(rows)] = np.arange(len(rows)) % folds
    return fold


def train_and_test(corpus: Corpus, folds: int, seed: int = 0) -> Iterator[tuple[Corpus, NDArray[np.bool_]]]:
    """For each fold, the corpus without it and the rows in it."""
    fold = folds_of(corpus.labels, folds, seed)
    for number in range(folds):
        yield corpus.take(fold != number), fold == number


def held_out_scores(corpus: Corpus, choice: Choice, folds: int, enough: int | None = None) -> NDArray[np.float64]:
    """The plain model's score of each message when it was not among those learned; NaN after enough of them."""
    scores = np.full(len(corpus.labels), np.nan)
    for train, test in train_and_test(corpus, folds):
        scores[test] = score_rows(fit_plain(train, choice), corpus.take(test))
        if enough is not None and len(scores) - np.isnan(scores).sum() >= enough:
            break
    return scores


def held_out_probabilities(corpus: Corpus, choice: Choice, folds: int) -> Any:
    """How likely each message is spam, by a model that had not seen it."""
    scores = held_out_scores(corpus, choice, folds)
    slope, intercept = calibration(scores, corpus.labels)
    return expit(slope * scores + intercept)


def cutoffs(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> tuple[float, float]:
    """The spam cutoff and the ham cutoff, as scores, that keep to the losses allowed."""
    ham = np.sort(scores[~labels])[::-1]
    spam = np.sort(scores[labels])
    spam_cutoff = min(max(LEAST_C, float(ham[int(MOST_HAM_LOST * len(ham))])), MOST_C)
    ham_cutoff = float(np.nextafter(spam[int(MOST_SPAM_LOST * len(spam))], -np.inf))  # that spam itself is not ham
    return spam_cutoff, min(ham_cutoff, spam_cutoff)
