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
from .scorecard import Scorecard

RARE = 3  # messages; a word in fewer tells of its message, not of its class


@dataclass(frozen=True)
class WordFacts:
    """A word, how many messages of each class have it, and its weight in a message of one word."""

    token: str
    ham: int
    spam: int
    weight: float


@dataclass(frozen=True)
class Overview:
    """A model in numbers."""

    settings: list[tuple[str, str]]
    spam_words: list[WordFacts]
    ham_words: list[WordFacts]


def overview(saved: Saved, card: Scorecard, words: int) -> Overview:
    """Settings and the strongest words that are not rare."""
    corpus = saved.with_senders()
    ham, spam = corpus.messages_counted
    ends: Any = np.sort(corpus.dates)[[0, -1]] if len(corpus.dates) else []
    dates = [datetime.fromtimestamp(int(date), UTC).date().isoformat() for date in ends]
    settings = [
        ("kind", card.kind),
        ("messages", f"{ham:,} ham, {spam:,} spam"),
        ("learned", " to ".join(dict.fromkeys(dates)) or "never"),
        ("words", f"{len(saved.corpus.tokens):,}"),
        ("senders of ham known", f"{int((np.asarray(card.tables['sender_ham']) > 0).sum()):,}"),
        ("contacts", f"{len(card.tables['contacts']):,}"),
        ("alpha", f"{card.alpha:g}"),
        ("counts", "binary" if card.binary else "raw"),
        ("spam above", f"score {log(card.c):.3f} (c = {card.c:.4g}, probability {card.c / (1 + card.c):.4f})"),
        ("ham up to", f"score {card.ham_cutoff:.3f}"),
    ]
    frequent = np.flatnonzero(np.bincount(corpus.counts.indices, minlength=len(corpus.tokens)) >= RARE)
    weights = word_weights(card, corpus.ids[frequent])
    order = np.argsort(weights, kind="stable")
    spammy = [int(frequent[place]) for place in order[::-1][:words] if weights[place] > 0]
    hammy = [int(frequent[place]) for place in order[:words] if weights[place] < 0]
    return Overview(settings, facts(corpus, card, spammy), facts(corpus, card, hammy))


def facts(corpus: Corpus, card: Scorecard, columns: Sequence[int]) -> list[WordFacts]:
    """What is known of the words in these columns."""
    if not columns:
        return []
    chosen = corpus.counts[:, list(columns)]
    in_spam = np.bincount(chosen[corpus.labels].indices, minlength=len(columns))
    in_all = np.bincount(chosen.indices, minlength=len(columns))
    if corpus.block is not None:
        block = corpus.block[:, list(columns)]
        in_spam, in_all = in_spam + block[1], in_all + block.sum(axis=0)
    weights = word_weights(card, corpus.ids[list(columns)])
    return [
        WordFacts(corpus.tokens[column], int(everywhere - spam), int(spam), float(weight))
        for column, everywhere, spam, weight in zip(columns, in_all, in_spam, weights, strict=True)
    ]


def facts_of(corpus: Corpus, card: Scorecard, tokens: Iterable[str]) -> list[WordFacts]:
    """What is known of these tokens; those that the dictionary lacks have been in no message."""
    wanted = list(tokens)
    column = {token: number for number, token in enumerate(corpus.tokens)}
    known = [token for token in wanted if token in column]
    found = {fact.token: fact for fact in facts(corpus, card, [column[token] for token in known])}
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


def word_weights(card: Scorecard, ids: NDArray[np.uint64]) -> NDArray[np.float64]:
    """What each word would add to the score of a message of that word alone."""
    rows = [card.row(int(number)) for number in ids]
    return np.array([card.contributions({row: 1})[1][row] if row >= 0 else 0.0 for row in rows])
