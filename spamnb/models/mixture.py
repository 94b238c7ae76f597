"""Mixture of multinomials, fitted by expectation and maximisation where labels are missing.

    E    r_iy = p_y Π_j θ_yj^x_ij / Σ_z p_z Π_j θ_zj^x_ij          a labelled message stays what its label says
    M    p_y  = Σ_i w_i r_iy / Σ_i w_i
         θ_yj = (Σ_i w_i r_iy x_ij + α) / (Σ_k Σ_i w_i r_iy x_ik + α V)      the mode under a Dirichlet(α + 1)

What never falls from step to step is the logarithm of the posterior, up to a constant, messages weighed by w:

    Σ_labelled w_i Σ_y r_iy log (p_y Π_j θ_yj^x_ij) + Σ_others w_i log Σ_y p_y Π_j θ_yj^x_ij + α Σ_yj log θ_yj

Without any label the classes are groups that EM finds by itself; k-means is its cousin, all responsibilities 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

from .logistic import unit_rows

# Chosen together, by the error with 50 labelled messages and 2,000 others, which is flat around them (bench/em.py).
LENGTH = 20.0  # words' worth of evidence in a message; all of its words would make every guess at its class a certainty
ALPHA = 0.001
UNLABELLED_WEIGHT = 0.1  # of a message beside a labelled one
FEWEST_MESSAGES = 2  # that a word must stand in; one seen once says nothing of other messages
MOST_STEPS = 50
TOLERANCE = 1e-6  # of the objective; a step that gains less is the last
GROUP_ALPHA = 0.1  # without labels; 0.01: two groups tell ham from spam less well; 0.15: two groups of ten stay empty
RESTARTS = 4
LEAST_SHARE = 1e-300  # of a class that no message belongs to, so that its logarithm is a number

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]  # told how much of how much is done


@dataclass(frozen=True)
class Mixture:
    """The classes' shares and words, whose message is whose, and how the objective rose."""

    log_priors: Floats  # classes
    log_words: Floats  # classes × words
    responsibilities: Floats  # messages × classes, by these parameters
    log_likelihoods: list[float]  # the objective, one per step


def fit_mixture(
    counts: sparse.csr_matrix,
    start: Floats,
    fixed: NDArray[np.bool_],
    weight: Floats,
    alpha: float,
    most_steps: int = MOST_STEPS,
    tolerance: float = TOLERANCE,
) -> Mixture:
    """Maximise and expect in turn; the responsibilities of fixed rows never change."""
    responsibilities, free = np.array(start, np.float64), ~fixed
    objective: list[float] = []
    while True:
        weighted = responsibilities * weight[:, None]
        log_priors, log_words = maximised(counts, weighted, alpha)
        joint = counts @ log_words.T + log_priors
        total = logsumexp(joint[free], axis=1) if free.any() else np.empty(0)
        known = float((weighted[fixed] * joint[fixed]).sum())
        objective.append(known + float(weight[free] @ total) + alpha * float(log_words.sum()))
        responsibilities[free] = np.exp(joint[free] - total[:, None])
        gained = objective[-1] - objective[-2] if len(objective) > 1 else np.inf
        if len(objective) >= most_steps or gained <= tolerance * abs(objective[-1]) or not free.any():
            return Mixture(log_priors, log_words, responsibilities, objective)


def maximised(counts: sparse.csr_matrix, weighted: Floats, alpha: float) -> tuple[Floats, Floats]:
    """log p_y and log θ_yj, the likeliest for these (weighted) responsibilities."""
    messages = weighted.sum(axis=0)
    words = (counts.T @ weighted).T + alpha
    priors = np.maximum(messages / messages.sum(), LEAST_SHARE)
    return np.log(priors), np.log(words) - np.log(words.sum(axis=1, keepdims=True))


def posterior(counts: sparse.csr_matrix, log_priors: Floats, log_words: Floats) -> Floats:
    """r_iy of messages by known parameters: the E step."""
    joint = counts @ log_words.T + log_priors
    return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))


def semi_supervised(
    counts: sparse.csr_matrix,
    labels: NDArray[np.int8],
    classes: int,
    alpha: float = ALPHA,
    weight: float = UNLABELLED_WEIGHT,
    most_steps: int = MOST_STEPS,
    tolerance: float = TOLERANCE,
) -> Mixture:
    """The mixture of labelled messages and others (label −1), which weigh `weight` each.

    It starts from what the labelled alone say of the others, by words that the labelled have: a word that neither class
    has shown would speak for the class with less text.
    """
    fixed = labels >= 0
    start = np.zeros((len(labels), classes))
    start[fixed, labels[fixed]] = 1.0
    taught = counts[fixed]
    seen = np.flatnonzero(np.bincount(taught.indices, minlength=counts.shape[1]))
    if not fixed.all():
        start[~fixed] = posterior(counts[~fixed][:, seen], *maximised(taught[:, seen], start[fixed], alpha))
    return fit_mixture(counts, start, fixed, np.where(fixed, 1.0, weight), alpha, most_steps, tolerance)


def repeated(counts: sparse.csr_matrix, fewest: int = FEWEST_MESSAGES) -> NDArray[np.intp]:
    """The columns of words that stand in several messages."""
    return np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= fewest)


