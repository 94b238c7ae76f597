"""What a random projection does to the distances between messages, and what it saves: measured on the mail at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from .corpus import Corpus
from .models import Choice
from .models.nearest import DISTANCE, DISTORTION, dimension_of, present
from .models.neighbours import Distortion, dense_distances, distances, distortion, project

MOST_MESSAGES = 1000  # that are compared, each with each
MOST_DENSE = 1 << 30  # bytes of a matrix of all words


@dataclass(frozen=True)
class Projected:
    """Distances kept, and seconds taken by three ways to the same distances."""

    messages: int
    words: int
    dimensions: int
    distance: str
    kept: Distortion
    seconds_sparse: float
    seconds_dense: float | None  # None where a matrix of all words would be too large
    seconds_projected: float  # the projecting among them


def projected(corpus: Corpus, choice: Choice, seed: int = 0) -> Projected:
    """Compare some messages of the corpus with each other: sparse, dense, and projected."""
    some = np.random.default_rng(seed).permutation(len(corpus.labels))[:MOST_MESSAGES]
    few = corpus.take(np.sort(some))
    rows = few.counts if choice.counts == "raw" else present(few.counts)
    dimensions, metric = dimension_of(choice, len(corpus.labels)) or 1, choice.distance or DISTANCE
    original, sparse_seconds = timed(lambda: distances(rows, rows, metric))
    points, projecting = timed(lambda: project(rows, few.ids, dimensions).astype(np.float32))
    kept, comparing = timed(lambda: dense_distances(points, points, metric))
    dense_seconds = None
    if 4 * rows.shape[0] * rows.shape[1] <= MOST_DENSE:
        dense = rows.astype(np.float32).toarray()
        dense_seconds = timed(lambda: dense_distances(dense, dense, metric))[1]
    pairs = np.triu_indices(len(original), 1)
    return Projected(
        messages=rows.shape[0],
        words=rows.shape[1],
        dimensions=dimensions,
        distance=metric,
        kept=distortion(original[pairs], kept[pairs], DISTORTION),
        seconds_sparse=sparse_seconds,
        seconds_dense=dense_seconds,
        seconds_projected=projecting + comparing,
    )


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result of some work, and its seconds."""
    began = perf_counter()
    return work(), perf_counter() - began
