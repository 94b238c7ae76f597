"""Which of several classes a message is of, by the offset that each must exceed.

    score_y − log c_y        the highest names the class; c_y = 1 where the user has not set another

A class with c = 9 wins only where it is nine times likelier than the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from .errors import Usage
from .scorecard import HAM, SPAM, UNSURE, Scorecard, Verdict
from .settings import class_offsets

TYPE_CHECKING = False
if TYPE_CHECKING:
    Threshold = float | str | None  # c, or NAME=C,NAME=C


def has_named_classes(card: Scorecard) -> bool:
    """Whether the classes are the user's own."""
    return card.classes != (HAM, SPAM)


def offsets_in(card: Scorecard, threshold: Threshold) -> dict[str, float]:
    """c of each class that the user set one for, if the model has these classes."""
    named = isinstance(threshold, str)
    if not has_named_classes(card):
        if named:
            raise Usage("this model knows ham and spam alone; give --threshold C, a number")
    elif threshold is not None and not named:
        raise Usage(f"this model has the classes {', '.join(card.classes)}; give --threshold NAME=C")
    return offsets_for(threshold, card.classes)


def offsets_for(threshold: Threshold, classes: Sequence[str]) -> dict[str, float]:
    """c of each class in NAME=C,NAME=C, if there are such classes."""
    found = class_offsets(threshold) if isinstance(threshold, str) else {}
    if unknown := set(found) - set(classes):
        raise Usage(f"--threshold: no class {min(unknown)!r}; there are {', '.join(classes)}")
    return found


def ranked(scores: Sequence[float], classes: Sequence[str], offsets: Mapping[str, float]) -> list[int]:
    """The classes by their scores less their offsets, best first; the first named of equals."""
    return sorted(range(len(classes)), key=lambda y: -(scores[y] - log(offsets.get(classes[y], 1.0))))


def named(card: Scorecard, scores: Sequence[float], offsets: Mapping[str, float]) -> Verdict:
    """The verdict: its score is the log odds of the class named against all others."""
    if not all(card.messages):
        empty = card.classes[card.messages.index(0)]
        return Verdict(0.0, UNSURE, f"only 0 {empty} learned")
    best = ranked(scores, card.classes, offsets)[0]
    odds = scores[best] - log_sum([score for number, score in enumerate(scores) if number != best])
    shares = [exp(score - max(scores)) for score in scores]
    of_classes = {name: share / sum(shares) for name, share in zip(card.classes, shares, strict=True)}
    return Verdict(odds, card.classes[best], "", of_classes)


def log_sum(logs: Sequence[float]) -> float:
    """log Σ exp, of numbers whose exp may be 0 to a computer."""
    top = max(logs)
    return top + log(sum(exp(one - top) for one in logs))
