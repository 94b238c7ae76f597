#!/usr/bin/env python3
"""How accurate is spamnb? Any labelled mail in TREC form, several protocols and seeds, one table.

    python bench/accuracy.py --index CORPUS/index [--index …] --protocol random,half,online,small --seeds 0-4
    python bench/accuracy.py --index CORPUS/index --protocol half --validation     # for tuning

An index has lines `spam|ham path`, the paths relative to its folder.

    random   trains on a seeded random half, judges the rest
    half     trains on the first half in order, judges the second
    small    trains on 100, 300 and 1,000 messages of a seeded shuffle, judges the second half of it
    online   judges each message, then learns it, in order, in one process; refits as `spamnb learn` does

With --validation the training part is split again in the same way; what is held back for reporting is not read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from spamnb.corpus import Corpus
from spamnb.counting import count_chunk
from spamnb.evaluation import one_minus_auc
from spamnb.gathering import gather
from spamnb.learning import fold_is_due
from spamnb.mailbox import Unit
from spamnb.message import short_digest
from spamnb.models import KINDS, Choice, fit, score_rows
from spamnb.parallel import in_parallel
from spamnb.scorecard import SPAM, Scorecard
from spamnb.teaching import teach
from spamnb.tokens import known_token, token_id

SMALL = (100, 300, 1000)
CALIBRATION_BINS = 15


@dataclass(frozen=True)
class Stream:
    """A corpus, and its rows in the order of the index."""

    name: str
    corpus: Corpus
    order: np.ndarray


@dataclass(frozen=True)
class Result:
    """What a model said of messages it had not learned."""

    labels: np.ndarray
    scores: np.ndarray
    called_spam: np.ndarray
    seconds: float


def read_stream(index: Path, jobs: int | None, limit: int | None) -> Stream:
    """Count the mail of an index; copies of a message count once, where they first stand."""
    lines = [line.split(None, 1) for line in index.read_text().splitlines() if line.strip()][:limit]
    place: dict[str, int] = {}

    def chunks() -> Iterator[tuple[bool, object]]:
        for spam in (False, True):
            numbers = [n for n, (label, _) in enumerate(lines) if (label.lower() == "spam") == spam]
            paths = [index.parent / lines[n][1].strip() for n in numbers]
            units = [Unit(str(path), path.stat().st_size) for path in paths]
            position = {str(path): number for path, number in zip(paths, numbers, strict=True)}
            for chunk in in_parallel(count_chunk, units, jobs):
                for digest, name in zip(chunk.digests, chunk.names, strict=True):
                    place.setdefault(digest, position[name.partition("#")[0]])
                yield spam, chunk

    corpus = gather(chunks(), 0).corpus
    order = np.argsort([place[digest.decode()] for digest in corpus.digests.tolist()], kind="stable")
    return Stream(index.parent.name, corpus, order)


def splits(rows: np.ndarray, protocol: str, seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(name, rows to train on, rows to judge) of a protocol."""
    shuffled = np.random.default_rng(seed).permutation(rows) if protocol in ("random", "small") else rows
    half = len(rows) // 2
    if protocol == "small":
        for size in SMALL:
            yield f"small {size}", shuffled[:size], shuffled[half:]
    else:
        yield protocol, shuffled[:half], shuffled[half:]


def batch(corpus: Corpus, train: np.ndarray, test: np.ndarray, choice: Choice) -> Result:
    """Fit once, judge the rest."""
    started = time.perf_counter()
    card = fit(corpus.take(np.sort(train)), choice)
    judged = corpus.take(test)
    scores = score_rows(card, judged)
    called = np.array([card.verdict(score).label == SPAM for score in scores])
    return Result(judged.labels, scores, called, time.perf_counter() - started)


def online(corpus: Corpus, rows: np.ndarray, choice: Choice) -> Result:
    """Judge, then learn, each message in order, as the filter and `learn` would."""
    started = time.perf_counter()
    scores, called = np.zeros(len(rows)), np.zeros(len(rows), bool)
    card = fit(corpus.take(rows[:0]), choice)
    digests = [short_digest(name) for name in corpus.digests.tolist()]
    for number, row in enumerate(rows):
        counts = row_counts(corpus, row)
        scores[number] = card.score(card_rows(card, counts, int(corpus.senders[row])))
        called[number] = card.verdict(scores[number]).label == SPAM
        teach(card, digests[row], int(corpus.labels[row]), counts, int(corpus.senders[row]))
        card.lessons += 1
        if fold_is_due(card):
            card = fit(corpus.take(np.sort(rows[: number + 1])), choice)
    return Result(corpus.labels[rows], scores, called, time.perf_counter() - started)


def row_counts(corpus: Corpus, row: int) -> dict[str, int]:
    """A message's tokens and their counts."""
    part = slice(corpus.counts.indptr[row], corpus.counts.indptr[row + 1])
    columns, values = corpus.counts.indices[part].tolist(), corpus.counts.data[part].tolist()
    return {corpus.tokens[column]: value for column, value in zip(columns, values, strict=True)}


