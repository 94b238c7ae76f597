"""Many messages, read in parallel, or lessons ─▶ a corpus."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .corpus import HAM_AND_SPAM, Corpus, merged
from .counting import Chunk
from .journal import Lesson
from .mailbox import LeftOut
from .tokens import MEASURES, token_id

DIGEST_LETTERS = 32
# The arrays of a chunk, and how to read them.
PARTS: dict[str, type[np.generic]] = {
    "indices": np.int32, "counts": np.int32, "lengths": np.int32, "senders": np.uint64, "measures": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class Gathered:
    """A corpus and what did not make it there."""

    corpus: Corpus
    duplicates: int  # messages that were there already
    contradictions: list[str]  # names of messages found in several classes
    left_out: LeftOut


def gather(chunks: Iterable[tuple[int, Chunk]], date: int, classes: tuple[str, ...] = HAM_AND_SPAM) -> Gathered:
    """Merge labelled chunks into a corpus: duplicates once, messages of several classes not at all."""
    heap = Heap(classes)
    for label, chunk in chunks:
        heap.add(label, chunk)
    return heap.gathered(date)


class Heap:
    """Chunks as they come in, their words numbered alike. A copy of a message is dropped at once, but for its name."""

    def __init__(self, classes: tuple[str, ...]) -> None:
        self.classes = classes
        self.numbers: defaultdict[str, int] = defaultdict(count().__next__)  # of the words
        self.ids: list[NDArray[np.uint64]] = []  # likewise
        self.smallest: dict[str, float] = {}  # digest ─▶ bytes of the smallest copy: they differ in blank lines
        self.names: list[str] = []  # of all messages, like the next two
        self.digests: list[str] = []
        self.labels: list[int] = []
        self.kept: list[NDArray[np.intp]] = []  # numbers of the messages that have rows
        self.parts: dict[str, list[NDArray[Any]]] = {name: [] for name in PARTS}
        self.left_out = LeftOut()

    def add(self, label: int, chunk: Chunk) -> None:
        """Take up a chunk."""
        self.left_out.merge(chunk.left_out)
        part = {name: np.frombuffer(getattr(chunk, name), kind) for name, kind in PARTS.items()}
        part["measures"] = part["measures"].astype(np.float32).reshape(-1, len(MEASURES))
        new = self.is_new(chunk.digests, part["measures"][:, 0])
        self.kept.append(len(self.names) + np.flatnonzero(new))
        self.names += chunk.names
        self.digests += chunk.digests
        self.labels += [label] * len(chunk.names)
        if not new.any():
            return
        words, known = chunk.tokens, len(self.numbers)
        here = np.fromiter(map(self.numbers.__getitem__, words), np.int32, len(words))
        self.ids.append(np.array([token_id(words[place]) for place in np.flatnonzero(here >= known)], np.uint64))
        of_new = np.repeat(new, part["lengths"])
        for name, values in part.items():
            mine = values[of_new if name in ("indices", "counts") else new]
            self.parts[name].append(here[mine] if name == "indices" else mine)

    def is_new(self, digests: list[str], sizes: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Which messages have not come before, or not as small."""
        new = np.ones(len(digests), bool)
        for row, (digest, size) in enumerate(zip(digests, sizes.tolist(), strict=True)):
            new[row] = size < self.smallest.get(digest, inf)
            if new[row]:
                self.smallest[digest] = size
        return new

    def gathered(self, date: int) -> Gathered:
        """Each message once, in canonical order, unless its copies are of several classes."""
        digests, labels = (
            np.array(self.digests, f"S{DIGEST_LETTERS}"),
            np.array(self.labels, bool if self.classes == HAM_AND_SPAM else np.int8),
        )
        distinct, copies = np.unique(digests, return_inverse=True)
        lowest, highest = np.full(len(distinct), len(self.classes)), np.full(len(distinct), -1)
        np.minimum.at(lowest, copies, labels)
        np.maximum.at(highest, copies, labels)
        clear = lowest == highest
        contradictions = [name for name, is_clear in zip(self.names, clear[copies], strict=True) if not is_clear]
        row_of = np.empty(len(distinct), np.intp)
        kept = np.concatenate([*self.kept, np.empty(0, np.intp)])
        row_of[copies[kept]] = np.arange(len(kept))  # the last is the smallest
        whole = self.corpus(digests[kept], labels[kept], date)
        duplicates = len(labels) - len(distinct) - (len(contradictions) - int((~clear).sum()))
        return Gathered(whole.take(row_of[clear]), duplicates, contradictions, self.left_out)

    def corpus(self, digests: NDArray[np.bytes_], labels: NDArray[Any], date: int) -> Corpus:
        """All rows, columns in the order of their ids; what they were made from is gone."""
        words, ids = list(self.numbers), np.concatenate([*self.ids, np.empty(0, np.uint64)])
        order = np.argsort(ids)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        ends = np.append(0, np.cumsum(self.joined("lengths"), dtype=np.int64))
        columns = place[self.joined("indices")]
        return Corpus(
            tokens=[words[column] for column in order.tolist()],
            ids=ids[order],
            counts=sparse.csr_matrix((self.joined("counts"), columns, ends), shape=(len(labels), len(words))),
            labels=labels,
            digests=digests,
            dates=np.full(len(labels), date, np.int64),
            senders=self.joined("senders"),
            measures=self.joined("measures"),
            lessons=np.zeros(len(labels), bool),
            classes=self.classes,
        )

    def joined(self, name: str) -> NDArray[Any]:
        """One field of all rows."""
        shape = (0, len(MEASURES)) if name == "measures" else 0
        empty = np.empty(shape, np.float32 if name == "measures" else PARTS[name])
        return np.concatenate([empty, *self.parts.pop(name)])


