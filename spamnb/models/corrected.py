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
from ..scorecard import Column, Scorecard
from ..tokens import ENVELOPE_BIT
from .logistic import fit_logistic, unit_rows
from .multinomial import log_probability, word_totals
from .rows import column_values

ALPHA = 0.01  # below: no gain; 0.1: 20 % more pairs ranked wrongly (decisions/003)
INFORMATIVE = 0.35  # how far from ½ the spam share of a word must be for naive Bayes to hear it
SHRINK = 0.05  # messages' worth of doubt in that share
TEXT_TRUST = 1.5  # the text's weight beside the envelope's 1
NAIVE_EXPONENT = 0.75
LOGISTIC_NEEDS = 200  # messages at which logistic regression weighs half as much as naive Bayes


def fit_corrected(corpus: Corpus, alpha: float) -> Scorecard:
    """Both opinions of both witnesses, as four columns of one scorecard."""
    split = int(np.searchsorted(corpus.ids, np.uint64(ENVELOPE_BIT)))
    naive = naive_weights(corpus, alpha)
    columns = []
    for name, trust, first, stop in (("text", TEXT_TRUST, 0, split), ("envelope", 1.0, split, len(naive))):
        counts = columns_of(corpus.counts, np.arange(first, stop))
        naive_column = Column(f"{name} naive", naive[first:stop], first=first, exponent=NAIVE_EXPONENT, binary=True)
        logistic_column = Column(
            f"{name} logistic", logistic_weights(counts, corpus.labels), first=first, exponent=0.5, binary=True
        )
        messages = len(corpus.labels)
        for column, weight in (
            (naive_column, trust),
            (logistic_column, trust * messages / (messages + LOGISTIC_NEEDS)),
        ):
            spread = float(column_values(column, counts).std())
            column.scale = weight / spread if spread else 0.0
            columns.append(column)
    return Scorecard(kind="corrected", prior=0.0, ids=corpus.ids, columns=columns, messages=corpus.messages)


def naive_weights(corpus: Corpus, alpha: float) -> NDArray[np.float64]:
    """log p_spam,j − log p_ham,j of the informative words, 0 for the others."""
    weights = log_probability(corpus, True, alpha, binary=True) - log_probability(corpus, False, alpha, binary=True)
    ham, spam = (word_totals(corpus, label, binary=True) for label in (False, True))
    ham_messages, spam_messages = corpus.messages
    ham_rate, spam_rate, seen = ham / ham_messages, spam / spam_messages, ham + spam
    share = (SHRINK / 2 + seen * spam_rate / np.maximum(ham_rate + spam_rate, 1e-300)) / (SHRINK + seen)
    return np.where(np.abs(share - 0.5) > INFORMATIVE, weights, 0.0)


def logistic_weights(counts: sparse.csr_matrix, labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights of the words that stand in two messages or more; a word seen once only names its message."""
    repeated = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) > 1)
    weights = np.zeros(counts.shape[1])
    if len(repeated):
        weights[repeated], _ = fit_logistic(unit_rows(columns_of(counts, repeated)), labels)
    return weights
