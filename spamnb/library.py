"""spamnb from Python, in a few lines: train on mailboxes, judge bytes, learn."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from .cardfile import open_model
from .filtering import Judge
from .learning import Learned, ensure_model
from .learning import learn as learn_mails
from .mailbox import Mail
from .settings import load_settings
from .store import Store
from .training import Trained, choice_of
from .training import train as train_store

Path = str | os.PathLike[str]


def train(
    model: Path,
    ham: Path | Sequence[Path],
    spam: Path | Sequence[Path],
    *,
    kind: str = "corrected",
    alpha: float | str | None = None,
    counts: str | None = None,
    contacts: str | None = None,
    jobs: int | None = None,
    replace: bool = False,
    **more: Any,
) -> Trained:
    """Fit a model on mailboxes of any kind and save it in the directory `model`.

    Other settings of a kind, such as estimate, select or neighbours, go by their names on the command line.
    """
    options = {"kind": kind, "alpha": alpha, "counts": counts, "contacts": contacts, "jobs": jobs, **more}
    settings = load_settings({}, options)
    return train_store(
        Store(model), {"ham": named(ham), "spam": named(spam)}, choice_of(settings), overwrite=replace, jobs=jobs
    )


def named(mailboxes: Path | Sequence[Path]) -> list[str]:
    """One mailbox or several, as texts."""
    several = [mailboxes] if isinstance(mailboxes, str | os.PathLike) else mailboxes
    return [os.fspath(path) for path in several]


def open_judge(model: Path, threshold: float | None = None) -> Judge:
    """A judge by the model in a directory: `.judge(raw)` gives a verdict, `.explain(raw)` its reasons."""
    return Judge(open_model(os.fspath(model)), threshold)


def learn(model: Path, messages: Iterable[bytes], spam: bool | None) -> Learned:
    """Teach messages as spam or ham, or with None forget them; they are on disk when this returns."""
    store = Store(model)
    ensure_model(store, load_settings({}, {}))
    return learn_mails(store, (Mail(f"message {number}", raw) for number, raw in enumerate(messages, 1)), spam)