def evened(counts: sparse.csr_matrix, length: float = LENGTH) -> sparse.csr_matrix:
    """Presence of each word, the same sum for every message: `length` words' worth of evidence, however long it is."""
    words = np.diff(counts.indptr)
    values = np.repeat(length / np.maximum(words, 1), words)
    return sparse.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)


def cluster(
    counts: sparse.csr_matrix,
    groups: int,
    method: str = "em",
    seed: int = 0,
    restarts: int = RESTARTS,
    progress: Progress = lambda done, total: None,
) -> tuple[NDArray[np.intp], Mixture | Floats, list[float]]:
    """A group for each message, the mixture or the centres that it is by, and the objective per step.

    The best of several starts. EM starts from what k-means found; from chance it ends in far worse groups.
    """
    rows, even = unit_rows(counts), evened(counts)
    found: list[tuple[NDArray[np.intp], Mixture | Floats, list[float]]] = []
    for number in range(restarts):
        assignment, centres, steps = k_means(rows, groups, seed * restarts + number)
        found.append(mixed(even, assignment, groups) if method == "em" else (assignment, centres, steps))
        progress(number + 1, restarts)
    return (max if method == "em" else min)(found, key=lambda one: one[2][-1])


def mixed(
    even: sparse.csr_matrix, start: NDArray[np.intp], groups: int
) -> tuple[NDArray[np.intp], Mixture, list[float]]:
    """The groups of a mixture that starts from other groups; all rows are free and weigh the same."""
    free = np.zeros(len(start), bool)
    mixture = fit_mixture(even, np.eye(groups)[start], free, np.ones(len(start)), GROUP_ALPHA)
    return mixture.responsibilities.argmax(axis=1), mixture, mixture.log_likelihoods


def k_means(
    rows: sparse.csr_matrix, groups: int, seed: int, most_steps: int = MOST_STEPS
) -> tuple[NDArray[np.intp], Floats, list[float]]:
    """Each message to the nearest centre, each centre to the mean of its messages, until none moves.

    The assignment, the centres, and Σ_i |x_i − its centre|² at each step, which never rises.
    """
    centres = spread_out(rows, groups, np.random.default_rng(seed))
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    objective: list[float] = []
    while True:
        distances = squares[:, None] - 2.0 * (rows @ centres.T) + (centres**2).sum(axis=1)
        assignment = distances.argmin(axis=1)
        nearest = np.maximum(distances[np.arange(len(squares)), assignment], 0.0)
        objective.append(float(nearest.sum()))
        settled = len(objective) > 1 and objective[-1] >= objective[-2] * (1.0 - TOLERANCE)
        if settled or len(objective) >= most_steps:
            return assignment, centres, objective
        centres = means_of(rows, assignment, groups, nearest)


def means_of(rows: sparse.csr_matrix, assignment: NDArray[np.intp], groups: int, nearest: Floats) -> Floats:
    """Each group's mean; a group that lost its messages starts anew at one of those farthest from their centres."""
    sizes = np.bincount(assignment, minlength=groups)
    centres = (rows.T @ np.eye(groups)[assignment]).T / np.maximum(sizes, 1)[:, None]
    empty = np.flatnonzero(sizes == 0)
    centres[empty] = rows[np.argsort(-nearest, kind="stable")[: len(empty)]].toarray()
    return np.asarray(centres)


def spread_out(rows: sparse.csr_matrix, groups: int, random: np.random.Generator) -> Floats:
    """Messages to start from, each drawn with a chance in proportion to its squared distance from those before."""
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    chosen: list[int] = []
    nearest = np.ones(len(squares))
    for _ in range(groups):
        chance = nearest if nearest.sum() > 0.0 else np.ones(len(squares))
        chosen.append(int(random.choice(len(squares), p=chance / chance.sum())))
        to_it = squares + squares[chosen[-1]] - 2.0 * (rows @ rows[chosen[-1]].T).toarray().ravel()
        nearest = np.maximum(np.minimum(nearest, to_it) if len(chosen) > 1 else to_it, 0.0)
    return np.asarray(rows[chosen].toarray())


def group_words(
    counts: sparse.csr_matrix, assignment: NDArray[np.intp], tokens: Sequence[str], top: int
) -> list[list[str]]:
    """Each group's most telling words: the highest p(word | group) (log p(word | group) − log p(word | rest)).

    p is the share of messages that have the word, smoothed. The ratio alone would name what stands in few messages.
    """
    groups = int(assignment.max()) + 1
    members = np.eye(groups)[assignment]
    sizes, columns = members.sum(axis=0)[:, None], repeated(counts)
    having = (counts[:, columns].sign().T @ members).T  # groups × words: messages that have the word
    inside = (having + 1.0) / (sizes + 2.0)
    outside = (having.sum(axis=0) - having + 1.0) / (len(assignment) - sizes + 2.0)
    score = inside * np.log(inside / outside)
    best = np.argsort(-score, axis=1, kind="stable")[:, :top]
    return [[tokens[columns[c]] for c in row if values[c] > 0.0] for row, values in zip(best, score, strict=True)]
