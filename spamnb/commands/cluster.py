"""spamnb cluster"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..notices import warn
from .shared import format_option, jobs_option, settled

if TYPE_CHECKING:
    from ..clustering import Grouped


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="MAIL...")
@click.option("--groups", type=click.IntRange(1), required=True, metavar="L", help="How many groups to make.")
@click.option("--method", type=click.Choice(["em", "kmeans"]), default="em", show_default=True,
              help="A mixture of multinomials, or its cousin that knows no doubt.")  # fmt: skip
@click.option("--words", type=click.IntRange(0), default=10, show_default=True, help="Words to show of each group.")
@click.option("--envelope", is_flag=True, help="By who sent it and which way it came, too; else by the text alone.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Where the search starts.")
@format_option
@jobs_option
def cluster(
    paths: tuple[str, ...], groups: int, method: str, words: int, envelope: bool, seed: int, form: str, **options: Any
) -> int:
    """Sort mail without labels into groups of messages that use the same words."""
    from .. import clustering, report

    with report.progress("reading mail") as progress:
        mail = clustering.read_unsorted(paths, jobs=settled(**options).jobs, progress=progress)
    with report.progress("sorting") as progress:
        found = clustering.sort_mail(mail, groups, method, words=words, seed=seed, envelope=envelope, progress=progress)
    if form == "jsonl":
        for group in found.groups:
            click.echo(json.dumps(vars(group)))
        for name, number in found.members:
            click.echo(json.dumps({"path": name, "group": number}))
    else:
        show_groups(found, groups, method)
    return warn(mail.left_out)


def show_groups(found: Grouped, asked: int, method: str) -> None:
    """A line a group, and how the search went."""
    from .. import report

    made = report.table("group", "most telling words", "messages", texts=2)
    for group in found.groups:
        made.add_row(str(group.group), report.shown(" ".join(group.words)), f"{group.messages:,}")
    out = report.console()
    out.print(made)
    out.print(summary(found.steps, method), soft_wrap=True)
    if len(found.groups) < asked:
        out.print(f"{asked - len(found.groups)} of the {asked} groups stayed empty; fewer --groups may fit this mail")


def summary(steps: list[float], method: str) -> str:
    """How the objective went, in a line."""
    what, way = ("log-likelihood", "rose") if method == "em" else ("squared distance", "fell")
    course = f"{way} from {steps[0]:,.2f} to {steps[-1]:,.2f}" if len(steps) > 1 else f"is {steps[0]:,.2f}"
    return f"{method}: {what} {course} in {len(steps)} step{'s' * (len(steps) != 1)}"
