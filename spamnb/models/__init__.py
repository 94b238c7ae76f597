"""Models: each turns a corpus into a Scorecard. One file a model."""

from ..settings import KINDS
from .choice import SEVERAL, Choice, check_choice, suited
from .fitting import cutoffs, fit, held_out_probabilities, train_and_test
from .rows import score_rows

__all__ = [
    "KINDS", "SEVERAL", "Choice", "check_choice", "cutoffs", "fit", "held_out_probabilities", "score_rows", "suited",
    "train_and_test",
]  # fmt: skip
