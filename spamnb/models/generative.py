"""Naive Bayes likelihoods: how likely a class makes a message, word by word.

    log p(x | y) = bias_y + Σ_j x_j w_yj        multinomial, poisson
    log p(x | y) = bias_y + Σ_l Σ_{j: x_j ≥ l} w_ylj        bernoulli (l = 1), categorical (l = 1, 2, 3)

The bias is what a message without any word gets, where absent words count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..naive import NEVER, log_or_never

Numbers = NDArray[np.float64]
HIGHEST = 3  # the categorical model's last value: so many occurrences, or more


@dataclass(frozen=True)
class Likelihood:
    """log p(x | y): one weight a word and level."""

    bias: float
    weights: list[Numbers]  # of level 1, 2, …
    binary: bool  # a level is reached or not, else occurrences count


@dataclass(frozen=True)
class ClassCounts:
    """What a class is known by."""

    messages: int
    totals: Numbers  # n_yj: occurrences of each word
    reached: Numbers  # levels × words: messages that have the word at least 1, 2, … times


def class_counts(rows: sparse.csr_matrix) -> ClassCounts:
    """The counts of one class's messages."""
    words = rows.shape[1]
    reached = [np.bincount(rows.indices[rows.data >= level], minlength=words) for level in range(1, HIGHEST + 1)]
    totals = np.bincount(rows.indices, rows.data, minlength=words)
    return ClassCounts(rows.shape[0], totals.astype(float), np.array(reached, float))


def array_log(numbers: Any) -> Any:
    """log of each, and NEVER for 0."""
    return np.log(numbers, out=np.full(np.shape(numbers), NEVER), where=np.asarray(numbers) > 0)


def multinomial(totals: Numbers, alphas: Numbers) -> Likelihood:
    """w_yj = log (n_yj + α_j) / (n_y + Σ α): words are drawn one after the other."""
    whole = log_or_never(float(totals.sum() + alphas.sum()))
    return Likelihood(0.0, [array_log(totals + alphas) - whole], binary=False)


def bernoulli(present: Numbers, messages: int, alpha: float) -> Likelihood:
    """p_yj = (m_yj + α) / (m_y + 2 α): w_yj = log p_yj − log (1 − p_yj), bias Σ_j log (1 − p_yj)."""
    whole = log_or_never(messages + 2 * alpha)
    there = array_log(present + alpha) - whole
    absent = array_log(messages - present + alpha) - whole
    return Likelihood(float(absent.sum()), [there - absent], binary=True)


def categorical(reached: Numbers, messages: int, v: float) -> Likelihood:
    """p(x_j = l | y) = (messages of y with l occurrences + v) / (m_y + v · values); l = 0, 1, 2, and 3 for more.

    The bias is that of l = 0 in every word: Σ_j log (c_j0 + v) − d log (m_y + v · values), and a level adds its step.
    """
    bounds = np.vstack([np.full(reached.shape[1], float(messages)), reached, np.zeros(reached.shape[1])])
    values = bounds[:-1] - bounds[1:]
    logs = array_log(values + v) - log_or_never(messages + v * len(values))
    return Likelihood(float(logs[0].sum()), list(np.diff(logs, axis=0)), binary=True)


def poisson(totals: Numbers, messages: int, alpha: float) -> Likelihood:
    """x_j ~ Poisson(λ_yj), λ_yj = (n_yj + α) / (m_y + α): w_yj = log λ_yj, bias −Σ λ_yj.

    log x_j! is the same in every class. α is so many messages that have each word once. Nothing is the rate of a class
    without a message where α is 0.
    """
    rates = (totals + alpha) / ((messages + alpha) or 1.0)
    weights = array_log(totals + alpha) - log_or_never(messages + alpha)
    return Likelihood(-float(rates.sum()), [weights], binary=False)


def word_alphas(overall: Numbers, alpha: float, prior: str | None) -> Numbers:
    """α for every word: the same, or in proportion to how often it stands anywhere; both sum to α V."""
    if prior == "frequency":
        return np.asarray(alpha * len(overall) * overall / max(float(overall.sum()), 1.0))
    return np.full(len(overall), alpha)
