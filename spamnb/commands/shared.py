"""Options, arguments and notices that several commands have."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ..errors import BadData, Usage
from ..settings import Settings, load_settings

if TYPE_CHECKING:
    from ..mailbox import LeftOut


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


def tell(text: str) -> None:
    """One line on standard error."""
    click.echo(f"spamnb: {printable(text)}", err=True)


def warn(left_out: LeftOut) -> int:
    """Say what was left out; 65 when something could not be read."""
    for reason, count in sorted(left_out.counts.items()):
        tell(f"left out: {count} {reason}")
    for path, reason in left_out.unreadable:
        tell(f"{path}: {reason}; the rest was used")
    return BadData.exit_code if left_out.unreadable else 0


def printable(text: str) -> str:
    """A name that cannot play tricks on a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
