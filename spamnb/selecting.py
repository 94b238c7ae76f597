"""Which words a model is to keep, as the user writes it: chi2:N, information:N or df:MIN."""

from __future__ import annotations

from dataclasses import dataclass

METHODS = ("chi2", "information", "df")
LONGEST_NUMBER = 18  # digits: fits 64 bits, and no dictionary has so many words


@dataclass(frozen=True)
class Selection:
    """A way to rank words and how many to keep, or, for df, how many messages a word must stand in."""

    method: str
    number: int

    def __str__(self) -> str:
        return f"{self.method}:{self.number}"


def parse_selection(text: str) -> Selection:
    """chi2:500 ─▶ Selection("chi2", 500)."""
    method, _, digits = text.partition(":")
    whole = digits.isascii() and digits.isdigit() and len(digits) <= LONGEST_NUMBER
    number = int(digits) if whole else 0
    if method not in METHODS or number < 1:
        raise ValueError("must be chi2:N, information:N or df:MIN, N a whole number from 1 on")
    return Selection(method, number)
