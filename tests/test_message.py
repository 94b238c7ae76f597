"""Any bytes are a message: what it says is found, what is damaged is named, what names it is stable."""

import base64
import quopri
import re
from email.header import Header

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from spamnb.decoding import decode_words, header_text, header_texts, parameters
from spamnb.message import LONGEST_TEXT, digest, parse
from spamnb.original import LONG_HEAD, MOST_HEADERS
from spamnb.tokens import measures, tokens

HEAD = b"From: a@a.example\nSubject: lunch\n"
TEXT = "Grüße, 您好, the papers lie on the table in the hall"


def part(content_type: str, body: bytes, *headers: str) -> bytes:
    return "\n".join([f"Content-Type: {content_type}", *headers, "", ""]).encode() + body


def multipart(*parts: bytes, boundary: str = "b", kind: str = "mixed") -> bytes:
    """A closed container of these parts, with a preamble and an epilogue that nobody sees."""
    line = f"--{boundary}".encode()
    body = b"\n".join([b"preamble", *(line + b"\n" + part for part in parts), line + b"--", b"epilogue"])
    return part(f'multipart/{kind}; boundary="{boundary}"', body)


def text(raw: bytes) -> str:
    return " ".join(" ".join(parse(raw).texts).split())


# Transfer encodings and charsets


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("8bit", bytes),
        ("BASE64", base64.encodebytes),
        (" base64 ", base64.b64encode),
        ("base64", lambda raw: base64.b64encode(raw).rstrip(b"=")),
        ("base64", lambda raw: b"".join(base64.encodebytes(raw[at : at + 4]) for at in range(0, len(raw), 4))),
        ("base64", lambda raw: re.sub(rb"(...)", rb"\1\n", base64.b64encode(raw))),
        (
            "base64",
            lambda raw: base64.encodebytes(raw).rstrip(b"=\n") + b"\n\n_____\nThe list's footer, in plain text\n",
        ),
        ("quoted-printable", quopri.encodestring),
        ("Quoted-Printable", lambda raw: quopri.encodestring(raw).replace(b"=", b"=\n=", 1)),
    ],
)
@pytest.mark.parametrize("charset", ["utf-8", "gb18030", "utf-16"])
def test_every_transfer_encoding_gives_the_text(encoding, encode, charset):
    if encoding == "8bit" and charset == "utf-16":
        charset = "utf-8"  # line ends of bare UTF-16 are nobody's line ends
    raw = part(f"text/plain; charset={charset}", encode(TEXT.encode(charset)), f"Content-Transfer-Encoding: {encoding}")
    message = parse(raw)
    assert (message.texts[0].strip(), message.charsets, message.defects) == (TEXT, [charset], [])


@pytest.mark.parametrize("declared", ['"windows-1251"', "windows-1251", "Windows-1251; format=flowed", "x-wrong", None])
def test_a_part_is_read_in_its_charset_or_a_guessed_one(declared):
    russian = "Добрый день, посылаем вам документы"
    raw = part("text/plain" + (f"; charset={declared}" if declared else ""), russian.encode("windows-1251"))
    assert text(raw) == russian
    assert ("charset" in parse(raw).defects) == (declared == "x-wrong")


def test_a_long_text_is_cut_without_a_defect():
    message = parse(part("text/plain; charset=utf-8", ("a" + "ü" * LONGEST_TEXT).encode()))
    assert (len(message.texts[0]) <= LONGEST_TEXT, message.defects) == (True, [])


# Header values


