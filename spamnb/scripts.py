"""Texts beyond ASCII: words of any alphabet, writing without spaces. Imported when the first such text comes."""

from __future__ import annotations

import re
from operator import add

from .charset import ASCII_BYTES

WORD = re.compile(r"[$€£\w]\w*+(?:['’.@-]++\w++)*+[!%]?")
CJK = re.compile(r"([\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+)")


def beyond_ascii(text: str) -> str:
    """The characters of a text that are not ASCII. Most texts have few, so that is where to look for the odd ones."""
    return text.encode("utf-8", "surrogatepass").translate(None, ASCII_BYTES).decode("utf-8", "surrogatepass")


def unspaced(text: str) -> tuple[str, list[str]]:
    """A text without the letters that are written without spaces; and those, as pairs."""
    if not CJK.search(beyond_ascii(text)):
        return text, []
    pieces = CJK.split(text)
    pairs: list[str] = []
    for run in pieces[1::2]:
        pairs += map(add, run, run[1:]) if len(run) > 1 else [run]
    return " ".join(pieces[::2]), pairs
