"""spamnb export"""

from __future__ import annotations

from typing import Any

import click

from .shared import model_option, settled


@click.command()
@click.option("--format", "form", type=click.Choice(["spamnb", "bogofilter"]), default="spamnb", show_default=True,
              help="All messages as lines of JSON, or word totals as bogoutil -d prints them.")  # fmt: skip
@model_option
def export(form: str, **options: Any) -> None:
    """Print the model as text, for another spamnb or for bogofilter."""
    from .. import training, upkeep
    from ..store import Store

    saved, _ = training.current(Store(settled(**options).model))
    for line in (upkeep.export_lines if form == "spamnb" else upkeep.bogofilter_lines)(saved):
        click.echo(line.encode("utf-8", "surrogateescape"))