@pytest.mark.parametrize(
    ("value", "decoded"),
    [
        ("=?utf-8?B?R3LDvMOfZQ==?=", "Grüße"),
        ("=?UTF-8?q?Gr=C3=BC=C3=9Fe_an_alle?=", "Grüße an alle"),
        ("=?iso-8859-1*de?Q?Gr=FC=DFe?=", "Grüße"),
        ("Re: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= (2)", "Re: Grüße (2)"),
        ("=?utf-8?Q?Gr=C3=BC?= =?utf-8?Q?=C3=9Fe?=", "Grüße"),
        ("=?utf-8?Q?Gr=C3?=\n =?utf-8?Q?=BC=C3=9Fe?=", "Grüße"),
        ("=?utf-8?B?R3LD?=\t=?utf-8?B?vMOfZQ==?=", "Grüße"),
        ("=?utf-8?Q?Gr=C3=BC?= =?iso-8859-1?Q?=DFe?=", "Grüße"),
        ("=?utf-8?Q?a?= =?utf-8?B?Yg==?=", "ab"),
        ("=?utf-8?Q?a?==?utf-8?Q?b?=", "ab"),
        ("=?utf-8?Q?a?= b =?utf-8?Q?c?=", "a b c"),
        ("=?iso-2022-jp?B?GyRCJDMkcxsoQg==?=", "こん"),
        ("=?gb2312?B?xOO6ww==?=", "你好"),
        ("=?koi8-r?Q?=F0=D2=C9=D7=C5=D4?=", "Привет"),
        ("=?x-wrong?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("=?utf-8?Q?a=0Ab?=", "a b"),
        ("=?utf-8?Q?not closed", "=?utf-8?Q?not closed"),
        ("=?utf-8?X?abc?=", "=?utf-8?X?abc?="),
        ("=?utf-8?B?not, at all, base64!?=", "not, at all, base64!"),
        ("=?utf-8?B??=", ""),
        ("what?= =?really", "what?==?really"),
        ("folded\n\tvalue", "folded\tvalue"),
    ],
)
def test_a_header_value_is_decoded(value, decoded):
    assert header_text(value.encode()) == decoded


@pytest.mark.parametrize("codec", ["utf-8", "latin-1", "windows-1252"])
def test_a_raw_header_value_is_guessed(codec):
    assert header_text("José Müller".encode(codec)) == "José Müller"


@given(st.text(alphabet=st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=60))
def test_what_the_standard_library_encodes_is_decoded(words):
    encoded = Header(words, "utf-8", maxlinelen=40).encode()
    assert header_text(encoded.encode()) == words


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("x; name=a.pdf", "a.pdf"),
        ('x; NAME="a b.pdf"', "a b.pdf"),
        ('x; name="a b.pdf', "a b.pdf"),
        ("x; name = a.pdf ; size=3", "a.pdf"),
        ("x;name=a.pdf;name=b.pdf", "a.pdf"),
        ("x; other-name=b.pdf; name=a.pdf", "a.pdf"),
        ("x; name*=utf-8'de'Gr%C3%BC%C3%9Fe.pdf", "Grüße.pdf"),
        ("x; name*=iso-8859-1''Gr%FC%DFe.pdf", "Grüße.pdf"),
        ("x; name=plain.pdf; name*=utf-8''Gr%C3%BC%C3%9Fe.pdf", "Grüße.pdf"),
        ("x; name*0=long; name*1=er.pdf", "longer.pdf"),
        ("x; name*1=er.pdf; name*0=long", "longer.pdf"),
        ("x; name*0*=utf-8''Gr%C3; name*1*=%BC%C3%9Fe; name*2=.pdf", "Grüße.pdf"),
        ("x; name*0=\"it's o'clock\"", "it's o'clock"),
        ("x; name*=Gr%C3%BC%C3%9Fe.pdf", "Grüße.pdf"),
        ("x; name*=utf-8''%zz%4", "%zz%4"),
        ("x; name*=utf-8''a%0Ab", "a b"),
        ("x", None),
    ],
)
def test_a_parameter_is_found_and_decoded(value, name):
    assert parameters(value).get("name") == name


# Structure


def test_parts_are_read_in_order_and_only_parts():
    raw = HEAD + multipart(part("text/plain", b"one"), part("image/png", b"two"), part("text/html", b"<p>three"))
    message = parse(raw)
    assert message.types == ["multipart/mixed", "text/plain", "image/png", "text/html"]
    assert (text(raw), message.defects, message.header("subject")) == ("one three", [], "lunch")


