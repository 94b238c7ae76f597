"""The maildrop recipe, as printed, in the hands of maildrop."""

import pytest
from mail_programs import Home, pieces, sample, without_our_headers

pytestmark = pytest.mark.needs("maildrop")


def maildrop(home: Home, raw: bytes) -> None:
    """Deliver a message; maildrop takes its user's home from the system, so the recipe is told this one."""
    [piece] = pieces("maildrop")
    piece._replace(text=f'HOME="{home.path}"\n{piece.text}').save(home.path / ".mailfilter")
    done = home.run("maildrop", home.path / ".mailfilter", stdin=raw)
    assert done.stdout == b""


def test_spam_goes_to_junk_and_ham_to_the_inbox(home):
    for raw in sample("spam") + sample("ham"):
        maildrop(home, raw)
    for folder, label in (("Maildir/.Junk", "spam"), ("Maildir", "ham")):
        delivered = home.folder(folder)
        assert all(b"X-Spamnb: %s" % label.encode() in raw for raw in delivered)
        assert sorted(map(without_our_headers, delivered)) == sorted(sample(label))


@pytest.mark.parametrize("accident", ["no model", "damaged model", "no spamnb"])
def test_an_accident_delivers_the_message_unchanged(home, accident):
    if accident == "no model":
        home.model.rename(home.path / "elsewhere")
    elif accident == "damaged model":
        home.damage_the_model()
    else:
        home.spamnb.unlink()
    spam = sample("spam")[0]
    maildrop(home, spam)
    assert home.folder("Maildir") == [spam]


def test_a_forged_verdict_does_not_reach_the_rule(home):
    ham = sample("ham")[0]
    maildrop(home, b"X-Spam-Flag: YES\n" + ham)
    assert [without_our_headers(raw) for raw in home.folder("Maildir")] == [ham]
