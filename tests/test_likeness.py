"""Likeness of texts: Levenshtein as the plain dynamic programme has it, compression that knows a copy."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.models import likeness
from spamnb.models.likeness import LONGEST, TEXT_DISTANCES, edits, mail_text, packed, text_distances

TEXTS = st.one_of(st.binary(max_size=80), st.text("ab", max_size=80).map(str.encode))
EVERY_DISTANCE = pytest.mark.parametrize("metric", TEXT_DISTANCES)


def levenshtein(left: bytes, right: bytes) -> int:
    """Row by row, as the definition has it."""
    above = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
        above = row
    return above[-1]


def distance(left: bytes, right: bytes) -> int:
    return int(edits(left, packed([right]))[0])


def words(count, seed):
    chance = random.Random(seed)
    return " ".join("".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(count)).encode()


# Edit distance


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (b"kitten", b"sitting", 3),
        (b"flaw", b"lawn", 2),
        (b"", b"abc", 3),
        (b"abc", b"", 3),
        (b"", b"", 0),
        (b"\0\xff", b"\xff\0", 2),
    ],
)
def test_edits_by_hand(left, right, expected):
    assert distance(left, right) == expected


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=5))
def test_edits_are_those_of_the_dynamic_programme_for_all_texts_at_once(query, texts):
    assert edits(query, packed(texts)).tolist() == [levenshtein(query, text) for text in texts]


@given(TEXTS, TEXTS, TEXTS)
def test_edits_are_a_metric(a, b, c):
    assert distance(a, b) == distance(b, a)
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, c) <= distance(a, b) + distance(b, c)


def test_long_texts_are_compared_exactly():
    a, b = words(200, seed=1)[:520], words(200, seed=2)[:600]
    assert edits(a, packed([b, a, b[:513]])).tolist() == [levenshtein(a, b), 0, levenshtein(a, b[:513])]


def test_the_distance_is_a_share_of_the_longer_text():
    found = text_distances([b"kitten", b""], [b"sitting", b"", b"kitten"], "edit")
    assert found == pytest.approx(np.array([[3 / 7, 1, 0], [1, 0, 1]]))


def test_texts_are_compared_in_parts_with_the_same_result(monkeypatch):
    texts = [words(5, seed) for seed in range(9)]
    whole = text_distances(texts, texts, "edit")
    monkeypatch.setattr(likeness, "TEXTS_AT_ONCE", 4)
    assert np.array_equal(text_distances(texts, texts, "edit"), whole)


# Compression distance


def test_compression_by_the_formula():
    x, y = words(200, seed=1), words(150, seed=2)
    size = likeness.compressed_size
    expected = (size(x + y) - min(size(x), size(y))) / max(size(x), size(y))
    assert text_distances([x], [y], "compression") == pytest.approx(np.array([[expected]]))
    assert expected > 0.8


def test_a_text_with_a_changed_line_is_nearer_than_a_stranger():
    x = words(200, seed=1)
    found = text_distances([x], [words(200, seed=2), x[:500] + words(10, seed=3) + x[500:]], "compression")[0]
    assert found[1] < 0.3 < 0.8 < found[0]


# Both


@EVERY_DISTANCE
def test_a_copy_is_the_nearest(metric):
    texts = [words(100 + 10 * seed, seed) for seed in range(12)]
    found = text_distances(texts, texts, metric)
    assert np.array_equal(found.argmin(axis=1), np.arange(12))
    assert found.diagonal().max() < 0.15


@EVERY_DISTANCE
def test_only_the_beginning_of_a_text_counts(metric):
    start = words(3000, seed=1)[: LONGEST[metric]]
    assert len(start) == LONGEST[metric]
    alike = text_distances([start], [start, start + words(50, seed=2)], metric)[0]
    assert alike[0] == alike[1]


@EVERY_DISTANCE
def test_no_texts_and_empty_texts(metric):
    assert text_distances([], [b"a"], metric).shape == (0, 1)
    assert text_distances([b"a"], [], metric).shape == (1, 0)
    assert text_distances([b""], [b"", b"one two three"], metric).tolist() == [[0, 1]]


def test_what_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="hamming"):
        text_distances([b"a"], [b"a"], "hamming")


def test_the_text_of_a_mail_is_what_a_reader_sees():
    headers = b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nX-Mailer: unseen\nContent-Type: text/html\n"
    assert mail_text(headers + b"\n<p>from \n <b>Ulm</b></p>\n").decode() == "Grüße from Ulm"
    assert mail_text(b"") == b""