@pytest.mark.parametrize("depth", [1, 2, 30, 2_000])
def test_parts_of_any_depth_are_read(depth):
    raw = part("text/plain", b"core")
    for level in range(depth):
        raw = multipart(raw, part("text/plain", b"shell"), boundary=f"b{level}")
    assert text(raw) == "core" + " shell" * depth
    assert parse(raw).defects == []


@pytest.mark.parametrize("boundary", ["b", "=_next(1)", "----=_Part 0.1", "b--", "b'c", "0" * 70])
def test_any_boundary_separates(boundary):
    raw = multipart(part("text/plain", b"one"), part("text/plain", b"--other\ntwo --b"), boundary=boundary)
    assert text(raw) == "one --other two --b"


def test_an_outer_boundary_closes_what_is_open_inside():
    inner = part('multipart/mixed; boundary="i"', b"--i\n\none")
    assert text(multipart(inner, part("text/plain", b"two"))) == "one two"


@pytest.mark.parametrize("kind", ["message/rfc822", "Message/RFC822", "message/global"])
@pytest.mark.parametrize("separator", [b"", b"From b@b.example Mon Jan  5 10:00:00 2026\n"])
def test_an_attached_message_is_read_with_its_subject(kind, separator):
    attached = (
        separator + b"Subject: inner\nX-Spam-Flag: YES\n" + multipart(part("text/html", b"<i>deep"), boundary="i")
    )
    raw = HEAD + multipart(part("text/plain", b"shallow"), part(kind, attached))
    assert text(raw) == "shallow inner deep"
    assert parse(raw).header("subject") == "lunch"


def test_parts_of_a_digest_are_messages():
    raw = multipart(b"\nSubject: inner\n\ndeep", part("text/plain", b"table of contents"), kind="digest")
    assert text(raw) == "inner deep table of contents"


def test_an_attached_message_in_base64_is_a_defect_and_no_words():
    raw = part("message/rfc822", base64.b64encode(HEAD + b"\nhello"), "Content-Transfer-Encoding: base64")
    assert (parse(raw).texts, parse(raw).defects) == ([], ["encoding"])


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        (['Content-Disposition: attachment; filename="a.exe"'], "a.exe"),
        (["Content-Disposition: attachment;", "\tfilename*0*=utf-8''Gr%C3%BC;", "\tfilename*1=n.exe"], "Grün.exe"),
        (['Content-Disposition: attachment; filename="=?utf-8?Q?Gr=C3=BCn?=.exe"'], "Grün.exe"),
        ([], "from-type.exe"),
    ],
)
def test_attachments_are_named(headers, name):
    raw = multipart(part("application/x-exe; name=from-type.exe", b"MZ", *headers))
    assert (parse(raw).attachments, parse(raw).texts) == ([name], [])


@pytest.mark.parametrize("kind", ["text/html", "TEXT/HTML; charset=utf-8", "text/plain"])
def test_html_is_read_as_html_even_where_it_is_called_plain(kind):
    message = parse(part(kind, b"<html><p style='display:none'>no</p><a href='http://a.example'>yes</a><img></html>"))
    assert [field[0].split() for field in (message.texts, message.hidden)] == [["yes"], ["no"]]
    assert (message.links, message.images) == (["http://a.example"], 1)


# Damage


@pytest.mark.parametrize(
    ("raw", "defect", "words"),
    [
        (b"", "empty", ""),
        (b"\n\n\r\n", "empty", ""),
        (b"just a text", "no headers", "just a text"),
        (b"\nbody", "no headers", "body"),
        (b"\0\0\0", "no headers", "\0\0\0"),
        (HEAD + b"no blank line\n\nbody", "no blank line", "no blank line body"),
        (part("text/plain", b"plain words, no code at all", "Content-Transfer-Encoding: base64"), "encoding", None),
        (part("text/plain", b"Buy now, cheap pills", "Content-Transfer-Encoding: base64"), "encoding", None),
        (part("multipart/mixed", b"--b\n\nlost"), "boundary", "--b lost"),
        (part("multipart/mixed; boundary=b", b"never used"), "boundary", "never used"),
        (part("multipart/mixed; boundary=b", b"never used"), "unclosed", "never used"),
        (part("multipart/mixed; boundary=b", b"--b\n\nnot closed"), "unclosed", "not closed"),
        (multipart(multipart(part("text/plain", b"in"))), "boundary", None),
        (
            multipart(part("multipart/mixed; boundary=i", b"unused"), part("text/plain", b"rest")),
            "boundary",
            "unused rest",
        ),
        (part("text/plain; charset=no-such", b"h\xe9"), "charset", "hé"),
        (multipart(part("text/plain", b"a " * LONGEST_TEXT), part("text/plain", b"more")), "long", None),
    ],
)
def test_damage_is_named_and_the_words_are_kept(raw, defect, words):
    message = parse(raw)
    assert defect in message.defects
    assert tokens(message)[f"defect:{defect}"] == 1
    assert words is None or text(raw) == words


