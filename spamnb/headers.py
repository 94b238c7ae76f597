"""Verdict headers on a message that otherwise passes byte for byte."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log

from . import __version__
from .original import OURS_ON_TOP, header_end
from .scorecard import SPAM, Verdict

OURS = b"X-Spamnb"
# What each dialect writes, and so takes away where a sender has forged it.
FORGEABLE = {
    "spamassassin": (b"X-Spam-Status", b"X-Spam-Flag", b"X-Spam-Level"),
    "bogofilter": (b"X-Bogosity",),
    "spamnb": (),
}
DIALECTS = tuple(FORGEABLE)
LEAST_SCORE = -99.99  # shown of a class that is certainly not spam
MOST_STARS = 50  # of X-Spam-Level, as SpamAssassin has it
EVIDENCE_WORDS = 12
LINE = 57  # and 19 for the header's name
LONGEST_WORD = 48  # so that one with its weight fits a line
SUBJECT = re.compile(rb"^(Subject[ \t]*:)(.*+(?:\n[ \t].*+)*+\n?)", re.I | re.M)
BLANK_LINE = re.compile(rb"^\r?\n", re.M)


class Style:
    """How the user wants verdicts written."""

    __slots__ = ("dialect", "evidence", "subject_tag")

    def __init__(self, dialect: str = "spamassassin", evidence: bool = False, subject_tag: str = "") -> None:
        self.dialect = dialect
        self.evidence = evidence
        self.subject_tag = subject_tag


def tagged(raw: bytes, verdict: Verdict, required: float, clues: Sequence[tuple[str, float]], style: Style) -> bytes:
    """The message with our headers first, below a `From ` line, and without forged ones."""
    start = first_header(raw)
    newline = b"\r\n" if raw[start : raw.find(b"\n", start) + 1].endswith(b"\r\n") else b"\n"
    written = verdict_headers(verdict, required, style)
    if style.evidence:
        written.insert(-1, ("X-Spamnb-Evidence", evidence_text(clues)))
    ours = b"".join(f"{name}: {text}\n".encode("ascii").replace(b"\n", newline) for name, text in written)
    end = head_end(raw, start)
    before = OURS_ON_TOP.match(
        raw, start
    )  # from an earlier pass; a first line that begins with a space is no fold of it
    head = without(raw[before.end() if before else start : end], FORGEABLE[style.dialect])
    if style.subject_tag and verdict.label == SPAM:
        stop = header_end(head, 0, len(head))
        head = with_subject_tag(head[:stop], style.subject_tag, newline) + head[stop:]
    return b"".join([raw[:start], ours, head, raw[end:]])


def first_header(raw: bytes) -> int:
    """Where the headers begin: behind an mbox `From ` line, quoted or not."""
    if not raw.startswith((b"From ", b">From ")) or b"\n" not in raw:
        return 0
    return raw.index(b"\n") + 1


def head_end(raw: bytes, start: int) -> int:
    """Where others may stop to look for headers: at a blank line, whatever stands before it, or where we stop."""
    blank = BLANK_LINE.search(raw, start)
    return blank.start() if blank else header_end(raw, start, len(raw))


def verdict_headers(verdict: Verdict, required: float, style: Style) -> list[tuple[str, str]]:
    """The headers of a dialect, ours last."""
    numbers = f"score={verdict.score:.2f} required={required:.2f} probability={verdict.probability:.4f}"
    found: list[tuple[str, str]] = []
    spam = verdict.label == SPAM
    score, probability = as_spam(verdict)
    if style.dialect == "spamassassin":
        status = "Yes" if spam else "No"
        seen = f"score={score:.2f} required={required:.2f} probability={probability:.4f}"
        found.append(("X-Spam-Status", f"{status}, {seen}\n\ttests=spamnb version={__version__}"))
        if spam:
            found.append(("X-Spam-Flag", "YES"))
        if score >= 1:
            found.append(("X-Spam-Level", "*" * int(min(score, MOST_STARS))))
    elif style.dialect == "bogofilter":
        spamicity = f"spamicity={probability:.6f}"
        found.append(("X-Bogosity", f"{verdict.label.title()}, tests=spamnb, {spamicity}, version={__version__}"))
    reason = f" ({verdict.reason})" if verdict.reason else ""
    return [*found, ("X-Spamnb", f"{verdict.label}, {numbers}{reason}")]


def as_spam(verdict: Verdict) -> tuple[float, float]:
    """Score and probability of being spam, also where the verdict names a class of the user's."""
    if not verdict.of_classes or verdict.label == SPAM:
        return verdict.score, verdict.probability
    probability = min(verdict.of_classes.get(SPAM, 0.0), 0.5)
    return max(log(probability / (1.0 - probability)), LEAST_SCORE) if probability else LEAST_SCORE, probability


def evidence_text(clues: Sequence[tuple[str, float]]) -> str:
    """The strongest words and what each adds, folded to lines of a decent length."""
    lines = [""]
    for token, weight in clues[:EVIDENCE_WORDS]:
        word = f"{visible(token)} {weight:+.2f}"
        if len(lines[-1]) + len(", ") + len(word) > LINE and lines[-1]:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + word
    return ",\n\t".join(lines) or "none"


def visible(token: str) -> str:
    """A token in printable ASCII, without what a header or a reader of it would trip over."""
    text = token.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(letter if letter.isprintable() and letter not in ", " else "_" for letter in text)[:LONGEST_WORD]


def without(head: bytes, names: Sequence[bytes]) -> bytes:
    """Header lines without those of some names, and without ours."""
    forged = b"|".join([OURS + rb"[\w-]*", *names])
    return re.sub(rb"^(?:%s)[ \t]*:.*+(?:\n[ \t].*+)*+\n?" % forged, b"", head, flags=re.I | re.M)


def with_subject_tag(head: bytes, tag: str, newline: bytes) -> bytes:
    """The tag in front of the subject, and the subject as it was in a header of ours, so that a digest can tell."""
    text = encoded_tag(tag)
    match = SUBJECT.search(head)
    if not match:
        return b"X-Spamnb-Subject: none%sSubject: %s%s%s" % (newline, text, newline, head)
    kept = b"X-Spamnb-Subject: =%s" % match[2]
    kept += b"" if kept.endswith(b"\n") else newline
    return b"".join([kept, head[: match.start(2)], b" ", text, head[match.start(2) :]])


def encoded_tag(tag: str) -> bytes:
    """A tag as a header may have it."""
    if tag.isascii():
        return tag.encode("ascii")
    from base64 import b64encode

    return b"=?utf-8?B?%s?=" % b64encode(tag.encode())
