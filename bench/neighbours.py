#!/usr/bin/env python3
"""How well do nearest neighbours judge mail, by which distance, and what does random projection cost and save?

    python bench/neighbours.py --index CORPUS/index [--messages 3000] [--texts 600]

Four tables: the choice of rows, distance and k on every third message; projection, on the others; the time of the same
distances computed densely, projected and sparsely; distances between the texts themselves. Errors are of 5 folds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from accuracy import read_stream
from scipy import sparse

from spamnb.evaluation import one_minus_auc
from spamnb.message import digest
from spamnb.models.likeness import LONGEST, TEXT_DISTANCES, mail_text, text_distances
from spamnb.models.neighbours import (
    DENSE_DISTANCES,
    DISTANCES,
    dense_distances,
    dimension_for,
    distances,
    distortion,
    nearest,
    neighbour_scores,
    project,
)

FOLDS = 5
KS = (1, 3, 5, 11, 21)
SEEDS = 3  # of the random matrix
MOST_BYTES = 2e9  # of a dense matrix


def presence(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    return sparse.csr_matrix((np.ones_like(counts.data), counts.indices, counts.indptr), counts.shape)


ROWS: dict[str, Callable[[sparse.csr_matrix], sparse.csr_matrix]] = {"counts": lambda x: x, "presence": presence}


def held_out(distance: np.ndarray, spam: np.ndarray, k: int, vote: str) -> np.ndarray:
    """Every message's score by its neighbours in the other folds."""
    fold, scores = np.arange(len(spam)) % FOLDS, np.zeros(len(spam))
    for number in range(FOLDS):
        judged, known = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        near = nearest(distance[np.ix_(judged, known)], k)
        scores[judged] = neighbour_scores(spam[known][near], vote)
    return scores


def error(distance: np.ndarray, spam: np.ndarray, k: int) -> float:
    """In percent."""
    return 100 * float(((held_out(distance, spam, k, "majority") > 0) != spam).mean())


def errors_by_k(name: str, distance: np.ndarray, spam: np.ndarray) -> str:
    """A row of a table: error and 1-AUC of each k."""
    cells = [
        f"{error(distance, spam, k):.2f} ({100 * one_minus_auc(spam, held_out(distance, spam, k, 'average')):.2f})"
        for k in KS
    ]
    return f"| {name} | {' | '.join(cells)} |"


def heading(*cells: str) -> str:
    return f"\n| {' | '.join(cells)} |\n{'|---' * len(cells)}|"


def choice_table(counts: sparse.csr_matrix, spam: np.ndarray, tune: np.ndarray) -> Iterator[str]:
    """Every choice on the messages that tune; the one that errs least there, on the others."""
    yield heading(f"error % (1-AUC % of the average), {tune.sum()} messages", *(f"k = {k}" for k in KS))
    found: dict[tuple[str, str, int], float] = {}
    for (rows, made), metric in product(ROWS.items(), DISTANCES):
        distance = distances(made(counts[tune]), made(counts[tune]), metric)
        found |= {(rows, metric, k): error(distance, spam[tune], k) for k in KS}
        yield errors_by_k(f"{rows}, {metric}", distance, spam[tune])
    rows, metric, k = min(found, key=lambda choice: found[choice])
    others = ROWS[rows](counts[~tune])
    distance = distances(others, others, metric)
    yield errors_by_k(f"*least error with k = {k}: on {(~tune).sum()} others:* {rows}, {metric}", distance, spam[~tune])


def projection_table(
    counts: sparse.csr_matrix, ids: np.ndarray, spam: np.ndarray, epsilon: float, k: int
) -> Iterator[str]:
    """Means over the seeds; D for 95 % of pairs, and for all pairs but one."""
    pairs = np.triu_indices(len(spam), 1)
    targets = {"95 %": dimension_for(epsilon, 0.95), "all": dimension_for(epsilon, 1 - 1 / len(pairs[0]))}
    yield heading(
        f"k = {k}, {len(spam)} messages", "pairs meant", "D", f"% of pairs within {epsilon}", "squared",
        "factor 2.5 – 97.5 %", "error %", "projected", "difference, by seed",
    )  # fmt: skip
    for (rows, made), metric in product(ROWS.items(), DENSE_DISTANCES):
        original = distances(made(counts), made(counts), metric)
        plain = error(original, spam, k)
        for meant, dimension in targets.items():
            kept, found = [], []
            for seed in range(SEEDS):
                points = project(made(counts), ids, dimension, seed)
                projected = dense_distances(points, points, metric)
                kept.append(distortion(original[pairs], projected[pairs], epsilon))
                found.append(error(projected, spam, k))
            within, squared = (100 * np.mean([getattr(one, n) for one in kept]) for n in ("within", "squared_within"))
            low, _, high = np.mean([each.quantiles for each in kept], axis=0)
            by_seed = ", ".join(f"{each - plain:+.2f}" for each in found)
            yield (
                f"| {rows}, {metric} | {meant} | {dimension} | {within:.2f} | {squared:.2f} | {low:.2f} – {high:.2f} "
                f"| {plain:.2f} | {np.mean(found):.2f} | {by_seed} |"
            )


