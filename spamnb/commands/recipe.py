"""spamnb recipe"""

from __future__ import annotations

from importlib.resources import files

import click

from ..errors import Usage

RECIPES = ("procmail", "maildrop", "sieve", "imapsieve", "mutt", "notmuch", "systemd")


@click.command()
@click.argument("name", metavar="|".join(RECIPES))
def recipe(name: str) -> None:
    """Print a configuration that puts spamnb to work in a mail program."""
    if name not in RECIPES:
        raise Usage(f"{name}: no such recipe; there are {', '.join(RECIPES)}")
    click.echo(files("spamnb").joinpath("recipes", f"{name}.txt").read_text(encoding="utf-8"), nl=False)
