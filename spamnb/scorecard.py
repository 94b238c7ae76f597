"""The compiled model: a few numbers per token, mapped into memory and added up.

    score = prior + Σ_columns bias + scale · (Σ_j x_j · w_j) / length ^ exponent

A column speaks for a run of rows of the token table; x_j is a token's count (or 1, in a binary column) and length
the sum of x_j over the tokens that have a weight in it. Every naive Bayes model and logistic regression has that form.
The file needs nothing but the standard library to be read, because a mail filter is started once per message.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from math import exp, isfinite, log
from zlib import crc32

from .errors import BadConfig, DamagedModel, NoModel

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself is not worth its import here
    from typing import Any

MAGIC = b"spamnb scorecard\n"
FORMAT = 1
SCORECARD = "scorecard"  # its name in a model's directory
HEAD = struct.Struct("<17sHIIQ")  # magic, format, length and checksum of the description, length of the file
ENOUGH = 10  # messages of each class below which a verdict would be a guess
SPAM, HAM, UNSURE = "spam", "ham", "unsure"


class Column:
    """One weight a row, for the rows of the token table from `first` on. A table is any buffer of numbers."""

    __slots__ = ("bias", "binary", "exponent", "first", "name", "scale", "weights")

    def __init__(
        self,
        name: str,
        weights: Any,
        *,
        first: int = 0,
        bias: float = 0.0,
        scale: float = 1.0,
        exponent: float = 0.0,
        binary: bool = False,
    ) -> None:
        self.name = name
        self.weights = weights
        self.first = first
        self.bias = bias
        self.scale = scale
        self.exponent = exponent
        self.binary = binary

    def value(self, total: Any, length: Any) -> Any:
        """What it adds to the score of mail whose weights sum to total over length tokens: a number, or an array."""
        return self.bias + self.scale * total / length**self.exponent

    def sums(self, rows: Mapping[int, int]) -> tuple[float, int]:
        """Σ x_j w_j and Σ x_j over the rows that have a weight here; a message without any has length 1."""
        total, length = 0.0, 0
        first, weights, stop, binary = self.first, self.weights, self.first + len(self.weights), self.binary
        for row, count in rows.items():
            if first <= row < stop and (weight := weights[row - first]):
                x = 1 if binary else count
                total += x * weight
                length += x
        return total, length or 1

    def described(self) -> dict[str, object]:
        """All but the weights."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "weights"}


class Scorecard:
    """Prior, sorted token ids, weight columns, cutoffs. Read-only."""

    def __init__(
        self,
        *,
        kind: str,
        prior: float,
        ids: Any,
        columns: Sequence[Column],
        messages: tuple[int, int],
        c: float = 1.0,
        ham_cutoff: float | None = None,
        known: Any = (),
        contacts: Any = (),
        generation: str = "",
    ) -> None:
        self.kind = kind
        self.prior = prior
        self.ids = ids
        self.columns = columns
        self.messages = messages  # ham, spam
        self.c = c  # spam iff score > log c
        self.ham_cutoff = log(c) if ham_cutoff is None else ham_cutoff  # ham iff score <= this; unsure between
        self.known = known  # ids of the addresses that learned ham came from, sorted
        self.contacts = contacts  # ids of the addresses in the user's address book, sorted
        self.generation = generation

    def row(self, number: int) -> int:
        """The row of a token id, or -1."""
        return position(self.ids, number)

    def score(self, rows: Mapping[int, int]) -> float:
        """log p(spam | message) − log p(ham | message), for the counts of the rows that the message names."""
        score = self.prior + sum(column.value(*column.sums(rows)) for column in self.columns)
        if not isfinite(score):
            raise DamagedModel("the scorecard holds numbers that are none; 'spamnb train' makes it anew")
        return float(score)

    def contributions(self, rows: Mapping[int, int]) -> tuple[float, dict[int, float]]:
        """What every message gets, and what each row adds: together, the score."""
        share = dict.fromkeys(rows, 0.0)
        fixed = self.prior
        for column in self.columns:
            _, length = column.sums(rows)
            fixed += column.bias
            for row, count in rows.items():
                if 0 <= row - column.first < len(column.weights):
                    x = 1 if column.binary else count
                    share[row] += column.value(x * column.weights[row - column.first], length) - column.bias
        return fixed, share

    def verdict(self, score: float, c: float | None = None) -> Verdict:
        """Spam above log c, ham up to the ham cutoff, unsure between; a c of the caller's leaves no between."""
        spam_cutoff = log(self.c if c is None else c)
        ham_cutoff = min(self.ham_cutoff, spam_cutoff) if c is None else spam_cutoff
        if self.kind != "multinomial" or c is None:
            for count, name in zip(self.messages, (HAM, SPAM), strict=True):
                if count < ENOUGH:
                    return Verdict(score, UNSURE, f"only {count} {name} learned")
        if score > spam_cutoff:
            return Verdict(score, SPAM)
        if score <= ham_cutoff:
            return Verdict(score, HAM)
        return Verdict(score, UNSURE, "between the cutoffs")

    def sections(self) -> Iterable[tuple[Any, str]]:
        """The tables of the file, in order, with their type codes."""
        yield self.ids, "Q"
        yield self.known, "Q"
        yield self.contacts, "Q"
        for column in self.columns:
            yield column.weights, "d"


