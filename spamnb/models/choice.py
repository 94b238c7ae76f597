"""Which model, and the user's say in it; which say goes with which model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..corpus import Corpus
from ..errors import Usage

# What may be said about each kind, beside its name; the first value of a setting, or None, is its default.
OPTIONS: dict[str, tuple[str, ...]] = {
    "corrected": ("alpha", "contacts"),
    "multinomial": ("alpha", "counts", "estimate", "prior", "select", "measures", "variance", "contacts"),
    "bernoulli": ("alpha", "estimate", "select", "measures", "variance", "contacts"),
    "categorical": ("alpha", "select", "measures", "variance", "contacts"),
    "poisson": ("alpha", "select", "measures", "variance", "contacts"),
    "logistic": ("select", "contacts"),
    "gaussian": ("variance", "estimate", "contacts"),
    "neighbours": ("counts", "select", "neighbours", "distance", "vote", "project", "contacts"),
    "em": ("alpha", "select", "measures", "variance", "unlabelled", "unlabelled_weight", "contacts"),
}
# Of the corrected model: decisions/003. Laplace's for the textbook's first; where absent words count, a tenth of it or
# less, since it is counted once for every word of the dictionary (decisions/011).
ALPHAS = {"corrected": 0.001, "multinomial": 1.0, "bernoulli": 0.1, "categorical": 0.03, "poisson": 0.01, "em": 0.001}
TUNED = ("multinomial", "bernoulli")  # kinds whose α can be chosen from the data
SEVERAL = ("multinomial", "bernoulli", "categorical", "poisson")  # kinds that tell more than two classes apart


@dataclass(frozen=True)
class Choice:
    """A model and its settings; None stands for the model's own default."""

    kind: str = "corrected"
    alpha: float | str | None = None  # a number, or how to find one: auto, empirical
    counts: str | None = None  # raw or binary
    contacts: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    estimate: str | None = None
    prior: str | None = None
    select: str | None = None
    measures: bool | None = None
    variance: str | None = None
    neighbours: int | None = None
    distance: str | None = None
    vote: str | None = None
    project: int | str | None = None  # dimensions, or auto: as many as keep all distances within a fifth
    unlabelled_weight: float | None = None
    unlabelled: Corpus | None = None
    texts: Mapping[bytes, bytes] | None = None  # digest ─▶ text of the mail itself, for distances between texts

    @property
    def plain(self) -> bool:
        """Whether lessons can be heard at once, without a fit: nothing was asked for that depends on all messages."""
        lasting = self.kind in ("corrected", "multinomial", "logistic")
        return (
            lasting
            and not isinstance(self.alpha, str)
            and not (self.prior == "frequency" or self.select or self.measures)
        )


def asked_for(choice: Choice) -> list[str]:
    """The names of the settings that differ from their defaults."""
    empty = (None, False)
    named = [f.name for f in fields(choice) if f.name not in ("kind", "contacts", "texts")]
    return [name for name in named if not any(getattr(choice, name) is nothing for nothing in empty)]


def check_choice(choice: Choice) -> None:
    """Refuse what the model does not look at, or cannot do."""
    for name in asked_for(choice):
        if name not in OPTIONS[choice.kind]:
            able = ", ".join(kind for kind, options in OPTIONS.items() if name in options)
            raise Usage(f"--{name.replace('_', '-')} is nothing to --kind {choice.kind}; it goes with {able}")
    alpha = choice.alpha
    if isinstance(alpha, str) and choice.kind not in TUNED:
        raise Usage(f"--alpha {alpha} goes with --kind {' and '.join(TUNED)}; give a number")
    if alpha == 0 and choice.kind in ("corrected", "em"):
        raise Usage(f"--alpha 0 goes with the textbook's models; --kind {choice.kind} needs a number above 0")
    if choice.estimate == "map" and choice.kind == "gaussian":
        raise Usage("--estimate map is nothing to --kind gaussian; mean divides by n − 1, mle by n")
    if choice.estimate == "map" and not isinstance(alpha, str) and default_alpha(choice) < 1:
        raise Usage("--estimate map has no mode to take with an alpha below 1; give --alpha 1 or more")
    if choice.estimate == "mle" and alpha:
        raise Usage("--estimate mle smooths nothing; leave --alpha out")
    if choice.project and choice.distance not in (None, "euclidean", "cosine"):
        raise Usage(f"--project keeps the euclidean and the cosine distance, not {choice.distance}")
    if isinstance(alpha, str) and choice.prior == "frequency":
        raise Usage(f"--alpha {alpha} finds the alpha of a uniform prior; give a number with --prior frequency")
    if isinstance(alpha, str) and choice.estimate:
        raise Usage(f"--alpha {alpha} finds the alpha of the posterior's mean; leave --estimate out")
    if choice.variance and choice.kind != "gaussian" and not choice.measures:
        raise Usage("--variance is about measures; add --measures, or use --kind gaussian")


def default_alpha(choice: Choice) -> float:
    """The number asked for, or the kind's own; 0 for a kind that has none."""
    return ALPHAS.get(choice.kind, 0.0) if choice.alpha is None or isinstance(choice.alpha, str) else choice.alpha


def suited(choice: Choice, kind: str) -> Choice:
    """The choice of another kind, with what goes with it."""
    out_of_place = [name for name in asked_for(choice) if name not in OPTIONS[kind]]
    dropped: dict[str, Any] = dict.fromkeys(out_of_place)
    found = replace(choice, kind=kind, **dropped)
    if isinstance(found.alpha, str) and kind not in TUNED:
        found = replace(found, alpha=None)
    return replace(found, alpha=None) if found.alpha == 0 and kind in ("corrected", "em") else found
