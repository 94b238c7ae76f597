"""Options, arguments and notices that several commands have."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import click

from ..errors import Usage
from ..scorecard import UNSURE
from ..settings import KINDS, Settings, load_settings


def settled(**options: Any) -> Settings:
    """The settings, with this command's options over all others."""
    return load_settings(os.environ, options)


model_option = click.option("--model", metavar="DIR", help="Directory of the model.")
jobs_option = click.option("--jobs", metavar="N", help="Processes to use; by default as many as pay.")
format_option = click.option(
    "--format", "form", type=click.Choice(["text", "jsonl"]), default="text", show_default=True
)
kind_options = [
    click.option("--kind", metavar="KIND", help=f"{KINDS[0]} (the default), or a textbook's: {', '.join(KINDS[1:])}."),
    click.option("--alpha", metavar="A", help="Smoothing: added to every count; auto or empirical: from the data."),
    click.option("--counts", metavar="raw|binary", help="How often a word stands in a message, or whether."),
    click.option("--estimate", metavar="mean|map|mle", help="Of the posterior, the mean or the mode; or no prior."),
    click.option(
        "--prior", metavar="uniform|frequency", help="The same alpha for all words, or by how common each is."
    ),
    click.option("--select", metavar="chi2:N|information:N|df:MIN", help="Which words to look at."),
    click.option("--measures", is_flag=True, default=None, help="Size, links, capitals and such count beside words."),
    click.option("--variance", metavar="each|features|classes|one", help="What measures share a variance."),
    click.option("--neighbours", metavar="K", help="How many neighbours are asked."),
    click.option(
        "--distance", metavar="NAME", help="euclidean, cosine or jensen-shannon; of the mail: compression, edit."
    ),
    click.option("--vote", metavar="average|majority", help="How neighbours decide."),
    click.option("--project", metavar="D|auto", help="Compare neighbours in a random projection to D dimensions."),
    click.option("--unlabelled-weight", metavar="W", help="What an unlabelled message counts beside a labelled one."),
]


MOST_CLASSES = 127  # a byte with a sign
CLASS_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
class_option = click.option(
    "--class", "classes", multiple=True, metavar="NAME=PATH", help="A mailbox of a class you name."
)
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


def named_classes(given: tuple[str, ...]) -> dict[str, list[str]]:
    """NAME=PATH options ─▶ the mailboxes of each class."""
    found: dict[str, list[str]] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or not path or not CLASS_NAME.fullmatch(name) or name == UNSURE:
            raise Usage(f"--class {text!r}: give NAME=PATH, the name of letters, digits, - and _, and not {UNSURE!r}")
        found.setdefault(name, []).append(path)
    if len(found) == 1:
        raise Usage(f"--class: there is only {given[0]!r}; name two classes or more")
    if len(found) > MOST_CLASSES:
        raise Usage(f"--class: {len(found)} classes; {MOST_CLASSES} is the most")
    return found