def taught(corpus: Corpus, lessons: list[Lesson]) -> Corpus:
    """The corpus after some lessons: the last one about a message holds."""
    last = {lesson.digest.encode(): lesson for lesson in lessons}
    learned = {name: row for row, name in enumerate(corpus.digests.tolist()) if name in last}
    gone = [row for name, row in learned.items() if last[name].label is None]
    labels, dates, lessons_here = corpus.labels.copy(), corpus.dates.copy(), corpus.lessons.copy()
    for name, row in learned.items():
        if last[name].label is None:
            continue
        labels[row], dates[row], lessons_here[row] = last[name].label, last[name].date, True
    kept = replace(corpus, labels=labels, dates=dates, lessons=lessons_here).take(
        np.delete(np.arange(len(labels)), gone)
    )
    new = [lesson for name, lesson in last.items() if name not in learned and lesson.label is not None]
    return merged([kept, from_lessons(new, corpus.classes)])


def from_lessons(lessons: list[Lesson], classes: tuple[str, ...] = HAM_AND_SPAM) -> Corpus:
    """Lessons about different messages as a corpus of their own."""
    chunks = [
        (
            int(lesson.label or 0),
            Chunk(
                words="\n".join(lesson.counts or {}),
                indices=array("i", range(len(lesson.counts or {}))),
                counts=array("i", (lesson.counts or {}).values()),
                lengths=array("i", [len(lesson.counts or {})]),
                digests=[lesson.digest],
                senders=array("Q", [lesson.sender]),
                measures=array("d", lesson.measures),
                names=[""],
                left_out=LeftOut(),
                size=0,
            ),
        )
        for lesson in lessons
    ]
    corpus = gather(chunks, 0, classes).corpus
    date_of = {lesson.digest.encode(): lesson.date for lesson in lessons}
    dates = np.array([date_of[name] for name in corpus.digests.tolist()], np.int64)
    return replace(corpus, dates=dates, lessons=np.ones(len(dates), bool))
