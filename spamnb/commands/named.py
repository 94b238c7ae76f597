"""`spamnb evaluate` of a model with classes of the user's naming."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click

from .. import confusion, protocols, report, showing, training
from ..cardfile import open_model
from ..classifying import judge_all
from ..confusion import Confusion
from ..errors import SpamnbError, Usage
from ..models import SEVERAL, check_choice, suited
from ..naming import has_named_classes, offsets_for
from ..notices import warn
from ..settings import OF_A_MODEL, Settings
from ..store import Store
from .evaluate import SWEEP
from .shared import settled

ELSEWHERE = ("kinds", "learning_curve", "protocol", "max_ham_loss", "cost", "plot")  # what is about ham and spam


def is_named(model: str | None) -> bool:
    """Whether the user's model has classes of his naming; one that cannot be opened is told by who needs it."""
    try:
        return has_named_classes(open_model(settled(model=model).model))
    except SpamnbError:
        return False


def evaluate_named(mail: dict[str, list[str]], given: dict[str, Any]) -> int:
    """Who is taken for whom: mail judged by the model, or folds of that mail or of the model's own."""
    for name in ELSEWHERE:
        if given[name]:
            raise Usage(f"--{name.replace('_', '-')} is about ham and spam, not about classes of your naming")
    if given["threshold"] == SWEEP:
        raise Usage("--threshold alone is about ham and spam; of classes of your naming, give NAME=C")
    settings = settled(**{name: given[name] for name in (*OF_A_MODEL, "jobs", "model", "threshold")})
    if not mail or given["folds"]:
        status, found = by_folds(mail, settings, given)
    else:
        status, found = by_the_model(mail, settings)
    if given["form"] == "jsonl":
        for row in showing.confusion_rows(found):
            click.echo(json.dumps(row))
    else:
        showing.show_confusion(found)
    return status


def by_the_model(mail: dict[str, list[str]], settings: Settings) -> tuple[int, Confusion]:
    """Mail of known classes, judged by the user's model."""
    classes = open_model(settings.model).classes
    if unknown := set(mail) - set(classes):
        raise Usage(f"--class {min(unknown)}: the model has the classes {', '.join(classes)}")
    status, known = 0, []
    for name, paths in mail.items():
        others = [path for other, theirs in mail.items() if other != name for path in theirs]
        for judged, left_out in judge_all(paths, settings, others):
            status = warn(left_out) or status
            known += [(name, one.verdict) for one in judged]
    return status, confusion.confusion_of(classes, known)


def by_folds(mail: dict[str, list[str]], settings: Settings, given: dict[str, Any]) -> tuple[int, Confusion]:
    """Folds of the mail that is named, or of the model's own messages."""
    said = {name: getattr(settings, name) for name in OF_A_MODEL if given[name] is not None}
    status = 0
    if mail:
        own = settings if settings.kind in SEVERAL or "kind" in said else settings._replace(kind=SEVERAL[0])
        choice = training.choice_of(own, several=True)
        with report.progress("reading mail") as progress:
            gathered = training.read_classes(mail, jobs=settings.jobs, progress=progress)
        corpus, status = gathered.corpus, warn(gathered.left_out)
    else:
        saved = training.current(Store(settings.model))[0]
        corpus = saved.corpus
        choice = replace(suited(saved.choice, said.get("kind", saved.choice.kind)), **said)
        check_choice(choice)
        if choice.kind not in SEVERAL:
            raise Usage(f"--kind {choice.kind} tells ham from spam; of several classes: {', '.join(SEVERAL)}")
    offsets = offsets_for(settings.threshold, corpus.classes)
    plan = protocols.planned(corpus, "folds", given["folds"] or protocols.FOLDS, given["seed"] or 0)
    with report.progress("judging folds") as progress:
        return status, confusion.confused(corpus, choice, plan, offsets, progress)