class Verdict:
    """What the model says of a message."""

    __slots__ = ("label", "probability", "reason", "score")

    def __init__(self, score: float, label: str, reason: str = "") -> None:
        self.score = score
        self.label = label
        self.reason = reason
        self.probability = 1.0 / (1.0 + exp(-score)) if score > -700 else 0.0


def position(table: Any, number: int) -> int:
    """Where a number stands in a sorted table, or -1."""
    place = bisect_left(table, number)
    return place if place < len(table) and table[place] == number else -1


def to_bytes(card: Scorecard) -> bytes:
    """The scorecard as a file."""
    from array import array

    tables = [
        bytes(memoryview(table).cast("B")) if isinstance(table, memoryview) else array(code, table).tobytes()
        for table, code in card.sections()
    ]
    plain = ("kind", "prior", "messages", "c", "ham_cutoff", "generation")
    description = {name: getattr(card, name) for name in plain}
    description["columns"] = [column.described() for column in card.columns]
    description["lengths"] = [len(table) // 8 for table in tables]
    text = json.dumps(description, sort_keys=True).encode()
    text += b" " * (-(HEAD.size + len(text)) % 8)
    whole = HEAD.size + len(text) + sum(map(len, tables))
    return b"".join([HEAD.pack(MAGIC, FORMAT, len(text), crc32(text), whole), text, *tables])


def from_bytes(buffer: bytes | mmap.mmap, name: str = "scorecard") -> Scorecard:
    """Read a scorecard; the tables stay in the buffer."""
    size = len(buffer)
    if size < HEAD.size or buffer[: len(MAGIC)] != MAGIC:
        raise DamagedModel(f"{name}: not a scorecard; 'spamnb train' makes it anew")
    _, version, length, checksum, whole = HEAD.unpack(buffer[: HEAD.size])
    if version != FORMAT:
        raise BadConfig(f"{name}: format {version}, this program reads {FORMAT}; 'spamnb train' makes it anew")
    text = buffer[HEAD.size : HEAD.size + length]
    if whole != size or crc32(text) != checksum:
        raise DamagedModel(f"{name}: truncated or altered; 'spamnb train' makes it anew")
    description = json.loads(text)
    view, start, tables = memoryview(buffer), HEAD.size + length, []
    columns = description.pop("columns")
    lengths = description.pop("lengths")
    for code, count in zip("QQQ" + "d" * len(columns), lengths, strict=True):
        tables.append(view[start : start + 8 * count].cast(code))  # type: ignore[call-overload]
        start += 8 * count
    description["messages"] = tuple(description["messages"])
    ids, known, contacts, *weights = tables
    return Scorecard(
        ids=ids,
        known=known,
        contacts=contacts,
        columns=[Column(weights=w, **column) for w, column in zip(weights, columns, strict=True)],
        **description,
    )


def open_model(directory: str) -> Scorecard:
    """Map the scorecard in a model's directory into memory."""
    path = os.path.join(directory, SCORECARD)
    try:
        with open(path, "rb") as file:
            buffer = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise NoModel(f"{directory}: no model here; 'spamnb train HAM SPAM' makes one") from None
    except OSError as error:
        raise BadConfig(f"{path}: {error.strerror}; make it readable, or name another model with --model") from None
    except ValueError:  # an empty file cannot be mapped
        raise DamagedModel(f"{path}: empty; 'spamnb train' makes it anew") from None
    return from_bytes(buffer, path)
