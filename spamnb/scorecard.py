"""The compiled model: a few numbers per token, mapped into memory and added up.

    score = prior + Σ_columns bias + scale · Σ_j x_j (w_j + offset) / length ^ exponent + Σ_measures a m² + b m + c

A column speaks for a run of rows of the token table; x_j is a token's count (or 1, in a binary column) and length
the sum of x_j over the tokens that have a weight in it; NaN is no weight. Every naive Bayes model and logistic
regression has that form; where there are more than two classes, each has a score of its own columns. Only the standard
library is needed to score, because a mail filter is started once per message. Rows that lessons have changed since the
model was fitted come after the others (teaching.py).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from math import exp, isfinite, log, nan

from .errors import DamagedModel
from .measuring import scaled_measures

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself is not worth its import here
    from typing import Any

    Heard = tuple[tuple[int, float], ...]  # (number of a column, weight there)

ENOUGH = 10  # messages of each class below which a verdict would be a guess
SPAM, HAM, UNSURE = "spam", "ham", "unsure"
FORGOTTEN = 255  # stands for the class of a message that was unlearned
# Tables of a scorecard, beside a weight for each row and column.
TABLES = {
    "ids": "Q",  # of the tokens, ascending
    "ham": "I",  # how often each token stood in ham, or in how many ham
    "spam": "I",
    "senders": "Q",  # ids of the addresses that learned mail came from
    "sender_ham": "I",  # messages
    "sender_spam": "I",
    "contacts": "Q",  # ids of the addresses in the user's address book
    "digests": "Q",  # the first half of the digests of learned messages
    "classes": "B",
    "row_starts": "Q",  # the learned messages themselves, where the model judges by its neighbours
    "row_words": "I",
    "row_counts": "I",
    "row_classes": "B",
    "projected": "f",  # or their projections
}


class Column:
    """One weight a row: for base rows from `first` on, and for the rows that came later."""

    __slots__ = (
        "bias", "binary", "exponent", "first", "intercept", "later", "least", "naive", "name", "of", "offset",
        "scale", "weights",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        weights: Any,
        *,
        first: int = 0,
        bias: float = 0.0,
        scale: float = 1.0,
        offset: float = 0.0,
        exponent: float = 0.0,
        binary: bool = False,
        naive: bool = False,
        intercept: float = 0.0,
        least: int = 1,
        of: int = 1,
    ) -> None:
        self.name = name
        self.weights = weights
        self.later: Any = array("d")
        self.first = first
        self.bias = bias
        self.scale = scale
        self.offset = offset
        self.exponent = exponent
        self.binary = binary
        self.naive = naive  # weights are naive Bayes evidence, else logistic
        self.least = least  # occurrences from which a binary column hears a token
        self.of = of  # number of the class it speaks for
        self.intercept = intercept  # of the logistic regression; a lesson needs it, the score does not

    def value(self, total: Any, length: Any) -> Any:
        """What it adds to the score of mail whose weights sum to total over length tokens: a number, or an array."""
        return self.bias + self.scale * (total + self.offset * length) / self.divisor(length)

    def divisor(self, length: Any) -> Any:
        """length ^ exponent; a message without any of the column's words is divided by 1."""
        return (length + (length == 0)) ** self.exponent

    def heard_as(self, count: int) -> int:
        """x_j of a token that stands in a message so often."""
        return int(count >= self.least) if self.binary else count

    def weight(self, row: int, base_rows: int) -> float:
        """The weight of a row, or NaN."""
        if row >= base_rows:
            return float(self.later[row - base_rows])
        return float(self.weights[row - self.first]) if 0 <= row - self.first < len(self.weights) else nan