def test_a_label_of_base64_on_plain_text_keeps_the_text():
    assert (
        text(part("text/plain", b"Buy now, cheap pills", "Content-Transfer-Encoding: base64")) == "Buy now, cheap pills"
    )


def test_base64_that_breaks_off_gives_what_came_through():
    encoded = base64.b64encode(b"cheap pills for all of you")
    cut = [part("text/plain", encoded[:end], "Content-Transfer-Encoding: base64") for end in (12, 13, 14, 15)]
    assert list(map(text, cut)) == ["cheap pil", "cheap pil", "cheap pill", "cheap pills"]


def test_a_sound_message_has_no_defects():
    raw = HEAD + multipart(part("text/plain", b"a"), multipart(part("text/html", b"b"), boundary="i"))
    assert parse(raw).defects == []


def test_50_000_nested_parts_are_read():
    raw = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level) for level in range(50_000)
    )
    message = parse(raw + b"\ncore")
    assert (len(message.types), message.texts, message.defects) == (50_001, ["core"], ["unclosed"])


def test_20_000_parts_without_blank_lines_are_read():
    message = parse(part("multipart/mixed; boundary=b", b"--b\nContent-Type: text/plain\nx\n" * 20_000))
    assert (len(message.types), message.defects.count("no blank line")) == (20_001, 20_000)


def test_100_000_headers_are_read_up_to_a_limit():
    message = parse(b"".join(b"X-%d: a\n" % number for number in range(100_000)) + b"\nbody")
    assert (len(message.headers), message.texts) == (MOST_HEADERS, ["body"])


@pytest.mark.parametrize("size", [MOST_HEADERS + 1, LONG_HEAD])
def test_a_digest_is_of_all_headers_however_many(size):
    raw = b"".join(b"X-%d: a\n" % number for number in range(size))
    assert digest(raw + b"Last: a\n\nbody") != digest(raw + b"Last: b\n\nbody")
    assert digest(raw + b"Last: a\nX-Spam: b\n\nbody") == digest(raw + b"Last: a\n\nbody")


VALUES = [
    b"",
    b" plain",
    b"\n fold",
    b" =?utf-8?q?=C3=A9?=",
    b" =?utf-8?q?a=0Ab?=",
    b" \xc3\xa9",
    b" \x1b$B",
    b"\tx" * 3_000,
]


@given(st.lists(st.sampled_from(VALUES), max_size=6))
def test_headers_read_together_are_as_if_read_one_by_one(values):
    assert header_texts(values) == [header_text(value) for value in values]


def test_50_000_attached_messages_give_no_more_text_than_one():
    message = parse(b"Content-Type: message/rfc822\n\nSubject: pills and more pills\n" * 50_000)
    assert sum(map(len, message.texts)) <= LONGEST_TEXT


def whole_path(raw: bytes) -> None:
    tokens(parse(raw))
    digest(raw)


