"""spamnb: a naive Bayes spam filter that you train on your own mail.

import spamnb

spamnb.train("model", ham=["Maildir"], spam=["Maildir/.Junk"])
judge = spamnb.open_judge("model")
verdict = judge.judge(raw)              # the bytes of any message
verdict.label, verdict.score, verdict.probability
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["__version__", "learn", "open_judge", "train"]


def __getattr__(name: str) -> object:
    """The library, imported when it is used: a mail filter that starts once per message does without it."""
    if name not in __all__:
        raise AttributeError(f"module 'spamnb' has no attribute {name!r}")
    from . import library

    return getattr(library, name)
