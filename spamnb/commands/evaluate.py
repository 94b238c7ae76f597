"""spamnb evaluate"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..classifying import judge_all
from ..errors import Usage
from ..notices import warn
from ..settings import Settings
from .shared import both_classes, format_option, jobs_option, model_choice, model_option, settled

if TYPE_CHECKING:
    from ..evaluation import Outcome

SWEEP = "sweep"


class ThresholdCommand(click.Command):
    """Lets --threshold stand alone, wherever it stands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        following = zip(args, [*args[1:], ""], strict=False)
        given = [f"--threshold={SWEEP}" if arg == "--threshold" and not is_number(after) else arg
                 for arg, after in following]  # fmt: skip
        return super().parse_args(ctx, given)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@click.command(cls=ThresholdCommand)
@click.argument("mailboxes", nargs=-1, metavar="[HAM SPAM]")
@click.option("--ham", multiple=True, metavar="PATH", help="A mailbox of ham; may be repeated.")
@click.option("--spam", multiple=True, metavar="PATH", help="A mailbox of spam; may be repeated.")
@click.option("--threshold", metavar="[C]", help="Judge at this c; alone: try many and recommend one.")
@click.option("--max-ham-loss", metavar="PERCENT", type=click.FloatRange(0, 100), default=0.1, show_default=True,
              help="Ham that the recommended c may lose.")  # fmt: skip
@click.option("--folds", type=click.IntRange(2), metavar="N", help="Folds of the cross-validation (without mail: 5).")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Which messages share a fold.")
@model_choice
@format_option
@jobs_option
@model_option
def evaluate(
    mailboxes: tuple[str, ...],
    ham: tuple[str, ...],
    spam: tuple[str, ...],
    threshold: str | None,
    max_ham_loss: float,
    folds: int | None,
    seed: int,
    form: str,
    **options: Any,
) -> int:
    """Measure the model: on its own messages by folds, or on the mail in HAM and SPAM."""
    from .. import evaluation, report

    settings = settled(threshold=None if threshold == SWEEP else threshold, **options)
    given = both_classes(mailboxes, ham, spam) if mailboxes or ham or spam else ([], [])
    status, outcome = measured(given, settings, options, folds, seed)
    if threshold == SWEEP:
        limit = max_ham_loss / 100
        best, rows = evaluation.recommended(outcome, limit), evaluation.sweep(outcome, limit)
        if form == "jsonl":
            for at, found in rows:
                click.echo(json.dumps({"c": at, "recommended": at == best, **vars(found)}))
        else:
            report.show_sweep(rows, best, limit)
        return status
    c = settings.threshold
    found = evaluation.figures(outcome.at(c) if c else outcome)
    if form == "jsonl":
        click.echo(json.dumps({"c": c, **vars(found)}))
    else:
        report.show_figures(found, f"judged at c = {c:g}" if c else "judged at the model's own cutoffs")
    return status


def measured(
    mailboxes: tuple[list[str], list[str]], settings: Settings, options: dict[str, Any], folds: int | None, seed: int
) -> tuple[int, Outcome]:
    """The outcome of folds over the model's rows, of folds over other mail, or of judging other mail; and a status."""
    from dataclasses import replace

    from .. import evaluation, report, training
    from ..store import Store

    hams, spams = mailboxes
    if hams and not folds:
        if any(options[name] for name in ("kind", "alpha", "counts")):
            raise Usage("--kind, --alpha and --counts need something to fit; add --folds N")
        known, left_out = [], []
        for label, paths, others in ((False, hams, spams), (True, spams, hams)):
            for judged, unread in judge_all(paths, settings._replace(threshold=None), others):
                known += [(label, one.verdict) for one in judged]
                left_out.append(warn(unread))
        return max(left_out), evaluation.judged(known)
    status = 0
    if hams:
        with report.progress("reading mail") as progress:
            gathered = training.read_labelled(hams, spams, jobs=settings.jobs, progress=progress)
        corpus, choice, status = gathered.corpus, training.choice_of(settings), warn(gathered.left_out)
    else:
        saved, _ = training.current(Store(settings.model))
        asked = {name: getattr(settings, name) for name in ("kind", "alpha", "counts") if options[name] is not None}
        corpus, choice = saved.corpus, replace(saved.choice, **asked)
        training.check_counts(choice.kind, asked.get("counts"))
    with report.progress("judging folds") as progress:
        return status, evaluation.cross_validate(corpus, choice, folds or 5, seed, progress)