class Scorecard:
    """Prior, sorted token ids, weight columns, cutoffs, and the counts behind them."""

    def __init__(
        self,
        *,
        kind: str,
        alpha: float,
        binary: bool,
        prior: float,
        messages: tuple[int, ...],
        totals: tuple[float, ...],
        words: int,
        columns: list[Column],
        tables: Mapping[str, Any],
        c: float = 1.0,
        ham_cutoff: float | None = None,
        generation: str = "",
        lessons: int = 0,
        classes: tuple[str, ...] = (HAM, SPAM),
        quadratic: tuple[tuple[float, float, float], ...] = (),
        teachable: bool = True,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.kind = kind
        self.alpha = alpha
        self.binary = binary  # the tables count messages that have a token, not its occurrences
        self.prior = prior
        self.messages = messages  # of each class: ham, spam
        self.totals = totals  # the sums of the tables ham and spam
        self.words = words  # tokens that any message has
        self.columns = columns
        self.tables = {name: tables.get(name, ()) for name in TABLES}
        self.c = c  # spam iff score > log c
        self.ham_cutoff = log(c) if ham_cutoff is None else ham_cutoff  # ham iff score <= this; unsure between
        self.generation = generation
        self.lessons = lessons  # of the journal, that are in here
        self.classes = classes
        self.quadratic = quadratic  # a, b, c of each measure
        self.teachable = teachable  # a lesson can be heard at once; else only after a fit
        self.about = dict(about or {})  # what the model wants to remember of its making
        self.base_rows = len(self.tables["ids"])
        self.nothing_later()

    def nothing_later(self) -> None:
        """No lesson has been heard since the fit."""
        self.later_rows: dict[int, int] = {}  # token id ─▶ row
        self.later_counts: tuple[Any, Any] = (array("I"), array("I"))  # ham, spam
        self.later_senders: dict[int, tuple[int, int]] = {}
        self.later_classes: dict[int, int] = {}

    def row(self, number: int) -> int:
        """The row of a token id, or -1."""
        later = self.later_rows.get(number)
        return position(self.tables["ids"], number) if later is None else later

    def counts(self, row: int) -> tuple[int, int]:
        """How often ham and spam have the token of a row."""
        if row >= self.base_rows:
            return self.later_counts[0][row - self.base_rows], self.later_counts[1][row - self.base_rows]
        return int(self.tables["ham"][row]), int(self.tables["spam"][row])

    def sender_counts(self, address: int) -> tuple[int, int]:
        """How many ham and spam came from an address."""
        if address in self.later_senders:
            return self.later_senders[address]
        place = position(self.tables["senders"], address)
        if place < 0:
            return 0, 0
        return int(self.tables["sender_ham"][place]), int(self.tables["sender_spam"][place])

    def is_contact(self, address: int) -> bool:
        """Whether the user has an address in the address book."""
        return position(self.tables["contacts"], address) >= 0

    def learned_as(self, digest: int) -> int | None:
        """The class that a message was learned as, or None."""
        if digest in self.later_classes:
            label = self.later_classes[digest]
            return None if label == FORGOTTEN else label
        place = position(self.tables["digests"], digest)
        return int(self.tables["classes"][place]) if place >= 0 else None

    def heard(self, row: int) -> Heard:
        """Which columns have a weight for a row, and what weight; nothing for row -1."""
        found = []
        for number, column in enumerate(self.columns if row >= 0 else ()):
            weight = column.weight(row, self.base_rows)
            if weight == weight:
                found.append((number, weight))
        return tuple(found)

    def sums(self, found: Iterable[tuple[int, Heard]]) -> tuple[list[float], list[int]]:
        """Σ x_j w_j and Σ x_j for each column, over the counts of tokens and what is heard of them."""
        totals, lengths = [0.0] * len(self.columns), [0] * len(self.columns)
        binary = [column.binary for column in self.columns]
        least = [column.least for column in self.columns]
        for count, heard in found:
            for number, weight in heard:
                x = (count >= least[number]) if binary[number] else count
                totals[number] += x * weight
                lengths[number] += x
        return totals, lengths

    def score(self, rows: Mapping[int, int], measures: Sequence[float] = ()) -> float:
        """log p(spam | message) − log p(ham | message), for the counts of the rows that the message names."""
        return self.score_heard(((count, self.heard(row)) for row, count in rows.items()), measures)

    def score_heard(self, found: Iterable[tuple[int, Heard]], measures: Sequence[float] = ()) -> float:
        """The same, for counts of tokens and what is heard of them."""
        return self.class_scores(found, measures)[1]

    def checked(self, score: float) -> float:
        """A score that is a number."""
        if not isfinite(score):
            raise DamagedModel("the scorecard holds numbers that are none; 'spamnb refit' makes it anew")
        return float(score)

    def class_scores(self, found: Iterable[tuple[int, Heard]], measures: Sequence[float] = ()) -> list[float]:
        """The score of each class; of two, that of ham is 0 and that of spam the log odds."""
        scores = [0.0] * len(self.classes)
        scores[1] = self.prior + sum(self.measured(measures))
        for column, total, length in zip(self.columns, *self.sums(found), strict=True):
            scores[column.of] += column.value(total, length)
        return [self.checked(score) for score in scores]

    def measured(self, measures: Sequence[float]) -> list[float]:
        """What each measure adds to the score."""
        scaled = scaled_measures(measures) if self.quadratic else ()
        return [a * m * m + b * m + c for (a, b, c), m in zip(self.quadratic, scaled, strict=True)]

    def contributions(self, rows: Mapping[int, int], of: int = 1, against: int = 0) -> tuple[float, dict[int, float]]:
        """What every message gets, and what each row adds: together, the score of one class less that of another."""
        sides = [(column.of == of) - (column.of == against) for column in self.columns]
        heard = {row: self.heard(row) for row in rows}
        _, lengths = self.sums((count, heard[row]) for row, count in rows.items())
        shares = {
            row: sum(sides[opinion[0]] * self.share(count, opinion, lengths) for opinion in heard[row])
            for row, count in rows.items()
        }
        fixed = self.prior * ((of == 1) - (against == 1))
        return fixed + sum(side * column.bias for side, column in zip(sides, self.columns, strict=True)), shares

    def share(self, count: int, opinion: tuple[int, float], lengths: list[int]) -> float:
        """What a token adds to a score through one column."""
        number, weight = opinion
        column = self.columns[number]
        x = column.heard_as(count)
        return float(column.scale * x * (weight + column.offset) / column.divisor(lengths[number]))

    def verdict(self, score: float, c: float | None = None) -> Verdict:
        """Spam above log c, ham up to the ham cutoff, unsure between; a c of the caller's leaves no between."""
        spam_cutoff = log(self.c if c is None else c)
        ham_cutoff = min(self.ham_cutoff, spam_cutoff) if c is None else spam_cutoff
        if self.kind == "corrected" or c is None or not all(self.messages):
            for count, name in zip(self.messages, (HAM, SPAM), strict=True):
                if count < ENOUGH:
                    return Verdict(score, UNSURE, f"only {count} {name} learned")
        if score > spam_cutoff:
            return Verdict(score, SPAM)
        if score <= ham_cutoff:
            return Verdict(score, HAM)
        return Verdict(score, UNSURE, "between the cutoffs")


class Verdict:
    """What the model says of a message."""

    __slots__ = ("label", "of_classes", "probability", "reason", "score")

    def __init__(
        self, score: float, label: str, reason: str = "", of_classes: Mapping[str, float] | None = None
    ) -> None:
        self.score = score
        self.label = label
        self.reason = reason
        self.of_classes = of_classes or {}  # the probability of each, where the user has named classes
        self.probability = 1.0 / (1.0 + exp(-score)) if score > -700 else 0.0

    def __repr__(self) -> str:
        return f"Verdict({self.label}, score={self.score:.3f}, probability={self.probability:.4f}, {self.reason!r})"


def position(table: Any, number: int) -> int:
    """Where a number stands in a sorted table, or -1."""
    place = bisect_left(table, number)
    return place if place < len(table) and table[place] == number else -1
