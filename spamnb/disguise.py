"""Words that hide from a filter ─▶ the words a reader sees, and marks that say how they hid.

Imported when the first text comes that may hide some: a mail filter is started once per mail, and patterns take long
to compile.
"""

from __future__ import annotations

import re

from .scripts import beyond_ascii

# Soft hyphens, zero-width characters and marks of direction; strokes and dots laid over letters.
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
OVERLAID = re.compile("[\u0334-\u0338\u20d0-\u20f0]|[\u0300-\u036f]{2,}")
ACCENT = re.compile("[\u0300-\u036f]")
COMBINING = re.compile("[\u0300-\u036f\u20d0-\u20f0]")
# Full-width, mathematical and circled letters.
FANCY = re.compile("[\uff21-\uff3a\uff41-\uff5a\u24b6-\u24e9\U0001d400-\U0001d7ff\U0001f130-\U0001f189]")
ODD = re.compile("|".join(pattern.pattern for pattern in (INVISIBLE, COMBINING, FANCY)))
GREEK_OR_CYRILLIC = re.compile("[\u0370-\u052f]")
MIXED = re.compile("[a-z][\u0370-\u052f]|[\u0370-\u052f][a-z]")
SPLIT = re.compile(r"(?<!\w)[^\W\d_](?:[ .*_-][^\W\d_]){3,}(?!\w)")
SEPARATORS = str.maketrans("", "", " .*_-")
# Small letters of Cyrillic and Greek that look like Latin ones.
LOOKALIKES = str.maketrans("аеёорсухіїјѕԁһкмтвнгαβεικνορτυχωϲ", "aeeopcyxiijsdhkmtbhrabeiknoptuxwc")


def unmasked(text: str) -> tuple[str, list[str]]:
    """A text without what only a machine sees, in plain letters; and a mark for each trick found."""
    marks: list[str] = []
    if not ODD.search(beyond_ascii(text)):
        return text, marks
    if FANCY.search(text):
        from unicodedata import normalize

        text = normalize("NFKC", text)
        marks.append("odd:fancy")
    text, times = INVISIBLE.subn("", text)
    if times:
        marks.append("odd:invisible")
    if COMBINING.search(text):
        text, times = OVERLAID.subn("", text)
        if times:
            marks.append("odd:overlaid")
    if ACCENT.search(text):  # an honest letter in two characters
        from unicodedata import normalize

        text = normalize("NFC", text)
    return text, marks


def is_mixed(lower: str) -> bool:
    """Whether letters of two alphabets stand side by side."""
    return bool(GREEK_OR_CYRILLIC.search(beyond_ascii(lower)) and MIXED.search(lower))


def plain_words(words: list[str]) -> list[str]:
    """Lower-case words, those that mix letters that look alike in one alphabet."""
    return [word.translate(LOOKALIKES) if not word.isascii() and MIXED.search(word) else word for word in words]


def rejoined(lower: str) -> list[str]:
    """Words whose letters stand apart: f.r.e.e, f r e e."""
    return [word.translate(SEPARATORS) for word in SPLIT.findall(lower)]
