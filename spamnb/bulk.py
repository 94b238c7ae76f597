"""Judge many messages at once: what filtering.Judge adds up token by token, numpy adds up for hundreds of messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import count, islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .filtering import MOST_REMEMBERED, Judge
from .message import parse
from .scorecard import Column, Scorecard, Verdict
from .tokens import token_id

if TYPE_CHECKING:
    from .naming import Threshold


class BulkJudge(Judge):
    """Gives the verdicts of a Judge, sooner."""

    def __init__(self, card: Scorecard, c: Threshold = None) -> None:
        super().__init__(card, c)
        extra = card.quadratic or len(card.tables["row_classes"]) or any(column.least > 1 for column in card.columns)
        self.words_alone = not (extra or self.names_classes)  # are what the score is made of
        self.ids = np.asarray(card.tables["ids"], np.uint64)
        self.weights = [row_weights(column, card.base_rows) for column in card.columns]
        self.forget()

    def forget(self) -> None:
        """Begin anew with the tokens remembered."""
        self.numbers: defaultdict[str, int] = defaultdict(count().__next__)  # of tokens, as they come
        self.rows: NDArray[np.intp] = np.empty(0, np.intp)  # of the tokens in the scorecard, or -1

    def verdicts(self, raws: Iterable[bytes]) -> list[Verdict]:
        """The verdicts on some messages, in order."""
        if not self.words_alone:
            return super().verdicts(raws)
        if len(self.numbers) > MOST_REMEMBERED:
            self.forget()
        tokens: list[int] = []
        counts: list[int] = []
        lengths: list[int] = []
        for raw in raws:
            found = self.tokens_of(parse(raw))
            tokens += map(self.numbers.__getitem__, found)
            counts += found.values()
            lengths.append(len(found))
        self.rows = np.append(self.rows, self.rows_of_ids(islice(self.numbers, len(self.rows), None)))
        scores, heard = self.scores(self.rows[tokens], np.array(counts, np.float64), lengths)
        return [self.verdict_of(score, any_heard) for score, any_heard in zip(scores, heard, strict=True)]

    def rows_of_ids(self, tokens: Iterable[str]) -> NDArray[np.intp]:
        """The rows of some tokens in the scorecard, -1 for those it does not know."""
        ids = np.array([token_id(token) for token in tokens], np.uint64)
        place = np.searchsorted(self.ids, ids)
        rows = np.where(np.append(self.ids, np.uint64(0))[place] == ids, place, -1)
        if self.card.later_rows:
            later = [self.card.later_rows.get(number, -1) for number in ids.tolist()]
            rows = np.where(np.array(later, np.intp) >= 0, later, rows)
        return rows

    def scores(
        self, rows: NDArray[np.intp], counts: NDArray[np.float64], lengths: list[int]
    ) -> tuple[list[float], list[bool]]:
        """The score of each message, and whether any of its tokens was heard."""
        messages = len(lengths)
        message = np.repeat(np.arange(messages), lengths)
        scores, heard = np.full(messages, self.card.prior), np.zeros(messages, bool)
        for column, weights in zip(self.card.columns, self.weights, strict=True):
            weight = weights[rows]
            has = np.flatnonzero(~np.isnan(weight))
            of, x = message[has], np.ones(len(has)) if column.binary else counts[has]
            length = np.bincount(of, x, messages)
            scores += column.value(np.bincount(of, x * weight[has], messages), length)
            heard |= length > 0
        return scores.tolist(), heard.tolist()


def row_weights(column: Column, base_rows: int) -> NDArray[np.float64]:
    """A column's weight of each row, and behind them that of row -1: none."""
    weights = np.full(base_rows + len(column.later) + 1, np.nan)
    weights[column.first : column.first + len(column.weights)] = column.weights
    weights[base_rows:-1] = column.later
    return weights
