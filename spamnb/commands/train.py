"""spamnb train"""

from __future__ import annotations

from typing import Any

import click

from ..notices import tell, warn
from .shared import both_classes, jobs_option, model_choice, model_option, settled


@click.command()
@click.argument("mailboxes", nargs=-1, metavar="[HAM SPAM]")
@click.option("--ham", multiple=True, metavar="PATH", help="A mailbox of ham; may be repeated.")
@click.option("--spam", multiple=True, metavar="PATH", help="A mailbox of spam; may be repeated.")
@model_choice
@click.option("--contacts", metavar="FILE", help="A file with the addresses of people you know.")
@click.option("--replace", is_flag=True, help="Even if lessons learned since the last training are lost.")
@jobs_option
@model_option
def train(
    mailboxes: tuple[str, ...], ham: tuple[str, ...], spam: tuple[str, ...], replace: bool, **options: Any
) -> int:
    """Fit a model on mailboxes of any kind: mbox, maildir, MH, folders, files."""
    from .. import report, training
    from ..store import Store

    hams, spams = both_classes(mailboxes, ham, spam)
    settings = settled(**options)
    choice = training.choice_of(settings)
    with report.progress("reading mail") as progress:
        trained = training.train(
            Store(settings.model), hams, spams, choice, overwrite=replace, jobs=settings.jobs, progress=progress
        )
    report.show_trained(trained, settings.model)
    for name in trained.gathered.contradictions:
        tell(f"{name}: is in both classes; left out")
    return warn(trained.gathered.left_out)
