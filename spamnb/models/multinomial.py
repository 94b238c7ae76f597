"""Multinomial naive Bayes, as the textbook has it; the formulas stand in naive.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..corpus import Corpus
from ..naive import evidence, shared_offset, threshold_offset
from ..scorecard import Column, Scorecard


def fit_multinomial(corpus: Corpus, alpha: float, binary: bool) -> Scorecard:
    """The mission's algorithm. c stays 1 until the user asks for another."""
    ham, spam = (word_totals(corpus, label, binary) for label in (False, True))
    return Scorecard(
        kind="multinomial",
        alpha=alpha,
        binary=binary,
        prior=-threshold_offset(1.0, *corpus.messages),
        messages=corpus.messages,
        totals=(int(ham.sum()), int(spam.sum())),
        words=len(ham),
        columns=[
            Column(
                "words",
                evidence(ham, spam, alpha, np.log),
                offset=shared_offset(ham.sum(), spam.sum(), len(ham), alpha),
                binary=binary,
                naive=True,
            )
        ],
        tables={"ids": corpus.ids, "ham": ham.astype(np.uint32), "spam": spam.astype(np.uint32)},
    )


def word_totals(corpus: Corpus, spam: bool, binary: bool) -> Any:
    """n_yj: occurrences of every word in one class, or messages that have it."""
    rows = corpus.counts[corpus.labels == spam]
    return np.bincount(rows.indices, None if binary else rows.data, minlength=rows.shape[1]).astype(np.float64)
