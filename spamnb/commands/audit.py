"""spamnb audit"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..notices import warn
from .shared import format_option, model_option, paths_argument, settled

if TYPE_CHECKING:
    from ..mailbox import LeftOut


@click.command()
@paths_argument
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="How many messages to list.")
@format_option
@model_option
def audit(paths: tuple[str, ...], top: int, form: str, **options: Any) -> int:
    """List the learned messages that the others contradict most: the likely label errors.

    The model keeps no mail; with the mailboxes it learned from as PATHs, the messages are named where they lie.
    """
    from .. import auditing, report, training
    from ..mailbox import LeftOut
    from ..store import Store

    left_out = LeftOut()
    saved, _ = training.current(Store(settled(**options).model))
    names = digests_in(paths, left_out)
    doubts = auditing.audit(saved.corpus, saved.choice, top)
    if form == "jsonl":
        for doubt in doubts:
            click.echo(json.dumps({"path": names.get(doubt.digest), **vars(doubt)}))
    else:
        report.show_doubts(doubts, names)
    return warn(left_out)


def digests_in(paths: tuple[str, ...], left_out: LeftOut) -> dict[str, str]:
    """The names of all messages in some mailboxes, by their digests."""
    from ..mailbox import messages, units
    from ..message import digest

    return {
        digest(mail.raw): mail.name
        for path in paths
        for unit in units(path, left_out)
        for mail in messages(unit, left_out)
    }
