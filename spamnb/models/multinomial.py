"""Multinomial naive Bayes, as the textbook has it; the formulas stand in naive.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..corpus import Corpus
from ..naive import evidence, shared_offset, threshold_offset
from ..scorecard import Column, Scorecard
from .generative import array_log, word_alphas


def fit_multinomial(corpus: Corpus, alpha: float, binary: bool, prior: str | None = None) -> Scorecard:
    """The mission's algorithm. c stays 1 until the user asks for another."""
    card = counted(corpus, "multinomial", alpha, binary)
    ham, spam = card.tables["ham"], card.tables["spam"]
    weights = evidence(ham, spam, word_alphas(ham.astype(float) + spam, alpha, prior), array_log)
    offset = shared_offset(card.totals[0], card.totals[1], card.words, alpha)
    card.columns.append(Column("words", weights, offset=offset, binary=binary, naive=True))
    card.prior = -threshold_offset(1.0, *card.messages)
    return card


def counted(corpus: Corpus, kind: str, alpha: float, binary: bool) -> Scorecard:
    """A scorecard with the counts of every word, and no opinion yet."""
    ham, spam = (word_totals(corpus, label, binary) for label in (False, True))
    return Scorecard(
        kind=kind,
        alpha=alpha,
        binary=binary,
        prior=0.0,
        messages=corpus.messages_counted,
        totals=(int(ham.sum()), int(spam.sum())),
        words=len(ham),
        columns=[],
        tables={"ids": corpus.ids, "ham": ham, "spam": spam},
    )


def word_totals(corpus: Corpus, spam: bool, binary: bool) -> Any:
    """n_yj: occurrences of every word in one class, or messages that have it."""
    rows = corpus.counts[corpus.labels == spam]
    totals = np.bincount(rows.indices, None if binary else rows.data, minlength=rows.shape[1])
    return (totals if corpus.block is None else totals + corpus.block[int(spam)]).astype(np.uint32)
