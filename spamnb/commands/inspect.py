"""spamnb inspect"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from .shared import format_option, model_option, settled

if TYPE_CHECKING:
    from ..corpus import Corpus
    from ..scorecard import Scorecard


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
        show_facts(corpus, card, words, form)
        return
    found = inspection.overview(saved, card, top)
    if form == "jsonl":
        strongest = {f"{name}_words": [vars(word) for word in words] for name, words in found.words.items()}
        click.echo(json.dumps({**dict(found.settings), **strongest}))
    else:
        report.show_overview(found)


def show_facts(corpus: Corpus, card: Scorecard, words: tuple[str, ...], form: str) -> None:
    """What is known of some words; where the user has named classes, in each of them."""
    from .. import inspection, report

    tokens = inspection.tokens_like(corpus, words)
    two = corpus.is_ham_and_spam
    for number, name in [(1, "spam")] if two else enumerate(corpus.classes):
        facts = inspection.facts_of(corpus, card, tokens, number)
        if form == "text":
            report.show_words(facts, "" if two else name, ("ham", "spam") if two else ("others", name))
            continue
        for fact in facts:
            of_class = {"token": fact.token, "class": name, "elsewhere": fact.ham, "in_class": fact.spam}
            click.echo(json.dumps(vars(fact) if two else {**of_class, "weight": fact.weight}))
