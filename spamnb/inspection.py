"""What a model holds: its messages, words, strongest words, settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .archive import Saved
from .corpus import Corpus
from .models.choice import ALPHAS, Choice, asked_for
from .scorecard import Scorecard

RARE = 3  # messages; a word in fewer tells of its message, not of its class


@dataclass(frozen=True)
class WordFacts:
    """A word, how many messages have it, and its weight in a message of one word.

    Where the user has named classes, `spam` counts a class's messages and `ham` those of all others.
    """

    token: str
    ham: int
    spam: int
    weight: float


@dataclass(frozen=True)
class Overview:
    """A model in numbers."""

    settings: list[tuple[str, str]]
    words: dict[str, list[WordFacts]]  # class ─▶ its strongest


def overview(saved: Saved, card: Scorecard, words: int) -> Overview:
    """Settings and each class's strongest words that are not rare."""
    corpus = saved.with_senders()
    messages = zip(corpus.messages_counted, corpus.classes, strict=True)
    ends: Any = np.sort(corpus.dates)[[0, -1]] if len(corpus.dates) else []
    dates = [datetime.fromtimestamp(int(date), UTC).date().isoformat() for date in ends]
    settings = [
        ("kind", card.kind),
        ("messages", ", ".join(f"{count:,} {name}" for count, name in messages)),
        ("learned", " to ".join(dict.fromkeys(dates)) or "never"),
        ("words", f"{len(saved.corpus.tokens):,}"),
        *chosen_settings(saved.choice, card),
    ]
    if corpus.is_ham_and_spam:
        settings += [
            ("senders of ham known", f"{int((np.asarray(card.tables['sender_ham']) > 0).sum()):,}"),
            ("contacts", f"{len(card.tables['contacts']):,}"),
            ("spam above", f"score {log(card.c):.3f} (c = {card.c:.4g}, probability {card.c / (1 + card.c):.4f})"),
            ("ham up to", f"score {card.ham_cutoff:.3f}"),
        ]
    frequent = np.flatnonzero(np.bincount(corpus.counts.indices, minlength=len(corpus.tokens)) >= RARE)
    found = {}
    for number, name in reversed(list(enumerate(corpus.classes))):
        weights = word_weights(card, corpus.ids[frequent], number)
        order = np.argsort(-weights, kind="stable")
        strongest = [int(frequent[place]) for place in order[:words] if weights[place] > 0]
        found[name] = facts(corpus, card, strongest, 1 if corpus.is_ham_and_spam else number)
    return Overview(settings, found)


def chosen_settings(choice: Choice, card: Scorecard) -> list[tuple[str, str]]:
    """What the user chose, and what the model chose for itself."""
    how = choice.alpha if isinstance(choice.alpha, str) else choice.estimate
    alpha = [("alpha", f"{card.alpha:g}" + (f" ({how})" if how else ""))] if choice.kind in ALPHAS else []
    counts = [("counts", "binary" if card.binary else "raw")]
    names = [name for name in asked_for(choice) if name not in ("alpha", "counts", "unlabelled")]
    asked = [(name.replace("_", " "), str(getattr(choice, name))) for name in names if name not in card.about]
    if choice.select:
        asked.append(("words selected", f"{card.words:,}"))
    return (
        alpha + counts + asked + [(name, about_text(value)) for name, value in card.about.items() if value is not None]
    )


def about_text(value: Any) -> str:
    """A fact of a model's making; of a long row its ends."""
    if isinstance(value, list):
        return f"{value[0]:.1f} to {value[-1]:.1f} in {len(value)} steps" if value else "none"
    return str(value)


def facts(corpus: Corpus, card: Scorecard, columns: Sequence[int], of: int = 1) -> list[WordFacts]:
    """What is known of the words in these columns, and what they say for a class."""
    if not columns:
        return []
    chosen = corpus.counts[:, list(columns)]
    in_spam = np.bincount(chosen[corpus.labels == of].indices, minlength=len(columns))
    in_all = np.bincount(chosen.indices, minlength=len(columns))
    if corpus.block is not None:
        block = corpus.block[:, list(columns)]
        in_spam, in_all = in_spam + block[1], in_all + block.sum(axis=0)
    weights = word_weights(card, corpus.ids[list(columns)], of)
    return [
        WordFacts(corpus.tokens[column], int(everywhere - spam), int(spam), float(weight))
        for column, everywhere, spam, weight in zip(columns, in_all, in_spam, weights, strict=True)
    ]


def facts_of(corpus: Corpus, card: Scorecard, tokens: Iterable[str], of: int = 1) -> list[WordFacts]:
    """What is known of these tokens; those that the dictionary lacks have been in no message."""
    wanted = list(tokens)
    column = {token: number for number, token in enumerate(corpus.tokens)}
    known = [token for token in wanted if token in column]
    found = {fact.token: fact for fact in facts(corpus, card, [column[token] for token in known], of)}
    return [found.get(token) or WordFacts(token, 0, 0, 0.0) for token in wanted]


def tokens_like(corpus: Corpus, words: Sequence[str]) -> list[str]:
    """The tokens that are one of the words, wherever they stood; then the words that are in no message."""
    wanted = {word.lower() for word in words}
    like = [token for token in corpus.tokens if not wanted.isdisjoint((token.lower(), bare(token).lower()))]
    found = {part.lower() for token in like for part in (token, bare(token))}
    return sorted(like, key=lambda token: (bare(token), token)) + sorted(wanted - found)


def bare(token: str) -> str:
    """A token without the place where it stood."""
    return token.partition(":")[2] or token


def word_weights(card: Scorecard, ids: NDArray[np.uint64], of: int = 1) -> NDArray[np.float64]:
    """What each word alone in a message would add to the score of a class, less the mean of the others."""
    rows = [card.row(int(number)) for number in ids]
    others = [number for number in range(len(card.classes)) if number != of]
    return np.array([
        np.mean([card.contributions({row: 1}, of, other)[1][row] for other in others]) if row >= 0 else 0.0
        for row in rows
    ])  # fmt: skip
