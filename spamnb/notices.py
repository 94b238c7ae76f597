"""One-line notices on standard error."""

from __future__ import annotations

import sys
from contextlib import suppress

from .errors import BadData
from .mailbox import LeftOut


def printable(text: str) -> str:
    """A text that cannot play tricks on a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def tell(text: str) -> None:
    """Say something that is not a result. Where nobody can hear it, mail must still go its way."""
    with suppress(OSError):
        if sys.stderr is not None:  # else print would take standard output, where the mail goes
            print("spamnb: " + printable(" ".join(text.split())), file=sys.stderr, flush=True)


def warn(left_out: LeftOut) -> int:
    """Say what was left out; 65 when something could not be read."""
    for reason, count in sorted(left_out.counts.items()):
        tell(f"left out: {count} {reason}")
    for path, reason in left_out.unreadable:
        tell(f"{path}: {reason}; the rest was used")
    return BadData.exit_code if left_out.unreadable else 0
