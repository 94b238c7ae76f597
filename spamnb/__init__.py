"""spamnb: a naive Bayes spam filter that you train on your own mail."""

__version__ = "0.1.0"
