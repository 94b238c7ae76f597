"""Many messages, read in parallel, or lessons ─▶ a corpus."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .corpus import HAM_AND_SPAM, Corpus, columns_of, merged
from .counting import Chunk
from .journal import Lesson
from .mailbox import LeftOut
from .tokens import MEASURES, token_id

DIGEST_LETTERS = 32


@dataclass(frozen=True)
class Gathered:
    """A corpus and what did not make it there."""

    corpus: Corpus
    duplicates: int  # messages that were there already
    contradictions: list[str]  # names of messages found in several classes
    left_out: LeftOut


def gather(chunks: Iterable[tuple[int, Chunk]], date: int, classes: tuple[str, ...] = HAM_AND_SPAM) -> Gathered:
    """Merge labelled chunks into a corpus: duplicates once, messages of several classes not at all."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    parts: list[tuple[int, Chunk]] = []
    indices: list[NDArray[np.int32]] = []
    for label, chunk in chunks:
        here = np.fromiter(map(numbers.__getitem__, chunk.tokens), np.int32)
        indices.append(here[np.frombuffer(chunk.indices, np.int32)] if here.size else here)
        chunk.words, chunk.indices = "", array("i")  # no longer needed; the matrix is what stays in memory
        parts.append((label, chunk))
    labels = np.repeat([label for label, _ in parts], [len(chunk.digests) for _, chunk in parts])
    counts = sparse.csr_matrix(
        (joined(parts, "counts", np.int32), np.concatenate([*indices, np.empty(0, np.int32)]),
         np.append(0, np.cumsum(joined(parts, "lengths", np.int32), dtype=np.int64))),
        shape=(len(labels), len(numbers)),
    )  # fmt: skip
    names = list(numbers)
    ids = np.fromiter(map(token_id, names), np.uint64, len(names))
    whole = Corpus(
        tokens=names,
        ids=ids,
        counts=counts,
        labels=labels.astype(bool if classes == HAM_AND_SPAM else np.int8),
        digests=np.array(list(chain.from_iterable(chunk.digests for _, chunk in parts)), f"S{DIGEST_LETTERS}"),
        dates=np.full(len(labels), date, np.int64),
        senders=joined(parts, "senders", np.uint64),
        measures=joined(parts, "measures", np.float64).astype(np.float32).reshape(len(labels), len(MEASURES)),
        lessons=np.zeros(len(labels), bool),
        classes=classes,
    )
    left_out = LeftOut()
    for _, chunk in parts:
        left_out.merge(chunk.left_out)
    return distinct(whole, list(chain.from_iterable(chunk.names for _, chunk in parts)), left_out)


def joined(parts: list[tuple[int, Chunk]], field: str, kind: type[np.generic]) -> NDArray[Any]:
    """One field of all chunks."""
    return np.concatenate([np.empty(0, kind), *(np.frombuffer(getattr(chunk, field), kind) for _, chunk in parts)])


def distinct(whole: Corpus, names: list[str], left_out: LeftOut) -> Gathered:
    """Each message once, in canonical order, unless its copies are of several classes."""
    _, copies = np.unique(whole.digests, return_inverse=True)
    by_size = np.lexsort((whole.measures[:, 0], copies))  # copies may differ in blank lines at the end
    first = by_size[np.unique(copies[by_size], return_index=True)[1]]
    lowest, highest = np.full(len(first), len(whole.classes)), np.full(len(first), -1)
    np.minimum.at(lowest, copies, whole.labels)
    np.maximum.at(highest, copies, whole.labels)
    clear = lowest == highest
    contradictions = [name for name, kept in zip(names, clear[copies], strict=True) if not kept]
    order = np.argsort(whole.ids)
    by_id = replace(
        whole,
        tokens=[whole.tokens[column] for column in order],
        ids=whole.ids[order],
        counts=columns_of(whole.counts, order),
    )
    duplicates = len(names) - len(first) - (len(contradictions) - int((~clear).sum()))
    return Gathered(by_id.take(first[clear]), duplicates, contradictions, left_out)


def taught(corpus: Corpus, lessons: list[Lesson]) -> Corpus:
    """The corpus after some lessons: the last one about a message holds."""
    last = {lesson.digest.encode(): lesson for lesson in lessons}
    learned = {name: row for row, name in enumerate(corpus.digests.tolist()) if name in last}
    gone = [row for name, row in learned.items() if last[name].label is None]
    labels, dates, lessons_here = corpus.labels.copy(), corpus.dates.copy(), corpus.lessons.copy()
    for name, row in learned.items():
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
