"""What `spamnb evaluate` is asked: options read, and refused where they would be of no effect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .. import plotting, protocols
from ..errors import Usage
from ..evaluation import Cost
from ..models import KINDS
from ..settings import OF_A_MODEL, Settings, positive
from .evaluate import SWEEP, TEXT
from .shared import settled

MAX_HAM_LOSS = 0.1  # percent


@dataclass(frozen=True)
class Asked:
    """What the command line says, and the settings."""

    mail: tuple[list[str], list[str]]
    settings: Settings
    said: dict[str, Any]  # of the model, by the options' names
    kinds: tuple[str, ...]  # to compare; none: one model, not compared
    curve: bool
    protocol: str | None
    cs: tuple[float | None, ...]  # thresholds; None: the models' own cutoffs
    sweep: bool
    limit: float  # share of ham that the recommended c may lose
    cost: Cost | None
    plot: str | None
    folds: int | None
    seed: int
    jsonl: bool

    @property
    def fits(self) -> bool:
        """Whether models are made of the mail at hand, rather than that the user's model judges it."""
        return not self.mail[0] or bool(self.kinds or self.curve or self.protocol or self.folds)


def asked_for(mail: tuple[list[str], list[str]], given: dict[str, Any]) -> Asked:
    """Read the options; what would be of no effect is refused, with the way out."""
    model = {name: given[name] for name in (*OF_A_MODEL, "jobs", "model")}
    cs = numbers(given["threshold"]) if given["threshold"] not in (None, SWEEP) else ()
    settings = settled(**model, threshold=cs[0] if len(cs) == 1 else None)
    asked = Asked(
        mail=mail,
        settings=settings,
        said={name: getattr(settings, name) for name in OF_A_MODEL if given[name] is not None},
        kinds=kinds_of(given["kinds"]),
        curve=given["learning_curve"],
        protocol=given["protocol"],
        cs=cs or (own_threshold(settings),),
        sweep=given["threshold"] == SWEEP,
        limit=(MAX_HAM_LOSS if given["max_ham_loss"] is None else given["max_ham_loss"]) / 100,
        cost=cost_of(given["cost"]),
        plot=given["plot"],
        folds=given["folds"],
        seed=given["seed"] or 0,
        jsonl=given["form"] == "jsonl",
    )
    refuse_what_is_idle(asked, given)
    if asked.plot and asked.plot != TEXT:
        plotting.check_picture(asked.plot)
    return asked


def refuse_what_is_idle(asked: Asked, given: dict[str, Any]) -> None:
    """No option may be said in vain."""
    protocol = asked.protocol or "folds"
    shuffled = asked.fits and (protocol == "folds" or asked.curve)
    wrong = (
        (protocol not in protocols.PROTOCOLS, f"--protocol: {protocol!r} must be {', '.join(protocols.PROTOCOLS)}"),
        (asked.kinds and "kind" in asked.said, "--kind names one kind and --kinds several; give one of the two"),
        (asked.said and not asked.fits, f"{dashed(asked.said)} must have something to fit; add --folds N"),
        (asked.folds and protocol != "folds", f"--folds goes with --protocol folds, not {protocol}; leave one out"),
        (given["seed"] is not None and not shuffled, "--seed shuffles folds and draws; there is nothing to shuffle"),
        (given["max_ham_loss"] is not None and not asked.sweep, "--max-ham-loss goes with --threshold without a C"),
        (asked.curve and len(asked.cs) > 1, "--learning-curve is judged at one c; give --threshold one C"),
        (asked.curve and protocol in ("loo", "online"), "--learning-curve goes with --protocol folds or half"),
        (asked.jsonl and asked.plot == TEXT, "--plot without a file is text; with --format jsonl name a FILE.svg"),
    )
    for is_wrong, why in wrong:
        if is_wrong:
            raise Usage(why)


def dashed(names: Iterable[str]) -> str:
    """Names of options as the user writes them."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in names)


def numbers(text: str) -> tuple[float, ...]:
    """The thresholds of a list."""
    found: dict[float, None] = {}
    for part in text.split(","):
        try:
            found[positive(part)] = None
        except ValueError as reason:
            raise Usage(f"--threshold: {part!r} {reason}") from None
    return tuple(found)


def own_threshold(settings: Settings) -> float | None:
    """The c that the settings ask for, if any."""
    if isinstance(settings.threshold, str):
        raise Usage(f"threshold {settings.threshold} is set for classes of your own naming; say --threshold C here")
    return settings.threshold


def kinds_of(text: str | None) -> tuple[str, ...]:
    """The kinds of a list."""
    if text is None or text == "all":
        return KINDS if text else ()
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in KINDS:
            raise Usage(f"--kinds: {name!r} must be one of {', '.join(KINDS)}; or give all")
    return names


def cost_of(text: str | None) -> Cost | None:
    """Two numbers with a colon between."""
    if text is None:
        return None
    try:
        ham, spam = map(positive, text.split(":"))
    except ValueError:
        raise Usage(f"--cost: {text!r} must be two numbers above 0, as 10:1 (a lost ham costs ten times)") from None
    return Cost(ham, spam)
