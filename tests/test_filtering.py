"""A message is judged and explained alike, and by who sent it."""

import numpy as np
import pytest

from spamnb.cardfile import SCORECARD, to_bytes
from spamnb.errors import DamagedModel, NoModel
from spamnb.filtering import Judge, judge_units
from spamnb.mailbox import LeftOut, Unit, units
from spamnb.message import parse
from spamnb.models import KINDS, Choice, fit
from spamnb.scorecard import Column, Scorecard
from spamnb.tokens import token_id, tokens

ALL_KINDS = pytest.mark.parametrize("kind", KINDS)
SEPARATOR = b"From someone@example.org  Mon Jan  5 10:00:00 2026\n"
ODD = [b"", b"\n", b"\xff\0\r\r", b"From: a@b\n\nxylophonist\n"]


# Judge and explain


@ALL_KINDS
@pytest.mark.parametrize("c", [None, 1.0, 99.0])
def test_an_explanation_ends_in_the_verdict_of_the_judge(cards, kind, c, mail, unseen_mail):
    judge = Judge(cards[kind], c)
    for raw in (*(raw for _, raw in (*mail, *unseen_mail)), *ODD):
        judged, (explained, _, _) = judge.judge(raw), judge.explain(raw)
        assert (explained.score, explained.label, explained.reason) == (judged.score, judged.label, judged.reason)


@ALL_KINDS
def test_clues_come_strongest_first_and_add_up_to_the_score(cards, kind, unseen_mail):
    for _, raw in unseen_mail:
        verdict, fixed, clues = Judge(cards[kind]).explain(raw)
        strengths = [abs(clue.weight) for clue in clues]
        assert strengths == sorted(strengths, reverse=True)
        assert fixed + sum(clue.weight for clue in clues) == pytest.approx(verdict.score, abs=1e-9)


@ALL_KINDS
def test_clues_are_the_tokens_of_the_message_that_the_model_knows(cards, kind, corpus):
    raw = b"Subject: casino casino\n\ncasino xylophonist\n"
    _, _, clues = Judge(cards[kind]).explain(raw)
    known = {token: count for token, count in tokens(parse(raw)).items() if token in corpus.tokens}
    assert {clue.token: clue.count for clue in clues if not clue.token.startswith("measure:")} == known
    assert known["subject:casino"] == 2
    assert "xylophonist" not in known


@ALL_KINDS
def test_a_judge_of_many_messages_says_what_a_fresh_one_does(cards, kind, mail):
    seasoned = Judge(cards[kind])
    assert [seasoned.judge(raw).score for _, raw in mail] == [Judge(cards[kind]).judge(raw).score for _, raw in mail]


@pytest.mark.parametrize("ask", [Judge.judge, Judge.explain])
def test_a_scorecard_with_impossible_numbers_is_damaged_not_unsure(ask):
    card = Scorecard(
        kind="corrected", alpha=1.0, binary=True, prior=0.0, messages=(50, 50), totals=(1, 1), words=1,
        columns=[Column("words", [float("inf")])], tables={"ids": [token_id("casino")]},
    )  # fmt: skip
    with pytest.raises(DamagedModel):
        ask(Judge(card), b"Subject: x\n\ncasino\n")


# Senders


@pytest.fixture(scope="module")
def judge(gathered_from):
    """Knows ham from anna, spam from doc, and has carl in the address book."""
    people = ((False, b"Anna", b"tea"), (True, b"doc", b"pills"))
    mail = [(label, b"From: %s@x.example\nSubject: %d\n\n%s %d\n" % (who, n, what, n))
            for n in range(12) for label, who, what in people]  # fmt: skip
    contacts = np.array([token_id("carl@x.example")], np.uint64)
    return Judge(fit(gathered_from(mail).corpus, Choice(contacts=contacts)))


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (b"From: anna@x.example\n", "known:ham"),
        (b"From: =?utf-8?q?A=2E?= <ANNA@X.EXAMPLE>\n", "known:ham"),
        (b"From: Carl <carl@x.example>\n", "known:contact"),
        (b"From: doc@x.example\n", "known:no"),  # sent spam, never ham
        (b"From: stranger@x.example\n", "known:no"),
    ],
)
def test_a_message_says_what_is_known_of_its_sender(judge, header, token):
    found = judge.tokens_of(parse(header + b"\nhello\n"))
    assert {name: count for name, count in found.items() if name.startswith("known:")} == {token: 1}


def test_a_message_without_a_sender_says_nothing_of_him(judge):
    assert not [token for token in judge.tokens_of(parse(b"Subject: x\n\nhello\n")) if token.startswith("known:")]


def test_ham_from_a_sender_speaks_for_his_next_message(judge):
    clues = {who: {clue.token: clue.weight for clue in judge.explain(b"From: %s@x.example\n\nhi\n" % who)[2]}
             for who in (b"anna", b"doc")}  # fmt: skip
    assert clues[b"anna"]["known:ham"] < 0 < clues[b"doc"]["known:no"]


# Many messages


@pytest.fixture
def model(tmp_path, cards):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / SCORECARD).write_bytes(to_bytes(cards["corrected"]))
    return folder


def test_every_message_of_the_units_is_judged_under_its_name(model, tmp_path, cards, unseen_mail):
    raws = [raw for _, raw in unseen_mail[:3]]
    mbox, single = tmp_path / "some.mbox", tmp_path / "one.eml"
    mbox.write_bytes(b"".join(SEPARATOR + raw + b"\n" for raw in raws[:2]))
    single.write_bytes(raws[2])
    work = [unit for path in (mbox, single) for unit in units(str(path), LeftOut())]
    verdicts, left_out = judge_units(Judge, str(model), None, work)
    assert [judged.name for judged in verdicts] == [f"{mbox}#1", f"{mbox}#2", str(single)]
    assert [judged.verdict.score for judged in verdicts] == [Judge(cards["corrected"]).judge(raw).score for raw in raws]
    assert left_out.total() == 0


def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_judged(model, tmp_path):
    good = tmp_path / "good.eml"
    good.write_bytes(b"Subject: hello\n\nhello\n")
    gone = str(tmp_path / "gone.eml")
    verdicts, left_out = judge_units(Judge, str(model), None, [Unit(gone, 5), Unit(str(good), 22)])
    assert [judged.name for judged in verdicts] == [str(good)]
    assert [path for path, _ in left_out.unreadable] == [gone]


def test_the_callers_c_reaches_the_verdicts(model, tmp_path, cards, unseen_mail):
    path = tmp_path / "spam.eml"
    path.write_bytes(unseen_mail[-1][1])
    score = Judge(cards["corrected"]).judge(unseen_mail[-1][1]).score
    labels = [judge_units(Judge, str(model), c, [Unit(str(path), 1)])[0][0].verdict.label
              for c in (np.exp(score - 0.1), np.exp(score + 0.1))]  # fmt: skip
    assert labels == ["spam", "ham"]


def test_judging_without_a_model_says_that_there_is_none(tmp_path):
    with pytest.raises(NoModel):
        judge_units(Judge, str(tmp_path), None, [])
