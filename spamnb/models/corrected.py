"""The default model: naive Bayes corrected by logistic regression, for two witnesses.

The text and the envelope of a message are heard apart, so that neither drowns the other: mail drifts, and what headers
taught last year misleads this year. Each witness gives two opinions, both divided by their spread on the training mail:

    naive Bayes    Σ_j w_j / k^0.75     over the k informative words present, w_j = log p_spam,j − log p_ham,j
    logistic       Σ_j v_j / k^0.5      over the k words seen at least twice

Their sum, stretched to log odds on held-out mail, is the score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..corpus import Corpus, columns_of
from ..naive import evidence, informative, shared_offset
from ..scorecard import Column, Scorecard
from ..tokens import ENVELOPE_BIT
from .logistic import logistic_weights
from .multinomial import counted
from .rows import column_values

TEXT_TRUST = 1.5  # the text's weight beside the envelope's 1
NAIVE_EXPONENT = 0.75
LOGISTIC_NEEDS = 200  # messages at which logistic regression weighs half as much as naive Bayes


def fit_corrected(corpus: Corpus, alpha: float) -> Scorecard:
    """Both opinions of both witnesses, as four columns of one scorecard."""
    card = counted(corpus, "corrected", alpha, binary=True)
    ham, spam = card.tables["ham"], card.tables["spam"]
    naive = np.where(informative(ham, spam, *card.messages), evidence(ham, spam, alpha, np.log), np.nan)
    offset = shared_offset(card.totals[0], card.totals[1], card.words, alpha)
    split = int(np.searchsorted(corpus.ids, np.uint64(ENVELOPE_BIT)))
    for name, trust, first, stop in (("text", TEXT_TRUST, 0, split), ("envelope", 1.0, split, len(naive))):
        counts = columns_of(corpus.counts, np.arange(first, stop))
        card.columns += witness(name, trust, counts, corpus.labels, naive[first:stop], first, offset)
    return card


def witness(
    name: str,
    trust: float,
    counts: sparse.csr_matrix,
    labels: NDArray[np.bool_],
    naive: NDArray[np.float64],
    first: int,
    offset: float,
) -> list[Column]:
    """The two opinions of one witness, each divided by its spread; logistic regression is trusted as it grows."""
    weights, intercept = logistic_weights(counts, labels)
    columns = [
        Column(f"{name} naive", naive, first=first, offset=offset, exponent=NAIVE_EXPONENT, binary=True, naive=True),
        Column(f"{name} logistic", weights, first=first, exponent=0.5, binary=True, intercept=intercept),
    ]
    for column, weight in zip(columns, (trust, trust * len(labels) / (len(labels) + LOGISTIC_NEEDS)), strict=True):
        spread = float(column_values(column, counts).std()) if len(labels) else 1.0
        column.scale = weight / spread if spread else 0.0
    return columns
