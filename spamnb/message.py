"""Raw bytes ─▶ Message. Any bytes at all are a message: damage becomes a defect, never an exception.

A splitter of our own instead of the standard library's `email`: that one recurses (it ends near 1,000
nested parts), raises on some real mail, and its import costs more than the rest of a judgement.
Every step looks at a byte a bounded number of times.
"""

from __future__ import annotations

import binascii
import re
from collections import Counter

from .charset import decode
from .markup import read_html

LONGEST_TEXT = 120_000  # characters of text read from one message; what convicts spam stands in the first screens
LONGEST_VALUE = 4_000  # characters read of one header; a long To: tells no more than its beginning
MOST_HEADERS = 400

HEADER = re.compile(rb"([!-9;-~]{1,100})[ \t]*:(.*(?:\n[ \t].*)*)\n?")
SEPARATOR_LINE = re.compile(rb">?From .*\n?")
DASHES = re.compile(rb"\n--(.*)")
ENCODED_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=")
BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?)")
PARAMETER = re.compile(r"""([\w-]+)(\*\d{1,3})?(\*?)\s?=\s?("[^"]*"?|[^\s;]+)""")
NOT_BASE64 = bytes(byte for byte in range(256) if not re.match(rb"[A-Za-z0-9+/]", bytes([byte])))
QUOTED_FROM = re.compile(rb"\n>+From ")
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
    """The message with LF line ends and without an mbox `From ` line."""
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n")
        if b"\r" in raw:
            raw = re.sub(rb"\r+\n?", b"\n", raw)
    if raw.startswith((b"From ", b">From ")):
        raw = raw[SEPARATOR_LINE.match(raw).end() :]  # type: ignore[union-attr]
    return raw


def digest(raw: bytes) -> bytes:
    """16 bytes that name a message, the same however it was stored, passed on and judged."""
    from hashlib import blake2b

    raw = canonical(raw)
    end = header_end(raw, 0, len(raw))
    sent = [b"%s:%s" % header for header in HEADER.findall(raw, 0, end) if not ADDED_LATER.match(header[0])]
    body = raw[end:].rstrip(b"\n")
    if b">From " in body:
        body = QUOTED_FROM.sub(b"\nFrom ", body)
    return blake2b(b"\n".join([*sent, body]), digest_size=16).digest()


def parse(raw: bytes) -> Message:
    """Read a message of any bytes."""
    raw = canonical(raw)
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


class _Parser:
    """One pass over the lines that begin with two dashes, with a stack of the boundaries that are open."""

    def __init__(self, raw: bytes, message: Message) -> None:
        self.raw = raw
        self.message = message
        self.room = LONGEST_TEXT
        self.open: list[bytes] = []
        self.level: dict[bytes, int] = {}
        self.part: dict[str, str] = {}
        self.body = -1  # where the current leaf's content begins; -1 when there is none

    def run(self) -> None:
        raw = self.raw
        self.begin_part(0, len(raw), top=True)
        dashes = [match.span() for match in DASHES.finditer(raw)] if self.open else []
        ends = [start + 1 for start, _ in dashes[1:]] + [len(raw)]
        for (start, stop), end in zip(dashes, ends, strict=False):
            line = raw[start + 3 : stop].rstrip()
            closing = line not in self.level and line.endswith(b"--")
            level = self.level.get(line[:-2] if closing else line)
            if level is None:
                continue
            self.end_part(start)
            while len(self.open) > level + (not closing):
                del self.level[self.open.pop()]
            if not closing:
                self.begin_part(stop + 1, end)
        self.end_part(len(raw))
        if self.open:
            self.message.defects.append("unclosed")

    def begin_part(self, start: int, end: int, top: bool = False) -> None:
        """Read the headers between start and end (the next dashed line) and decide what follows them."""
        position = self.read_headers(start, end, top)
        while True:
            content_type = self.part.get("content-type", "")
            kind = content_type.partition(";")[0].strip().lower()[:60] or "text/plain"
            self.message.types.append(kind)
            if kind not in ("message/rfc822", "message/global"):
                break
            position = self.read_headers(position, end, top=False)
            self.message.texts.append(self.part.get("subject", ""))
        if kind.startswith("multipart/"):
            boundary = parameters(content_type).get("boundary", "").rstrip().encode("latin-1", "replace")
            if boundary and boundary not in self.level:
                self.level[boundary] = len(self.open)
                self.open.append(boundary)
                self.body = -1
                return
            self.message.defects.append("boundary")
            self.part["content-type"] = "text/plain"
        self.body = position

    def read_headers(self, start: int, end: int, top: bool) -> int:
        """Take in header lines; the position of the body behind them."""
        stop = header_end(self.raw, start, end)
        headers = [
            (name.decode("ascii").lower(), header_text(value))
            for name, value in HEADER.findall(self.raw, start, stop)[:MOST_HEADERS]
            if not ADDED_LATER.match(name)
        ]
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
        kind, _, rest = self.part.get("content-type", "text/plain").partition(";")
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

    def read_text(self, start: int, end: int, kind: str, charset: str) -> None:
        """Decode a text part, as far as there is room for it."""
        message = self.message
        content = transfer_decoded(
            self.raw, start, end, self.part.get("content-transfer-encoding", "").strip().lower(), self.room
        )
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


