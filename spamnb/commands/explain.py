"""spamnb explain"""

from __future__ import annotations

import json
from typing import Any

import click

from ..notices import printable, warn
from .shared import format_option, model_option, settled


@click.command()
@click.argument("path", default="-")
@click.option("--words", type=click.IntRange(1), default=20, show_default=True, help="How many words to show.")
@click.option("--threshold", metavar="C", help="Spam must be C times likelier than ham.")
@format_option
@model_option
def explain(path: str, words: int, form: str, **options: Any) -> int:
    """Show which words spoke for and against, and how much."""
    from .. import inspection, report, training
    from ..filtering import Judge
    from ..mailbox import LeftOut, messages, units
    from ..store import Store

    settings = settled(**options)
    store = Store(settings.model)
    judge = Judge(store.scorecard(), settings.threshold)
    corpus = training.current(store)[0].with_senders()
    left_out = LeftOut()
    for unit in units(path, left_out):
        for mail in messages(unit, left_out):
            verdict, fixed, clues = judge.explain(mail.raw)
            if form == "jsonl":
                shares = [{"word": clue.token, "count": clue.count, "adds": clue.weight} for clue in clues]
                line = {"path": mail.name, "label": verdict.label, "score": verdict.score, "every_message": fixed}
                click.echo(json.dumps({**line, "probability": verdict.probability, "clues": shares}))
            else:
                shown, more = clues[:words], clues[words:]
                facts = inspection.facts_of(corpus, judge.card, [clue.token for clue in shown])
                report.show_explanation(printable(mail.name), verdict, fixed, shown, facts, more)
    return warn(left_out)
