"""spamnb classify"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ..errors import NoInput, SpamnbError, Usage
from ..settings import Settings
from .shared import format_option, jobs_option, model_option, printable, settled, warn

if TYPE_CHECKING:
    from ..filtering import Judged
    from ..mailbox import LeftOut, Unit

EXIT_CODES = {"spam": 0, "ham": 1, "unsure": 2}


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--files-from", metavar="FILE", help="Read paths from a file, one a line, or from standard input (-).")
@click.option("--threshold", metavar="C", help="Spam must be C times likelier than ham.")
@click.option("--exit-code", is_flag=True, help="Answer for one message: 0 spam, 1 ham, 2 unsure.")
@format_option
@jobs_option
@model_option
def classify(paths: tuple[str, ...], files_from: str | None, exit_code: bool, form: str, **options: Any) -> int:
    """Judge files, folders, or a message on standard input."""
    settings = settled(**options)
    status, label, count = 0, "", 0
    for judged, left_out in judge_all(named_paths(paths, files_from), settings):
        for one in judged:
            if exit_code and (count := count + 1) > 1:
                raise Usage("--exit-code answers for one message, and there are more; leave it out")
            click.echo(verdict_line(one, form))
            label = one.verdict.label
        status = warn(left_out) or status
    if exit_code and not status:
        if not count:
            raise NoInput("no message to answer for")
        return EXIT_CODES[label]
    return status


def named_paths(paths: tuple[str, ...], files_from: str | None) -> list[str]:
    """The paths given as arguments and in a list; standard input when there are none."""
    if files_from is None:
        return list(paths) or ["-"]
    try:
        with click.open_file(files_from, encoding="utf-8", errors="surrogateescape") as file:
            return [*paths, *filter(None, file.read().split("\n"))]
    except OSError as error:
        raise NoInput(f"{files_from}: {error.strerror}; name a file with one path a line") from None


def judge_all(paths: list[str], settings: Settings) -> Iterator[tuple[list[Judged], LeftOut]]:
    """Verdicts on all mail in the paths, in order, with what could not be read."""
    from functools import partial

    from ..cardfile import open_model
    from ..filtering import judge_units
    from ..mailbox import LeftOut, units

    open_model(settings.model)  # a missing model is told before the mail is looked at
    left_out = LeftOut()
    work: list[Unit] = []
    for path in paths:
        try:
            work += units(path, left_out)
        except SpamnbError as error:
            if len(paths) == 1:
                raise
            left_out.unreadable.append((path, str(error).removeprefix(f"{path}: ")))
    judge = partial(judge_units, settings.model, settings.threshold)
    if len(work) == 1:
        yield judge(work)[:2]
    else:
        from ..parallel import in_parallel

        for judged, unread, _ in in_parallel(judge, work, settings.jobs):
            yield judged, unread
    yield [], left_out


def verdict_line(one: Judged, form: str) -> str:
    """A verdict for people or for machines."""
    verdict = one.verdict
    if form == "text":
        reason = f"  ({verdict.reason})" if verdict.reason else ""
        return f"{verdict.label:<6}  {verdict.probability:.4f}  {printable(one.name)}{reason}"
    fields = {"path": one.name, "label": verdict.label, "score": verdict.score, "probability": verdict.probability}
    if verdict.reason:
        fields["reason"] = verdict.reason
    return json.dumps(fields)
