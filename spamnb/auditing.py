"""Which learned messages the rest of the model contradicts: the likely label errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .corpus import Corpus
from .errors import BadData
from .models import Choice, held_out_probabilities

FOLDS = 10
SUBJECT, FROM = "subject:", "from:"


@dataclass(frozen=True)
class Doubt:
    """A message, what it was learned as, and how likely it is spam by the others."""

    digest: str
    label: str
    probability: float
    sender: str
    subject_words: list[str]  # in no order: the model keeps no sentences


def audit(corpus: Corpus, choice: Choice, most: int) -> list[Doubt]:
    """The messages whose class the others contradict, the surest first."""
    if not corpus.is_ham_and_spam:
        raise BadData("an audit is of ham and spam; this model has classes of your naming")
    folds = min(FOLDS, *corpus.messages)
    if folds < 2:
        raise BadData("an audit needs two messages of each class; learn more first")
    probability = held_out_probabilities(corpus, choice, folds)
    wrong = np.where(corpus.labels, 1.0 - probability, probability)
    rows = [row for row in np.argsort(-wrong, kind="stable")[:most] if wrong[row] > 0.5]
    return [doubt(corpus, int(row), float(probability[row])) for row in rows]


def doubt(corpus: Corpus, row: int, probability: float) -> Doubt:
    """What a reader can recognise a message by."""
    columns = corpus.counts.indices[corpus.counts.indptr[row] : corpus.counts.indptr[row + 1]]
    tokens = [corpus.tokens[column] for column in columns]
    addresses = [token for token in tokens if token.startswith(FROM) and "@" in token.removeprefix(FROM)[1:]]
    return Doubt(
        corpus.digests[row].decode(),
        "spam" if corpus.labels[row] else "ham",
        probability,
        max(addresses, key=len, default="").removeprefix(FROM),
        sorted(token.removeprefix(SUBJECT) for token in tokens if token.startswith(SUBJECT)),
    )
