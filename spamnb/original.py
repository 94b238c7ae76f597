"""A message as it was sent: its canonical form, its headers without what was added later, the digest that names it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import islice

MOST_HEADERS = 400  # of one message or part that are read
LONG_HEAD = 1 << 16  # bytes of headers that are not worth holding in memory one by one

HEADER = re.compile(rb"([!-9;-~]{1,100})[ \t]*:(.*+(?:\n[ \t].*+)*+)\n?")  # possessive: a fold must cost no memory
HEADERS = re.compile(rb"(?:[!-9;-~]{1,100}[ \t]*:.*+(?:\n[ \t].*+)*+\n?)*+")
SEPARATOR_LINE = re.compile(rb">?From .*\n?")
QUOTED_FROM = re.compile(rb"^>+From ", re.M)
# What `spamnb filter` puts on top of a message (headers.py).
OURS_ON_TOP = re.compile(
    rb"(?:X-Spam-Status: (?:Yes|No), score=.*\n\ttests=spamnb .*\n(?:X-Spam-Flag: YES\r?\n)?(?:X-Spam-Level: \*+\r?\n)?"
    rb"|X-Bogosity: [\w-]+, tests=spamnb, .*\n)?"
    rb"(?:X-Spamnb-Evidence: .*+(?:\n\t.*+)*+\n)?X-Spamnb: [\w-]+, .*\n"
)
# What spamnb kept of a subject that it tagged (headers.py).
TAGGED_SUBJECT = re.compile(rb"^X-Spamnb-Subject: (?:=(.*+(?:\n[ \t].*+)*+)|none)$", re.M)
# Headers that filters and mail clients write after the fact: no part of what was sent.
ADDED_LATER = re.compile(
    rb"(?:X-Spam|X-Bogosity|X-DSPAM|X-CRM114|X-Rspam|X-Hammie|X-SpamProbe|X-Bsfilter|X-Old-Spam|X-MS-Exchange-.*SCL"
    rb"|X-Mozilla|X-IMAP|X-(?:Keywords|Status|UID|UIDL)\Z|Status\Z|Lines\Z|Content-Length\Z)",
    re.I,
)


class Original:
    """A message in canonical form, with its headers as they were sent."""

    __slots__ = ("end", "headers", "raw")

    def __init__(self, stored: bytes) -> None:
        self.raw = canonical(stored)
        self.end = header_end(self.raw, 0, len(self.raw))  # where the headers stop
        self.headers = first_headers(self.raw, 0, self.end)

    def digest(self) -> str:
        """32 letters that name the message, the same however it was stored, passed on and judged."""
        all_read = len(self.headers) < MOST_HEADERS
        headers = self.headers if all_read else headers_sent(self.raw, 0, self.end)
        body = self.raw[self.end :].rstrip(b"\n")
        if b">From " in body:
            body = QUOTED_FROM.sub(b"From ", body)
        return blake2b(b"\n".join([*map(b":".join, headers), body]), digest_size=16).hexdigest()


def canonical(raw: bytes) -> bytes:
    """The message with LF line ends, without an mbox `From ` line and what our filter put on top."""
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n")
        if b"\r" in raw:
            raw = re.sub(rb"\r+\n?", b"\n", raw)
    if raw.startswith((b"From ", b">From ")):
        raw = raw[SEPARATOR_LINE.match(raw).end() :]  # type: ignore[union-attr]
    if raw.startswith(b"X-") and (ours := OURS_ON_TOP.match(raw)):
        raw = raw[ours.end() :]
    return raw


def header_end(raw: bytes, start: int, end: int) -> int:
    """Where the header lines that begin at start stop: at a blank line, or at one that is no header."""
    return HEADERS.match(raw, start, end).end()  # type: ignore[union-attr]


def first_headers(raw: bytes, start: int, end: int) -> list[tuple[bytes, bytes]]:
    """As many of the headers between start and end as a reader of mail looks at."""
    return list(islice(headers_sent(raw, start, end), MOST_HEADERS))


def headers_sent(raw: bytes, start: int, end: int) -> Iterable[tuple[bytes, bytes]]:
    """Names and values as they were sent: none that was added later, the subject as it was before a tag of ours."""
    found: Iterable[tuple[bytes, bytes]]
    if end - start > LONG_HEAD:
        found = ((header[1], header[2]) for header in HEADER.finditer(raw, start, end))
    else:
        found = HEADER.findall(raw, start, end)
    sent = (header for header in found if not is_added_later(header[0]))
    if raw.find(b"X-Spamnb-Subject", start, end) >= 0 and (tagged := TAGGED_SUBJECT.search(raw, start, end)):
        return untagged(sent, tagged[1])
    return sent


def untagged(headers: Iterable[tuple[bytes, bytes]], subject: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    """The headers with the first subject as it was before a tag of ours: None if there was none."""
    is_tagged = True
    for name, value in headers:
        if is_tagged and name.lower() == b"subject":
            is_tagged = False
            if subject is not None:
                yield name, subject
        else:
            yield name, value


@lru_cache(1 << 12)
def is_added_later(name: bytes) -> bool:
    """Whether a header of this name is no part of what was sent."""
    return bool(ADDED_LATER.match(name))
