"""How unlike two mails are, from their visible text itself: no tokens, no counts.

    compression   (C(xy) − min(C(x), C(y))) / max(C(x), C(y)),   C the length after zlib
    edit          Levenshtein(x, y) / max(|x|, |y|)

Both are near 0 for like texts and near 1 for unlike ones; two empty texts are at distance 0.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..message import parse

TEXT_DISTANCES = ("compression", "edit")
LONGEST = {
    "compression": 8000,  # bytes: two texts stay within zlib's window of 32 kB, and few mails are longer
    "edit": 256,  # bytes, for cost, which grows with the square: 8 µs a pair, 66 at 1,024; no length judged reliably
}
LEVEL = 6  # of zlib: 9 took half as long again for the same error; lzma and bz2 took three and six times as long
TEXTS_AT_ONCE = 256  # compared in one pass of edits(): numbers of 8 kB, which stay in a processor's nearest cache
EMPTY = len(zlib.compress(b"", LEVEL))  # what zlib spends on nothing
SEPARATOR = 256  # no byte


def mail_text(raw: bytes) -> bytes:
    """Subject and text of a mail as a reader sees them, with single spaces."""
    message = parse(raw)
    seen = " ".join([message.header("subject"), *message.texts])
    return " ".join(seen.split()).encode("utf-8", "replace")


def text_distances(queries: list[bytes], others: list[bytes], metric: str) -> NDArray[np.float64]:
    """queries × others, of the first LONGEST bytes of each."""
    if metric not in TEXT_DISTANCES:
        raise ValueError(f"no such distance between texts: {metric}")
    measure = compression_distances if metric == "compression" else edit_distances
    longest = LONGEST[metric]
    return measure([text[:longest] for text in queries], [text[:longest] for text in others])


def compression_distances(queries: list[bytes], others: list[bytes]) -> NDArray[np.float64]:
    """(C(xy) − min(C(x), C(y))) / max(C(x), C(y))."""
    left, right = ([compressed_size(text) for text in texts] for texts in (queries, others))
    found = np.empty((len(queries), len(others)))
    for row, query, alone in zip(found, queries, left, strict=True):
        row[:] = [compressed_size(query + other) for other in others]
        row -= np.minimum(alone, right)
        row /= np.maximum(np.maximum(alone, right), 1)
    return found


def compressed_size(text: bytes) -> int:
    """Bytes after zlib, without what it spends on an empty text."""
    return len(zlib.compress(text, LEVEL)) - EMPTY


def edit_distances(queries: list[bytes], others: list[bytes]) -> NDArray[np.float64]:
    """Levenshtein(x, y) / max(|x|, |y|)."""
    found = np.zeros((len(queries), len(others)))
    for start, end in pairwise([*range(0, len(others), TEXTS_AT_ONCE), len(others)]):
        texts = packed(others[start:end])
        for row, query in zip(found, queries, strict=True):
            row[start:end] = edits(query, texts)
    longer = np.maximum.outer([len(text) for text in queries], [len(text) for text in others])
    return found / np.maximum(longer, 1)


@dataclass(frozen=True)
class Packed:
    """Texts side by side in whole numbers with a bit for each byte, and a bit that stays 0 after each text."""

    where: dict[int, int]  # byte value: the bits where it stands
    inside: int  # the bits of all bytes
    first: int  # the first bit of each text that has one
    starts: NDArray[np.intp]
    size: int  # in bits


def packed(texts: list[bytes]) -> Packed:
    """Many texts as one, for edits()."""
    codes = np.full(sum(map(len, texts)) + len(texts), SEPARATOR, np.int16)
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])[:-1]
    inside = np.ones(len(codes), bool)
    inside[starts + [len(text) for text in texts]] = False
    codes[inside] = np.frombuffer(b"".join(texts), np.uint8)
    first = np.zeros(len(codes), bool)
    first[starts] = True
    where = {int(byte): as_number(codes == byte) for byte in np.unique(codes[inside])}
    return Packed(where, as_number(inside), as_number(first & inside), starts, len(codes))


def as_number(bits: NDArray[np.bool_]) -> int:
    """A whole number of these bits, the first one the lowest."""
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def edits(query: bytes, texts: Packed) -> NDArray[np.int64]:
    """Levenshtein distance of the query to each text, by the bit-parallel algorithm of Myers as Hyyrö states it.

    In the table D[i, j] of distances between the first i bytes of a text and the first j of the query, a column is kept
    as the bits where D[i, j] − D[i−1, j] is +1 (up) and −1 (down). A byte of the query costs some twenty operations
    on long whole numbers, for all texts at once: carries end at the 0 bit between texts. At the end
    D[m, n] = n + Σ up − Σ down.
    """
    inside, up, down = texts.inside, texts.inside, 0
    for byte in query:
        match = texts.where.get(byte, 0)
        diagonal = ((((match & up) + up) ^ up) | match | down) & inside  # D[i, j] = D[i−1, j−1]
        grows = down | (inside ^ (up | diagonal))  # D[i, j] − D[i, j−1] = +1; the first row grows with each byte
        right_up = (grows << 1) & inside | texts.first
        right_down = ((up & diagonal) << 1) & inside
        down = right_up & diagonal
        up = right_down | (inside ^ (right_up | diagonal))
    change = bits_of(up, texts.size) - bits_of(down, texts.size)
    return len(query) + np.add.reduceat(change, texts.starts)


def bits_of(number: int, size: int) -> NDArray[np.int64]:
    """The lowest bits of a number, the lowest first."""
    octets = np.frombuffer(number.to_bytes(size // 8 + 1, "little"), np.uint8)
    return np.unpackbits(octets, bitorder="little", count=size).astype(np.int64)
