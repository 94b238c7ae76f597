"""Dictionary + count matrix + labels: what a model remembers of its messages.

The rows stand in the order of their digests and the columns in the order of their token ids, so that the order in
which mail was read or learned leaves no trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .scorecard import HAM, SPAM
from .tokens import known_token, token_id

HAM_AND_SPAM = (HAM, SPAM)
ROW_FIELDS = ("labels", "digests", "dates", "senders", "measures", "lessons")


@dataclass(frozen=True)
class Corpus:
    """The count matrix and what belongs to its rows and columns."""

    tokens: list[str]  # the dictionary, a column each
    ids: NDArray[np.uint64]  # of the tokens, ascending
    counts: sparse.csr_matrix  # messages × tokens
    labels: NDArray[Any]  # True for spam; the number of the class where the user has named classes
    digests: NDArray[np.bytes_]  # hexadecimal, ascending
    dates: NDArray[np.int64]  # seconds since 1970 when the message was learned
    senders: NDArray[np.uint64]  # ids of the From addresses, 0 where there is none
    measures: NDArray[np.float32]  # messages × MEASURES
    lessons: NDArray[np.bool_]  # True where the user taught or corrected the message himself
    block: NDArray[np.int64] | None = None  # 2 × tokens: totals of ham and of spam that came without their messages
    block_messages: tuple[int, int] = (0, 0)  # how many messages those were
    classes: tuple[str, ...] = HAM_AND_SPAM

    @property
    def is_ham_and_spam(self) -> bool:
        """Whether the classes are those of a spam filter, not of the user's naming."""
        return self.classes == HAM_AND_SPAM

    @property
    def messages(self) -> tuple[int, ...]:
        """How many messages of each class there are rows of."""
        return tuple(np.bincount(self.labels.astype(np.intp), minlength=len(self.classes)).tolist())

    @property
    def messages_counted(self) -> tuple[int, ...]:
        """How many messages of each class the word totals are of."""
        counted = zip(self.messages, self.block_messages, strict=True) if self.is_ham_and_spam else ()
        return tuple(rows + block for rows, block in counted) or self.messages

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Corpus:
        """Some of the messages, with a dictionary of their own words alone."""
        counts = self.counts[rows]
        used: NDArray[np.bool_] = np.zeros(counts.shape[1], bool)
        used[counts.indices] = True
        if self.block is not None:
            used |= self.block.any(axis=0)
        return Corpus(
            tokens=list(compress(self.tokens, used.tolist())),
            ids=self.ids[used],
            counts=renumbered(counts, used),
            labels=self.labels[rows],
            digests=self.digests[rows],
            dates=self.dates[rows],
            senders=self.senders[rows],
            measures=self.measures[rows],
            lessons=self.lessons[rows],
            block=None if self.block is None else self.block[:, used],
            block_messages=self.block_messages,
            classes=self.classes,
        )

    def with_words(self, columns: NDArray[np.intp]) -> Corpus:
        """All messages, with these words alone."""
        return replace(
            self,
            tokens=[self.tokens[column] for column in columns],
            ids=self.ids[columns],
            counts=columns_of(self.counts, columns),
            block=None if self.block is None else self.block[:, columns],
        )

    def has_other_ham_sender(self) -> Any:
        """Whether another message, a ham, came from the same address: a message never vouches for itself."""
        addresses, place = np.unique(self.senders, return_inverse=True)
        ham = np.bincount(place[~self.labels], minlength=len(addresses))
        return (self.senders != 0) & (ham[place] > ~self.labels)

    def with_senders(self, contacts: NDArray[np.uint64], from_ham: NDArray[np.bool_]) -> Corpus:
        """With a token for what is known of each message's sender."""
        known = {token: rows for token, rows in self.sender_tokens(contacts, from_ham).items() if rows.any()}
        names = sorted(known, key=token_id)
        ids = np.array([token_id(token) for token in names], np.uint64)
        place = np.searchsorted(self.ids, ids)
        tokens = self.tokens.copy()
        for column, token in reversed(list(zip(place.tolist(), names, strict=True))):
            tokens.insert(column, token)
        return replace(
            self,
            tokens=tokens,
            ids=np.insert(self.ids, place, ids),
            counts=with_columns(self.counts, place, [known[token] for token in names]),
            block=None if self.block is None else np.insert(self.block, place, 0, axis=1),
        )

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


def renumbered(counts: sparse.csr_matrix, used: NDArray[np.bool_]) -> sparse.csr_matrix:
    """The matrix without its unused columns."""
    if not used.all():
        numbers = np.cumsum(used, dtype=np.int32) - 1
        shape = counts.shape[0], int(used.sum())
        counts = sparse.csr_matrix((counts.data, numbers[counts.indices], counts.indptr), shape)
    counts.sort_indices()
    return counts


def with_columns(
    counts: sparse.csr_matrix, places: NDArray[np.intp], columns: list[NDArray[np.bool_]]
) -> sparse.csr_matrix:
    """The matrix with columns of ones put in at some places; a row has a one in one of them at most."""
    starts, lengths = counts.indptr[:-1].astype(np.int64), np.diff(counts.indptr)
    at, column = starts.copy(), np.full(len(starts), -1)
    for number, (place, rows) in enumerate(zip(places, columns, strict=True)):
        before = np.add.reduceat(np.append(counts.indices < place, False), starts, dtype=np.int64) * (lengths > 0)
        at[rows] += before[rows]
        column[rows] = place + number
    new = column >= 0
    old = np.arange(counts.shape[1], dtype=np.int32)
    numbers = old + np.searchsorted(places, old, side="right").astype(np.int32)
    indices = np.insert(numbers[counts.indices], at[new], column[new])
    ends = counts.indptr + np.append(0, np.cumsum(new)).astype(counts.indptr.dtype)
    shape = counts.shape[0], counts.shape[1] + len(columns)
    return sparse.csr_matrix((np.insert(counts.data, at[new], 1), indices, ends), shape)


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
        classes=corpora[0].classes,
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
