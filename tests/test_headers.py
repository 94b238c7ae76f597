"""Our headers first, forged ones gone, every other byte as it came."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from mail_bytes import any_mail, assert_passed_whole, structured, without_forged

from spamnb.headers import DIALECTS, Style, encoded_tag, evidence_text, tagged
from spamnb.message import digest, parse
from spamnb.scorecard import HAM, SPAM, UNSURE, Verdict

VERDICTS = [Verdict(7.3, SPAM), Verdict(-4.0, HAM), Verdict(0.5, UNSURE, "between the cutoffs"), Verdict(900.0, SPAM)]
PLAIN = b"From: a@example.org\nSubject: lunch\n\nSee you.\n"


def passed(raw, verdict=VERDICTS[0], dialect="spamassassin", clues=(), evidence=False, tag=""):
    return tagged(raw, verdict, 2.2, clues, Style(dialect, evidence, tag))


def ours(out: bytes) -> dict[str, str]:
    """The headers in front of a plain message, unfolded."""
    text = out[: out.index(b"From: a@example.org")].decode("ascii").replace("\n\t", " ")
    return dict(line.split(": ", 1) for line in text.splitlines())


@pytest.mark.parametrize("dialect", DIALECTS)
@given(any_mail, st.sampled_from(VERDICTS), st.booleans())
@example(b"", VERDICTS[0], False)
@example(b"From a", VERDICTS[0], False)
@example(b"X-Spam-Flag: YES", VERDICTS[0], False)
@example(b"Subject: x\nX-Spamnb: ham\n folded\n \n\tmore\n\nbody", VERDICTS[1], True)
def test_any_bytes_pass_whole(dialect, raw, verdict, evidence):
    assert_passed_whole(raw, passed(raw, verdict, dialect, [("word", 1.0)], evidence), dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(structured)
def test_filtered_twice_is_filtered_once(dialect, raw):
    """The second time round our own headers are the forged ones."""
    first, rest = without_forged(raw, dialect)
    assume(not rest.startswith((b" ", b"\t", b"From ", b">From ")))
    once = passed(raw, dialect=dialect)
    assert without_forged(once, dialect) == (first, rest)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n\n"])
def test_line_ends_are_those_of_the_message(newline, end):
    raw = (b"Subject: x\n\nbody" + end).replace(b"\n", newline)
    out = passed(raw, clues=[("word", 1.0)] * 20, evidence=True)
    assert out.endswith(raw)
    assert out.count(b"\n") == out.count(newline)


def test_a_from_line_stays_first():
    out = passed(b"From a@b Thu Jan  1 00:00:00 1970\n" + PLAIN)
    assert out.startswith(b"From a@b Thu Jan  1 00:00:00 1970\nX-Spam-Status: Yes")


# What is written


def test_spamassassins_headers_say_what_its_rules_look_for():
    found = ours(passed(PLAIN))
    assert list(found) == ["X-Spam-Status", "X-Spam-Flag", "X-Spam-Level", "X-Spamnb"]
    assert found["X-Spam-Status"].startswith("Yes, score=7.30 required=2.20 probability=0.9993 tests=spamnb version=")
    assert found["X-Spam-Flag"] == "YES"
    assert found["X-Spam-Level"] == "*******"
    assert found["X-Spamnb"] == "spam, score=7.30 required=2.20 probability=0.9993"


@pytest.mark.parametrize("verdict", VERDICTS[1:3])
def test_only_spam_is_flagged(verdict):
    found = ours(passed(PLAIN, verdict))
    assert "X-Spam-Flag" not in found
    assert found["X-Spam-Status"].startswith("No, ")
    assert found["X-Spamnb"].startswith(f"{verdict.label}, ")


def test_stars_are_counted_up_to_fifty():
    assert ours(passed(PLAIN, Verdict(900.0, SPAM)))["X-Spam-Level"] == "*" * 50
    assert "X-Spam-Level" not in ours(passed(PLAIN, Verdict(0.99, HAM)))


def test_bogofilters_header_says_what_its_rules_look_for():
    found = ours(passed(PLAIN, dialect="bogofilter"))
    assert list(found) == ["X-Bogosity", "X-Spamnb"]
    assert found["X-Bogosity"].startswith("Spam, tests=spamnb, spamicity=0.999325, version=")
    assert ours(passed(PLAIN, VERDICTS[2], "bogofilter"))["X-Bogosity"].startswith("Unsure, ")


def test_our_own_dialect_is_one_header():
    assert list(ours(passed(PLAIN, dialect="spamnb"))) == ["X-Spamnb"]


def test_an_unsure_verdict_gives_its_reason():
    assert ours(passed(PLAIN, VERDICTS[2]))["X-Spamnb"].endswith(" (between the cutoffs)")


# What is taken away

FORGED = [
    b"X-Spam-Status: No, score=-100\n",
    b"x-spam-status: No\n",
    b"X-SPAM-FLAG : YES\n",
    b"X-Spam-Level\t:***\n",
    b"X-Spam-Status: No,\n\tscore=-100\n  tests=none\n \n",
    b"X-Spam-Status: No\r\n\tfolded\r\n",
    b"X-Spam-Flag:\n",
]


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("place", ["first", "last", "behind what is no header"])
def test_forged_headers_go_whatever_they_look_like(forged, place):
    raw = {
        "first": forged + PLAIN,
        "last": PLAIN.replace(b"\n\n", b"\n" + forged + b"\n"),
        "behind what is no header": b"From: a@example.org\nno header at all\n"
        + forged
        + b"Subject: lunch\n\nSee you.\n",
    }[place]
    assert passed(raw).endswith(raw.replace(forged, b""))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "forged", [b"X-Spamnb: ham, score=-99\n", b"x-spamnb-evidence: none\n", b"X-Spamnb-Subject: =\n x\n"]
)
def test_forged_headers_of_ours_go_in_every_dialect(dialect, forged):
    assert passed(forged + PLAIN, dialect=dialect).endswith(b"\n" + PLAIN)
    assert passed(forged + PLAIN, dialect=dialect).lower().count(b"x-spamnb") == 1


@pytest.mark.parametrize("dialect", ["spamnb", "bogofilter"])
def test_an_upstream_spamassassins_verdict_is_left_alone(dialect):
    raw = b"X-Spam-Status: Yes, score=12\n\ttests=BAYES_99\nX-Spam-Flag: YES\n" + PLAIN
    assert passed(raw, dialect=dialect).endswith(raw)


def test_names_that_only_begin_alike_stay():
    raw = b"X-Spam-Status-Old: Yes\nX-Spam-Report: words\nX-Bogosity: Ham\n" + PLAIN
    assert passed(raw).endswith(raw)


def test_a_body_that_speaks_of_our_headers_stays():
    raw = PLAIN + b"X-Spam-Flag: YES\nX-Spamnb: spam\n"
    assert passed(raw).endswith(raw)


# The subject's tag


def subject(out: bytes) -> str:
    return parse(out).header("subject")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"Subject: lunch\n\nx", b"Subject: [SPAM] lunch\n\nx"),
        (b"SUBJECT:lunch\n\nx", b"SUBJECT: [SPAM]lunch\n\nx"),
        (b"Subject: a\n folded\n\nx", b"Subject: [SPAM] a\n folded\n\nx"),
        (b"To: b\n\nx", b"Subject: [SPAM]\nTo: b\n\nx"),
        (b"Subject: lunch", b"Subject: [SPAM] lunch"),
        (b"To: b\nnone\nSubject: far\n\nx", b"Subject: [SPAM]\nTo: b\nnone\nSubject: far\n\nx"),
    ],
)
def test_spam_gets_the_tag_in_front_of_its_subject(raw, expected):
    assert passed(raw, tag="[SPAM]").endswith(expected)


def test_ham_gets_no_tag():
    assert passed(PLAIN, VERDICTS[1], tag="[SPAM]").endswith(b"\n" + PLAIN)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_tag_keeps_the_line_ends(newline):
    out = passed(PLAIN.replace(b"\n", newline), tag="[SPAM]")
    assert out.count(b"\n") == out.count(newline)


def test_a_tag_in_other_letters_is_encoded():
    assert encoded_tag("[WERBUNG]") == b"[WERBUNG]"
    assert encoded_tag("Müll").isascii()
    out = passed(PLAIN, tag="Müll")
    assert b"Subject: =?utf-8?B?" in out
    assert subject(out) == "lunch"  # as it was sent


@pytest.mark.parametrize("dialect", DIALECTS)
@given(structured, st.sampled_from(["", "[SPAM]", "Müll"]))
def test_a_message_is_the_same_message_after_it_was_passed_on(dialect, raw, tag):
    first, rest = without_forged(raw, dialect)
    assume(not rest.startswith((b" ", b"\t", b"From ", b">From ")))  # a fold would join our headers
    assert digest(passed(raw, dialect=dialect, tag=tag)) == digest(first + rest)


# Evidence


@given(st.lists(st.tuples(st.text(max_size=80), st.floats(-99, 99)), max_size=20))
def test_evidence_is_ascii_in_short_lines(clues):
    out = passed(PLAIN, clues=clues, evidence=True)
    written = out[: -len(PLAIN)].decode("ascii")
    evidence = written[written.index("X-Spamnb-Evidence: ") : written.index("X-Spamnb: ")]
    assert all(letter.isprintable() or letter in "\t\n" for letter in written)
    assert max(map(len, evidence.splitlines())) <= 78
    assert evidence.replace("\n\t", " ").count("\n") == 1


def test_evidence_names_the_strongest_words_and_what_they_add():
    assert evidence_text([("casino", 2.5), ("subject:lunch time", -1.25)]) == "casino +2.50, subject:lunch_time -1.25"
    assert evidence_text([]) == "none"
    assert evidence_text([(f"word{number}", 1.0) for number in range(40)]).count("+1.00") == 12


# A message that was filtered before


@pytest.mark.parametrize("raw", [b" From: J <j@x.example>\nSubject: s\n\nb\n", PLAIN, PLAIN.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_second_pass_loses_nothing_and_the_digest_knows_no_difference(raw, dialect):
    once = passed(raw, dialect=dialect, clues=[("word", 1.0)], evidence=True)
    twice = passed(once, dialect=dialect, clues=[("word", 1.0)], evidence=True)
    assert twice == once
    assert digest(once) == digest(raw)
