"""Message ─▶ tokens, each prefixed by where it stood, and measures.

A token without a prefix is a word of the text. Two witnesses speak: the text (words, subject, links)
and the envelope (who sent it, which way it came, what it is made of). A token's id tells which.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

from .disguise import MIXED, plain_words, rejoined, unmasked
from .message import Message

LONGEST_WORD = 30  # longer is base64 debris, or a language without spaces, which pairs of letters serve better
MOST_LINKS = 200  # a page with more tells nothing new
MOST_HOPS = 6  # Received headers read, the newest first

# Twice: four mails of five are ASCII, where \w costs half.
WORD, ASCII_WORD = (re.compile(r"[$€£\w]\w*(?:['’.@-]+\w+)*[!%]?", flag) for flag in (re.U, re.A))
CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
URL = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"')\]]{1,300}", re.I)
ADDRESS = re.compile(r"[\w.+=-]{1,80}@[\w.-]{1,120}")
AUTHORITY = re.compile(r"[^/?#\\]*")
NAME = re.compile(r"[\w.-]+")
# Amounts of money, by the sign before them or the name behind; looked for only where such a sign or name is.
SIGNED_MONEY, SIGNS = re.compile(r"[$€£¥]\s?\d[\d.,]{0,15}"), ("$", "€", "£", "¥")
NAMED_MONEY = re.compile(r"\d[\d.,]{0,15}\s?(?:usd|eur|gbp|dollars|euros?)\b")
NAMES = (" usd", " eur", " gbp", "dollar")
PUNCTUATION_RUN = re.compile(r"([!?$*#=~_.+-])\1{2}")
CAPITALS, DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789"
HOP = re.compile(r"\b(?:from|by)\s+([\w.-]{1,120})|\[(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}\]")
CLOCK = re.compile(r"(\d\d):\d\d(?::\d\d)?\s*([+-]\d{4}|[A-Z]{3,4})?")

MEASURES = ("size", "words", "capitals", "digits", "links", "images", "parts", "recipients", "hour")
ADDRESS_HEADERS = {"from": "from", "reply-to": "reply", "sender": "sender", "return-path": "return"}
WORD_HEADERS = {
    "x-mailer": "mailer",
    "user-agent": "mailer",
    "list-id": "list",
    "organization": "organization",
    "x-priority": "priority",
    "importance": "priority",
    "precedence": "precedence",
    "auto-submitted": "auto",
    "content-language": "language",
    "content-type": "type",
    "content-transfer-encoding": "encoding",
}
ENVELOPE = frozenset((
    *ADDRESS_HEADERS.values(), *WORD_HEADERS.values(), "to", "header", "received", "id", "date", "part", "charset",
    "defect", "file", "size", "links", "images", "parts", "recipients", "hour", "known",
))  # fmt: skip
ENVELOPE_BIT = 1 << 63


def token_id(token: str) -> int:
    """64 bits that stand for a token; the highest says that it is the envelope's."""
    number = int.from_bytes(blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") >> 1
    prefix, colon, _ = token.partition(":")
    return number | ENVELOPE_BIT if colon and prefix in ENVELOPE else number


def tokens(message: Message, numbers: Sequence[float] | None = None) -> Counter[str]:
    """Every token of a message and how often it stands there; who has its measures already may hand them in."""
    found: list[str] = []
    for text in message.texts:
        found += text_tokens(text)
    found += ["subject:" + word for word in text_tokens(message.header("subject"))]
    for text in message.hidden:
        found += ["hidden:" + word for word in words(text.lower())]
    for link in links(message):
        found += link_tokens(link)
    found += header_tokens(message)
    found += structure_tokens(message)
    found += [
        f"{name}:{bucket(name, value)}" for name, value in zip(MEASURES, numbers or measures(message), strict=True)
    ]
    return Counter(found)


def sender(message: Message) -> str:
    """The address in From, or an empty text."""
    value = message.header("from").lower()
    found = ADDRESS.search(value.rpartition("<")[2]) or ADDRESS.search(value)  # a name may look like an address
    return found[0] if found else ""


def known_token(contact: bool, ham_sender: bool) -> str:
    """Whether the user has the sender in the address book, or has had ham from that address."""
    return "known:contact" if contact else "known:ham" if ham_sender else "known:no"


def words(lower: str) -> list[str]:
    """The words of a lower-case text; runs of letters without spaces as pairs."""
    runs = [] if lower.isascii() else CJK.findall(lower)
    if runs:
        lower = CJK.sub(" ", lower)
    is_ascii = lower.isascii()
    found = (ASCII_WORD if is_ascii else WORD).findall(lower)
    if max(map(len, found), default=0) > LONGEST_WORD:
        found = [word if len(word) <= LONGEST_WORD else f"long:{word[0]}{len(word) // 10}" for word in found]
    if not is_ascii and MIXED.search(lower):
        found = [*plain_words(found), "odd:lookalike"]
    for run in runs:
        found += map("".join, pairwise(run)) if len(run) > 1 else [run]
    return found


def text_tokens(text: str) -> list[str]:
    """Words, the patterns that shout, and the tricks that hide words."""
    marks: list[str] = []
    if not text.isascii():
        text, marks = unmasked(text)
    lower = text.lower()
    found = words(lower) + marks
    if split := rejoined(lower):
        found += split
        found.append("odd:split")
    for pattern, marks_of_it in ((SIGNED_MONEY, SIGNS), (NAMED_MONEY, NAMES)):
        if any(mark in lower for mark in marks_of_it):
            found += [f"money:{len(amount)}" for amount in pattern.findall(lower)]
    found += ["run:" + sign for sign in PUNCTUATION_RUN.findall(text)]
    return found


def links(message: Message) -> list[str]:
    """Addresses that the message links to, shown or behind the markup."""
    found = [link for link in message.links if "://" in link]
    for text in message.texts:
        if "://" in text or "www." in text or "WWW." in text:
            found += URL.findall(text)
    return found[:MOST_LINKS]


def link_tokens(link: str) -> list[str]:
    """The host, its parents, and the words of the path."""
    rest = link.lower().partition("://")[2] or link.lower()
    authority = AUTHORITY.match(rest)[0]  # type: ignore[index]
    path = rest[len(authority) + 1 :]
    _, at, host = authority.rpartition("@")
    found = ["url:" + parent for parent in parents(host)]
    if at:
        found.append("url:@")
    if ":" in host:
        found.append("url:port")
    return found + ["path:" + word for word in NAME.findall(path[:200])[:10] if len(word) <= LONGEST_WORD]


@lru_cache(1 << 16)
def parents(host: str) -> list[str]:
    """a.b.example ─▶ a.b.example, b.example, example; an address of numbers ─▶ its networks."""
    host = (NAME.findall(host) or ["none"])[0]
    labels = host.strip(".").split(".")[-5:]
    if labels[-1].isdigit():
        return ["numeric", *(".".join(labels[:count]) for count in range(2, len(labels) + 1))]
    return [".".join(labels[start:]) for start in range(len(labels))]


def header_tokens(message: Message) -> list[str]:
    """Who sent it, to whom, which way it came and with what."""
    found: list[str] = []
    hops = 0
    for name, value in message.headers:
        found.append("header:" + name)
        if name in ADDRESS_HEADERS:
            found += address_tokens(ADDRESS_HEADERS[name], value)
        elif name in WORD_HEADERS:
            found += [f"{WORD_HEADERS[name]}:{word}" for word in NAME.findall(value.lower())[:12]]
        elif name in ("to", "cc"):
            found += ["to:" + address for address in ADDRESS.findall(value.lower())[:5]]
        elif name == "received" and hops < MOST_HOPS:
            hops += 1
            found += hop_tokens(value)
        elif name == "message-id":
            found += ["id:" + parent for parent in parents(value.rpartition("@")[2].strip("<> ").lower())]
        elif name == "date":
            found += [f"date:{zone or 'none'}" for _, zone in CLOCK.findall(value)[:1]]
    return found


def address_tokens(prefix: str, value: str) -> list[str]:
    """Words of the name, the address, its domain and the domain's parents."""
    value = value.lower()
    found = []
    for address in ADDRESS.findall(value)[:3]:
        found += [f"{prefix}:{address}", *(f"{prefix}:@{parent}" for parent in parents(address.rpartition("@")[2]))]
    name = ADDRESS.sub(" ", value)
    return found + [f"{prefix}:{word}" for word in NAME.findall(name)[:8]] or [f"{prefix}:none"]


def hop_tokens(value: str) -> list[str]:
    """Hosts and networks that a Received header names."""
    found = []
    for host, network in HOP.findall(value):
        if network:
            found += ["received:" + network, "received:" + network.rpartition(".")[0]]
        else:
            found += ["received:" + parent for parent in parents(host.lower())[-3:]]
    return found


def structure_tokens(message: Message) -> list[str]:
    """What the message is made of."""
    found = ["part:" + "/".join(NAME.findall(kind)[:2]) for kind in message.types]
    found += ["charset:" + "".join(NAME.findall(charset)[:1]) for charset in message.charsets]
    found += ["defect:" + defect for defect in message.defects]
    for name in message.attachments:
        found += ["file:" + word for word in NAME.findall(name.lower())[:5]]
        found.append("file:." + "".join(NAME.findall(name.lower().rpartition(".")[2][:10])[:1]))
    return found


def measures(message: Message) -> tuple[float, ...]:
    """The numbers named in MEASURES."""
    text = " ".join(message.texts)
    letters = text.encode("ascii", "ignore")
    length = len(text) or 1
    recipients = sum(value.count("@") for name, value in message.headers if name in ("to", "cc"))
    clock = CLOCK.search(message.header("date"))
    return (
        float(message.size),
        float(text.count(" ")),
        100.0 * (len(letters) - len(letters.translate(None, CAPITALS))) / length,
        100.0 * (len(letters) - len(letters.translate(None, DIGITS))) / length,
        float(len(message.links)),
        float(message.images),
        float(len(message.types)),
        float(recipients),
        float(clock[1]) if clock else -1.0,
    )


def bucket(name: str, value: float) -> int:
    """Which power of two a measure lies below; of the day, which sixth."""
    return int(value // 4) if name == "hour" else int(value + 1).bit_length()
