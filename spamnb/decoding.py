"""What MIME encodes: the content of parts, words in headers, parameters of headers."""

from __future__ import annotations

import binascii
import re

from .charset import decode

ENCODED_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=")
BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?)")
PARAMETER = re.compile(r"""(?<![\w-])([\w-]++)(?:\*(\d{1,3}))?(\*?)\s?=\s?("[^"]*"?|[^\s;]+)""")
BASE64_END = re.compile(rb"=+|\n\n+")
SHORTEST_BASE64 = 30  # bytes before a footer; plain text has a space sooner
NOT_BASE64 = bytes(byte for byte in range(256) if not re.match(rb"[A-Za-z0-9+/]", bytes([byte])))
LONGEST_VALUE = 4_000  # characters read of one header; a long To: tells no more than its beginning


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


def header_texts(values: list[bytes]) -> list[str]:
    """The values of some headers as text. Most are short and ASCII: those are read together."""
    together = b"\r".join(values)  # the canonical form of a message has no \r
    if not values or len(together) > LONGEST_VALUE or not together.isascii() or b"\x1b" in together:
        return [header_text(value) for value in values]
    texts = together.decode("ascii").replace("\n", "").split("\r")
    if b"=?" in together:
        texts = [words_decoded(text) for text in texts]
    return [text.strip() for text in texts]


def header_text(value: bytes) -> str:
    """A header's value unfolded, decoded and stripped."""
    value = value[:LONGEST_VALUE]
    if b"\n" in value:
        value = value.replace(b"\n", b"")
    text = value.decode("ascii") if value.isascii() and b"\x1b" not in value else decode(value)[0]
    return words_decoded(text).strip()


def words_decoded(text: str) -> str:
    """A header's text with its encoded words, if it has any, decoded; in one line."""
    return (decode_words(text) if "=?" in text else text).replace("\n", " ")


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
    if "=" not in text:
        return found
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
