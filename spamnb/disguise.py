"""Words that hide from a filter ─▶ the words a reader sees, and marks that say how they hid."""

from __future__ import annotations

import re

from .charset import ASCII_BYTES

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
# Letters (those beyond Latin-1 are question marks) as a, separators as a full stop: shows what is worth a look.
SKELETON = bytes(
    97 if chr(byte).isalpha() or chr(byte) == "?" else 46 if chr(byte) in " .*_-" else 32 for byte in range(256)
)
SEPARATORS = str.maketrans("", "", " .*_-")
# Small letters of Cyrillic and Greek that look like Latin ones.
LOOKALIKES = str.maketrans("аеёорсухіїјѕԁһкмтвнгαβεικνορτυχωϲ", "aeeopcyxiijsdhkmtbhrabeiknoptuxwc")


def beyond_ascii(text: str) -> str:
    """The characters of a text that are not ASCII. Most texts have few, so that is where to look for the odd ones."""
    return text.encode("utf-8", "surrogatepass").translate(None, ASCII_BYTES).decode("utf-8", "surrogatepass")


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


def plain_words(words: list[str]) -> list[str]:
    """Lower-case words, those that mix letters that look alike in one alphabet."""
    return [word.translate(LOOKALIKES) if not word.isascii() and MIXED.search(word) else word for word in words]


def rejoined(lower: str) -> list[str]:
    """Words whose letters stand apart: f.r.e.e, f r e e."""
    if b"a.a.a.a" not in lower.encode("latin-1", "replace").translate(SKELETON):
        return []
    return [word.translate(SEPARATORS) for word in SPLIT.findall(lower)]
