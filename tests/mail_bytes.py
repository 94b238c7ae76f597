"""Mail as bytes, for the tests of what passes it on: strategies, and what must be left of a message."""

import re

from hypothesis import strategies as st

from spamnb.headers import FORGEABLE

LINES = re.compile(rb"[^\n]*\n|[^\n]+")
HEADER_LINE = re.compile(rb"[!-9;-~]{1,100}[ \t]*:")
OUR_HEADERS = {
    "spamassassin": rb"X-Spam-Status: (?:Yes|No), .*\n\t.*\n(?:X-Spam-Flag: YES\n)?(?:X-Spam-Level: \*+\n)?",
    "bogofilter": rb"X-Bogosity: (?:Spam|Ham|Unsure), .*\n",
    "spamnb": b"",
}
OURS = rb"(?:X-Spamnb-Evidence: .*\n(?:\t.*\n)*)?X-Spamnb: (?:spam|ham|unsure), .*\n"
# What an earlier pass put on top ends with its last line: a line behind it that begins with a space is the message's.
EARLIER_PASS = re.compile(
    rb"(?:X-Spam-Status: (?:Yes|No), score=.*\n\ttests=spamnb .*\n(?:X-Spam-Flag: YES\r?\n)?"
    rb"(?:X-Spam-Level: \*+\r?\n)?|X-Bogosity: \w+, tests=spamnb, .*\n)?" + OURS
)

lines = st.sampled_from([
    b"Subject: lunch on tuesday", b"subject : casino bonus", b"From: a@example.org", b"To: me@home.example", b" folded",
    b"\tfolded", b"", b"", b"no header", b">From the start", b"X-Spam-Status: Yes, score=9", b"x-sPAM-flag: YES",
    b"X-Spam-Level : ***", b"X-Bogosity: Ham", b"X-Spamnb: ham, score=-99", b"X-Spamnb-Evidence: lies",
    b"X-SPAMNB-subject: =", b"X-Spam-Report: not ours", b"X-Spamnbx: ham", b"--b", b"--b--", b"caf\xe9 \xff\x00",
    b"Content-Type: multipart/mixed; boundary=b",
    b"From nobody Thu Jan  1 00:00:00 1970", b"casino pills viagra free offer", b"a" * 200 + b": long", b"X:\r", b"\r",
])  # fmt: skip
structured = st.builds(
    lambda first, rest, newline, last: first + newline.join(rest) + last,
    st.sampled_from([b"", b"", b"From a@b Thu Jan  1 00:00:00 1970\n", b"From a@b Thu Jan  1 00:00:00 1970\r\n"]),
    st.lists(lines, max_size=12),
    st.sampled_from([b"\n", b"\r\n"]),
    st.sampled_from([b"", b"\n", b"\r\n", b"\n\n"]),
)
any_mail = st.one_of(structured, st.binary(max_size=300))


def divided(raw: bytes) -> tuple[bytes, list[bytes], bytes]:
    """The `From ` line, the lines in which headers are looked for, and the rest."""
    found = LINES.findall(raw)
    first = found.pop(0) if found and found[0].startswith((b"From ", b">From ")) and found[0].endswith(b"\n") else b""
    blank = next((number for number, line in enumerate(found) if line in (b"\n", b"\r\n")), None)
    if blank is None:  # then only up to what is no header
        is_header = [bool(HEADER_LINE.match(line)) or line[:1] in (b" ", b"\t") for line in found]
        whole = found and HEADER_LINE.match(found[0])
        blank = (is_header.index(False) if False in is_header else len(found)) if whole else 0
    return first, found[:blank], b"".join(found[blank:])


def without_forged(raw: bytes, dialect: str) -> tuple[bytes, bytes]:
    """The `From ` line and all that follows it, but for headers that claim to be ours or the dialect's."""
    names = [b"x-spamnb[a-z0-9_-]*", *(name.lower() for name in FORGEABLE[dialect])]
    forged = re.compile(rb"(?:%s)[ \t]*:" % b"|".join(names))
    first, head, rest = divided(raw)
    if earlier := EARLIER_PASS.match(b"".join(head)):
        head = head[earlier[0].count(b"\n") :]
    kept, dropping = [], False
    for line in head:
        dropping = bool(forged.match(line.lower())) or (dropping and line[:1] in (b" ", b"\t"))
        if not dropping:
            kept.append(line)
    return first, b"".join(kept) + rest


def assert_passed_whole(raw: bytes, out: bytes, dialect: str) -> None:
    """Output = `From ` line + our headers + input without forged ones, byte for byte."""
    first, rest = without_forged(raw, dialect)
    assert out.startswith(first)
    assert out.endswith(rest)
    ours = out[len(first) : len(out) - len(rest)]
    after_first = raw[len(first) :]
    crlf = after_first[: after_first.find(b"\n") + 1].endswith(b"\r\n")
    assert ours.count(b"\r\n") == (ours.count(b"\n") if crlf else 0)
    assert re.fullmatch(OUR_HEADERS[dialect] + OURS, ours.replace(b"\r\n", b"\n"))
