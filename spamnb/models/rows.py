"""A scorecard applied to rows of a count matrix, many at once: the same columns and formula as for one message."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..corpus import Corpus
from ..scorecard import Column, Scorecard
from ..tokens import known_token, token_id


def column_sums(weights: NDArray[np.float64], counts: sparse.csr_matrix, binary: bool) -> tuple[Any, Any]:
    """Σ x_j w_j and Σ x_j over the words that have a weight, row by row."""
    x = counts
    if binary:
        x = sparse.csr_matrix((np.ones(len(counts.data)), counts.indices, counts.indptr), shape=counts.shape)
    return x @ weights, x @ (weights != 0).astype(np.float64)


def column_values(column: Column, counts: sparse.csr_matrix) -> NDArray[np.float64]:
    """What a column adds to the score of each row, where the rows have just its words."""
    total, length = column_sums(np.asarray(column.weights), counts, column.binary)
    return np.asarray(column.value(total, np.maximum(length, 1.0)))


def score_rows(card: Scorecard, corpus: Corpus) -> NDArray[np.float64]:
    """The scores of a corpus's messages; its dictionary need not be the scorecard's."""
    place = np.searchsorted(corpus.ids, card.ids)
    shared = np.flatnonzero(np.append(corpus.ids, 0)[place] == card.ids)
    senders = sender_rows(card, corpus)
    scores = np.full(len(corpus.labels), card.prior)
    for column in card.columns:
        of_row = np.zeros(len(card.ids) + 1)  # the last stands for what the scorecard does not know
        of_row[column.first : column.first + len(column.weights)] = column.weights
        weights = np.zeros(len(corpus.ids))
        weights[place[shared]] = of_row[shared]
        total, length = column_sums(weights, corpus.counts, column.binary)
        known = of_row[senders]
        scores += column.value(total + known, np.maximum(length + (known != 0), 1.0))
    return scores


def sender_rows(card: Scorecard, corpus: Corpus) -> NDArray[np.intp]:
    """The scorecard's row for what it knows of each message's sender, or -1."""
    contact = np.isin(corpus.senders, card.contacts)
    from_ham = np.isin(corpus.senders, card.known)
    rows = np.full(len(corpus.senders), -1)
    for is_contact, is_ham, which in ((True, False, contact), (False, True, ~contact & from_ham),
                                      (False, False, ~contact & ~from_ham & (corpus.senders != 0))):  # fmt: skip
        rows[which] = card.row(token_id(known_token(is_contact, is_ham)))
    return rows
