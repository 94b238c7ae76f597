"""The model of labelled and unlabelled mail together: a mixture of multinomials (mixture.py) as a scorecard."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..corpus import Corpus, columns_of, merged
from ..scorecard import Column, Scorecard
from .choice import Choice, default_alpha
from .mixture import LENGTH, UNLABELLED_WEIGHT, evened, repeated, semi_supervised
from .multinomial import counted
from .textbook import with_measures

UNKNOWN = -1  # stands for the class of unlabelled mail


def fit_em(corpus: Corpus, choice: Choice) -> Scorecard:
    """Words of both kinds of mail, as rows of one length; what the labels say is never doubted."""
    whole = with_unlabelled(corpus, choice)
    labelled = whole.labels != UNKNOWN
    words = repeated(whole.counts)
    alpha = default_alpha(choice)
    weight = UNLABELLED_WEIGHT if choice.unlabelled_weight is None else choice.unlabelled_weight
    mixture = semi_supervised(evened(columns_of(whole.counts, words)), whole.labels, 2, alpha, weight)
    known = replace(whole, counts=whole.counts[labelled], labels=whole.labels[labelled] == 1)
    card = counted(known, "em", alpha, binary=True)
    weights = np.full(len(whole.ids), np.nan)
    weights[words] = mixture.log_words[1] - mixture.log_words[0]
    card.columns.append(Column("words", weights, scale=LENGTH, exponent=1.0, binary=True))
    card.prior = float(mixture.log_priors[1] - mixture.log_priors[0])
    card.about = {"unlabelled": int((~labelled).sum()), "log likelihood": mixture.log_likelihoods}
    return with_measures(card, corpus, choice) if choice.measures else card


def with_unlabelled(corpus: Corpus, choice: Choice) -> Corpus:
    """All messages, those of unknown class labelled so; what has been learned since is not unknown any more."""
    known = replace(corpus, labels=corpus.labels.astype(np.int8), block=None, block_messages=(0, 0))
    if choice.unlabelled is None:
        return known
    others = choice.unlabelled.take(~np.isin(choice.unlabelled.digests, corpus.digests))
    return merged([known, replace(others, labels=np.full(len(others.labels), UNKNOWN, np.int8))])
