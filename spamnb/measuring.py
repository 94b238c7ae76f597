"""Measures as the Gaussian model sees them.

Sizes and counts have long tails: most mail has a few links, some has hundreds. Their logarithm is nearer to a bell:

    log (1 + m)    size, words, links, images, parts, recipients
    m              shares of capitals and digits (percent); the hour of the Date header, −1 where there is none
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p

from .tokens import MEASURES

LONG_TAILED = frozenset(("size", "words", "links", "images", "parts", "recipients"))


def scaled_measures(measures: Sequence[float]) -> list[float]:
    """One message's measures, in the order of MEASURES, as the model sees them."""
    return [
        log1p(value) if name in LONG_TAILED else float(value) for name, value in zip(MEASURES, measures, strict=True)
    ]
