"""spamnb explain"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..notices import printable, warn
from .shared import format_option, model_option, settled

if TYPE_CHECKING:
    from ..filtering import Clue
    from ..inspection import WordFacts
    from ..scorecard import Verdict


@click.command()
@click.argument("path", default="-")
@click.option("--words", type=click.IntRange(1), default=20, show_default=True, help="How many words to show as text.")
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
            sides = ("others", verdict.label) if judge.names_classes else ("ham", "spam")
            of = judge.card.classes.index(verdict.label) if verdict.of_classes else 1
            shown, more = (clues, []) if form == "jsonl" else (clues[:words], clues[words:])
            facts = inspection.facts_of(corpus, judge.card, [clue.token for clue in shown], of)
            if form == "jsonl":
                click.echo(json.dumps(as_json(mail.name, verdict, fixed, clues, facts, sides)))
            else:
                report.show_explanation(printable(mail.name), verdict, fixed, shown, facts, more, sides)
    return warn(left_out)


def as_json(
    name: str, verdict: Verdict, fixed: float, clues: Sequence[Clue], facts: Sequence[WordFacts], sides: tuple[str, str]
) -> dict[str, Any]:
    """All clues, with the messages that have them; every_message and what they add sum up to the score."""
    found = {"path": name, "label": verdict.label, "score": verdict.score, "probability": verdict.probability}
    if verdict.reason:
        found["reason"] = verdict.reason
    keys = sides if sides == ("ham", "spam") else ("elsewhere", "in_class")
    words = [
        {"word": clue.token, "count": clue.count, keys[0]: fact.ham, keys[1]: fact.spam, "adds": clue.weight}
        for clue, fact in zip(clues, facts, strict=True)
    ]
    return {**found, "every_message": fixed, "clues": words}
