"""A scorecard applied to rows of a count matrix, many at once: the same columns and formula as for one message."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..corpus import Corpus
from ..scorecard import Column, Scorecard
from ..tokens import token_id


def column_sums(weights: NDArray[np.float64], counts: sparse.csr_matrix, binary: bool) -> tuple[Any, Any]:
    """Σ x_j w_j and Σ x_j over the words that have a weight, row by row."""
    x = counts
    if binary:
        x = sparse.csr_matrix((np.ones(len(counts.data)), counts.indices, counts.indptr), shape=counts.shape)
    return x @ np.nan_to_num(weights), x @ (~np.isnan(weights)).astype(np.float64)


def column_values(column: Column, counts: sparse.csr_matrix) -> NDArray[np.float64]:
    """What a column adds to the score of each row, where the rows have just its words."""
    return np.asarray(column.value(*column_sums(np.asarray(column.weights), counts, column.binary)))


def score_rows(card: Scorecard, corpus: Corpus) -> NDArray[np.float64]:
    """The scores of a corpus's messages by a fitted model; its dictionary need not be the scorecard's."""
    ids = card.tables["ids"]
    place = np.searchsorted(corpus.ids, ids)
    shared = np.flatnonzero(np.append(corpus.ids, np.uint64(0))[place] == ids)
    senders = sender_rows(card, corpus)
    scores = np.full(len(corpus.labels), card.prior)
    for column in card.columns:
        of_row = np.full(len(ids) + 1, np.nan)  # the last stands for what the scorecard does not know
        of_row[column.first : column.first + len(column.weights)] = column.weights
        weights = np.full(len(corpus.ids), np.nan)
        weights[place[shared]] = of_row[shared]
        total, length = column_sums(weights, corpus.counts, column.binary)
        known = of_row[senders]
        scores += column.value(total + np.nan_to_num(known), length + ~np.isnan(known))
    return scores


def sender_rows(card: Scorecard, corpus: Corpus) -> NDArray[np.intp]:
    """The scorecard's row for what it knows of each message's sender, or -1."""
    of_ham = np.asarray(card.tables["senders"])[np.asarray(card.tables["sender_ham"]) > 0]
    rows = np.full(len(corpus.senders), -1)
    for token, which in corpus.sender_tokens(card.tables["contacts"], np.isin(corpus.senders, of_ham)).items():
        rows[which] = card.row(token_id(token))
    return rows
