"""Multinomial naive Bayes, as the textbook has it.

    p_yj  = (n_yj + α) / (n_y + α V)        how often word j stands in class y, smoothed, over a dictionary of V words
    t     = −b + Σ_j x_j (log p_spam,j − log p_ham,j),    b = log c + log m_ham − log m_spam
    spam iff t > 0

The scorecard keeps c apart: score = t + log c, and spam iff score > log c.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from ..corpus import Corpus
from ..scorecard import Column, Scorecard


def fit_multinomial(corpus: Corpus, alpha: float, binary: bool) -> Scorecard:
    """The mission's algorithm."""
    ham_messages, spam_messages = corpus.messages
    log_ratio = log_probability(corpus, True, alpha, binary) - log_probability(corpus, False, alpha, binary)
    return Scorecard(
        kind="multinomial",
        prior=-threshold_offset(1.0, ham_messages, spam_messages),
        ids=corpus.ids,
        columns=[Column("words", log_ratio, binary=binary)],
        messages=corpus.messages,
    )


def threshold_offset(c: float, ham_messages: int, spam_messages: int) -> float:
    """Evidence a message must exceed to be called spam: log c + log m_ham − log m_spam."""
    return log(c) + log(ham_messages) - log(spam_messages)


def log_probability(corpus: Corpus, spam: bool, alpha: float, binary: bool) -> Any:
    """log p_yj of every word in one class."""
    count = word_totals(corpus, spam, binary) + alpha
    return np.log(count) - log(count.sum())


def word_totals(corpus: Corpus, spam: bool, binary: bool) -> Any:
    """n_yj: occurrences of every word in one class, or messages that have it."""
    rows = corpus.counts[corpus.labels == spam]
    return np.bincount(rows.indices, None if binary else rows.data, minlength=rows.shape[1]).astype(np.float64)
