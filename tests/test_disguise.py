"""What hides a word from a filter does not hide it from this one, and is told."""

import pytest

from spamnb.disguise import plain_words, rejoined
from spamnb.tokens import text_tokens


@pytest.mark.parametrize(
    ("shown", "read", "mark"),
    [
        ("V\u200bi\u00ada\u2060gra", "viagra", "odd:invisible"),
        ("\u202efree\u202c", "free", "odd:invisible"),
        ("v\u0336i\u0336a\u0336g\u0336r\u0336a\u0336", "viagra", "odd:overlaid"),
        ("\U0001d5d9\U0001d5e5\U0001d5d8\U0001d5d8", "free", "odd:fancy"),
        ("\uff26\uff32\uff25\uff25", "free", "odd:fancy"),
        ("\u24d5\u24e1\u24d4\u24d4", "free", "odd:fancy"),
        ("Сhеар", "cheap", "odd:lookalike"),
        ("f.r.e.e", "free", "odd:split"),
        ("buy f r e e now", "free", "odd:split"),
        ("f*r-e_e", "free", "odd:split"),
    ],
)
def test_a_disguised_word_is_read_and_the_disguise_told(shown, read, mark):
    found = text_tokens(shown)
    assert read in found
    assert mark in found


@pytest.mark.parametrize(
    "text",
    [
        "naïve café",
        "nai\u0308ve cafe\u0301",
        "Grüße aus Köln",
        "Привет, мир",
        "こんにちは",
        "e.g. the U.S.A.",
        "1 2 3 4 5",
    ],
)
def test_honest_text_is_called_no_disguise(text):
    assert not [token for token in text_tokens(text) if token.startswith("odd:")]


def test_a_word_in_one_alphabet_keeps_it():
    assert plain_words(["сорок", "free"]) == ["сорок", "free"]


def test_only_four_letters_or_more_stand_apart():
    assert rejoined("u.s.a and a b c") == []


def test_an_accent_in_two_characters_is_the_same_letter():
    assert text_tokens("cafe\u0301") == text_tokens("café")
