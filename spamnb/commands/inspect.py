"""spamnb inspect"""

from __future__ import annotations

import json
from typing import Any

import click

from .shared import format_option, model_option, settled


@click.command()
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--top", type=click.IntRange(1), default=15, show_default=True, help="How many strongest words to show.")
@format_option
@model_option
def inspect(words: tuple[str, ...], top: int, form: str, **options: Any) -> None:
    """Show what the model holds, or what it knows of these words."""
    from .. import inspection, report, training
    from ..store import Store

    store = Store(settled(**options).model)
    (saved, _), card = training.current(store), store.scorecard()
    if words:
        corpus = saved.with_senders()
        facts = inspection.facts_of(corpus, card, inspection.tokens_like(corpus, words))
        if form == "jsonl":
            for fact in facts:
                click.echo(json.dumps(vars(fact)))
        else:
            report.show_words(facts)
        return
    found = inspection.overview(saved, card, top)
    if form == "jsonl":
        strongest = {f"{name}_words": [vars(word) for word in words] for name, words in found.words.items()}
        click.echo(json.dumps({**dict(found.settings), **strongest}))
    else:
        report.show_overview(found)
