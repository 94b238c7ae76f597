"""Options, arguments and notices that several commands have."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from ..errors import Usage
from ..settings import Settings, load_settings


def settled(**options: Any) -> Settings:
    """The settings, with this command's options over all others."""
    return load_settings(os.environ, options)


model_option = click.option("--model", metavar="DIR", help="Directory of the model.")
jobs_option = click.option("--jobs", metavar="N", help="Processes to use; by default as many as pay.")
format_option = click.option(
    "--format", "form", type=click.Choice(["text", "jsonl"]), default="text", show_default=True
)
kind_options = [
    click.option("--kind", metavar="KIND", help="corrected (the default) or multinomial (the textbook's)."),
    click.option("--alpha", metavar="A", help="Smoothing: added to every count."),
    click.option("--counts", metavar="raw|binary", help="How often a word stands in a message, or whether."),
]


paths_argument = click.argument("paths", nargs=-1, metavar="[PATH]...")


def model_choice(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that choose a model."""
    for option in reversed(kind_options):
        command = option(command)
    return command


def both_classes(
    paths: tuple[str, ...], ham: tuple[str, ...] = (), spam: tuple[str, ...] = ()
) -> tuple[list[str], list[str]]:
    """The mailboxes of each class: two arguments, or options, or both."""
    if len(paths) not in (0, 2):
        raise Usage(f"{len(paths)} mailboxes given; first ham, then spam, or any number with --ham and --spam")
    hams, spams = [*paths[:1], *ham], [*paths[1:], *spam]
    if not hams or not spams:
        raise Usage(f"no mailbox of {'spam' if hams else 'ham'} given; usage: HAM SPAM, or --ham PATH --spam PATH")
    return hams, spams
