#!/usr/bin/env python3
"""What is unlabelled mail worth? A few labelled messages alone, and with many unlabelled ones by EM, one table.

    python bench/em.py --corpus CORPUS [--labelled 50] [--unlabelled 2000] [--seeds 0-9]

CORPUS is a folder with an index in TREC form, as bench/accuracy.py reads it. Each seed draws the labelled and the
unlabelled messages; all others are judged. The columns are errors in percent:

    textbook   multinomial naive Bayes of the labelled alone: counts as they are, alpha 1
    alone      the same of presence in rows of one length, with the length and alpha that err least (seeds 100-109)
    EM         the mixture, started from the labelled, with the defaults of spamnb.models.mixture
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from accuracy import parsed_seeds, read_stream
from scipy import sparse

from spamnb.models.mixture import (
    ALPHA,
    LENGTH,
    UNLABELLED_WEIGHT,
    Mixture,
    evened,
    maximised,
    repeated,
    semi_supervised,
)

ALONE_LENGTH, ALONE_ALPHA = 300.0, 0.1


def error(rows: sparse.csr_matrix, labels: np.ndarray, log_priors: np.ndarray, log_words: np.ndarray) -> float:
    """Messages that these parameters put into the wrong class, in percent."""
    return 100 * float(((rows @ log_words.T + log_priors).argmax(axis=1) != labels).mean())


def alone(counts: sparse.csr_matrix, labels: np.ndarray, taught: np.ndarray, judged: np.ndarray, *, textbook: bool):
    """The error of naive Bayes that knows the labelled messages alone."""
    words = repeated(counts[taught], 1)
    known, asked = counts[taught][:, words], counts[judged][:, words]
    if not textbook:
        known, asked = evened(known, ALONE_LENGTH), evened(asked, ALONE_LENGTH)
    fitted = maximised(known, np.eye(2)[labels[taught]], 1.0 if textbook else ALONE_ALPHA)
    return error(asked, labels[judged], *fitted)


def with_em(
    counts: sparse.csr_matrix, labels: np.ndarray, taught: np.ndarray, others: np.ndarray, judged: np.ndarray,
    args: argparse.Namespace,
) -> tuple[float, Mixture]:  # fmt: skip
    """The error of the mixture on the judged, and the mixture."""
    seen = counts[np.concatenate([taught, others])]
    words = repeated(seen)
    given = np.concatenate([labels[taught], np.full(len(others), -1)]).astype(np.int8)
    mixture = semi_supervised(evened(seen[:, words], args.length), given, 2, args.alpha, args.weight)
    asked = evened(counts[judged][:, words], args.length)
    return error(asked, labels[judged], mixture.log_priors, mixture.log_words), mixture


def rises(steps: list[float]) -> bool:
    """Whether no step lowers the objective by more than rounding does."""
    return all(after >= before - 1e-9 * abs(before) for before, after in pairwise(steps))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--labelled", type=int, default=50)
    parser.add_argument("--unlabelled", type=int, default=2000)
    parser.add_argument("--seeds", type=parsed_seeds, default=list(range(10)))
    parser.add_argument("--weight", type=float, default=UNLABELLED_WEIGHT, help="of an unlabelled message")
    parser.add_argument("--alpha", type=float, default=ALPHA)
    parser.add_argument("--length", type=float, default=LENGTH, help="words' worth of evidence in a message")
    parser.add_argument("--jobs", type=int)
    args = parser.parse_args()
    corpus = read_stream(args.corpus / "index", args.jobs, None).corpus
    labels, counts = np.asarray(corpus.labels).astype(np.int8), corpus.counts.astype(np.float64)
    print("| seed | spam of labelled | textbook | alone | EM | steps | objective | rises |\n" + "|---" * 8 + "|")
    errors = []
    for seed in args.seeds:
        drawn = np.random.default_rng(seed).permutation(len(labels))
        taught, others, judged = np.split(drawn, [args.labelled, args.labelled + args.unlabelled])
        textbook, best = (alone(counts, labels, taught, judged, textbook=which) for which in (True, False))
        found, mixture = with_em(counts, labels, taught, others, judged, args)
        steps = mixture.log_likelihoods
        errors.append((textbook, best, found))
        print(
            f"| {seed} | {labels[taught].sum()} of {len(taught)} | {textbook:.2f} | {best:.2f} | {found:.2f} "
            f"| {len(steps)} | {steps[0]:.0f} to {steps[-1]:.0f} | {'yes' if rises(steps) else 'NO'} |",
            flush=True,
        )
    print("| mean | |", *(f"{mean:.2f} |" for mean in np.mean(errors, axis=0)), "| | |")


if __name__ == "__main__":
    sys.exit(main())
