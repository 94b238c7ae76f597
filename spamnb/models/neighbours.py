"""k nearest neighbours on rows of word counts, and random projection of the rows to few dimensions.

    euclidean        √ Σ_j (x_j − y_j)²
    cosine           1 − Σ_j x_j y_j / (|x| |y|)
    jensen-shannon   √ ½ Σ_j (p_j log (2 p_j / (p_j + q_j)) + q_j log (2 q_j / (p_j + q_j))),   p = x / Σx, q = y / Σy

The last is the square root of the Jensen-Shannon divergence in nats: it is a metric, the divergence is not. An empty
row is as far as can be from every other (1 by cosine, √log 2 by Jensen-Shannon), and at 0 from another empty one.
Queries and rows have the same columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import chdtr

DISTANCES = ("euclidean", "cosine", "jensen-shannon")
DENSE_DISTANCES = ("euclidean", "cosine")
VOTES = ("majority", "average")
BLOCK = 2_000_000  # distances computed at once: 16 MB, and as much again for each step on the way
NUMBERS_AT_ONCE = 2_000_000  # of the random matrix, 8 MB; a fifth of it: twice the time at 1,500 dimensions, to add up
MOST_DIMENSIONS = 1 << 20
ROUNDING = 1e-14  # a smaller divergence is what float64 leaves of 0

Distances = NDArray[np.float64]


def score_neighbours(
    queries: sparse.csr_matrix, rows: sparse.csr_matrix, spam: NDArray[Any], k: int, metric: str, vote: str
) -> NDArray[np.float64]:
    """The score of each query by its k nearest rows; a block of queries at a time, so memory is bounded."""
    parts = [np.zeros(0)]
    for block in blocks(queries.shape[0], rows.shape[0]):
        near = nearest(distances(queries[block], rows, metric), k)
        parts.append(neighbour_scores(spam[near], vote))
    return np.concatenate(parts)


def blocks(queries: int, rows: int) -> Iterator[slice]:
    """The queries in slices that have BLOCK distances or fewer to the rows."""
    step = max(1, BLOCK // max(1, rows))
    return (slice(start, start + step) for start in range(0, queries, step))


def nearest(distance: Distances, k: int) -> NDArray[np.intp]:
    """The k nearest rows of each query, nearest first; of equally near ones the lower row number first."""
    k = min(k, distance.shape[1])
    if k == 0:
        return np.zeros((len(distance), 0), np.intp)
    furthest = np.partition(distance, k - 1, axis=1)[:, k - 1 : k]
    query, row = np.nonzero(distance <= furthest)  # k of each query, or more where the furthest tie
    order = np.lexsort((distance[query, row], query))
    first = np.searchsorted(query, np.arange(len(distance)))
    return np.asarray(row[order][first[:, None] + np.arange(k)])


def neighbour_scores(spam: NDArray[Any], vote: str) -> NDArray[np.float64]:
    """Log odds from the labels of each query's k neighbours (queries × k), s of them spam.

    average    log ((s + ½) / (k − s + ½))
    majority   ± log (2k + 1), what a unanimous vote scores; 0 at a tie
    """
    k = spam.shape[1]
    s = np.count_nonzero(spam, axis=1)
    if vote == "average":
        return np.asarray(np.log((s + 0.5) / (k - s + 0.5)))
    if vote == "majority":
        return np.asarray(np.sign(2 * s - k) * log(2 * k + 1))
    raise ValueError(f"no such vote: {vote}")


def distances(queries: sparse.csr_matrix, rows: sparse.csr_matrix, metric: str) -> Distances:
    """queries × rows, from the words that two messages share."""
    if metric not in DISTANCES:
        raise ValueError(f"no such distance: {metric}")
    found = np.empty((queries.shape[0], rows.shape[0]))
    queries, rows = queries.astype(np.float64), rows.astype(np.float64)
    if metric == "jensen-shannon":
        return jensen_shannon(queries, rows, found)
    squares = [np.asarray(each.multiply(each).sum(axis=1)).ravel() for each in (queries, rows)]
    columns = rows.T.tocsr()
    for block in blocks(*found.shape):
        products = (queries[block] @ columns).toarray()
        found[block] = from_products(products, squares[0][block], squares[1], metric)
    return found


def dense_distances(queries: NDArray[Any], rows: NDArray[Any], metric: str) -> NDArray[Any]:
    """queries × rows for dense rows, such as projected ones; no Jensen-Shannon, as these are no distributions."""
    if metric not in DENSE_DISTANCES:
        raise ValueError(f"no such distance between dense rows: {metric}")
    squares = [np.einsum("ij,ij->i", each, each) for each in (queries, rows)]
    return from_products(queries @ rows.T, squares[0], squares[1], metric)


def from_products(products: Any, left: NDArray[Any], right: NDArray[Any], metric: str) -> NDArray[Any]:
    """Distances from inner products and squared lengths: √(x·x + y·y − 2 x·y), or 1 − x·y / √(x·x y·y)."""
    if metric == "euclidean":
        return np.asarray(np.sqrt(np.maximum(left[:, None] + right - 2 * products, 0)))
    lengths = np.sqrt(left[:, None] * right)
    both_empty = (left == 0)[:, None] & (right == 0)
    cosine = np.divide(products, lengths, out=both_empty.astype(products.dtype), where=lengths > 0)
    return np.asarray(np.maximum(1 - cosine, 0))


def jensen_shannon(queries: sparse.csr_matrix, rows: sparse.csr_matrix, found: Distances) -> Distances:
    """√ (log 2 − ½ Σ_j h(p_j + q_j) − h(p_j) − h(q_j)) over shared words, h(p) = p log p; written into found."""
    queries, rows = distributions(queries), distributions(rows).tocsc()
    h_rows = rows.data * np.log(rows.data)
    empty = np.bincount(rows.indices, minlength=rows.shape[0]) == 0
    for number, divergence in enumerate(found):
        part = slice(queries.indptr[number], queries.indptr[number + 1])
        words, p = queries.indices[part], queries.data[part]
        having = rows.indptr[words + 1] - rows.indptr[words]  # how many rows have each word of the query
        ends = np.cumsum(having)
        places = np.arange(having.sum()) + np.repeat(rows.indptr[words + 1] - ends, having)
        both = np.repeat(p, having) + rows.data[places]
        shared = both * np.log(both) - np.repeat(p * np.log(p), having) - h_rows[places]
        divergence[:] = log(2) - 0.5 * np.bincount(rows.indices[places], shared, minlength=len(divergence))
        if not len(words):
            divergence[empty] = 0
    found[found < ROUNDING] = 0
    return np.sqrt(found, out=found)


def distributions(rows: sparse.csr_matrix) -> sparse.csr_matrix:
    """p = x / Σx, without stored zeros; an empty row stays empty."""
    totals = np.asarray(rows.sum(axis=1)).ravel()
    shares = rows.data / np.repeat(np.where(totals == 0, 1, totals), np.diff(rows.indptr))
    found = sparse.csr_matrix((shares, rows.indices, rows.indptr), shape=rows.shape, copy=True)
    found.eliminate_zeros()
    return found


def project(counts: sparse.csr_matrix, ids: NDArray[np.uint64], dimension: int, seed: int = 0) -> Distances:
    """Rows x ─▶ x R, R words × dimension of independent normal numbers of mean 0 and variance 1 / dimension.

    A word's row of R depends on the seed and the word's id alone, so R is never stored, and messages that are projected
    at different times, with different dictionaries, agree.
    """
    columns = counts.tocsc().astype(np.float32)
    used = np.flatnonzero(np.diff(columns.indptr))
    columns, ids = columns[:, used], ids[used]
    found = np.zeros((counts.shape[0], dimension))
    step = max(1, NUMBERS_AT_ONCE // dimension)
    for start in range(0, len(used), step):
        part = slice(start, start + step)
        found += columns[:, part] @ normal_rows(ids[part], dimension, seed)
    return np.asarray(found / np.sqrt(dimension))


def normal_rows(ids: NDArray[np.uint64], dimension: int, seed: int) -> NDArray[np.float32]:
    """A row of standard normal numbers for each id, by Box and Muller from a splitmix64 sequence that the id begins.

    A row of more dimensions begins with the row of fewer.
    """
    begin = mixed(ids ^ mixed(np.array([seed], np.uint64)))
    steps = np.arange(1, (dimension + 1) // 2 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = mixed(begin[:, None] + steps)
    high, low = ((each & np.uint64(0xFFFFFFFF)).astype(np.float32) for each in (bits >> np.uint64(32), bits))
    radius = np.sqrt(np.float32(-2) * np.log((high + np.float32(0.5)) * np.float32(2**-32)))
    angle = low * np.float32(2 * np.pi / 2**32)
    found = np.empty((len(ids), 2 * len(steps)), np.float32)  # five times as quick as float64, and normal enough
    found[:, ::2], found[:, 1::2] = radius * np.cos(angle), radius * np.sin(angle)
    return found[:, :dimension]


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64's finalizer: a change of any bit changes each other bit half of the time."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def dimension_for(epsilon: float = 0.2, share: float = 0.95) -> int:
    """The least D at which that share of pairs keeps its *squared* distance within a factor of 1 ± ε.

    Projection multiplies a squared distance by χ²_D / D: P(D (1 − ε) ≤ χ²_D ≤ D (1 + ε)) ≥ share.
    Distances themselves then keep within about 1 ± ε/2; for 1 ± ε of these a quarter of D would do.
    """
    low, high = 0, 1
    while share_kept(high, epsilon) < share:
        low, high = high, 2 * high
        if high > MOST_DIMENSIONS:
            raise ValueError(f"no dimension below {MOST_DIMENSIONS} keeps {share} of pairs within {epsilon}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if share_kept(middle, epsilon) >= share else (middle, high)
    return high


def share_kept(dimension: int, epsilon: float) -> float:
    """P(1 − ε ≤ χ²_D / D ≤ 1 + ε)."""
    low, high = (chdtr(dimension, dimension * factor) for factor in (1 - epsilon, 1 + epsilon))
    return float(high - low)


@dataclass(frozen=True)
class Distortion:
    """What projection did to the distances of pairs, as projected / original."""

    pairs: int
    within: float  # share of pairs whose distance kept within a factor of 1 ± ε
    squared_within: float  # of those whose squared distance did
    quantiles: tuple[float, float, float]  # 2.5 %, median and 97.5 % of the factor


def distortion(original: NDArray[Any], projected: NDArray[Any], epsilon: float = 0.2) -> Distortion:
    """Compare distances of the same pairs; pairs at distance 0 stay there and do not count."""
    apart = original > 0
    factor = projected[apart] / original[apart]
    if not len(factor):
        return Distortion(0, 1.0, 1.0, (1.0, 1.0, 1.0))
    within, squared = (float((np.abs(each - 1) <= epsilon).mean()) for each in (factor, factor**2))
    low, median, high = np.quantile(factor, [0.025, 0.5, 0.975]).tolist()
    return Distortion(len(factor), within, squared, (low, median, high))
