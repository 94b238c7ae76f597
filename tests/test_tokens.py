"""A message's tokens say what stood where; their ids are stable and tell text from envelope."""

import re
from collections import Counter
from pathlib import Path

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from spamnb.message import parse
from spamnb.scripts import WORD
from spamnb.tokens import (
    ASCII_WORD,
    ENVELOPE,
    ENVELOPE_BIT,
    HOP,
    LONGEST_WORD,
    MEASURES,
    URL,
    known_token,
    link_tokens,
    measure_tokens,
    measures,
    sender,
    text_tokens,
    token_id,
    tokens,
)

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.eml"))


def found(raw: str, prefix: str) -> set[str]:
    """What follows a prefix in the tokens of a message."""
    return {token.removeprefix(prefix) for token in tokens(parse(raw.encode())) if token.startswith(prefix)}


def listing(path: Path) -> str:
    """The tokens of a message, a line each: count, token."""
    counted = sorted(tokens(parse(path.read_bytes())).items())
    return "".join(f"{count} {token}\n" for token, count in counted)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_messages_have_their_golden_tokens(path):
    expected = path.with_suffix(".tokens").read_text("utf-8")
    assert listing(path) == expected, "if this change is meant: python tests/test_tokens.py, and read the diff"


def test_there_are_golden_messages():
    assert len(GOLDEN) >= 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Buy it NOW", ["buy", "it", "now"]),
        ("don't e-mail a@b.example", ["don't", "e-mail", "a@b.example"]),
        ("100% free! $5", ["100%", "free!", "$5", "money:2"]),
        ("'quoted' (words), -dash-", ["quoted", "words", "dash"]),
        ("Grüße ΑΒΓ Привет", ["grüße", "αβγ", "привет"]),
        ("€1,000.50", ["€1", "000.50", "money:9"]),
        ("500 dollars", ["500", "dollars", "money:11"]),
        ("why???? a...", ["why", "a", "run:?", "run:."]),
        ("代开发票", ["代开", "开发", "发票"]),
        ("票", ["票"]),
        ("ab代开cd", ["ab", "cd", "代开"]),
        ("안녕하세요", ["안녕", "녕하", "하세", "세요"]),
        ("a" * LONGEST_WORD, ["a" * LONGEST_WORD]),
        ("a" * (LONGEST_WORD + 1), ["long:a3"]),
        ("z" * 4_000, ["long:z400"]),
        ("", []),
    ],
)
def test_a_text_gives_words_and_the_patterns_that_shout(text, expected):
    assert Counter(text_tokens(text)) == Counter(expected)


HINTS = [
    "http",
    "https",
    "httpſ",
    "FTP",
    "://",
    "www.",
    "WwW",
    "from",
    "by",
    " ",
    "\t",
    "[1.2.3.4]",
    "[1.2.3",
    "a.b",
    "_",
    ")",
]
PLAIN_URL = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"')\]]{1,300}", re.I)
PLAIN_HOP = re.compile(r"\b(?:from|by)\s+([\w.-]{1,120})|\[(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}\]")
PLAIN_WORD = re.compile(r"[$€£\w]\w*(?:['’.@-]+\w+)*[!%]?")


@given(st.lists(st.sampled_from(HINTS), max_size=20).map("".join), st.text("aß0_$€'’.@-!% ", max_size=30))
def test_the_quick_patterns_find_what_plain_ones_find(hints, text):
    assert URL.findall(hints) == PLAIN_URL.findall(hints)
    assert HOP.findall(hints) == PLAIN_HOP.findall(hints)
    assert WORD.findall(text) == PLAIN_WORD.findall(text)
    ascii_text = text.encode("ascii", "ignore").decode()
    assert ASCII_WORD.findall(ascii_text) == PLAIN_WORD.findall(ascii_text)


def test_words_are_counted_and_told_apart_by_where_they_stand():
    raw = "Subject: pills\nContent-Type: text/html\n\npills pills<p style='display:none'>pills</p>"
    counted = tokens(parse(raw.encode()))
    assert (counted["pills"], counted["subject:pills"], counted["hidden:pills"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("http://a.b.example/", {"url:a.b.example", "url:b.example", "url:example"}),
        ("HTTPS://B.Example", {"url:b.example", "url:example"}),
        ("www.b.example", {"url:www.b.example", "url:b.example", "url:example"}),
        ("http://b.example:8080/", {"url:b.example", "url:example", "url:port"}),
        ("http://bank.example@b.example/", {"url:b.example", "url:example", "url:@"}),
        (
            "http://b.example?to=me@home.example",
            {"url:b.example", "url:example", "path:to", "path:me", "path:home.example"},
        ),
        ("http://b.example#@c.example", {"url:b.example", "url:example", "path:c.example"}),
        ("http://192.0.2.7/", {"url:numeric", "url:192.0", "url:192.0.2", "url:192.0.2.7"}),
        ("http://b.example/buy/now.php", {"url:b.example", "url:example", "path:buy", "path:now.php"}),
        ("http:///", {"url:none"}),
    ],
)
def test_a_link_gives_its_host_the_hosts_parents_and_its_path(link, expected):
    assert set(link_tokens(link)) == expected


def test_links_are_found_in_text_and_behind_markup():
    raw = "Content-Type: text/html\n\n<a href='http://behind.example'>http://shown.example</a>"
    assert found(raw, "url:") == {"behind.example", "shown.example", "example"}


