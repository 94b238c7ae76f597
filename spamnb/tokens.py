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

from .message import Message

LONGEST_WORD = 30  # longer is base64 debris, or a language without spaces, which pairs of letters serve better
MOST_LINKS = 200  # a page with more tells nothing new
MOST_HOPS = 6  # Received headers read, the newest first

ASCII_WORD = re.compile(r"[$\w]\w*+(?:['.@-]++\w++)*+[!%]?", re.A)  # scripts.py has one for all the others
URL = re.compile(r"[hfwHFW](?i:(?<=h)ttps?://|(?<=f)tp://|(?<=w)ww\.)[^\s<>\"')\]]{1,300}")
ADDRESS = re.compile(r"[\w.+=-]{1,80}@[\w.-]{1,120}")
AUTHORITY = re.compile(r"[^/?#\\]*")
NAME = re.compile(r"[\w.-]+")
# Amounts of money, by the sign before them or the name behind; looked for only where such a sign or name is.
SIGNED_MONEY = re.compile(r"[$€£¥]\s?\d[\d.,]{0,15}")
NAMED_MONEY = re.compile(r"\d[\d.,]{0,15}\s?(?:usd|eur|gbp|dollars|euros?)\b")
PUNCTUATION_RUN = re.compile(r"([!?$*#=~_.+-])\1{2}")
PUNCTUATION = bytes(120 if chr(byte) in "!?$*#=~_.+-" else 32 for byte in range(256))  # x for each of its signs
# Letters (those beyond Latin-1 are question marks) as a, separators as a full stop: shows words that may be split.
SKELETON = bytes(
    97 if chr(byte).isalpha() or chr(byte) == "?" else 46 if chr(byte) in " .*_-" else 32 for byte in range(256)
)
CAPITALS, DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789"
HOP = re.compile(r"[fb\[](?:(?:(?<=\bf)rom|(?<=\bb)y)\s+([\w.-]{1,120})|(?<=\[)(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}\])")
CLOCK = re.compile(r"(\d\d):\d\d(?::\d\d)?\s*([+-]\d{4}|[A-Z]{3,4})?")

MEASURES = ("size", "words", "capitals", "digits", "links", "images", "parts", "recipients", "hour")
LARGEST_POWER = 64
SIZE_TOKENS = [[f"{name}:{power}" for power in range(LARGEST_POWER)] for name in MEASURES[:-1]]
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
OFTEN_THE_SAME = frozenset((*ADDRESS_HEADERS, *WORD_HEADERS, "to", "cc"))
LONGEST_REMEMBERED = 300  # characters of a value whose tokens are kept for the next message
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
    found += measure_tokens(numbers or measures(message))
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
    if lower.isascii():
        return shortened(ASCII_WORD.findall(lower))
    from .disguise import is_mixed, plain_words
    from .scripts import WORD, unspaced

    lower, pairs = unspaced(lower)
    found = shortened((ASCII_WORD if lower.isascii() else WORD).findall(lower))
    if is_mixed(lower):
        found = [*plain_words(found), "odd:lookalike"]
    return found + pairs


def shortened(found: list[str]) -> list[str]:
    """Words, those that are too long by their first letter and length."""
    if max(map(len, found), default=0) <= LONGEST_WORD:
        return found
    return [word if len(word) <= LONGEST_WORD else f"long:{word[0]}{len(word) // 10}" for word in found]


def text_tokens(text: str) -> list[str]:
    """Words, the patterns that shout, and the tricks that hide words."""
    marks: list[str] = []
    if not text.isascii():
        from .disguise import unmasked

        text, marks = unmasked(text)
    lower = text.lower()
    found = words(lower) + marks
    if b"a.a.a.a" in lower.encode("latin-1", "replace").translate(SKELETON):
        from .disguise import rejoined

        if split := rejoined(lower):
            found += [*split, "odd:split"]
    found += [f"money:{len(amount)}" for amount in money(lower)]
    if b"xxx" in lower.encode("utf-8", "surrogatepass").translate(PUNCTUATION):
        found += ["run:" + sign for sign in PUNCTUATION_RUN.findall(lower)]
    return found


def money(lower: str) -> list[str]:
    """Amounts of money in a lower-case text."""
    found: list[str] = []
    if "$" in lower or (not lower.isascii() and ("€" in lower or "£" in lower or "¥" in lower)):
        found += SIGNED_MONEY.findall(lower)
    if " usd" in lower or " eur" in lower or " gbp" in lower or "dollar" in lower:
        found += NAMED_MONEY.findall(lower)
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
        if name in OFTEN_THE_SAME:
            found += remembered_tokens(name, value) if len(value) <= LONGEST_REMEMBERED else value_tokens(name, value)
        elif name == "received" and hops < MOST_HOPS:
            hops += 1
            found += hop_tokens(value)
        elif name == "message-id":
            found += ["id:" + parent for parent in parents(value.rpartition("@")[2].strip("<> ").lower())]
        elif name == "date":
            found += [f"date:{zone or 'none'}" for _, zone in CLOCK.findall(value)[:1]]
    return found


def value_tokens(name: str, value: str) -> list[str]:
    """What stands in a header whose value many messages share."""
    value = value.lower()
    if name in ADDRESS_HEADERS:
        return address_tokens(ADDRESS_HEADERS[name], value)
    if name in WORD_HEADERS:
        return [f"{WORD_HEADERS[name]}:{word}" for word in NAME.findall(value)[:12]]
    return ["to:" + address for address in ADDRESS.findall(value)[:5]]


remembered_tokens = lru_cache(1 << 12)(value_tokens)


def address_tokens(prefix: str, value: str) -> list[str]:
    """Words of the name, the address, its domain and the domain's parents."""
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
            found += hop_host_tokens(host)
    return found


@lru_cache(1 << 14)
def hop_host_tokens(host: str) -> list[str]:
    """The last parents of a host that mail came through."""
    return ["received:" + parent for parent in parents(host.lower())[-3:]]


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
    letters = text.encode("utf-8", "surrogatepass")
    length = len(text) or 1
    recipients = sum([value.count("@") for name, value in message.headers if name in ("to", "cc")])
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


def measure_tokens(numbers: Sequence[float]) -> list[str]:
    """Each measure as a token: which power of two it lies below; of the day, which sixth."""
    *sizes, hour = numbers
    found = [names[int(value + 1).bit_length()] for names, value in zip(SIZE_TOKENS, sizes, strict=True)]
    return [*found, f"hour:{int(hour // 4)}"]
