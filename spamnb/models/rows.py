"""A scorecard applied to rows of a count matrix, many at once: the same columns and formula as for one message."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..corpus import Corpus
from ..scorecard import Column, Scorecard
from ..tokens import token_id
from .gaussian import scaled
from .nearest import score_by_nearest


def column_sums(
    weights: NDArray[np.float64], counts: sparse.csr_matrix, binary: bool, least: int = 1
) -> tuple[Any, Any]:
    """Σ x_j w_j and Σ x_j over the words that have a weight, row by row."""
    x = counts
    if binary:
        there = np.ones(len(counts.data)) if least == 1 else (counts.data >= least).astype(np.float64)
        x = sparse.csr_matrix((there, counts.indices, counts.indptr), shape=counts.shape)
    return x @ np.nan_to_num(weights), x @ (~np.isnan(weights)).astype(np.float64)


def column_values(column: Column, counts: sparse.csr_matrix) -> NDArray[np.float64]:
    """What a column adds to the score of each row, where the rows have just its words."""
    return np.asarray(column.value(*column_sums(np.asarray(column.weights), counts, column.binary)))


def score_rows(card: Scorecard, corpus: Corpus) -> NDArray[np.float64]:
    """The scores of a corpus's messages by a fitted model; its dictionary need not be the scorecard's."""
    if card.kind == "neighbours" and len(card.tables["row_classes"]):
        return score_by_nearest(card, aligned(corpus, card))
    return class_scores(card, corpus)[:, 1]


def class_scores(card: Scorecard, corpus: Corpus) -> NDArray[np.float64]:
    """The score of each class for each message, messages × classes; of two, that of ham is 0."""
    ids = card.tables["ids"]
    place = np.searchsorted(corpus.ids, ids)
    shared = np.flatnonzero(np.append(corpus.ids, np.uint64(0))[place] == ids)
    senders = sender_rows(card, corpus) if corpus.is_ham_and_spam else np.full(len(corpus.labels), -1)
    scores = np.zeros((len(corpus.labels), len(card.classes)))
    scores[:, 1] = card.prior
    if card.quadratic:
        a, b, c = np.array(card.quadratic).T
        measures = scaled(corpus.measures)
        scores[:, 1] += measures**2 @ a + measures @ b + c.sum()
    for column in card.columns:
        of_row = np.full(len(ids) + 1, np.nan)  # the last stands for what the scorecard does not know
        of_row[column.first : column.first + len(column.weights)] = column.weights
        weights = np.full(len(corpus.ids), np.nan)
        weights[place[shared]] = of_row[shared]
        total, length = column_sums(weights, corpus.counts, column.binary, column.least)
        known = of_row[senders] if column.least == 1 else np.full(len(senders), np.nan)
        scores[:, column.of] += column.value(total + np.nan_to_num(known), length + ~np.isnan(known))
    return scores


def aligned(corpus: Corpus, card: Scorecard) -> sparse.csr_matrix:
    """A corpus's rows, sender tokens among them, in the columns of a scorecard."""
    ids = np.asarray(card.tables["ids"])
    place = np.searchsorted(ids, corpus.ids)
    known = np.append(ids, np.uint64(0))[place] == corpus.ids
    counts = corpus.counts.tocoo()
    kept = known[counts.col]
    senders = sender_rows(card, corpus)
    with_sender = np.flatnonzero(senders >= 0)
    rows = np.concatenate([counts.row[kept], with_sender])
    columns = np.concatenate([place[counts.col[kept]], senders[with_sender]])
    values = np.concatenate([counts.data[kept], np.ones(len(with_sender), counts.dtype)])
    return sparse.csr_matrix((values, (rows, columns)), shape=(len(corpus.labels), len(ids)))


def sender_rows(card: Scorecard, corpus: Corpus) -> NDArray[np.intp]:
    """The scorecard's row for what it knows of each message's sender, or -1."""
    of_ham = np.asarray(card.tables["senders"])[np.asarray(card.tables["sender_ham"]) > 0]
    rows = np.full(len(corpus.senders), -1)
    for token, which in corpus.sender_tokens(card.tables["contacts"], np.isin(corpus.senders, of_ham)).items():
        rows[which] = card.row(token_id(token))
    return rows