@pytest.mark.parametrize(
    ("header", "prefix", "expected"),
    [
        ("From: Ann B <a@b.example>", "from:", {"a@b.example", "@b.example", "@example", "ann", "b"}),
        ("From:", "from:", {"none"}),
        ("Reply-To: a@b.example", "reply:", {"a@b.example", "@b.example", "@example"}),
        ("To: a@b.example, c@d.example", "to:", {"a@b.example", "c@d.example"}),
        ("Cc: a@b.example", "to:", {"a@b.example"}),
        ("X-Mailer: Bulk 1.0", "mailer:", {"bulk", "1.0"}),
        ("Message-ID: <1@b.example>", "id:", {"b.example", "example"}),
        ("Date: Mon, 5 Jan 2026 10:00:00 -0500", "date:", {"-0500"}),
        ("Date: Mon, 5 Jan 2026 10:00:00", "date:", {"none"}),
        ("Received: from b.example ([192.0.2.7])", "received:", {"b.example", "example", "192.0.2", "192.0"}),
        ("X-Anything: b", "header:", {"x-anything"}),
        ("Content-Type: text/html; charset=UTF-8", "charset:", {"utf-8"}),
        ("Content-Type: text/html", "part:", {"text/html"}),
        ("Content-Type: x/y; name=Bill.PDF.exe", "file:", {"bill.pdf.exe", ".exe"}),
    ],
)
def test_a_header_gives_tokens_with_its_prefix(header, prefix, expected):
    assert found(f"{header}\n\nbody", prefix) == expected


@pytest.mark.parametrize(("value", "expected"), [(-1, 0), (0, 1), (1, 2), (2, 2), (3, 3), (1000, 10), (1e9, 30)])
def test_a_measure_is_told_by_a_power_of_two(value, expected):
    assert measure_tokens([value, *[0] * 8])[0] == f"size:{expected}"


def test_measures_count_what_they_are_named_for():
    raw = b"To: a@b.example\nCc: c@d.example\nDate: Mon, 5 Jan 2026 17:00:00 +0100\nContent-Type: text/html\n\n"
    body = b"<img src=http://a.example>AAAA 1234 b"
    message = parse(raw + body)
    values = dict(zip(MEASURES, measures(message), strict=True))
    length = len(message.texts[0])
    assert values == {
        "size": len(body) + 1,
        "words": message.texts[0].count(" "),
        "capitals": 400 / length,
        "digits": 400 / length,
        "links": 1,
        "images": 1,
        "parts": 1,
        "recipients": 2,
        "hour": 17,
    }
    assert {"size:6", "links:2", "parts:2", "recipients:2", "hour:4"} <= set(tokens(message))
    assert set(measure_tokens(measures(message))) <= set(tokens(message))


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("a@b.example", "a@b.example"),
        ("Ann <A@B.example>", "a@b.example"),
        ('"friend@home.example" <a@b.example>', "a@b.example"),
        ("friend@home.example <a@b.example>", "a@b.example"),
        ("a@b.example (1 < 2)", "a@b.example"),
        ("Ann", ""),
        ("", ""),
    ],
)
def test_the_sender_is_the_address_that_an_answer_would_go_to(value, address):
    assert sender(parse(f"From: {value}\n\nbody".encode())) == address


def test_a_message_without_from_has_no_sender():
    assert sender(parse(b"Subject: a\n\na@b.example")) == ""


@pytest.mark.parametrize(
    ("contact", "ham_sender", "token"),
    [(True, True, "contact"), (True, False, "contact"), (False, True, "ham"), (False, False, "no")],
)
def test_a_known_sender_is_a_contact_first(contact, ham_sender, token):
    assert known_token(contact, ham_sender) == f"known:{token}"


@pytest.mark.parametrize(
    ("token", "number"),
    [
        ("viagra", 0x2B92842310F38FB9),
        ("from:a@b.example", 0xC9D687CB8DC5A840),
        ("grüße", 0x4CAD331ABE9F7F73),
        ("\ud800", 0x3406BEC91F3C0421),
    ],
)
def test_ids_of_tokens_never_change_since_models_hold_them(token, number):
    assert token_id(token) == number


@given(st.text(), st.sampled_from(sorted(ENVELOPE)))
def test_the_envelope_bit_is_set_for_prefixes_of_the_envelope_alone(rest, prefix):
    assert token_id(f"{prefix}:{rest}") & ENVELOPE_BIT
    assert not token_id(f"x{prefix}:{rest}") & ENVELOPE_BIT
    assert not token_id(prefix) & ENVELOPE_BIT


@pytest.mark.parametrize("prefix", ["subject", "url", "path", "hidden", "tag", "money", "run", "long", "words"])
def test_tokens_of_the_text_have_no_envelope_bit(prefix):
    assert not token_id(f"{prefix}:a") & ENVELOPE_BIT


RUNS = [
    "a",
    "a'",
    "a.",
    "'",
    ".",
    "....",
    "$",
    "$1",
    "$1,1,1,1",
    "1",
    "1 ",
    "1,",
    "A",
    "A ",
    "Aa",
    "@",
    "a@",
    "-",
    "!",
    "!!!",
]
RUNS += ["www.", "http://", "http://a", "代", "代 ", " ", "\n", "usd", "é", "_", "€"]


@pytest.mark.parametrize("run", RUNS)
def test_text_is_read_in_linear_time(run):
    assert_linear(text_tokens, run, 500_000)


@pytest.mark.parametrize("run", ["<", "@", "a", "a.", "a@", "from ", "by", "[1.", "00:", "10:00 ", "."])
@pytest.mark.parametrize("name", ["From", "To", "Received", "Date", "Message-ID", "X-Mailer"])
def test_headers_are_read_in_linear_time(name, run):
    assert_linear(lambda value: tokens(parse(f"{name}: {value}\n".encode() * 20)), run, 40_000)


if __name__ == "__main__":
    for golden in GOLDEN:
        golden.with_suffix(".tokens").write_text(listing(golden), "utf-8")
