"""Raw bytes ─▶ Message. Any bytes at all are a message: damage becomes a defect, never an exception.

A splitter of our own instead of the standard library's `email`: that one recurses (it ends near 1,000
nested parts), raises on some real mail, and its import costs more than the rest of a judgement.
Every step looks at a byte a bounded number of times.
"""

from __future__ import annotations

import binascii
import re
from collections import Counter
from itertools import islice

from .charset import decode
from .markup import read_html

LONGEST_TEXT = 120_000  # characters of text read from one message; what convicts spam stands in the first screens
LONGEST_VALUE = 4_000  # characters read of one header; a long To: tells no more than its beginning
MOST_HEADERS = 400

HEADER = re.compile(rb"([!-9;-~]{1,100})[ \t]*:(.*+(?:\n[ \t].*+)*+)\n?")  # possessive: a fold must cost no memory
SEPARATOR_LINE = re.compile(rb">?From .*\n?")
DASHES = re.compile(rb"\n--(.*)")
ENCODED_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=")
BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?)")
PARAMETER = re.compile(r"""(?<![\w-])([\w-]++)(?:\*(\d{1,3}))?(\*?)\s?=\s?("[^"]*"?|[^\s;]+)""")
ATTACHED_MESSAGES = ("message/rfc822", "message/global")
BASE64_END = re.compile(rb"=+|\n\n+")
SHORTEST_BASE64 = 30  # bytes before a footer; plain text has a space sooner
NOT_BASE64 = bytes(byte for byte in range(256) if not re.match(rb"[A-Za-z0-9+/]", bytes([byte])))
QUOTED_FROM = re.compile(rb"^>+From ", re.M)
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


def digest(raw: bytes) -> str:
    """32 letters that name a message, the same however it was stored, passed on and judged."""
    from hashlib import blake2b

    raw = canonical(raw)
    end = header_end(raw, 0, len(raw))
    sent = [b"%s:%s" % header for header in HEADER.findall(raw, 0, end) if not ADDED_LATER.match(header[0])]
    body = raw[end:].rstrip(b"\n")
    if b">From " in body:
        body = QUOTED_FROM.sub(b"From ", body)
    return blake2b(b"\n".join([*sent, body]), digest_size=16).hexdigest()


def short_digest(digest: bytes | str) -> int:
    """64 bits of a digest given in hexadecimal, enough to tell the messages of one mailbox apart."""
    return int(digest[:16], 16)


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
        self.digests: set[bytes] = set()  # open boundaries whose parts are messages unless they say otherwise
        self.level: dict[bytes, int] = {}
        self.part: dict[str, str] = {}
        self.body = -1  # where the current leaf's content begins; -1 when there is none
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
            while len(self.open) > level + (not closing):
                boundary = self.open.pop()
                del self.level[boundary]
                self.digests.discard(boundary)
            if not closing:
                self.begin_part(stop + 1, raw.find(b"\n--", stop) + 1 or len(raw))
        self.end_part(len(raw))
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
        sent = (header for header in HEADER.finditer(self.raw, start, stop) if not ADDED_LATER.match(header[1]))
        headers = [(header[1].decode("ascii").lower(), header_text(header[2])) for header in islice(sent, MOST_HEADERS)]
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


def transfer_decoded(raw: bytes, start: int, end: int, encoding: str, room: int) -> bytes | None:
    """At most about `room` bytes of a part's content; None when its encoding is broken."""
    if encoding == "base64":
        return base64_decoded(raw[start : min(end, start + room * 3 // 2)])
    if encoding == "quoted-printable":
        return binascii.a2b_qp(raw[start : min(end, start + 3 * room)])[:room]
    return raw[start : min(end, start + room)]


def base64_decoded(content: bytes) -> bytes | None:
    """The bytes, up to where base64 ends (lists add their footers behind it); None for a label on plain text."""
    pieces: list[bytes] = []
    for run in BASE64_END.split(content):  # padding may also stand after every line
        letters = run.translate(None, NOT_BASE64)
        if len(run) - len(letters) - run.count(b"\n") > len(run) // 20:
            if sum(map(len, pieces)) < SHORTEST_BASE64:
                return None
            break
        letters = letters[: len(letters) - (len(letters) % 4 == 1)]
        pieces.append(binascii.a2b_base64(letters + b"=" * (-len(letters) % 4)))
    return b"".join(pieces)


def header_text(value: bytes) -> str:
    """A header's value unfolded, decoded and stripped."""
    value = value[:LONGEST_VALUE]
    if b"\n" in value:
        value = value.replace(b"\n", b"")
    text = value.decode("ascii") if value.isascii() and b"\x1b" not in value else decode(value)[0]
    return (decode_words(text) if "=?" in text else text).replace("\n", " ").strip()


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
    decoded = base64_decoded(raw)
    return raw if decoded is None else decoded


def parameters(text: str) -> dict[str, str]:
    """`; name=value` pairs of a structured header, RFC 2231 continuations and charsets resolved."""
    found: dict[str, str] = {}
    extended: dict[str, dict[int, tuple[str, str]]] = {}
    for name, piece, star, value in PARAMETER.findall(text):
        name, value = name.lower(), value.strip('"')
        if piece or star:
            extended.setdefault(name, {}).setdefault(int(piece or 0), (star, value))
        else:
            found.setdefault(name, value)
    found.update((name, extended_value(pieces)) for name, pieces in extended.items())
    return found


def extended_value(pieces: dict[int, tuple[str, str]]) -> str:
    """RFC 2231: charset'language'value with %41 for bytes, in numbered pieces, those with a star encoded."""
    ordered = sorted(pieces.items())
    raw = b"".join(percent_decoded(value) if star else value.encode("utf-8", "replace") for _, (star, value) in ordered)
    charset = ""
    if ordered[0][1][0] and raw.count(b"'") > 1:
        named, _, raw = raw.split(b"'", 2)
        charset = named.decode("latin-1")
    return decode(raw, charset)[0].replace("\n", " ")


def percent_decoded(text: str) -> bytes:
    """%41%42 as bytes."""
    raw = text.encode("utf-8", "replace")
    return re.sub(rb"%([0-9a-fA-F]{2})", lambda match: bytes([int(match[1], 16)]), raw)
