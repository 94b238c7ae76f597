"""Judge one raw message with a scorecard, and say why."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from .cardfile import SCORECARD, open_model
from .mailbox import LeftOut, Unit, messages
from .message import Message, parse
from .scorecard import Scorecard, Verdict
from .tokens import known_token, sender, token_id, tokens

MOST_REMEMBERED = 2_000_000  # tokens whose row a judge of many messages keeps in mind


class Clue:
    """A token of a message, how often it stands there and what it adds to the score."""

    __slots__ = ("count", "token", "weight")

    def __init__(self, token: str, count: int, weight: float) -> None:
        self.token = token
        self.count = count
        self.weight = weight


class Judge:
    """Judges messages by one scorecard; remembers where it found a token."""

    def __init__(self, card: Scorecard, c: float | None = None) -> None:
        self.card = card
        self.c = c
        self.rows: dict[str, int] = {}

    def judge(self, raw: bytes) -> Verdict:
        """The verdict on a message of any bytes."""
        rows = {row: count for row, _, count in self.rows_of(parse(raw))}
        return self.card.verdict(self.card.score(rows), self.c)

    def explain(self, raw: bytes) -> tuple[Verdict, float, list[Clue]]:
        """The verdict, what every message gets, and the clues, strongest first: they add up to the score."""
        found = list(self.rows_of(parse(raw)))
        rows = {row: count for row, _, count in found}
        fixed, share = self.card.contributions(rows)
        clues = [Clue(token, count, share[row]) for row, token, count in found]
        clues.sort(key=lambda clue: (-abs(clue.weight), clue.token))
        return self.card.verdict(self.card.score(rows), self.c), fixed, clues

    def rows_of(self, message: Message) -> Iterator[tuple[int, str, int]]:
        """Row, token and count of every token that the scorecard knows."""
        if len(self.rows) > MOST_REMEMBERED:
            self.rows.clear()
        known = self.rows
        for token, count in self.tokens_of(message).items():
            row = known.get(token)
            if row is None:
                row = known[token] = self.card.row(token_id(token))
            if row >= 0:
                yield row, token, count

    def tokens_of(self, message: Message) -> Counter[str]:
        """The message's tokens and what the model knows of its sender."""
        found = tokens(message)
        if address := sender(message):
            number = token_id(address)
            found[known_token(self.card.is_contact(number), self.card.sender_counts(number)[0] > 0)] = 1
        return found


class Judged:
    """A message's name and the verdict on it."""

    __slots__ = ("name", "verdict")

    def __init__(self, name: str, verdict: Verdict) -> None:
        self.name = name
        self.verdict = verdict


@lru_cache(1)
def judge_in(directory: str, c: float | None, _written: int) -> Judge:
    """A judge by the model in a directory, kept from one portion of mail to the next."""
    return Judge(open_model(directory), c)


def judge_units(directory: str, c: float | None, units: list[Unit]) -> tuple[list[Judged], LeftOut]:
    """The verdicts on some mail, and what could not be read of it. Runs in a worker."""
    path = os.path.join(directory, SCORECARD)
    judge = judge_in(directory, c, os.stat(path).st_mtime_ns if os.path.exists(path) else 0)
    left_out = LeftOut()
    verdicts = [Judged(mail.name, judge.judge(mail.raw)) for unit in units for mail in messages(unit, left_out)]
    return verdicts, left_out
