"""Which messages train and which are judged: folds, each without itself, the earlier half, or as mail comes in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus
from .errors import BadData, Usage
from .mailbox import LeftOut, units
from .models import train_and_test
from .parallel import in_parallel
from .sending import sent_units

PROTOCOLS = ("folds", "loo", "half", "online")
IN_TIME = ("half", "online")
FOLDS = 5
FEWEST = 2  # messages of each class, to begin to judge and to be judged, where time decides
BLOCK = 0.05  # of the mail seen, judged online before the next fit: 58 fits for 160 messages, 130 for 6,000


@dataclass(frozen=True)
class Plan:
    """Pairs of a corpus to fit and the rows to judge by it; no row is judged twice."""

    splits: Iterator[tuple[Corpus, NDArray[Any]]]
    number: int


def planned(corpus: Corpus, protocol: str = "folds", folds: int = FOLDS, seed: int = 0) -> Plan:
    """The splits of a protocol."""
    if protocol == "folds":
        return in_folds(corpus, folds, seed)
    return {"loo": each_without_itself, "half": earlier_half, "online": as_it_comes}[protocol](corpus)


def in_folds(corpus: Corpus, folds: int, seed: int) -> Plan:
    """Every fold judged by the others."""
    if min(corpus.messages) < folds:
        raise BadData(f"{folds} folds need {folds} messages of each class; there are {min(corpus.messages)}")
    return Plan(train_and_test(corpus, folds, seed), folds)


def each_without_itself(corpus: Corpus) -> Plan:
    """Every message judged by all others."""
    if min(corpus.messages) < 2:
        raise BadData(f"leaving one out needs 2 messages of each class; there are {min(corpus.messages)}")
    rows = np.arange(len(corpus.labels))
    return Plan(((corpus.take(rows != row), rows == row) for row in rows), len(rows))


def earlier_half(corpus: Corpus) -> Plan:
    """The later half of the mail judged by the earlier."""
    order = order_of_time(corpus)
    middle = len(order) // 2
    return in_order(corpus, order, [(middle, len(order))])


def as_it_comes(corpus: Corpus) -> Plan:
    """Block after block judged by all mail before it; the first messages, until each class has two, by none."""
    order = order_of_time(corpus)
    seen = [np.cumsum(corpus.labels[order] == number) for number in range(len(corpus.messages))]
    start = int(sum(np.min(seen, axis=0) < FEWEST)) + 1
    blocks = []
    while start < len(order):
        stop = min(start + max(1, int(BLOCK * start)), len(order))
        blocks.append((start, stop))
        start = stop
    return in_order(corpus, order, blocks)


def in_order(corpus: Corpus, order: NDArray[np.intp], blocks: Sequence[tuple[int, int]]) -> Plan:
    """Each block of mail, from one place to another in the order of time, judged by all mail before it."""
    begin = blocks[0][0] if blocks else len(order)
    labels = corpus.labels[order].astype(np.intp)
    for part, purpose in ((labels[:begin], "train on before"), (labels[begin:], "judge after")):
        if min(np.bincount(part, minlength=len(corpus.messages))) < FEWEST:
            raise BadData(
                f"a class has too little mail to {purpose} the first judgement; give more mail, or --protocol folds"
            )
    splits = ((corpus.take(np.sort(order[:start])), np.sort(order[start:stop])) for start, stop in blocks)
    return Plan(splits, len(blocks))


def order_of_time(corpus: Corpus) -> NDArray[np.intp]:
    """The rows, earliest first."""
    _, together = np.unique(corpus.dates, return_counts=True)
    if together.max(initial=0) * 2 > len(corpus.dates):
        raise BadData(
            "most messages bear one date (a model knows when it learned them, not when they were sent); "
            "name the mail: spamnb evaluate HAM SPAM"
        )
    return np.argsort(corpus.dates, kind="stable")


def dated(
    corpus: Corpus,
    mailboxes: tuple[Sequence[str], Sequence[str]],
    jobs: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Corpus:
    """The corpus of these mailboxes of ham and of spam, with the dates when its messages were sent."""
    if "-" in [*mailboxes[0], *mailboxes[1]]:
        raise Usage("mail on standard input cannot be read twice, for its dates; save it to a file, and name that")
    found: dict[bytes, int] = {}
    for number, (paths, others) in enumerate((mailboxes, mailboxes[::-1])):
        work = [unit for path in paths for unit in units(path, LeftOut(), others)]
        read = [one for part in in_parallel(sent_units, work, jobs) for one in part]
        if all(when is None for _, when in read):
            raise BadData(f"{', '.join(paths)}: no message has a date; --protocol folds and loo need none")
        for (name, _), when in zip(read, filled([when for _, when in read]), strict=True):
            found[name.encode()] = min(when, found.get(name.encode(), when))
        progress(number + 1, 2)
    return replace(corpus, dates=np.array([found[name] for name in corpus.digests.tolist()], np.int64))


def filled(dates: list[int | None]) -> list[int]:
    """A message without a date gets that of the one before it in its mailbox; the first ones, of the first that has."""
    last = next(when for when in dates if when is not None)
    return [last := last if when is None else when for when in dates]
