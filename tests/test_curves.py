"""The numbers behind the pictures, by hand."""

import numpy as np
import pytest

from spamnb.curves import BINS, histogram, losses, reliability, roc
from spamnb.evaluation import Outcome


def outcome(ham, spam):
    labels = np.arange(len(ham) + len(spam)) >= len(ham)
    scores = np.array([*ham, *spam], float)
    return Outcome(labels, scores, scores > 0, np.zeros(len(labels), bool))


def test_a_roc_goes_from_all_ham_lost_to_all_spam_missed():
    lost, missed = roc(outcome([-2, -1, 1, 1], [0, 3]))
    assert lost.tolist() == [100, 75, 50, 50, 0, 0]  # above −∞, −2, −1, 0, 1, 3
    assert missed.tolist() == [0, 0, 0, 50, 50, 100]


def test_losses_are_what_scores_above_the_cutoff_and_what_does_not():
    lost, missed = losses(outcome([-2, 2], [1, 2]), np.array([0.0, 1.0, 2.0]))
    assert lost.tolist() == [50, 50, 0]
    assert missed.tolist() == [0, 50, 100]


def test_a_histogram_counts_every_message_even_those_beyond_its_ends():
    found = outcome([*range(-100, 0), -1e6], [*range(100), 1e6])
    edges, ham, spam = histogram(found)
    assert len(edges) == BINS + 1
    assert (ham.sum(), spam.sum()) == (101, 101)
    assert edges[0] > -110
    assert edges[-1] < 110


def test_equal_scores_have_a_histogram():
    _, ham, spam = histogram(outcome([1, 1], [1]))
    assert (ham.sum(), spam.sum()) == (2, 1)


def test_reliability_sets_the_share_of_spam_beside_what_was_said():
    half = np.log(0.55 / 0.45)
    said, found, messages = reliability(outcome([half, -800], [half, half, 800]))
    assert said == pytest.approx([0, 55, 100])
    assert found == pytest.approx([0, 200 / 3, 100])
    assert messages.tolist() == [1, 3, 1]
