"""The textbook's models as scorecards: each class's likelihood, one against the other, or each for itself.

score = log m_spam − log m_ham + log p(x | spam) − log p(x | ham)          of two classes
score_y = log m_y + log p(x | y)                                           of several, for each
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Literal

import numpy as np

from ..corpus import Corpus
from ..naive import NEVER, smoothing, threshold_offset
from ..scorecard import Column, Scorecard
from ..tokens import MEASURES
from . import generative
from .choice import Choice, default_alpha
from .gaussian import gaussian_parameters, log_quadratic, scaled
from .generative import ClassCounts, Likelihood, word_alphas
from .logistic import logistic_weights
from .multinomial import counted, fit_multinomial
from .smoothing import auto_alpha, empirical_alpha, empirical_alpha_beta

VARIANCE = "features"


def fit_words(corpus: Corpus, choice: Choice) -> Scorecard:
    """Multinomial, Bernoulli, categorical or Poisson words, and Gaussian measures beside them if asked for."""
    alpha = smoothing(alpha_of(corpus, choice), choice.estimate or "mean")
    binary = is_binary(choice)
    if corpus.is_ham_and_spam and choice.kind == "multinomial":
        card = fit_multinomial(corpus, alpha, binary, choice.prior)
    elif corpus.is_ham_and_spam:
        card = counted(corpus, choice.kind, alpha, binary)
        ham, spam = likelihoods(corpus, choice, alpha)
        card.columns = difference(ham, spam)
        card.prior = -threshold_offset(1.0, *card.messages)
    else:
        card = several(corpus, choice, alpha)
    return with_measures(card, corpus, choice) if choice.measures else card


def is_binary(choice: Choice) -> bool:
    """Whether the word totals count messages."""
    return choice.kind in ("corrected", "bernoulli", "logistic", "em") or choice.counts == "binary"


def alpha_of(corpus: Corpus, choice: Choice) -> float:
    """α: the user's number, the kind's own, or the one that the data asks for."""
    if not isinstance(choice.alpha, str):
        return default_alpha(choice)
    counts, labels, classes = corpus.counts, corpus.labels.astype(np.int8), len(corpus.classes)
    if choice.alpha == "auto":
        kind: Literal["multinomial", "bernoulli"] = "bernoulli" if choice.kind == "bernoulli" else "multinomial"
        return auto_alpha(counts, labels, classes, binary=is_binary(choice), kind=kind).alpha
    of_class = [counts_of(corpus, number) for number in range(classes)]
    if choice.kind == "bernoulli":
        present = np.array([found.reached[0] for found in of_class])
        return empirical_alpha_beta(present, np.array([found.messages for found in of_class]))
    return empirical_alpha(np.array([found.reached[0] if is_binary(choice) else found.totals for found in of_class]))


def counts_of(corpus: Corpus, number: int) -> ClassCounts:
    """The counts of one class, those that came without their messages among them."""
    found = generative.class_counts(corpus.counts[corpus.labels == number])
    if corpus.block is None:
        return found
    reached = found.reached.copy()
    reached[0] += corpus.block[number]
    messages = found.messages + corpus.block_messages[number]
    return ClassCounts(messages, found.totals + corpus.block[number], reached)


def likelihoods(corpus: Corpus, choice: Choice, alpha: float) -> list[Likelihood]:
    """log p(x | y) for each class."""
    of_class = [counts_of(corpus, number) for number in range(len(corpus.classes))]
    totals = [found.reached[0] if is_binary(choice) else found.totals for found in of_class]
    alphas = word_alphas(np.sum(totals, axis=0), alpha, choice.prior)
    models: dict[str, Callable[[int], Likelihood]] = {
        "multinomial": lambda y: generative.multinomial(totals[y], alphas),
        "bernoulli": lambda y: generative.bernoulli(of_class[y].reached[0], of_class[y].messages, alpha),
        "categorical": lambda y: generative.categorical(of_class[y].reached, of_class[y].messages, alpha),
        "poisson": lambda y: generative.poisson(totals[y], of_class[y].messages, alpha),
    }
    return [models[choice.kind](number) for number in range(len(corpus.classes))]


def difference(ham: Likelihood, spam: Likelihood) -> list[Column]:
    """log p(x | spam) − log p(x | ham), a column a level."""
    columns = [
        Column("words" if level == 1 else f"words {level} times", here - there, binary=spam.binary, least=level)
        for level, (here, there) in enumerate(zip(spam.weights, ham.weights, strict=True), 1)
    ]
    columns[0].bias = spam.bias - ham.bias
    return columns


def several(corpus: Corpus, choice: Choice, alpha: float) -> Scorecard:
    """Columns for each class of its own; a class without a message never wins."""
    card = Scorecard(
        kind=choice.kind,
        alpha=alpha,
        binary=is_binary(choice),
        prior=0.0,
        messages=corpus.messages,
        totals=tuple(float(corpus.counts[corpus.labels == y].sum()) for y in range(len(corpus.classes))),
        words=len(corpus.ids),
        columns=[],
        tables={"ids": corpus.ids},
        classes=corpus.classes,
        teachable=False,
    )
    for number, likelihood in enumerate(likelihoods(corpus, choice, alpha) if any(corpus.messages) else ()):
        for level, weights in enumerate(likelihood.weights, 1):
            binary = likelihood.binary or choice.counts == "binary"
            card.columns.append(Column(corpus.classes[number], weights, binary=binary, least=level, of=number))
        messages = corpus.messages[number]
        card.columns[-len(likelihood.weights)].bias = likelihood.bias + (log(messages) if messages else NEVER)
    return card


def with_measures(card: Scorecard, corpus: Corpus, choice: Choice) -> Scorecard:
    """With log N(m; spam) − log N(m; ham) for every measure."""
    parameters = gaussian_parameters(
        scaled(corpus.measures),
        corpus.labels.astype(np.int8),
        len(corpus.classes),
        choice.variance or VARIANCE,
        unbiased=choice.estimate != "mle",
    )
    for name, means, variances in zip(MEASURES, parameters[0].T, parameters[1].T, strict=True):
        card.about[f"measure {name}"] = (
            f"mean {means[0]:.3g} in ham, {means[1]:.3g} in spam; variance {variances[0]:.3g}, {variances[1]:.3g}"
        )
    ham, spam = log_quadratic(*parameters)
    card.quadratic = tuple((float(a), float(b), float(c)) for a, b, c in spam - ham)
    return card


def fit_gaussian(corpus: Corpus, choice: Choice) -> Scorecard:
    """Measures alone."""
    card = counted(corpus, "gaussian", 0.0, binary=False)
    card.prior = -threshold_offset(1.0, *corpus.messages)
    return with_measures(card, corpus, choice)


def fit_logistic_kind(corpus: Corpus, choice: Choice) -> Scorecard:
    """Logistic regression on the presence of words, rows of unit length."""
    card = counted(corpus, "logistic", 0.0, binary=True)
    weights, card.prior = logistic_weights(corpus.counts, corpus.labels)
    card.columns.append(Column("words", weights, exponent=0.5, binary=True, intercept=card.prior))
    return card
