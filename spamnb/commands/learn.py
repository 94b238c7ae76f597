"""spamnb learn"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from ..errors import NoInput, Usage
from ..notices import tell, warn
from .shared import model_option, paths_argument, settled

if TYPE_CHECKING:
    from ..learning import Learned
    from ..mailbox import LeftOut, Mail


@click.command()
@paths_argument
@click.option("--spam", is_flag=True, help="The messages are spam.")
@click.option("--ham", is_flag=True, help="The messages are ham.")
@click.option("--class", "name", metavar="NAME", help="The messages are of this class of the model's.")
@click.option("--unwrap", is_flag=True, help="Take the messages attached to these, as forwarded.")
@click.option("--refit/--no-refit", default=True, help="Refit the model when enough has been learned (the default).")
@model_option
def learn(
    paths: tuple[str, ...], spam: bool, ham: bool, name: str | None, unwrap: bool, refit: bool, **options: Any
) -> int:
    """Teach messages: files, folders, or one on standard input. What was learned the other way changes class."""
    from .. import learning
    from ..mailbox import LeftOut
    from ..store import Store

    given = [label for label, is_given in (("spam", spam), ("ham", ham), (name, name)) if is_given]
    if len(given) != 1:
        raise Usage("say what the messages are: --spam, --ham, or --class NAME")
    settings = settled(**options)
    store, left_out = Store(settings.model), LeftOut()
    found = mails(paths, left_out, unwrap)
    first = next(found, None)  # a path that is not there is told before a model is made
    if first is None:
        raise NoInput("no message to learn from" + ("; none is attached" if unwrap else ""))
    learning.ensure_model(store, settings)
    number = learning.class_number(store, str(given[0]))
    learned = learning.learn(store, chain([first], found), number, fold=refit)
    report(learned, str(given[0]))
    return warn(left_out)


def mails(paths: tuple[str, ...], left_out: LeftOut, unwrap: bool) -> Iterator[Mail]:
    """All messages in the paths, or those attached to them."""
    from ..mailbox import Mail, messages, units
    from ..message import attached_messages

    for path in paths or ("-",):
        for unit in units(path, left_out):
            for mail in messages(unit, left_out):
                if not mail.raw.strip():
                    left_out.count("without a byte of mail")
                elif not unwrap:
                    yield mail
                for number, raw in enumerate(attached_messages(mail.raw) if unwrap else (), 1):
                    yield Mail(f"{mail.name}@{number}", raw)


def report(learned: Learned, label: str) -> None:
    """What became of the messages, on standard error: procmail and Sieve read nothing into it."""
    tell(f"learned {learned.new} as {label}, moved {learned.moved} from another class, knew {learned.unchanged}")
    if learned.damaged:
        tell(f"{learned.damaged} damaged records in the journal were passed over")
