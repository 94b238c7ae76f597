"""spamnb filter"""

from __future__ import annotations

import os
from typing import Any

import click

from ..headers import DIALECTS
from ..passing import pass_mail
from .shared import model_option


@click.command()
@click.option("--headers", type=click.Choice(DIALECTS), default=DIALECTS[0], show_default=True,
              help="Whose headers to write; X-Spamnb is always among them.")  # fmt: skip
@click.option("--evidence", is_flag=True, help="Add the strongest words and their weights.")
@click.option("--subject-tag", metavar="TEXT", help="Put TEXT in front of the subject of spam.")
@click.option("--threshold", metavar="C", help="Spam must be C times likelier than ham.")
@click.option("--learn", is_flag=True, help="Learn from messages whose class is beyond doubt.")
@click.option("--tempfail", is_flag=True, help="Exit with 75 when no verdict can be given, instead of 0.")
@model_option
def filter(tempfail: bool, **options: Any) -> int:
    """Pass a message from standard input to standard output with the verdict in its headers."""
    return pass_mail(lambda: options, os.environ, tempfail)
