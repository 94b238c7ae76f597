"""Many messages, read in parallel ─▶ dictionary + count matrix + labels.

The rows stand in the order of their digests and the columns in the order of their token ids, so that the order in
which mail was read or learned leaves no trace.
"""

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

from .mailbox import LeftOut, Unit, messages
from .message import digest, parse
from .tokens import MEASURES, known_token, measures, sender, token_id, tokens

DIGEST_LETTERS = 32


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

    @property
    def messages(self) -> tuple[int, int]:
        """How many ham and spam."""
        spam = int(self.labels.sum())
        return len(self.labels) - spam, spam

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Corpus:
        """Some of the messages, with a dictionary of their own words alone."""
        counts = self.counts[rows]
        used = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]))
        return Corpus(
            tokens=[self.tokens[column] for column in used],
            ids=self.ids[used],
            counts=columns_of(counts, used),
            labels=self.labels[rows],
            digests=self.digests[rows],
            dates=self.dates[rows],
            senders=self.senders[rows],
            measures=self.measures[rows],
        )

    def ham_senders(self) -> Any:
        """The addresses that ham came from, ascending."""
        found = np.unique(self.senders[~self.labels])
        return found[found != 0]

    def has_other_ham_sender(self) -> Any:
        """Whether another message, a ham, came from the same address: a message never vouches for itself."""
        addresses, place = np.unique(self.senders, return_inverse=True)
        ham = np.bincount(place[~self.labels], minlength=len(addresses))
        return (self.senders != 0) & (ham[place] > ~self.labels)

    def with_senders(self, contacts: NDArray[np.uint64], from_ham: NDArray[np.bool_]) -> Corpus:
        """With a token for what is known of each message's sender."""
        contact = np.isin(self.senders, contacts)
        kinds = [(known_token(c, h), np.flatnonzero((contact == c) & (c | (from_ham == h)) & (self.senders != 0)))
                 for c, h in ((True, False), (False, True), (False, False))]  # fmt: skip
        added = [sparse.csr_matrix((np.ones(len(rows), np.int32), (rows, np.zeros(len(rows), np.intp))),
                                   shape=(len(self.labels), 1)) for _, rows in kinds]  # fmt: skip
        names = [*self.tokens, *(token for token, _ in kinds)]
        ids = np.append(self.ids, np.array([token_id(token) for token, _ in kinds], np.uint64))
        order = np.argsort(ids)
        counts = columns_of(sparse.hstack([self.counts, *added], format="csr"), order)
        return replace(self, tokens=[names[column] for column in order], ids=ids[order], counts=counts)


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
    digests: list[bytes]
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
    for unit in units:
        chunk.size += unit.size
        for mail in messages(unit, chunk.left_out):
            message = parse(mail.raw)
            row = tokens(message)
            chunk.indices.extend(map(numbers.__getitem__, row))
            chunk.counts.extend(row.values())
            chunk.lengths.append(len(row))
            chunk.digests.append(digest(mail.raw).hex().encode())
            address = sender(message)
            chunk.senders.append(token_id(address) if address else 0)
            chunk.measures.extend(measures(message))
            chunk.names.append(mail.name)
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
    _, first, copies = np.unique(whole.digests, return_index=True, return_inverse=True)
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