def timed(work: Callable[..., np.ndarray], *given: object) -> tuple[float, np.ndarray]:
    """Processor seconds, which others on the machine do not add to, and what came of them."""
    started = time.process_time()
    found = work(*given)
    return time.process_time() - started, found


def time_table(counts: sparse.csr_matrix, ids: np.ndarray, epsilon: float) -> Iterator[str]:
    """Half of the messages against the other half, no more of them than fit densely."""
    counts = counts[: int(MOST_BYTES / 4 / counts.shape[1])]
    rows = presence(counts)
    half = rows.shape[0] // 2
    dimensions = [dimension_for(epsilon, share) for share in (0.95, 1 - 2 / rows.shape[0] ** 2)]
    yield heading(
        f"{half} × {rows.shape[0] - half} messages, cosine", "columns", "processor seconds", "of these to project"
    )
    left, right = (part.astype(np.float32).toarray() for part in (rows[:half], rows[half:]))
    seconds, _ = timed(dense_distances, left, right, "cosine")
    yield f"| dense | {rows.shape[1]} | {seconds:.2f} | |"
    for dimension in dimensions:
        before, points = timed(project, rows, ids, dimension)
        after, _ = timed(dense_distances, points[:half], points[half:], "cosine")
        yield f"| projected | {dimension} | {before + after:.2f} | {before:.2f} |"
    for metric in DISTANCES:
        seconds, _ = timed(distances, rows[:half], rows[half:], metric)
        yield f"| sparse{'' if metric == 'cosine' else ', ' + metric} | {rows.shape[1]} | {seconds:.2f} | |"


def read_texts(index: Path, number: int) -> tuple[list[bytes], np.ndarray]:
    """The texts of some messages, drawn by seed 0, copies left out, and whether they are spam."""
    lines = [line.split(None, 1) for line in index.read_text().splitlines() if line.strip()]
    found: dict[str, tuple[bytes, bool]] = {}
    for place in np.random.default_rng(0).permutation(len(lines))[:number]:
        label, path = lines[place]
        raw = (index.parent / path.strip()).read_bytes()
        found.setdefault(digest(raw), (mail_text(raw), label.lower() == "spam"))
    return [text for text, _ in found.values()], np.array([spam for _, spam in found.values()])


def text_table(texts: list[bytes], spam: np.ndarray) -> Iterator[str]:
    yield heading(f"error % (1-AUC %), {len(texts)} texts", *(f"k = {k}" for k in KS))
    for metric in TEXT_DISTANCES:
        seconds, found = timed(text_distances, texts, texts, metric)
        each = 1e6 * seconds / len(texts) ** 2
        yield errors_by_k(f"{metric}, first {LONGEST[metric]} bytes, {each:.0f} µs a pair", found, spam)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--messages", type=int, default=3000, help="drawn from the index by seed 0")
    parser.add_argument("--texts", type=int, default=600, help="for compression and edit distance")
    parser.add_argument("--epsilon", type=float, default=0.2)
    parser.add_argument("--neighbours", type=int, default=1, help="k in the table of projection")
    parser.add_argument("--jobs", type=int)
    args = parser.parse_args()
    corpus = read_stream(args.index, args.jobs, None).corpus
    drawn = corpus.take(np.random.default_rng(0).permutation(len(corpus.labels))[: args.messages])
    tune = np.arange(len(drawn.labels)) % 3 == 0
    spam = drawn.labels.astype(bool)
    tables = (
        choice_table(drawn.counts, spam, tune),
        projection_table(drawn.counts[~tune], drawn.ids, spam[~tune], args.epsilon, args.neighbours),
        time_table(drawn.counts, drawn.ids, args.epsilon),
        text_table(*read_texts(args.index, args.texts)),
    )
    for table in tables:
        for line in table:
            print(line, flush=True)


if __name__ == "__main__":
    main()
