"""The formulas of naive Bayes, for numbers and for arrays of them alike.

    p_yj = (n_yj + α) / (n_y + α V)      how often word j stands in class y, smoothed, over a dictionary of V words
    t    = −b + Σ_j x_j (log p_spam,j − log p_ham,j),    b = log c + log m_ham − log m_spam
    spam iff t > 0

log p_spam,j − log p_ham,j is a word's own evidence plus an offset that all words share, so that a lesson changes the
weights of its own words alone.

Without smoothing (α = 0) a word that a class has never shown makes the class impossible. log 0 then stands as NEVER, so
that such words outweigh all others and are weighed against each other: the limit of α towards 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INFORMATIVE = 0.46  # how far from ½ the spam share of a word must be for the corrected model to hear it (decisions/003)
SHRINK = 0.01  # messages' worth of doubt in that share
NEVER = -1e6  # log 0


def log_or_never(number: float) -> float:
    """log, and NEVER for 0."""
    return log(number) if number else NEVER


def smoothing(alpha: float, estimate: str) -> float:
    """What an estimate adds to every count, under a Dirichlet or Beta prior of α for every value.

    mean   (n + α) / (N + α V)                    of the posterior
    map    (n + α − 1) / (N + (α − 1) V)          its mode, for α ≥ 1
    mle    n / N                                  maximum likelihood
    """
    return {"mean": alpha, "map": alpha - 1.0, "mle": 0.0}[estimate]


def evidence(ham: Any, spam: Any, alpha: Any, log: Callable[[Any], Any] = log_or_never) -> Any:
    """log (n_spam,j + α) − log (n_ham,j + α)."""
    return log(spam + alpha) - log(ham + alpha)


def shared_offset(ham_total: float, spam_total: float, words: int, alpha: float) -> float:
    """log (n_ham + α V) − log (n_spam + α V)."""
    return log_or_never(ham_total + alpha * words) - log_or_never(spam_total + alpha * words)


def threshold_offset(c: float, ham_messages: int, spam_messages: int) -> float:
    """Evidence a message must exceed to be called spam: log c + log m_ham − log m_spam."""
    return log(c) + log(ham_messages) - log(spam_messages)


def informative(ham: Any, spam: Any, ham_messages: int, spam_messages: int) -> Any:
    """Whether a word's share of spam is clearly off one half."""
    ham_rate, spam_rate, seen = ham / ham_messages, spam / spam_messages, ham + spam
    share = (SHRINK / 2 + seen * spam_rate / (ham_rate + spam_rate)) / (SHRINK + seen)
    return abs(share - 0.5) > INFORMATIVE
