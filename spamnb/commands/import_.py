"""spamnb import"""

from __future__ import annotations

from typing import Any

import click

from ..errors import NoInput
from ..notices import tell
from .shared import model_option, settled


@click.command("import")
@click.argument("path", default="-", metavar="[FILE]")
@model_option
def import_(path: str, **options: Any) -> None:
    """Take in an export of spamnb, or a word list as bogoutil -d prints it, from a file or standard input."""
    from .. import learning, upkeep
    from ..store import Store

    settings = settled(**options)
    store = Store(settings.model)
    try:
        with click.open_file(path, encoding="utf-8", errors="surrogateescape") as file:
            learning.ensure_model(store, settings)
            imported = upkeep.import_lines(store, file, path)
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}; name a file that you can read") from None
    tell(f"took in {imported.messages} messages and the totals of {imported.words} words")