def transfer_decoded(raw: bytes, start: int, end: int, encoding: str, room: int) -> bytes | None:
    """At most about `room` bytes of a part's content; None when its encoding is broken."""
    if encoding == "base64":
        content = raw[start : min(end, start + room * 3 // 2)]
        letters = content.translate(None, NOT_BASE64)
        if len(content) - len(letters) > 4 + len(content) // 10:  # mostly line ends; else a label on plain text
            return None
        letters = letters[: len(letters) - (len(letters) % 4 == 1)]
        try:
            return binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))
        except binascii.Error:
            return None
    if encoding == "quoted-printable":
        return binascii.a2b_qp(raw[start : min(end, start + 3 * room)])[:room]
    return raw[start : min(end, start + room)]


def header_text(value: bytes) -> str:
    """A header's value unfolded, decoded and stripped."""
    value = value[:LONGEST_VALUE]
    if b"\n" in value:
        value = value.replace(b"\n", b"")
    text = value.decode("ascii") if value.isascii() and b"\x1b" not in value else decode(value)[0]
    return (decode_words(text) if "=?" in text else text).strip()


def decode_words(text: str) -> str:
    """RFC 2047: =?charset?B?…?= and =?charset?Q?…?=; neighbours in one charset may share a character."""
    pieces: list[str] = []
    pending, charset = b"", ""
    position = 0
    text = BETWEEN_WORDS.sub(r"\1", text)
    for word in ENCODED_WORD.finditer(text):
        named = word[1].partition("*")[0]  # RFC 2231 allows a language behind the charset
        if word.start() > position or named != charset:
            pieces += [decode(pending, charset)[0], text[position : word.start()]]
            pending, charset = b"", named
        pending += word_bytes(word[2], word[3])
        position = word.end()
    return "".join([*pieces, decode(pending, charset)[0], text[position:]])


def word_bytes(encoding: str, text: str) -> bytes:
    """The bytes that one encoded word stands for."""
    raw = text.encode("utf-8", "replace")
    if encoding in "qQ":
        return binascii.a2b_qp(raw, header=True)
    return transfer_decoded(raw, 0, len(raw), "base64", len(raw)) or b""


def parameters(text: str) -> dict[str, str]:
    """`; name=value` pairs of a structured header, RFC 2231 continuations and charsets resolved."""
    found: dict[str, str] = {}
    extended: dict[str, bytes] = {}
    for name, piece, star, value in PARAMETER.findall(text):
        name, value = name.lower(), value.strip('"')
        if piece or star:
            raw = percent_decoded(value) if star else value.encode("utf-8", "replace")
            extended[name] = extended.get(name, b"") + raw
        else:
            found.setdefault(name, value)
    for name, raw in extended.items():
        charset, quote, rest = raw.partition(b"'")
        if quote and b"'" in rest:
            raw = rest.partition(b"'")[2]
        else:
            charset = b""
        found[name] = decode(raw, charset.decode("latin-1"))[0]
    return found


def percent_decoded(text: str) -> bytes:
    """%41%42 as bytes."""
    raw = text.encode("utf-8", "replace")
    return re.sub(rb"%([0-9a-fA-F]{2})", lambda match: bytes([int(match[1], 16)]), raw)
