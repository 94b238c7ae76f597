"""spamnb expire"""

from __future__ import annotations

import re
import time
from typing import Any

import click

from ..errors import Usage
from ..notices import tell
from .shared import model_option, settled

DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


@click.command()
@click.option("--older-than", metavar="AGE", help="Messages learned longer ago than this: 90d, 8w, 6m or 2y.")
@click.option("--keep", type=click.IntRange(0), metavar="N", help="All but the N messages learned last.")
@model_option
def expire(older_than: str | None, keep: int | None, **options: Any) -> None:
    """Forget old messages, by the date they were learned."""
    from .. import upkeep
    from ..store import Store

    if older_than is None and keep is None:
        raise Usage("say what to forget: --older-than AGE or --keep N")
    before = None if older_than is None else int(time.time()) - 86_400 * days(older_than)
    gone = upkeep.expire(Store(settled(**options).model), before=before, most=keep)
    tell(f"forgot {gone} messages")


def days(age: str) -> int:
    """An age in days."""
    match = re.fullmatch(r"(\d{1,6})([dwmy])", age)
    if not match:
        raise Usage(f"--older-than: {age!r} must be a number and one of d, w, m, y, like 90d or 2y")
    return int(match[1]) * DAYS[match[2]]
