"""When a message was sent: the reader's own server is believed first, damage is no date."""

from datetime import UTC, datetime

import pytest

from spamnb.mailbox import LeftOut, units
from spamnb.message import digest
from spamnb.original import Original
from spamnb.sending import plain_headers, sent, sent_units

NOON = int(datetime(2026, 1, 5, 12, tzinfo=UTC).timestamp())
HOP = "from a.example (unknown [192.0.2.1])\n\tby b.example; "


@pytest.mark.parametrize(
    ("headers", "when"),
    [
        ([("date", "Mon, 05 Jan 2026 12:00:00 +0000")], NOON),
        ([("date", "Mon, 05 Jan 2026 14:00:00 +0200")], NOON),
        ([("date", "5 Jan 2026 12:00 GMT (Monday)")], NOON),
        ([("date", "Mon, 05 Jan 2026 12:00:00")], NOON),  # no zone: Greenwich
        ([("date", "Mon, 05 Jan 2026 12:00:00 -0000")], NOON),
        ([("received", HOP + "Mon, 05 Jan 2026 13:00:00\n\t+0100 (CET)")], NOON),
        ([("date", "Mon, 05 Jan 2037 12:00:00 +0000"), ("received", HOP + "Mon, 05 Jan 2026 12:00:00 +0000")], NOON),
        # the top one is the newest, and the reader's own server's
        ([("received", HOP + "Mon, 05 Jan 2026 12:00:00 +0000"), ("received", HOP + "1 Feb 2026 12:00 +0000")], NOON),
        ([("received", "by b.example"), ("received", HOP + "Mon, 05 Jan 2026 12:00:00 +0000")], NOON),
        ([("received", HOP + "when it was"), ("date", "Mon, 05 Jan 2026 12:00:00 +0000")], NOON),
    ],
)
def test_a_message_was_sent_when_its_newest_received_says_or_else_its_date(headers, when):
    assert sent(headers) == when


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "Mon, 99 Jan 2026 12:00:00 +0000", "Mon, 01 Jan 1900 12:00:00 +0000", "1 Jan 1970 00:00:01 +0000",
     "5 Jan 2026 12:00:00 +9999999999", "\0", "5 Jan 99999999999999999999 12:00:00 +0000", ", , ,", "0 0 0 0:0:0 +"],
)  # fmt: skip
def test_a_damaged_date_is_none(text):
    assert sent([("date", text)]) is None


def test_no_headers_are_no_date():
    assert sent([]) is None


def test_headers_are_read_as_they_are_stored():
    raw = b"From mara Mon Jan  5 12:00:00 2026\r\nDATE: x\r\nSubject: a\r\n b\r\n\r\nDate: not here\r\n"
    assert plain_headers(Original(raw)) == [("date", " x"), ("subject", " a\n b")]


def test_mail_is_dated_in_its_order(tmp_path):
    raws = [b"Date: 5 Jan 2026 12:00:00 +0000\n\none\n", b"Subject: none\n\ntwo\n"]
    for number, raw in enumerate(raws):
        (tmp_path / f"{number}.eml").write_bytes(raw)
    found = sent_units(list(units(str(tmp_path), LeftOut())))
    assert found == [(digest(raws[0]), NOON), (digest(raws[1]), None)]
