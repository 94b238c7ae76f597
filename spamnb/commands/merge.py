"""spamnb merge"""

from __future__ import annotations

from typing import Any

import click

from ..notices import tell
from .shared import model_option, settled


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="DIR...")
@model_option
def merge(models: tuple[str, ...], **options: Any) -> None:
    """Take the messages of other models into this one; of two lessons about a message the later holds."""
    from .. import learning, upkeep
    from ..store import Store

    settings = settled(**options)
    store = Store(settings.model)
    others = [Store(path) for path in models]
    for other in others:
        other.load()  # a model that is not there is told before anything is made
    learning.ensure_model(store, settings)
    tell(f"took in {upkeep.merge(store, others)} messages")
