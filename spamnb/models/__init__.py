"""Models: each turns a corpus into a Scorecard. One file a model."""

from .fitting import KINDS, Choice, cutoffs, fit, held_out_probabilities, train_and_test
from .rows import score_rows

__all__ = ["KINDS", "Choice", "cutoffs", "fit", "held_out_probabilities", "score_rows", "train_and_test"]
