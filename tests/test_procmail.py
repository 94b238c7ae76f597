"""The procmail recipe, as printed, in the hands of procmail."""

import mailbox
import os
import random
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from conftest import invented_message
from mail_programs import Home, pieces, sample, without_our_headers

pytestmark = pytest.mark.needs("procmail")

FILTER, CONDITION, CRONTAB = range(3)  # the files of the recipe
SEPARATOR = b"From ann@example.org  Mon Jan  5 10:00:00 2026\n"  # as the mail system hands mail to procmail
MANY = 40 * (25 if os.environ.get("SPAMNB_SOAK") else 1)
AWKWARD = {
    "no final newline": b"Subject: lunch\n\nAt noon?",
    "no body": b"Subject: lunch\n",
    "no headers": b"\nAt noon?\n",
    "neither": b"noon",
    "line ends of DOS": b"Subject: lunch\r\nTo: me\r\n\r\nAt noon?\r\n",
    "bytes of all kinds": b"Subject: \xff\xfe\n\n" + bytes(range(256)) + b"\n",
    "a From line in the text": b"Subject: lunch\n\nWell,\n\nFrom me to you\n",
    "long lines": b"Subject: " + b"x" * 5000 + b"\n\n" + b"y" * 100_000 + b"\n",
}


def procmail(home: Home, rules: str, raw: bytes) -> None:
    """Deliver a message. -m keeps procmail from making a mailbox for root in /var/mail."""
    (home.path / "Maildir").mkdir(exist_ok=True)
    file = home.path / ".procmailrc"
    if not file.exists() or file.read_text() != rules:
        file.write_text(rules)
    home.run("procmail", "-m", f"HOME={home.path}", file, stdin=SEPARATOR + raw)


def log(home: Home) -> str:
    return (home.path / ".procmail.log").read_text(errors="replace")


@pytest.mark.parametrize("piece", [FILTER, CONDITION])
def test_spam_goes_to_junk_and_ham_to_the_inbox(home, piece):
    rules = pieces("procmail")[piece].text
    for raw in sample("spam") + sample("ham"):
        procmail(home, rules, raw)
    for folder, label in (("Maildir/.Junk", "spam"), ("Maildir", "ham")):
        assert sorted(map(without_our_headers, home.folder(folder))) == sorted(sample(label))
    assert "procmail:" not in log(home)  # how it begins a complaint


def test_the_filter_marks_what_it_passes_and_the_condition_does_not(home):
    spam = sample("spam")[0]
    procmail(home, pieces("procmail")[CONDITION].text, spam)
    assert home.folder("Maildir/.Junk") == [spam]
    procmail(home, pieces("procmail")[FILTER].text, spam)
    assert sum(b"X-Spam-Flag: YES\n" in raw for raw in home.folder("Maildir/.Junk")) == 1


def test_the_condition_reads_the_body(home):
    """procmail shows a condition the headers alone unless told otherwise."""
    head, body = b"From: mara@lindqvist.example\n\n", sample("spam")[1].partition(b"\n\n")[2]
    assert home.run(home.spamnb, "classify", "--exit-code", stdin=head, check=False).returncode != 0
    procmail(home, pieces("procmail")[CONDITION].text, head + body)
    assert home.folder("Maildir/.Junk") == [head + body]


def test_with_mboxes_as_the_comments_say(home):
    rules = pieces("procmail")[FILTER].text
    for old, new in (
        ("DEFAULT=$MAILDIR/\n", "DEFAULT=$MAILDIR/Inbox\n"),
        (".Junk/\n", "Junk\n"),
        ("\n:0\n", "\n:0:\n"),
    ):
        assert rules.count(old) == 1
        rules = rules.replace(old, new)
    for raw in sample("spam") + sample("ham"):
        procmail(home, rules, raw)
    for name, label in (("Junk", "spam"), ("Inbox", "ham")):
        with closing(mailbox.mbox(home.path / "Maildir" / name, create=False)) as box:
            delivered = [without_our_headers(box.get_bytes(key)) for key in box.keys()]  # noqa: SIM118
        assert sorted(raw.rstrip(b"\n") for raw in delivered) == sorted(raw.rstrip(b"\n") for raw in sample(label))
    assert "procmail:" not in log(home)


@pytest.mark.parametrize("raw", AWKWARD.values(), ids=AWKWARD.keys())
def test_awkward_mail_arrives_as_it_would_without_us(home, raw):
    """procmail itself ends a message with a newline, so what it does with `cat` in our place is the measure."""
    rules = pieces("procmail")[FILTER].text
    procmail(home, rules.replace("| spamnb filter", "| cat"), raw)
    [alone] = home.folder("Maildir")
    procmail(home, rules, raw)
    [ours] = [one for one in home.folder("Maildir") + home.folder("Maildir/.Junk") if b"X-Spamnb: " in one]
    assert without_our_headers(ours) == alone


def test_a_forged_verdict_does_not_reach_the_rule(home):
    ham = sample("ham")[0]
    procmail(home, pieces("procmail")[FILTER].text, b"X-Spam-Flag: YES\n" + ham)
    assert [without_our_headers(raw) for raw in home.folder("Maildir")] == [ham]


@pytest.mark.parametrize("piece", [FILTER, CONDITION])
@pytest.mark.parametrize("accident", ["no model", "no spamnb"])
def test_an_accident_delivers_the_message_unchanged(home, piece, accident):
    if accident == "no model":
        home.model.rename(home.path / "elsewhere")
    else:
        home.spamnb.unlink()
    spam = sample("spam")[0]
    procmail(home, pieces("procmail")[piece].text, spam)
    assert home.folder("Maildir") == [spam]
    assert "spamnb" in log(home)


def test_all_mail_arrives_though_the_model_is_damaged_half_way(home):
    rules = pieces("procmail")[FILTER].text
    chance = random.Random(5)
    sent = [b"X-Number: %d\n%s" % (number, invented_message(chance, number % 2 == 0)) for number in range(MANY)]

    def deliver(number: int) -> None:
        if number == MANY // 2:
            home.damage_the_model()
        procmail(home, rules, sent[number])

    procmail(home, rules, sent[0])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(deliver, range(1, MANY)))
    delivered = home.folder("Maildir") + home.folder("Maildir/.Junk")
    assert sorted(map(without_our_headers, delivered)) == sorted(sent)
    judged = sum(b"\nX-Spamnb: " in raw for raw in delivered)
    assert MANY // 2 - 5 <= judged <= MANY // 2 + 5  # some were on their way
    assert "passed on unchanged" in log(home)


def test_the_crontab_learns_from_both_folders(home):
    lines = [line for line in pieces("procmail")[CRONTAB].text.splitlines() if not line.startswith("#")]
    folders = {}
    for line in lines:
        command = line.split(None, 5)[5]
        label, name = re.search(r'--(spam|ham) "\$HOME/([^"]+)"', command).groups()
        folders[label] = name
        (home.path / name / "cur").mkdir(parents=True)
        (home.path / name / "cur" / "1").write_bytes(sample(label)[0])
        home.run("sh", "-c", command)
    assert set(folders) == {"spam", "ham"}
    assert home.learned_as(sample("spam")[0]) is True
    assert home.learned_as(sample("ham")[0]) is False
