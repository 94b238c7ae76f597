"""spamnb refit"""

from __future__ import annotations

from typing import Any

import click

from ..notices import tell
from .shared import model_option, settled


@click.command()
@model_option
def refit(**options: Any) -> None:
    """Fold the lessons learned since into the model and fit it anew."""
    from .. import training
    from ..store import Store

    store = Store(settled(**options).model)
    with store.locked(create=False):
        journal = training.refit(store)
    tell(f"folded {len(journal.lessons)} lessons in")
    if journal.damaged:
        tell(f"{journal.damaged} damaged records in the journal were passed over")
