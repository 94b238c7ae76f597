"""The neighbours model: the messages themselves, judged by the nearest of them (neighbours.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..corpus import Corpus
from ..errors import Usage
from ..naive import threshold_offset
from ..scorecard import Scorecard
from ..tokens import token_id
from .choice import Choice
from .likeness import TEXT_DISTANCES, text_distances
from .multinomial import counted
from .neighbours import blocks, dense_distances, dimension_for, nearest, neighbour_scores, project, score_neighbours

NEIGHBOURS, DISTANCE, VOTE = 5, "cosine", "average"
DISTORTION = 0.2
MOST_TEXTS = 2000  # messages that are compared text by text: two million pairs take a minute and a half


def fit_neighbours(corpus: Corpus, choice: Choice) -> Scorecard:
    """The rows, or their projections, as tables of the scorecard."""
    if choice.distance in TEXT_DISTANCES:
        raise Usage(f"--distance {choice.distance} needs the mail itself: spamnb evaluate HAM SPAM --kind neighbours")
    binary = choice.counts != "raw"
    card = counted(corpus, "neighbours", 0.0, binary)
    card.about = {
        "neighbours": choice.neighbours or NEIGHBOURS,
        "distance": choice.distance or DISTANCE,
        "vote": choice.vote or VOTE,
        "project": dimension_of(choice, len(corpus.labels)),
    }
    rows = present(corpus.counts) if binary else corpus.counts
    card.tables["row_classes"] = corpus.labels.astype(np.uint8)
    if dimension := card.about["project"]:
        card.tables["projected"] = project(rows, corpus.ids, dimension).astype(np.float32).ravel()
    else:
        card.tables["row_starts"] = rows.indptr.astype(np.uint64)
        card.tables["row_words"] = rows.indices.astype(np.uint32)
        card.tables["row_counts"] = rows.data.astype(np.uint32)
    return card


def dimension_of(choice: Choice, messages: int) -> int | None:
    """How many dimensions to project to: so many that no distance is expected to change by more than a fifth."""
    if choice.project == "auto":
        return dimension_for(DISTORTION, 1.0 - 1.0 / max(messages * (messages - 1) / 2, 2.0))
    return None if choice.project is None else int(choice.project)


def score_texts(train: Corpus, judged: Corpus, choice: Choice) -> tuple[Scorecard, NDArray[np.float64]]:
    """Messages judged by those whose own text is nearest to theirs, and a scorecard to decide by."""
    texts = choice.texts or {}
    if len(train.labels) + len(judged.labels) > MOST_TEXTS:
        raise Usage(f"--distance {choice.distance} compares every pair; give it at most {MOST_TEXTS:,} messages")
    mine, theirs = ([texts[name] for name in part.digests.tolist()] for part in (judged, train))
    near = nearest(text_distances(mine, theirs, str(choice.distance)), choice.neighbours or NEIGHBOURS)
    return counted(train, "neighbours", 0.0, binary=True), neighbour_scores(train.labels[near], choice.vote or VOTE)


def present(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """1 where a word is there."""
    return sparse.csr_matrix((np.ones(len(counts.data), counts.dtype), counts.indices, counts.indptr), counts.shape)


def score_by_nearest(card: Scorecard, queries: sparse.csr_matrix) -> NDArray[np.float64]:
    """The scores of messages whose columns are the scorecard's words.

    One without a known word is as near to all: it gets the odds of the classes.
    """
    spam = np.asarray(card.tables["row_classes"]) == 1
    scores = score_by_rows(card, present(queries) if card.binary else queries, spam)
    scores[np.diff(queries.indptr) == 0] = -threshold_offset(1.0, int((~spam).sum()), int(spam.sum()))
    return scores


def score_by_rows(card: Scorecard, queries: sparse.csr_matrix, spam: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The same, by distance alone."""
    about = card.about
    if about["project"]:
        rows = np.asarray(card.tables["projected"]).reshape(len(spam), about["project"])
        points = project(queries, np.asarray(card.tables["ids"]), about["project"])
        return score_dense(points, rows, spam, about["neighbours"], about["distance"], about["vote"])
    return score_neighbours(queries, rows_of(card), spam, about["neighbours"], about["distance"], about["vote"])


def score_dense(
    points: NDArray[Any], rows: NDArray[Any], spam: NDArray[np.bool_], k: int, metric: str, vote: str
) -> NDArray[np.float64]:
    """neighbours.score_neighbours for projected rows."""
    found = [
        neighbour_scores(spam[nearest(dense_distances(points[block], rows, metric), k)], vote)
        for block in blocks(len(points), len(rows))
    ]
    return np.concatenate([np.zeros(0), *found])


def rows_of(card: Scorecard) -> sparse.csr_matrix:
    """The learned messages out of the tables."""
    names: tuple[tuple[str, Any], ...] = (("row_counts", float), ("row_words", np.int64), ("row_starts", np.int64))
    content = tuple(np.asarray(card.tables[name]).astype(kind) for name, kind in names)
    return sparse.csr_matrix(content, shape=(len(card.tables["row_classes"]), len(card.tables["ids"])))


def score_tokens(card: Scorecard, found: Mapping[str, int]) -> float:
    """The score of one message."""
    rows = {row: count for token, count in found.items() if (row := card.row(token_id(token))) >= 0}
    values, columns = list(rows.values()), list(rows)
    shape = (1, len(card.tables["ids"]))
    query = sparse.csr_matrix((values, (np.zeros(len(rows), np.intp), columns)), shape=shape, dtype=float)
    return float(score_by_nearest(card, query)[0])
