"""Raw bytes ─▶ Message. Any bytes at all are a message: damage becomes a defect, never an exception.

A splitter of our own instead of the standard library's `email`: that one recurses (it ends near 1,000
nested parts), raises on some real mail, and its import costs more than the rest of a judgement.
Every step looks at a byte a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from .charset import decode
from .decoding import header_texts, parameters, transfer_decoded
from .original import SEPARATOR_LINE, Original, canonical, first_headers, header_end

LONGEST_TEXT = 120_000  # characters of text read from one message; what convicts spam stands in the first screens

DASHED = b"\n--"
ATTACHED_MESSAGES = ("message/rfc822", "message/global")


class Message:
    """What a judge of mail looks at; immutable once parsed."""

    __slots__ = (
        "attachments",
        "charsets",
        "defects",
        "headers",
        "hidden",
        "images",
        "links",
        "size",
        "texts",
        "types",
    )

    def __init__(self) -> None:
        self.size = 0  # of the body, in bytes
        self.headers: list[tuple[str, str]] = []  # of the message itself: lower-case name, decoded value
        self.texts: list[str] = []  # what a reader sees, part by part
        self.hidden: list[str] = []  # what HTML hides from him
        self.links: list[str] = []  # addresses that HTML links to or loads
        self.images = 0  # that HTML shows
        self.types: list[str] = []  # MIME types in order, containers included
        self.charsets: list[str] = []
        self.attachments: list[str] = []  # their file names
        self.defects: list[str] = []

    def header(self, name: str) -> str:
        """The first header of that name, or an empty text."""
        for key, value in self.headers:
            if key == name:
                return value
        return ""


def digest(raw: bytes) -> str:
    """32 letters that name a message."""
    return Original(raw).digest()


def short_digest(digest: bytes | str) -> int:
    """64 bits of a digest given in hexadecimal, enough to tell the messages of one mailbox apart."""
    return int(digest[:16], 16)


def parse(raw: bytes) -> Message:
    """Read a message of any bytes."""
    return read(Original(raw))


def read(original: Original) -> Message:
    """Read a message whose headers are known; blank lines at its end are no part of it."""
    raw = original.raw.rstrip(b"\n")
    message = Message()
    if not raw.strip():
        message.defects.append("empty")
    _Parser(raw, message, original).run()
    return message


@lru_cache(1 << 12)
def lower_name(name: bytes) -> str:
    """A header's name in lower case."""
    return name.decode("ascii").lower()


def attached_messages(raw: bytes) -> list[bytes]:
    """The outermost messages attached to one, as a forwarded report of spam has them."""
    parser = _Parser(canonical(raw), Message())
    parser.run()
    return [parser.raw[start:end] for start, end in parser.attached]


def dashed_lines(raw: bytes) -> Iterator[tuple[int, int]]:
    """Where lines that begin with two dashes begin and end, each with the line end before it."""
    start = raw.find(DASHED)  # much quicker than a pattern, and attachments are long
    while start >= 0:
        stop = raw.find(b"\n", start + 1)
        if stop < 0:
            stop = len(raw)
        yield start, stop
        start = raw.find(DASHED, stop)


class _Parser:
    """One pass over the lines that begin with two dashes, with a stack of the boundaries that are open."""

    def __init__(self, raw: bytes, message: Message, original: Original | None = None) -> None:
        self.raw = raw
        self.message = message
        self.original = original  # whose headers need not be found again
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
        for start, stop in dashed_lines(raw) if self.open else ():
            line = raw[start + len(DASHED) : stop].rstrip()
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
                self.begin_part(stop + 1, raw.find(DASHED, stop) + 1 or len(raw))
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
        separator = SEPARATOR_LINE.match(self.raw, start, end)  # of a message that was attached from an mbox
        if top and self.original and not separator:
            stop, sent = min(self.original.end, end), self.original.headers
        else:
            start = separator.end() if separator else start
            stop = header_end(self.raw, start, end)
            sent = first_headers(self.raw, start, stop)
        texts = header_texts([value for _, value in sent])
        headers = list(zip([lower_name(name) for name, _ in sent], texts, strict=True))
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
            from .markup import read_html  # whose patterns take a millisecond to compile

            markup = read_html(text)
            message.texts.append(markup.visible)
            message.links += markup.links
            message.images += markup.images
            if markup.hidden:
                message.hidden.append(markup.hidden)
        else:
            message.texts.append(text)