FIVE_MB = 5_000_000
RUNS = [
    b"<",
    b"<!--",
    b"<a ",
    b"href=",
    b"=?",
    b"&#",
    b"&#1",
    b"--",
    b">>>>From ",
    b"@",
    b".",
    b"$1,1,1,1",
    b"\r",
    b" ",
]
RUNS += [b"a", b"'", b"a.", b"A", b"1", b";", b"\0", b"\xa4\xa4", b"\x1b$", b"http://", b"from ", b"a@"]
LINES = [
    b"\n--",
    b"a: b\n",
    b"\n",
    b"\n ",
    b"a:\n\t",
    b"\n>From ",
    b"\r\r\n",
    b"--b\n",
    b"\n--b\n--b--",
    b"\n--b\nx: y",
]


@pytest.mark.parametrize(
    "head",
    [b"", b"\n", b"Subject: ", HEAD + part("text/html", b""), HEAD + part("multipart/mixed; boundary=b", b"")],
    ids=["raw", "body", "subject", "html", "multipart"],
)
@pytest.mark.parametrize(("run", "size"), [(run, FIVE_MB) for run in RUNS] + [(run, FIVE_MB // 5) for run in LINES])
def test_megabytes_of_anything_take_linear_time(head, run, size):
    assert_linear(lambda raw: whole_path(head + raw), run, size)


@pytest.mark.parametrize("read", [parameters, decode_words], ids=["parameters", "words"])
@pytest.mark.parametrize(
    "run",
    ["a", "a-", "a*0", "=", '"', "; a=b", ";a*0*=%41", "%", "'", " ", "=?", "?=", "?= ", "=?a?q?", "=?a?b?YQ==?= "],
)
def test_header_values_are_read_in_linear_time(read, run):
    assert_linear(read, run, 200_000)


# Any bytes at all

LINES_OF_MAIL = """\
Subject: =?utf-8?B?4pyT?=
Subject: =?utf-8?Q?a=0Ab?=
From: "a" <b@c.example>
Date: Mon, 5 Jan 2026 10:00:00 +0100
Received: from a.example ([1.2.3.4])
 folded
Content-Type: multipart/mixed; boundary=b
Content-Type: multipart/alternative; boundary="c"
Content-Type: message/rfc822
Content-Type: text/html; charset=utf-8
Content-Type: text/plain; charset="=?utf-8?Q?a=0Ab?="
Content-Type: text/=?utf-8?Q?a=0Ab?=
Content-Transfer-Encoding: base64
Content-Transfer-Encoding: quoted-printable
Content-Disposition: attachment; filename*=utf-8''a.c%0Ad

--b
--b--
--c
--c--
SGVsbG8=
=E2=9C=93=
<p style="display:none">a</p><a href="http://a.example/?b">
From here
>From here
"""
LINE = st.sampled_from(LINES_OF_MAIL.encode().split(b"\n"))
ANY_BYTES = st.lists(st.one_of(LINE, st.binary(max_size=20)), max_size=15).flatmap(
    lambda lines: st.sampled_from([b"\n", b"\r\n", b"\r", b""]).map(lambda end: end.join(lines))
)
BOUNDARY = st.text("ab=_-'", min_size=1, max_size=4)
LEAF = st.builds(
    part, st.sampled_from(["text/plain", "text/html", "image/png", "message/rfc822"]), st.binary(max_size=30)
)
TREE = st.recursive(
    LEAF,
    lambda inner: st.builds(lambda parts, boundary: multipart(*parts, boundary=boundary), st.lists(inner), BOUNDARY),
)
CUT_TREE = st.builds(
    lambda raw, start, end: raw[: start % (len(raw) + 1)] + raw[end % (len(raw) + 1) :],
    TREE,
    st.integers(0),
    st.integers(0),
)


@given(st.one_of(ANY_BYTES, TREE, CUT_TREE))
def test_any_bytes_have_tokens_on_one_line_each(raw):
    found = tokens(parse(raw))
    assert all("\n" not in token and token and count > 0 for token, count in found.items())
    assert any(token.startswith("part:") for token in found)


@given(st.one_of(ANY_BYTES, TREE, CUT_TREE), st.sampled_from([b"\r\n", b"\r\r\n"]))
def test_line_ends_change_nothing(raw, line_end):
    converted = raw.replace(b"\n", line_end)
    assert tokens(parse(converted)) == tokens(parse(raw))
    assert measures(parse(converted)) == measures(parse(raw))
    assert digest(converted) == digest(raw)


@given(st.lists(st.text("abc", min_size=1), min_size=1), st.lists(BOUNDARY, unique=True, max_size=5))
def test_every_part_of_a_nest_is_found_in_order(words, boundaries):
    raw = b"\nx"
    for boundary in boundaries:
        raw = multipart(raw, *(part("text/plain", word.encode()) for word in words), boundary=boundary)
    assert text(HEAD + raw).split() == ["x"] + words * len(boundaries)


# The digest

ADDED = ["X-Spam-Status", "X-Spam-Flag", "x-spam-score", "X-Spamnb", "X-Spambayes-Classification", "X-Bogosity"]
ADDED += ["X-DSPAM-Result", "X-CRM114-Status", "X-Mozilla-Status", "X-Keywords", "Status", "X-Status", "X-UID"]
ADDED += ["Content-Length", "Lines"]
BODY = st.one_of(ANY_BYTES, TREE.map(lambda raw: raw.partition(b"\n\n")[2]))
HEADERS = st.lists(
    st.sampled_from([HEAD, b"To: b@b.example\n", b"X-A: b\n folded\n", b"Content-Type: text/html\n"]), min_size=1
)


@given(HEADERS, BODY, st.sampled_from(ADDED), st.sampled_from([b" yes", b"", b" yes,\n\tscore=9"]), st.integers(0))
def test_headers_of_filters_and_mailers_change_nothing(headers, body, name, value, position):
    at = position % (len(headers) + 1)
    added = [*headers[:at], name.encode() + b":" + value + b"\n", *headers[at:]]
    judged, sent = b"".join(added) + b"\n" + body, b"".join(headers) + b"\n" + body
    assert tokens(parse(judged)) == tokens(parse(sent))
    assert digest(judged) == digest(sent)


def test_headers_of_filters_do_not_push_others_out():
    sent = b"".join(b"X-%d: a\n" % number for number in range(MOST_HEADERS))
    assert tokens(parse(b"X-Spam-Flag: YES\n" + sent)) == tokens(parse(sent))


@given(HEADERS, st.lists(st.sampled_from([b"From me\n", b">From me\n", b"a\n", b"\n", b">>From \n", b"xFrom \n"])))
def test_an_mbox_does_not_change_the_digest(headers, lines):
    head, body = b"".join(headers) + b"\n", b"".join(lines)
    stored = b"From a@a.example Mon Jan  5 10:00:00 2026\n" + head + re.sub(rb"^(>*From )", rb">\1", body, flags=re.M)
    assert digest(stored + b"\n") == digest(head + body)


def test_an_mbox_does_not_change_the_digest_of_a_text_without_headers():
    assert digest(b"From a\n>From the start\n") == digest(b"From a\nFrom the start\n")


@given(ANY_BYTES, st.integers(1, 3))
def test_line_ends_behind_a_message_do_not_change_its_digest(raw, count):
    assert digest(raw + b"\n" * count) == digest(raw)


@pytest.mark.parametrize(
    "other",
    [
        b"From: a@a.example\nSubject: lunch\n\nAt one?\n",
        b"From: a@a.example\nSubject: Lunch\n\nAt noon?\n",
        b"From: b@a.example\nSubject: lunch\n\nAt noon?\n",
        b"Subject: lunch\nFrom: a@a.example\n\nAt noon?\n",
        b"From: a@a.example\nSubject: lunch\nX-Spa: b\n\nAt noon?\n",
        b"From: a@a.example\nSubject: lunch\nAt noon?\n",
        b"From: a@a.example\nSubject: lunch\n\n At noon?\n",
        b"From: a@a.example\nSubject: lunch\n\nX-Spam-Flag: YES\nAt noon?\n",
        b"From: a@a.example\nSubject: lunch\n\n",
        b"From: a@a.example\nSubject: lunch\n At noon?\n",
        b"",
    ],
)
def test_different_messages_have_different_digests(other):
    assert digest(other) != digest(HEAD + b"\nAt noon?\n")
