"""Words worth keeping: each word's presence against the classes, in a table of 2 × K numbers of messages.

present_k   messages of class k that have the word          n = Σ_k present_k
m_k         messages of class k                             M = Σ_k m_k
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import rel_entr

from ..selecting import Selection, parse_selection
from .smoothing import Labels, class_totals

__all__ = ["Selection", "chi2_scores", "document_frequencies", "information_scores", "parse_selection", "selected"]

SAME = 12  # decimals; words alike in evidence differ by rounding alone from the 16th on, and would lose their order


def document_frequencies(counts: sparse.csr_matrix, labels: Labels, classes: int) -> NDArray[np.int64]:
    """present_kj: how many messages of each class have each word, K × V."""
    return class_totals(counts, labels, classes, binary=True)


def chi2_scores(present: NDArray[Any], messages: NDArray[Any]) -> NDArray[np.float64]:
    """Σ (observed − expected)² / expected over a word's table = Σ_k (M present_k − m_k n)² / m_k  / (n (M − n)).

    A word that stands in every message or in none tells nothing: 0. A class without messages is passed over.
    """
    there, of_class = present[messages > 0].astype(np.float64), messages[messages > 0].astype(np.float64)[:, None]
    having, everyone = there.sum(axis=0), of_class.sum()
    apart = ((everyone * there - of_class * having) ** 2 / of_class).sum(axis=0)
    spread = having * (everyone - having)
    return np.asarray(np.divide(apart, spread, out=np.zeros(len(spread)), where=spread > 0))


def information_scores(present: NDArray[Any], messages: NDArray[Any]) -> NDArray[np.float64]:
    """Σ p(b, k) log (p(b, k) / (p(b) p(k))) over presence b and class k, in nats, with 0 log 0 = 0."""
    of_class = messages.astype(np.float64)[:, None]
    everyone = max(of_class.sum(), 1.0)
    information = np.zeros(present.shape[1])
    for there in (present, of_class - present):
        joint, having = there / everyone, there.sum(axis=0) / everyone
        information += rel_entr(joint, having * (of_class / everyone)).sum(axis=0)
    return np.maximum(information, 0.0)  # it cannot be below 0, but rounding can


def selected(counts: sparse.csr_matrix, labels: Labels, classes: int, selection: Selection) -> NDArray[np.intp]:
    """The columns to keep, ascending: the N of the highest score, of equals the first; or all in MIN messages."""
    present = document_frequencies(counts, labels, classes)
    if selection.method == "df":
        return np.flatnonzero(present.sum(axis=0) >= selection.number)
    score = {"chi2": chi2_scores, "information": information_scores}[selection.method]
    scores = score(present, np.bincount(labels, minlength=classes)).round(SAME)
    return np.sort(np.argsort(-scores, kind="stable")[: selection.number])
