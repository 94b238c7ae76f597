"""HTML gives the text a reader sees, the text hidden from him, its links and its images, in linear time."""

import re

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from spamnb.markup import HIDING, LINK, read_html


def visible(html: str) -> str:
    return " ".join(read_html(html).visible.split())


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one two"),
        ("one<br>two<BR/>three", "one two three"),
        ("<td>one</td><td>two</td>", "one two"),
        ("V<b>ia</b>gr<span class=x>a</span>", "Viagra"),
        ("Vi<!-- cheese -->agra", "Viagra"),
        ("<!-->shown<!--->too<!-- not -->", "showntoo"),
        ("<!--[if mso]>Outlook<![endif]-->others", "others"),
        ("<!--[if !mso]><!-->others<!--<![endif]-->", "others"),
        ("<style>p {color: red}</style>text", "text"),
        ("<SCRIPT type=x>if (a<b) alert('<p>')</SCRIPT >text", "text"),
        ("text<style>never closed", "text"),
        ("text<!-- never closed", "text"),
        ("<p class='a\nb'>text</p\n>", "text"),
        ("<!DOCTYPE html><?xml version='1'?>text", "text"),
        ("fish &amp; chips &lt;3 &#8364;5 &#x20AC;5 caf&eacute; a&nbsp;b", "fish & chips <3 €5 €5 café a b"),
        ("&#00000000000065;&#x000041;", "AA"),
        ("1 < 2 and <3", "1 < 2 and <3"),
        ("AT&T &unknown; &", "AT&T &unknown; &"),
        ("<title>Invoice</title><body>Pay", "Invoice Pay"),
        ("text <a href=", "text"),
    ],
)
def test_the_visible_text_is_what_a_reader_sees(html, text):
    assert visible(html) == text


@pytest.mark.parametrize("digits", [8, 5_000])
@pytest.mark.parametrize(("digit", "shown"), [("9", "�"), ("0", "�")])
def test_a_character_number_of_any_length_is_read(digits, digit, shown):
    assert visible(f"a &#{digit * digits}; b").startswith(f"a {shown}")


@pytest.mark.parametrize(
    "html",
    [
        "<div style='display:none'>secret</div>open",
        "<div style='DISPLAY : None'>secret</div>open",
        "<span style='visibility:hidden'>secret</span>open",
        "<span style='font-size:0'>secret</span>open",
        "<span style='font-size: 0px; color: red'>secret</span>open",
        "<span style='font-size:1px'>secret</span>open",
        "<div style='display:none'><div>secret</div></div>open",
        "<div style='display:none;font-size:0'><p style='font-size:12px'>secret</p></div>open",
        "<img style='display:none'>open<p style='display:none'>secret",
    ],
)
def test_hidden_text_stands_apart(html):
    markup = read_html(html)
    assert (markup.visible.split(), markup.hidden.split()) == (["open"], ["secret"])


@pytest.mark.parametrize(
    "html",
    [
        "<div style='font-size:1em'>open</div>",
        "<div style='font-size:100%'>open</div>",
        "<div style='font-size:0.9em'>open</div>",
        "<div style='font-size:10px'>open</div>",
        "<td style='font-size:0px'><div style='font-size:13px'>open</div></td>",
        "<style>.preheader {display:none}</style>open",
        "<img style='display:none'>open",
    ],
)
def test_what_only_looks_hidden_is_shown(html):
    markup = read_html(html)
    assert (markup.visible.split(), markup.hidden.split()) == (["open"], [])


@pytest.mark.parametrize(
    ("html", "links"),
    [
        ('<a href="http://a.example/x">', ["http://a.example/x"]),
        ("<a HREF='http://a.example/x'>", ["http://a.example/x"]),
        ("<a href = http://a.example/x>", ["http://a.example/x"]),
        ("<a href='http://a.example/?a=1&amp;b=2'>", ["http://a.example/?a=1&b=2"]),
        ("<img src=cid:1><form action=/go><body background='b.gif'>", ["cid:1", "/go", "b.gif"]),
        ("<div style='display:none'><a href='http://h.example'>x</a></div>", ["http://h.example"]),
        ("<!-- <a href='http://a.example'> -->", []),
    ],
)
def test_links_are_kept(html, links):
    assert read_html(html).links == links


@pytest.mark.parametrize(
    ("html", "images"),
    [("<img src=x><IMG/><p>", 2), ("<img", 1), ("<imgs><image><img1><imgſ></img>img", 0), ("<!-- <img> --><img>", 1)],
)
def test_images_are_counted(html, images):
    assert read_html(html).images == images


PIECES = ["<", ">", "<!--", "-->", "<p", "<div style='display:none'>", "</div>", "<td style=font-size:0>", "<style>"]
PIECES += ["</style", "<script", "&#", "&#x", "9" * 4_400, "&amp;", "href=", "'", '"', "/", " ", "\n", "a", "é", "\0"]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_a_word_behind_any_broken_markup_is_never_lost_but_to_a_tag_or_comment(html):
    closed = html + "-->'\"></style></script><p>needle</p>"
    markup = read_html(closed)
    assert "needle" in markup.visible + markup.hidden


ATTRIBUTES = [
    "href",
    "HREF",
    "ſrc",
    "src",
    "action",
    "bac\u212aground",
    "Background",
    "=",
    " =",
    "=  ",
    "    ",
    "_",
    "x",
]
ATTRIBUTES += [
    "'",
    '"',
    ">",
    "display",
    "dıſplay",
    "Visibility",
    "font-size",
    ":",
    ": ",
    "none",
    "HIDDEN",
    "0",
    "1px",
    "%",
]
PLAIN_LINK = re.compile(r"\b(?:href|src|action|background)\s{0,3}=\s{0,3}[\"']?([^\"'\s<>]+)", re.I)
PLAIN_HIDING = re.compile(
    r"(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden"
    r"|font-size\s{0,3}:\s{0,3}(?:0(?:px|pt|r?em|%)?|1(?:px|pt)?)(?![\w.%]))",
    re.I,
)


@given(st.lists(st.sampled_from(ATTRIBUTES), max_size=20).map("".join))
def test_the_quick_patterns_find_what_plain_ones_find(html):
    assert LINK.findall(html) == PLAIN_LINK.findall(html)
    assert bool(HIDING.search(html)) == bool(PLAIN_HIDING.search(html))


REPEATED = [
    "<",
    "<!--",
    "<!-->",
    "d =",
    "href = ",
    ": ",
    "<a ",
    "<a",
    "</",
    "<p style=display:none>",
    "<p style=font-size:0><p style=font-size:9>",
]
REPEATED += [
    "<style",
    "<style></style",
    "href=",
    "href= ",
    "href",
    "&#",
    "&#1",
    "&",
    "1",
    "display:",
    "font-size:0",
    "-",
]


@pytest.mark.parametrize("repeated", [*REPEATED, " "])
def test_reading_is_linear(repeated):
    assert_linear(read_html, repeated, 500_000)
    assert_linear(read_html, "<a x=&#" + repeated, 500_000)


@pytest.mark.parametrize(
    "opening", ["<a ", "<!--", "<style>", "<p style='display:none'>", "&#", "<p style='font-size:0'>"]
)
def test_one_endless_element_is_read_in_linear_time(opening):
    assert_linear(lambda text: read_html(opening + text), "1 ", 500_000)
    assert_linear(lambda text: read_html(opening + text), "1", 500_000)