def card_rows(card: Scorecard, counts: dict[str, int], sender: int) -> dict[int, int]:
    """The scorecard's rows for a message, with what it knows of the sender."""
    found = dict(counts)
    if sender:
        found[known_token(card.is_contact(sender), card.sender_counts(sender)[0] > 0)] = 1
    rows = {card.row(token_id(token)): count for token, count in found.items()}
    rows.pop(-1, None)
    return rows


def least_missed(result: Result, ham_lost: float) -> float:
    """The smallest share of spam missed at any threshold that loses at most this share of the ham."""
    ham = np.sort(result.scores[~result.labels])[::-1]
    cutoff = ham[min(int(ham_lost * len(ham) + 1e-9), len(ham) - 1)]
    return float((result.scores[result.labels] <= cutoff).mean())


def calibration_error(result: Result) -> float:
    """Expected calibration error: how far stated probabilities are from what happened, on average over messages."""
    stated = 1 / (1 + np.exp(-np.clip(result.scores, -500, 500)))
    bins = np.minimum((stated * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    gaps = [
        abs(result.labels[bins == b].mean() - stated[bins == b].mean()) * (bins == b).mean()
        for b in range(CALIBRATION_BINS)
        if (bins == b).any()
    ]
    return float(sum(gaps))


def interval(result: Result, rounds: int) -> tuple[float, float]:
    """95 % bootstrap interval of 1-AUC, ham and spam drawn separately."""
    random = np.random.default_rng(0)
    spam, ham = result.scores[result.labels], result.scores[~result.labels]
    labels = np.repeat([True, False], [len(spam), len(ham)])
    draws = [
        one_minus_auc(labels, np.concatenate([random.choice(spam, len(spam)), random.choice(ham, len(ham))]))
        for _ in range(rounds)
    ]
    low, high = np.quantile(draws, [0.025, 0.975]) if draws else (np.nan, np.nan)
    return float(low), float(high)


def figures(result: Result, rounds: int) -> dict[str, float]:
    """A row of the table, in percent."""
    labels, called = result.labels, result.called_spam
    low, high = interval(result, rounds)
    return {
        "1-AUC": 100 * one_minus_auc(labels, result.scores),
        "low": 100 * low,
        "high": 100 * high,
        "sm at hm 0.1": 100 * least_missed(result, 0.001),
        "sm at hm 1": 100 * least_missed(result, 0.01),
        "ham lost": 100 * float(called[~labels].mean()),
        "spam missed": 100 * float((~called[labels]).mean()),
        "error": 100 * float((called != labels).mean()),
        "calibration": 100 * calibration_error(result),
        "seconds": result.seconds,
    }


def measure(stream: Stream, protocol: str, seeds: list[int], choice: Choice, validation: bool, rounds: int):
    """(name of the row, mean figures over the seeds) of one protocol."""
    found: dict[str, list[dict[str, float]]] = {}
    for seed in seeds if protocol in ("random", "small") else seeds[:1]:
        rows = stream.order
        if protocol == "online":
            rows = rows[: len(rows) // 2] if validation else rows
            found.setdefault("online", []).append(figures(online(stream.corpus, rows, choice), rounds))
            continue
        if validation:
            rows = next(splits(rows, "half" if protocol == "half" else "random", seed))[1]
        for name, train, test in splits(rows, protocol, seed):
            found.setdefault(name, []).append(figures(batch(stream.corpus, train, test, choice), rounds))
    for name, results in found.items():
        yield name, {key: float(np.mean([one[key] for one in results])) for key in results[0]}


def parsed_seeds(text: str) -> list[int]:
    """'0-4' or '0,2,5'."""
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if dash else [int(seed) for seed in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, action="append", required=True)
    parser.add_argument("--protocol", default="random,half,small,online")
    parser.add_argument("--seeds", type=parsed_seeds, default=[0])
    parser.add_argument("--kind", choices=KINDS, default="corrected")
    parser.add_argument("--alpha", type=float)
    parser.add_argument("--limit", type=int, help="only the first N messages of an index")
    parser.add_argument("--validation", action="store_true", help="stay inside the training part: for tuning")
    parser.add_argument("--bootstrap", type=int, default=200)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--format", choices=("table", "jsonl"), default="table")
    args = parser.parse_args()
    if args.format == "table":
        print("| corpus, protocol | 1-AUC % [95 %] | sm % at hm 0.1 % | at 1 % | ham lost % | spam missed % | error % "
              "| calibration % | s |\n|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    for index in args.index:
        stream = read_stream(index, args.jobs, args.limit)
        choice = Choice(args.kind, args.alpha)
        for protocol in args.protocol.split(","):
            for name, f in measure(stream, protocol, args.seeds, choice, args.validation, args.bootstrap):
                if args.format == "jsonl":
                    print(json.dumps({"corpus": stream.name, "protocol": name, **f}), flush=True)
                else:
                    print(f"| {stream.name}, {name} | {f['1-AUC']:.4f} [{f['low']:.4f}, {f['high']:.4f}] "
                          f"| {f['sm at hm 0.1']:.2f} | {f['sm at hm 1']:.2f} | {f['ham lost']:.2f} "
                          f"| {f['spam missed']:.2f} | {f['error']:.2f} | {f['calibration']:.2f} "
                          f"| {f['seconds']:.1f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
