"""What the user has set: defaults < config file < environment < options; read once, passed down."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from math import isfinite, nan
from typing import Any, NamedTuple

from .errors import BadConfig, SpamnbError, Usage

KINDS = (
    "corrected", "multinomial", "bernoulli", "categorical", "poisson", "logistic", "gaussian", "neighbours", "em",
)  # fmt: skip


class Settings(NamedTuple):
    """Every setting, with its default."""

    model: str = ""  # directory of the model
    kind: str = "corrected"
    alpha: float | str | None = None
    counts: str | None = None
    threshold: float | str | None = None  # c, or NAME=C,NAME=C where the user has named classes
    jobs: int | None = None
    contacts: str | None = None
    estimate: str | None = None
    prior: str | None = None
    select: str | None = None
    measures: bool | None = None
    variance: str | None = None
    neighbours: int | None = None
    distance: str | None = None
    vote: str | None = None
    project: int | str | None = None
    unlabelled_weight: float | None = None


OF_A_MODEL = tuple(name for name in Settings._fields if name not in ("model", "threshold", "jobs", "contacts"))
MOST_DIMENSIONS = 10_000  # of a projection; a few thousand keep every distance


def positive(text: Any) -> float:
    try:
        if isinstance(text, bool):
            raise ValueError
        number = float(text)
    except (TypeError, ValueError):
        number = nan
    if not (number > 0 and isfinite(number)):
        raise ValueError("must be a number above 0")
    return number


def smoothing(text: Any) -> float | str:
    if text in ("auto", "empirical"):
        return str(text)
    try:
        return 0.0 if float(text) == 0 else positive(text)
    except (TypeError, ValueError):
        raise ValueError("must be a number from 0 on, auto or empirical") from None


def offset(text: Any) -> float | str:
    if isinstance(text, str) and "=" in text:
        class_offsets(text)
        return text
    return positive(text)


def class_offsets(text: str) -> dict[str, float]:
    """NAME=C,NAME=C ─▶ c of each class."""
    found = {}
    for part in text.split(","):
        name, _, c = part.rpartition("=")
        if not name:
            raise ValueError("must be a number above 0, or NAME=C[,NAME=C...] of classes")
        found[name] = positive(c)
    return found


def whole(text: Any) -> int:
    try:
        number = 0 if isinstance(text, bool) else int(text)
    except (TypeError, ValueError, OverflowError):
        number = 0
    if number < 1 or number != float(text):
        raise ValueError("must be a whole number from 1 on")
    return number


def one_of(*allowed: str) -> Callable[[Any], str]:
    def check(text: Any) -> str:
        if text not in allowed:
            raise ValueError("must be one of " + ", ".join(allowed))
        return str(text)

    return check


def dimensions(text: Any) -> int | str:
    if text == "auto":
        return str(text)
    try:
        number = whole(text)
    except (TypeError, ValueError):
        number = 0
    if not 1 <= number <= MOST_DIMENSIONS:
        raise ValueError(f"must be a whole number from 1 to {MOST_DIMENSIONS:,}, or auto")
    return number


def yes_or_no(text: Any) -> bool:
    answers = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    if str(text).lower() not in answers:
        raise ValueError("must be yes or no")
    return answers[str(text).lower()]


def selection(text: Any) -> str:
    from .selecting import parse_selection

    parse_selection(str(text))
    return str(text)


def path(text: Any) -> str:
    if not isinstance(text, str) or not text:
        raise ValueError("must be a path")
    return os.path.expanduser(text)


CHECKS: dict[str, Callable[[Any], Any]] = {
    "model": path,
    "kind": one_of(*KINDS),
    "alpha": smoothing,
    "counts": one_of("raw", "binary"),
    "threshold": offset,
    "jobs": whole,
    "contacts": path,
    "estimate": one_of("mean", "map", "mle"),
    "prior": one_of("uniform", "frequency"),
    "select": selection,
    "measures": yes_or_no,
    "variance": one_of("each", "features", "classes", "one"),
    "neighbours": whole,
    "distance": one_of("euclidean", "cosine", "jensen-shannon", "compression", "edit"),
    "vote": one_of("average", "majority"),
    "project": dimensions,
    "unlabelled_weight": positive,
}


def load_settings(environ: Mapping[str, str], options: Mapping[str, Any]) -> Settings:
    """Settle every setting; each wrong one is named with where it stands and what is allowed."""
    home = environ.get("HOME") or os.path.expanduser("~")
    data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    config = environ.get("SPAMNB_CONFIG") or os.path.join(
        environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "spamnb", "config.toml"
    )
    found: dict[str, Any] = {"model": os.path.join(data, "spamnb", "default")}
    for name, value in read_config(config, named=bool(environ.get("SPAMNB_CONFIG"))).items():
        found[name] = checked(name, value, f"{config}: {name}", BadConfig)
    for name in CHECKS:
        if text := environ.get(f"SPAMNB_{name.upper()}"):
            found[name] = checked(name, text, f"SPAMNB_{name.upper()}", BadConfig)
    for name, value in options.items():
        if value is not None:
            found[name] = checked(name, value, f"--{name.replace('_', '-')}", Usage)
    return Settings(**found)


def checked(name: str, value: Any, where: str, error: type[SpamnbError]) -> Any:
    """A setting's value, if it is allowed."""
    try:
        return CHECKS[name](value)
    except KeyError:
        raise error(f"{where}: no such setting; there are {', '.join(CHECKS)}") from None
    except ValueError as reason:
        raise error(f"{where}: {value!r} {reason}") from None


def read_config(file_name: str, named: bool) -> dict[str, Any]:
    """The config file's settings; it may be absent unless it was named."""
    if not named and not os.path.exists(file_name):
        return {}
    import tomllib

    try:
        with open(file_name, "rb") as file:
            return tomllib.load(file)
    except (OSError, ValueError) as error:
        raise BadConfig(f"{file_name}: {getattr(error, 'strerror', None) or error}; mend or remove it") from None
