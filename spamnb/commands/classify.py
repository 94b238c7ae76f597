"""spamnb classify"""

from __future__ import annotations

from typing import Any

import click

from ..classifying import classify_paths
from ..errors import NoInput
from .shared import format_option, jobs_option, model_option, paths_argument, settled


@click.command()
@paths_argument
@click.option("--files-from", metavar="FILE", help="Read paths from a file, one a line, or from standard input (-).")
@click.option("--threshold", metavar="C", help="Spam must be C times likelier than ham.")
@click.option("--exit-code", is_flag=True, help="Answer for one message: 0 spam, 1 ham, 2 unsure.")
@click.option("--learn", is_flag=True, help="Learn from messages whose class is beyond doubt.")
@format_option
@jobs_option
@model_option
def classify(
    paths: tuple[str, ...], files_from: str | None, exit_code: bool, learn: bool, form: str, **options: Any
) -> int:
    """Judge files, folders, or a message on standard input."""
    return classify_paths(named_paths(paths, files_from), settled(**options), form, exit_code, learn)


def named_paths(paths: tuple[str, ...], files_from: str | None) -> list[str]:
    """The paths given as arguments and in a list; standard input when there are none."""
    if files_from is None:
        return list(paths) or ["-"]
    try:
        with click.open_file(files_from, encoding="utf-8", errors="surrogateescape") as file:
            return [*paths, *filter(None, file.read().split("\n"))]
    except OSError as error:
        raise NoInput(f"{files_from}: {error.strerror}; name a file with one path a line") from None
