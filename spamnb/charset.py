"""Bytes of a text ─▶ str, whatever charset it names, names wrongly or does not name."""

from __future__ import annotations

import re

# What mail calls a charset ─▶ the widest codec that reads it.
CODECS = {
    "gb2312": "gb18030",
    "gb_2312-80": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "cp936": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "sjis": "cp932",
    "iso-2022-jp": "iso2022_jp_ext",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601": "cp949",
    "iso-8859-1": "windows-1252",
    "iso8859-1": "windows-1252",
    "latin1": "windows-1252",
    "latin-1": "windows-1252",
    "iso-8859-8-i": "iso-8859-8",
    "utf8": "utf-8",
}
# Families worth asking Python for. Others are no charsets of mail, and some of Python's (punycode) are slow.
KNOWN = re.compile(r"(?:utf[-_]?(?:7|8|16|32)|iso|windows|cp\d|koi8|gb|big5|euc|hz|mac|tis|johab|ibm)[\w.-]{0,20}\Z")
ASCII_BYTES = bytes(range(128))
ESCAPES = (b"\x1b$", b"\x1b(")  # iso-2022-jp and its kin are ASCII to the eye
SAMPLE = 8192  # bytes that a guess looks at
LATIN = "windows-1252"
CYRILLIC = (("koi8-r", bytes(range(0xC0, 0xE0))), ("windows-1251", bytes(range(0xE0, 0x100))))
SHIFTED = (  # charsets whose second byte may be ASCII, each with a pattern that is common in it alone
    ("cp932", re.compile(rb"\x82[\x9f-\xf1]|\x83[\x40-\x96]")),
    ("big5hkscs", re.compile(rb"[\xa4-\xc6][\x40-\x7e](?=[\xa1-\xc6]|[^a-z])")),
)


def decode(raw: bytes, declared: str = "") -> tuple[str, bool]:
    """The text, and whether the declared charset (or ASCII, when none is declared) fitted."""
    name = declared.strip("\"' ").lower()
    if raw.isascii() and not name.startswith(("utf-7", "utf-16", "utf-32", "hz", "iso-2022")):
        if b"\x1b" not in raw or not any(escape in raw for escape in ESCAPES):
            return raw.decode("ascii"), True
        return raw.decode("iso2022_jp_ext", "replace"), False
    codec = CODECS.get(name, name)
    if not KNOWN.match(codec):
        return guessed(raw), not name
    if codec == LATIN and (mostly_high(raw) or is_utf8(raw)):  # the label of programs that do not know
        return guessed(raw), False
    try:
        text = raw.decode(codec, "replace")
    except (LookupError, UnicodeError):  # no such codec, or one that cannot replace
        return guessed(raw), False
    wrong = text[:-1].count("�")  # the last one may only be cut off
    if wrong > 1 and 20 * wrong > len(text) - len(text.encode("ascii", "ignore")):
        return guessed(raw), False
    return text, wrong == 0


def guessed(raw: bytes) -> str:
    """The text in the most likely charset."""
    return raw.decode(guess(raw), "replace")


def guess(raw: bytes) -> str:
    """The codec of bytes that name none: UTF-8 if it is, else what the pattern of high bytes says."""
    if is_utf8(raw):
        return "utf-8"
    sample = raw[:SAMPLE]
    runs = re.findall(rb"[\x80-\xff]+", sample)
    if not runs:
        return LATIN
    high = b"".join(runs)
    if len(high) >= 2.5 * len(runs):  # whole words of high bytes, not single accented letters
        for codec, small_letters in CYRILLIC:
            if len(high.translate(None, small_letters)) < 0.25 * len(high):
                return codec
    for codec, mark in SHIFTED:
        if 4 * len(re.findall(mark, sample)) > len(runs) and fits(sample, codec):
            return codec
    paired = 3 * sum(len(run) & 1 for run in runs) < len(runs) and 4 * len(high) > len(sample)
    if paired or len(high) >= 3 * len(runs):
        return guess_euc(b"".join(run[: len(run) & ~1] for run in runs))
    return LATIN


def guess_euc(high: bytes) -> str:
    """Chinese, Korean or Japanese, by the rows of the table that the lead bytes fall in."""
    leads = high[::2]
    kana = leads.count(0xA4) + leads.count(0xA5)
    if 3 * kana > len(leads):
        return "euc_jp"
    letters = len(re.findall(rb"[\xb0-\xf7]", leads)) or 1
    hangul = len(re.findall(rb"[\xb0-\xc8]", leads))  # Chinese puts some 40 % of its text above row 0xC8
    return "cp949" if hangul > 0.93 * letters and letters > 4 else "gb18030"


def is_utf8(raw: bytes) -> bool:
    """UTF-8 throughout, but for a character cut off at the end."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and not raw[: error.start].isascii()
    return True


def fits(sample: bytes, codec: str) -> bool:
    """Whether hardly a character of the sample is outside the codec."""
    return 50 * sample.decode(codec, "replace").count("�") <= len(sample)


def mostly_high(raw: bytes) -> bool:
    """More high bytes than any Latin text has: a label of Latin-1 that nobody set on purpose."""
    return 2 * len(raw.translate(None, ASCII_BYTES)) > len(raw)
