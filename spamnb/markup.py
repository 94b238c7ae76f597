"""HTML ─▶ the text a reader sees, the text hidden from him, the links, the images. Linear in its length."""

from __future__ import annotations

import re

# Every pattern either stops at the next '<' or swallows the rest: none can be made to scan the text twice.
UNSEEN = re.compile(r"<!--(?:-?>|.*?(?:-->|\Z))|<(style|script)\b.*?(?:</\1[^<>]*>?|\Z)", re.I | re.S)
TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)([^<>]*)>?", re.I)
IMAGE = re.compile(r"<[iI][mM][gG](?!(?i:[a-z0-9]))")
INLINE_TAG = re.compile(
    r"</?(?=[abcefilmostuw])(?:a(?:bbr)?|b(?:do|ig)?|code|em|font|i(?:ns)?|label|mark|o:p"
    r"|s(?:mall|pan|trike|trong|u[bp])?|tt|u|wbr)\b[^<>]*>",
    re.I,
)
ANY_TAG = re.compile(r"<[/!?a-z][^<>]*>?", re.I)
# A search is quick if it can skip to a few letters, in both cases: here the last of a name, and the first.
LINK = re.compile(
    r"[fcndFCND](?=[\s=])(?i:(?<=\bhref)|(?<=\bsrc)|(?<=\baction)|(?<=\bbackground))"
    r"\s{0,3}=\s{0,3}[\"']?([^\"'\s<>]+)"
)
GONE = r"(?<=[dD])isplay\s{0,3}:\s{0,3}none|(?<=[vV])isibility\s{0,3}:\s{0,3}hidden"
TINY = r"(?<=[fF])ont-size\s{0,3}:\s{0,3}(?:0(?:px|pt|r?em|%)?|1(?:px|pt)?)(?![\w.%])"
HIDING = re.compile(rf"[dvfDVF](?i:{GONE}|{TINY})")
HIDING_FOR_GOOD = re.compile(rf"[dvDV](?i:{GONE})")
HIDING_VALUE = re.compile(r":\s{0,3}(?:none|hidden|[01])", re.I)  # quick to look for: few colons stand in a text
SHOWING = re.compile(rf"f(?!{TINY})ont-size\s{{0,3}}:\s{{0,3}}\d", re.I)  # cells of a layout of size 0 show their text
LONG_NUMBER = re.compile(r"&#(?=\d{8})0*+(\d*+)")  # Python refuses to read numbers of 5,000 digits
ENTITY = re.compile(r"&(?:#\d|#x[\da-f]|[a-z])", re.I)
VOID_TAGS = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"))


class Markup:
    """What an HTML part shows, hides and links to."""

    __slots__ = ("hidden", "images", "links", "visible")

    def __init__(self, visible: str, hidden: str, links: list[str], images: int) -> None:
        self.visible = visible
        self.hidden = hidden
        self.links = links
        self.images = images


def read_html(html: str) -> Markup:
    """Take an HTML text apart."""
    html = UNSEEN.sub("", html)
    images = len(IMAGE.findall(html))
    links = [unescaped(link) for link in LINK.findall(html)]
    shown, hidden = split_hidden(html) if HIDING_VALUE.search(html) and HIDING.search(html) else (html, "")
    return Markup(plain(shown), plain(hidden), links, images)


def plain(html: str) -> str:
    """Text without tags; those that a word may run through leave no gap."""
    return unescaped(ANY_TAG.sub(" ", INLINE_TAG.sub("", html)))


def unescaped(text: str) -> str:
    """Character references resolved."""
    if "&" not in text:
        return text
    text = text.replace("&nbsp;", " ")
    if not ENTITY.search(text):
        return text
    from html import unescape

    return unescape(LONG_NUMBER.sub(lambda number: "�" if len(number[1]) > 7 else f"&#{number[1] or 0}", text))


def split_hidden(html: str) -> tuple[str, str]:
    """The HTML outside and inside of elements that a style hides."""
    pieces: tuple[list[str], list[str]] = ([], [])
    hiding, depth, start = "", 0, 0  # the hidden element we are in, how many of its name are open, where it began
    by_size = False
    for tag in TAG.finditer(html):
        name = tag[2].lower()
        if hiding:
            if name == hiding:
                depth += -1 if tag[1] else 1
            if depth == 0 or (by_size and not tag[1] and SHOWING.search(tag[3])):
                pieces[1].append(html[start : tag.start()])
                hiding, start = "", tag.start()
        elif not tag[1] and name not in VOID_TAGS and HIDING.search(tag[3]):
            pieces[0].append(html[start : tag.start()])
            hiding, depth, start = name, 1, tag.end()
            by_size = not HIDING_FOR_GOOD.search(tag[3])
    pieces[1 if hiding else 0].append(html[start:])
    return " ".join(pieces[0]), " ".join(pieces[1])
