"""Many messages, read in parallel ─▶ dictionary + count matrix + labels.

The rows stand in the order of their digests and the columns in the order of their token ids, so that the order in
which mail was read or learned leaves no trace.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .journal import Lesson
from .mailbox import LeftOut, Unit, messages
from .message import digest, parse
from .tokens import MEASURES, known_token, measures, sender, token_id, tokens

DIGEST_LETTERS = 32
ROW_FIELDS = ("labels", "digests", "dates", "senders", "measures")


@dataclass(frozen=True)
class Corpus:
    """The count matrix and what belongs to its rows and columns."""

    tokens: list[str]  # the dictionary, a column each
    ids: NDArray[np.uint64]  # of the tokens, ascending
    counts: sparse.csr_matrix  # messages × tokens
    labels: NDArray[np.bool_]  # True for spam
    digests: NDArray[np.bytes_]  # hexadecimal, ascending
    dates: NDArray[np.int64]  # seconds since 1970 when the message was learned
    senders: NDArray[np.uint64]  # ids of the From addresses, 0 where there is none
    measures: NDArray[np.float32]  # messages × MEASURES
    block: NDArray[np.int64] | None = None  # 2 × tokens: totals of ham and of spam that came without their messages
    block_messages: tuple[int, int] = (0, 0)  # how many messages those were

    @property
    def messages(self) -> tuple[int, int]:
        """How many ham and spam there are rows of."""
        spam = int(self.labels.sum())
        return len(self.labels) - spam, spam

    @property
    def messages_counted(self) -> tuple[int, int]:
        """How many ham and spam the word totals are of."""
        (ham, spam), (block_ham, block_spam) = self.messages, self.block_messages
        return ham + block_ham, spam + block_spam

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Corpus:
        """Some of the messages, with a dictionary of their own words alone."""
        counts = self.counts[rows]
        seen = np.bincount(counts.indices, minlength=counts.shape[1])
        used = np.flatnonzero(seen if self.block is None else seen + self.block.sum(axis=0))
        return Corpus(
            tokens=[self.tokens[column] for column in used],
            ids=self.ids[used],
            counts=columns_of(counts, used),
            labels=self.labels[rows],
            digests=self.digests[rows],
            dates=self.dates[rows],
            senders=self.senders[rows],
            measures=self.measures[rows],
            block=None if self.block is None else self.block[:, used],
            block_messages=self.block_messages,
        )

    def has_other_ham_sender(self) -> Any:
        """Whether another message, a ham, came from the same address: a message never vouches for itself."""
        addresses, place = np.unique(self.senders, return_inverse=True)
        ham = np.bincount(place[~self.labels], minlength=len(addresses))
        return (self.senders != 0) & (ham[place] > ~self.labels)

    def with_senders(self, contacts: NDArray[np.uint64], from_ham: NDArray[np.bool_]) -> Corpus:
        """With a token for what is known of each message's sender."""
        known = {token: rows for token, rows in self.sender_tokens(contacts, from_ham).items() if rows.any()}
        if not known:
            return self
        added = sparse.csr_matrix(np.column_stack(list(known.values())).astype(np.int32))
        names = [*self.tokens, *known]
        ids = np.append(self.ids, np.array([token_id(token) for token in known], np.uint64))
        order = np.argsort(ids)
        counts = columns_of(sparse.hstack([self.counts, added], format="csr"), order)
        block = None if self.block is None else np.pad(self.block, ((0, 0), (0, len(known))))[:, order]
        return replace(self, tokens=[names[column] for column in order], ids=ids[order], counts=counts, block=block)

    def sender_tokens(self, contacts: Any, from_ham: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
        """Which messages get which token for their sender."""
        contact = np.isin(self.senders, contacts)
        return {
            known_token(True, False): contact,
            known_token(False, True): ~contact & from_ham,
            known_token(False, False): ~contact & ~from_ham & (self.senders != 0),
        }


def columns_of(counts: sparse.csr_matrix, columns: NDArray[np.intp]) -> sparse.csr_matrix:
    """Some columns of a matrix, in the order given."""
    found = counts[:, columns]
    found.sort_indices()
    return found


@dataclass
class Chunk:
    """What a worker found in some of the mail: a small count matrix over words of its own."""

    words: str  # joined by line ends
    indices: array[int]
    counts: array[int]
    lengths: array[int]  # tokens of each message
    digests: list[str]
    senders: array[int]
    measures: array[float]
    names: list[str]
    left_out: LeftOut
    size: int  # bytes of mail read

    @property
    def tokens(self) -> list[str]:
        return self.words.split("\n") if self.words else []


def count_chunk(units: list[Unit]) -> Chunk:
    """Read some mail and count its tokens. Runs in a worker."""
    chunk = Chunk("", array("i"), array("i"), array("i"), [], array("Q"), array("d"), [], LeftOut(), 0)
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    indices: list[int] = []  # a list takes many numbers quicker than an array does
    counts: list[int] = []
    for unit in units:
        chunk.size += unit.size
        for mail in messages(unit, chunk.left_out):
            message = parse(mail.raw)
            measured = measures(message)
            row = tokens(message, measured)
            indices += map(numbers.__getitem__, row)
            counts += row.values()
            chunk.lengths.append(len(row))
            chunk.digests.append(digest(mail.raw))
            address = sender(message)
            chunk.senders.append(token_id(address) if address else 0)
            chunk.measures.extend(measured)
            chunk.names.append(mail.name)
    chunk.indices, chunk.counts = array("i", indices), array("i", counts)
    chunk.words = "\n".join(numbers)
    return chunk


@dataclass(frozen=True)
class Gathered:
    """A corpus and what did not make it there."""

    corpus: Corpus
    duplicates: int  # messages that were there already
    contradictions: list[str]  # names of messages found in both classes
    left_out: LeftOut


def gather(chunks: Iterable[tuple[bool, Chunk]], date: int) -> Gathered:
    """Merge labelled chunks into a corpus: duplicates once, messages of both classes not at all."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    parts: list[tuple[bool, Chunk]] = []
    indices: list[NDArray[np.int32]] = []
    for label, chunk in chunks:
        here = np.fromiter(map(numbers.__getitem__, chunk.tokens), np.int32)
        indices.append(here[np.frombuffer(chunk.indices, np.int32)] if here.size else here)
        chunk.words, chunk.indices = "", array("i")  # no longer needed; the matrix is what stays in memory
        parts.append((label, chunk))
    labels = np.repeat([label for label, _ in parts], [len(chunk.digests) for _, chunk in parts]).astype(bool)
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
        labels=labels,
        digests=np.array(list(chain.from_iterable(chunk.digests for _, chunk in parts)), f"S{DIGEST_LETTERS}"),
        dates=np.full(len(labels), date, np.int64),
        senders=joined(parts, "senders", np.uint64),
        measures=joined(parts, "measures", np.float64).astype(np.float32).reshape(len(labels), len(MEASURES)),
    )
    left_out = LeftOut()
    for _, chunk in parts:
        left_out.merge(chunk.left_out)
    return distinct(whole, list(chain.from_iterable(chunk.names for _, chunk in parts)), left_out)


def joined(parts: list[tuple[bool, Chunk]], field: str, kind: type[np.generic]) -> NDArray[Any]:
    """One field of all chunks."""
    return np.concatenate([np.empty(0, kind), *(np.frombuffer(getattr(chunk, field), kind) for _, chunk in parts)])


def distinct(whole: Corpus, names: list[str], left_out: LeftOut) -> Gathered:
    """Each message once, in canonical order, unless its copies are of both classes."""
    _, copies = np.unique(whole.digests, return_inverse=True)
    by_size = np.lexsort((whole.measures[:, 0], copies))  # copies may differ in blank lines at the end
    first = by_size[np.unique(copies[by_size], return_index=True)[1]]
    spam = np.bincount(copies, whole.labels, minlength=len(first))
    clear = (spam == 0) | (spam == np.bincount(copies, minlength=len(first)))
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
    labels, dates = corpus.labels.copy(), corpus.dates.copy()
    for name, row in learned.items():
        labels[row], dates[row] = bool(last[name].label), last[name].date
    kept = replace(corpus, labels=labels, dates=dates).take(np.delete(np.arange(len(labels)), gone))
    new = [lesson for name, lesson in last.items() if name not in learned and lesson.label is not None]
    return merged([kept, from_lessons(new)])


def from_lessons(lessons: list[Lesson]) -> Corpus:
    """Lessons about different messages as a corpus of their own."""
    chunks = [
        (
            bool(lesson.label),
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
    corpus = gather(chunks, 0).corpus
    date_of = {lesson.digest.encode(): lesson.date for lesson in lessons}
    return replace(corpus, dates=np.array([date_of[digest] for digest in corpus.digests.tolist()], np.int64))


def merged(corpora: list[Corpus]) -> Corpus:
    """Corpora of different messages as one, with the block of the first that has one."""
    words = {
        number: token for corpus in corpora for number, token in zip(corpus.ids.tolist(), corpus.tokens, strict=True)
    }
    ids = np.array(sorted(words), np.uint64)
    aligned = []
    for corpus in corpora:
        columns = np.searchsorted(ids, corpus.ids)[corpus.counts.indices]
        shape = (corpus.counts.shape[0], len(ids))
        aligned.append(sparse.csr_matrix((corpus.counts.data, columns, corpus.counts.indptr), shape))
    carrier = next((corpus for corpus in corpora if corpus.block is not None), None)
    block = None
    if carrier is not None and carrier.block is not None:
        block = np.zeros((2, len(ids)), np.int64)
        block[:, np.searchsorted(ids, carrier.ids)] = carrier.block
    whole = Corpus(
        tokens=[words[number] for number in ids.tolist()],
        ids=ids,
        counts=sparse.vstack(aligned, format="csr"),
        **{name: np.concatenate([getattr(corpus, name) for corpus in corpora]) for name in ROW_FIELDS},
        block=block,
        block_messages=carrier.block_messages if carrier else (0, 0),
    )
    return whole.take(np.argsort(whole.digests))


def with_block(corpus: Corpus, totals: Mapping[str, tuple[int, int]], messages: tuple[int, int]) -> Corpus:
    """The corpus with word totals (ham, spam) of messages that it does not have; a block it had is replaced."""
    numbers = {token_id(token): token for token in totals}
    ids = np.array(sorted(numbers), np.uint64)
    nothing = replace(corpus, block=None, block_messages=(0, 0)).take(np.zeros(len(corpus.labels), bool))
    names = [numbers[number] for number in ids.tolist()]
    carrier = replace(
        nothing,
        tokens=names,
        ids=ids,
        counts=sparse.csr_matrix((0, len(ids)), dtype=np.int32),
        block=np.array([totals[token] for token in names], np.int64).reshape(-1, 2).T,
        block_messages=messages,
    )
    return merged([carrier, replace(corpus, block=None, block_messages=(0, 0))])
