"""spamnb forget"""

from __future__ import annotations

from typing import Any

import click

from ..errors import NoInput
from ..notices import tell, warn
from .learn import mails
from .shared import model_option, paths_argument, settled


@click.command()
@paths_argument
@click.option("--unwrap", is_flag=True, help="Take the messages attached to these, as forwarded.")
@model_option
def forget(paths: tuple[str, ...], unwrap: bool, **options: Any) -> int:
    """Undo the learning of messages; the model is what it would have been without them."""
    from .. import learning
    from ..mailbox import LeftOut
    from ..store import Store

    left_out = LeftOut()
    learned = learning.learn(Store(settled(**options).model), mails(paths, left_out, unwrap), None)
    if learned.unknown and not learned.forgotten:
        raise NoInput("never learned, so nothing to forget; 'spamnb inspect' shows what the model holds")
    tell(f"forgot {learned.forgotten}" + (f"; {learned.unknown} had never been learned" if learned.unknown else ""))
    return warn(left_out)
