"""Judge one raw message with a scorecard, and say why."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from .cardfile import SCORECARD, open_model
from .mailbox import LeftOut, Unit, messages
from .message import Message, parse
from .naming import has_named_classes, named, offsets_in, ranked
from .scorecard import UNSURE, Scorecard, Verdict
from .tokens import MEASURES, known_token, measures, sender, token_id, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .naming import Threshold
    from .scorecard import Heard

    Kind = Callable[[Scorecard, Threshold], "Judge"]

NO_WORDS = "no word that the model knows"
MOST_REMEMBERED = 1_000_000  # tokens that a judge of many messages keeps in mind


class Clue:
    """A token of a message, how often it stands there and what it adds to the score."""

    __slots__ = ("count", "token", "weight")

    def __init__(self, token: str, count: int, weight: float) -> None:
        self.token = token
        self.count = count
        self.weight = weight


class Judge:
    """Judges messages by one scorecard; remembers what it heard of a token."""

    def __init__(self, card: Scorecard, c: Threshold = None) -> None:
        self.card = card
        self.offsets = offsets_in(card, c)  # of the classes that the user named
        self.c = None if isinstance(c, str) else c  # between ham and spam
        self.names_classes = has_named_classes(card)
        self.remembered: dict[str, Heard] = {}

    def judge(self, raw: bytes) -> Verdict:
        """The verdict on a message of any bytes."""
        return self.verdict_on(*self.seen_in(parse(raw)))

    def verdict_on(self, found: Mapping[str, int], measured: Sequence[float]) -> Verdict:
        """The verdict on tokens and measures; where none is known, the model has nothing to say."""
        card, heard = self.card, self.heard_of(found)
        if self.names_classes:
            return named(card, card.class_scores(heard), self.offsets)
        if len(card.tables["row_classes"]):
            from .models.nearest import score_tokens  # needs numpy, as no other model does

            return card.verdict(score_tokens(card, found), self.c)
        return self.verdict_of(card.score_heard(heard, measured), bool(heard or measured))

    def verdict_of(self, score: float, any_heard: bool) -> Verdict:
        """The verdict on a score; where nothing is heard, the model has nothing to say."""
        verdict = self.card.verdict(self.card.checked(score), self.c)
        return verdict if any_heard or self.c is not None or verdict.reason else Verdict(score, UNSURE, NO_WORDS)

    def verdicts(self, raws: Iterable[bytes]) -> list[Verdict]:
        """The verdicts on some messages, in order."""
        return [self.judge(raw) for raw in raws]

    def explain(self, raw: bytes) -> tuple[Verdict, float, list[Clue]]:
        """The verdict, what every message gets, and the clues, strongest first: they add up to the score.

        Of several classes the clues speak for the best against the second.
        """
        found, measured = self.seen_in(parse(raw))
        rows, of, against = self.rows_of(found), 1, 0
        verdict = self.verdict_on(found, measured)
        if self.names_classes:
            scores = self.card.class_scores(self.heard_of(found))
            of, against = ranked(scores, self.card.classes, self.offsets)[:2]
        fixed, share = self.card.contributions({row: found[token] for token, row in rows.items()}, of, against)
        if self.names_classes or len(self.card.tables["row_classes"]):  # other classes, or neighbours, have a say
            fixed = verdict.score - sum(share.values())
        clues = [Clue(token, found[token], share[row]) for token, row in rows.items()]
        clues += [
            Clue(f"measure:{name}", 1, adds)
            for name, adds in zip(MEASURES, self.card.measured(measured), strict=bool(self.card.quadratic))
        ]
        clues.sort(key=lambda clue: (-abs(clue.weight), clue.token))
        return verdict, fixed, clues

    def rows_of(self, found: Mapping[str, int]) -> dict[str, int]:
        """The row of every token that the scorecard knows."""
        return {token: row for token in found if (row := self.card.row(token_id(token))) >= 0}

    def heard_of(self, found: Mapping[str, int]) -> list[tuple[int, Heard]]:
        """The count of every token that a column hears, and what it hears."""
        if len(self.remembered) > MOST_REMEMBERED:
            self.remembered.clear()
        remembered, heard = self.remembered, []
        for token, count in found.items():
            opinions = remembered.get(token)
            if opinions is None:
                opinions = remembered[token] = self.card.heard(self.card.row(token_id(token)))
            if opinions:
                heard.append((count, opinions))
        return heard

    def seen_in(self, message: Message) -> tuple[Counter[str], Sequence[float]]:
        """Tokens, and measures if the model looks at them, to the digits that a corpus keeps."""
        numbers = measures(message)
        return self.tokens_of(message, numbers), array("f", numbers) if self.card.quadratic else ()

    def tokens_of(self, message: Message, numbers: Sequence[float] | None = None) -> Counter[str]:
        """The message's tokens and what the model knows of its sender."""
        found = tokens(message, numbers)
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
def judge_in(kind: Kind, directory: str, c: Threshold, _written: int) -> Judge:
    """A judge by the model in a directory, kept from one portion of mail to the next."""
    return kind(open_model(directory), c)


def current_judge(kind: Kind, directory: str, c: Threshold) -> Judge:
    """A judge by the model as it is now."""
    path = os.path.join(directory, SCORECARD)
    return judge_in(kind, directory, c, os.stat(path).st_mtime_ns if os.path.exists(path) else 0)


def judge_units(kind: Kind, directory: str, c: Threshold, units: list[Unit]) -> tuple[list[Judged], LeftOut]:
    """The verdicts on some mail, and what could not be read of it. Runs in a worker."""
    names, left_out = [], LeftOut()

    def raws() -> Iterator[bytes]:
        for unit in units:
            for mail in messages(unit, left_out):
                names.append(mail.name)
                yield mail.raw

    verdicts = current_judge(kind, directory, c).verdicts(raws())
    return list(map(Judged, names, verdicts)), left_out
