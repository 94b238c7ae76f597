"""Raw bytes ─▶ Message. Any bytes at all are a message: damage becomes a defect, never an exception.

A splitter of our own instead of the standard library's `email`: that one recurses (it ends near 1,000
nested parts), raises on some real mail, and its import costs more than the rest of a judgement.
Every step looks at a byte a bounded number of times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from .charset import decode
from .decoding import header_text, parameters, transfer_decoded
from .markup import read_html

LONGEST_TEXT = 120_000  # characters of text read from one message; what convicts spam stands in the first screens
MOST_HEADERS = 400

HEADER = re.compile(rb"([!-9;-~]{1,100})[ \t]*:(.*+(?:\n[ \t].*+)*+)\n?")  # possessive: a fold must cost no memory
SEPARATOR_LINE = re.compile(rb">?From .*\n?")
DASHES = re.compile(rb"\n--(.*)")
ATTACHED_MESSAGES = ("message/rfc822", "message/global")
QUOTED_FROM = re.compile(rb"^>+From ", re.M)
# What `spamnb filter` puts on top of a message (headers.py).
OURS_ON_TOP = re.compile(
    rb"(?:X-Spam-Status: (?:Yes|No), score=.*\n\ttests=spamnb .*\n(?:X-Spam-Flag: YES\r?\n)?(?:X-Spam-Level: \*+\r?\n)?"
    rb"|X-Bogosity: \w+, tests=spamnb, .*\n)?"
    rb"(?:X-Spamnb-Evidence: .*+(?:\n\t.*+)*+\n)?X-Spamnb: (?:spam|ham|unsure), .*\n"
)
# What spamnb kept of a subject that it tagged (headers.py).
TAGGED_SUBJECT = re.compile(rb"^X-Spamnb-Subject: (?:=(.*+(?:\n[ \t].*+)*+)|none)$", re.M)
# Headers that filters and mail clients write after the fact: no part of what was sent.
ADDED_LATER = re.compile(
    rb"(?:X-Spam|X-Bogosity|X-DSPAM|X-CRM114|X-Rspam|X-Hammie|X-SpamProbe|X-Bsfilter|X-Old-Spam|X-MS-Exchange-.*SCL"
    rb"|X-Mozilla|X-IMAP|X-(?:Keywords|Status|UID|UIDL)\Z|Status\Z|Lines\Z|Content-Length\Z)",
    re.I,
)


class Message:
    """What a judge of mail looks at; immutable once parsed."""

    __slots__ = (
        "attachments",
        "charsets",
        "defects",
        "headers",
        "hidden",
        "links",
        "size",
        "tags",
        "texts",
        "types",
    )

    def __init__(self) -> None:
        self.size = 0  # of the body, in bytes
        self.headers: list[tuple[str, str]] = []  # of the message itself: lower-case name, decoded value
        self.texts: list[str] = []  # what a reader sees, part by part
        self.hidden: list[str] = []  # what HTML hides from him
        self.links: list[str] = []  # addresses that HTML links to or loads
        self.tags: Counter[str] = Counter()  # HTML elements
        self.types: list[str] = []  # MIME types in order, containers included
        self.charsets: list[str] = []
        self.attachments: list[str] = []  # their file names
        self.defects: list[str] = []

    def header(self, name: str) -> str:
        """The first header of that name, or an empty text."""
        return next((value for key, value in self.headers if key == name), "")


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


def digest(raw: bytes) -> str:
    """32 letters that name a message, the same however it was stored, passed on and judged."""
    from hashlib import blake2b

    raw = canonical(raw)
    end = header_end(raw, 0, len(raw))
    sent = [b"%s:%s" % header for header in headers_sent(raw, 0, end)]
    body = raw[end:].rstrip(b"\n")
    if b">From " in body:
        body = QUOTED_FROM.sub(b"From ", body)
    return blake2b(b"\n".join([*sent, body]), digest_size=16).hexdigest()


def short_digest(digest: bytes | str) -> int:
    """64 bits of a digest given in hexadecimal, enough to tell the messages of one mailbox apart."""
    return int(digest[:16], 16)


def parse(raw: bytes) -> Message:
    """Read a message of any bytes; blank lines at its end are no part of it."""
    raw = canonical(raw).rstrip(b"\n")
    message = Message()
    if not raw.strip():
        message.defects.append("empty")
    _Parser(raw, message).run()
    return message


def header_end(raw: bytes, start: int, end: int) -> int:
    """Where the header lines that begin at start stop: at a blank line, or at one that is no header."""
    while match := HEADER.match(raw, start, end):
        start = match.end()
    return start


def headers_sent(raw: bytes, start: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    """Names and values as they were sent: none that was added later, the subject as it was before a tag of ours."""
    tagged = TAGGED_SUBJECT.search(raw, start, end) if raw.find(b"X-Spamnb-Subject", start, end) >= 0 else None
    for header in HEADER.finditer(raw, start, end):
        name, value = header.groups()
        if ADDED_LATER.match(name):
            continue
        if tagged and name.lower() == b"subject":
            value, tagged = tagged[1], None
            if value is None:  # there was none
                continue
        yield name, value


def attached_messages(raw: bytes) -> list[bytes]:
    """The outermost messages attached to one, as a forwarded report of spam has them."""
    parser = _Parser(canonical(raw), Message())
    parser.run()
    return [parser.raw[start:end] for start, end in parser.attached]


class _Parser:
    """One pass over the lines that begin with two dashes, with a stack of the boundaries that are open."""

    def __init__(self, raw: bytes, message: Message) -> None:
        self.raw = raw
        self.message = message
        self.room = LONGEST_TEXT
        self.open: list[bytes] = []
        self.digests: set[bytes] = set()  # open boundaries whose parts are messages unless they say otherwise
        self.level: dict[bytes, int] = {}
        self.part: dict[str, str] = {}
        self.body = -1  # where the current leaf's content begins; -1 when there is none
        self.attached: list[tuple[int, int]] = []  # where attached messages begin and end, the outermost alone
        self.attachment = (-1, 0)  # where the one we are in begins, and how many boundaries were open
        self.preamble = False  # a container's content before its boundary appears; if it never does, that is the text

    def run(self) -> None:
        raw = self.raw
        self.begin_part(0, len(raw), top=True)
        for dashes in DASHES.finditer(raw) if self.open else ():
            start, stop = dashes.span()
            line = dashes[1].rstrip()
            closing = line not in self.level and line.endswith(b"--")
            level = self.level.get(line[:-2] if closing else line)
            if level is None:
                continue
            if self.preamble and level == len(self.open) - 1:
                self.body = -1
            self.end_part(start)
            self.end_attachment(start, level)
            while len(self.open) > level + (not closing):
                boundary = self.open.pop()
                del self.level[boundary]
                self.digests.discard(boundary)
            if not closing:
                self.begin_part(stop + 1, raw.find(b"\n--", stop) + 1 or len(raw))
        self.end_part(len(raw))
        self.end_attachment(len(raw), -1)
        if self.open:
            self.message.defects.append("unclosed")

    def begin_part(self, start: int, end: int, top: bool = False) -> None:
        """Read the headers between start and end (the next dashed line) and decide what follows them."""
        position = self.read_headers(start, end, top)
        default = "message/rfc822" if self.open and self.open[-1] in self.digests else "text/plain"
        while True:
            content_type = self.part.setdefault("content-type", default)
            kind = content_type.partition(";")[0].strip().lower()[:60] or default
            self.message.types.append(kind)
            if kind not in ATTACHED_MESSAGES or self.encoding() == "base64":
                break
            if self.attachment[0] < 0:
                self.attachment = position, len(self.open)
            position = self.read_headers(position, end, top=False)
            default = "text/plain"
            subject = self.part.get("subject", "")[: self.room]
            self.room -= len(subject)
            self.message.texts.append(subject)
        self.body, self.preamble = position, kind.startswith("multipart/")
        if self.preamble:
            boundary = parameters(content_type).get("boundary", "").rstrip().encode("latin-1", "replace")
            self.preamble = self.open_boundary(boundary, kind)
            self.part["content-type"] = "text/plain"

    def end_attachment(self, end: int, level: int) -> None:
        """Note where an attached message ended, if a boundary that was open around it has come."""
        start, depth = self.attachment
        if start >= 0 and level < depth:
            self.attached.append((start, end))
            self.attachment = (-1, 0)

    def open_boundary(self, boundary: bytes, kind: str) -> bool:
        """Await a container's boundary, if it has one of its own."""
        if not boundary or boundary in self.level:
            self.message.defects.append("boundary")
            return False
        self.level[boundary] = len(self.open)
        self.open.append(boundary)
        if kind == "multipart/digest":
            self.digests.add(boundary)
        return True

    def encoding(self) -> str:
        """The current part's transfer encoding."""
        return self.part.get("content-transfer-encoding", "").strip().lower()

    def read_headers(self, start: int, end: int, top: bool) -> int:
        """Take in header lines; the position of the body behind them."""
        if separator := SEPARATOR_LINE.match(self.raw, start, end):  # a message that was attached from an mbox
            start = separator.end()
        stop = header_end(self.raw, start, end)
        sent = islice(headers_sent(self.raw, start, stop), MOST_HEADERS)
        headers = [(name.decode("ascii").lower(), header_text(value)) for name, value in sent]
        self.part = dict(reversed(headers))
        if top:
            self.message.headers = headers
            self.message.size = end - stop
            if not headers:
                self.message.defects.append("no headers")
        if self.raw.startswith(b"\n", stop):
            return stop + 1
        if stop < end and headers:
            self.message.defects.append("no blank line")
        return stop

    def end_part(self, end: int) -> None:
        """Take in the content of the current leaf."""
        start, self.body = self.body, -1
        if start < 0:
            return
        if self.preamble:
            self.message.defects.append("boundary")
        kind, _, rest = self.part["content-type"].partition(";")
        kind = kind.strip().lower()
        options = parameters(rest)
        disposition = self.part.get("content-disposition", "")
        name = parameters(disposition.partition(";")[2]).get("filename") or options.get("name", "")
        if name:
            self.message.attachments.append(name)
        if kind.startswith("text/") or "/" not in kind or kind in ("message/delivery-status", "message/partial"):
            if self.room > 0:
                self.read_text(start, end, kind, options.get("charset", ""))
            else:
                self.message.defects.append("long")
        elif kind in ATTACHED_MESSAGES:  # one in base64, which no standard allows; others were read as parts
            self.message.defects.append("encoding")

    def read_text(self, start: int, end: int, kind: str, charset: str) -> None:
        """Decode a text part, as far as there is room for it."""
        message = self.message
        content = transfer_decoded(self.raw, start, end, self.encoding(), self.room)
        if content is None:
            message.defects.append("encoding")
            content = self.raw[start : min(end, start + self.room)]
        text, fitted = decode(content, charset)
        if charset:
            message.charsets.append(charset.lower()[:30])
        if not fitted:
            message.defects.append("charset")
        self.room -= len(text)
        if kind == "text/html" or text[:300].lstrip()[:6].lower() in ("<html>", "<!doct"):
            markup = read_html(text)
            message.texts.append(markup.visible)
            message.links += markup.links
            message.tags += markup.tags
            if markup.hidden:
                message.hidden.append(markup.hidden)
        else:
            message.texts.append(text)
