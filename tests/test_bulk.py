"""Many messages at once are judged as each would be alone."""

import pytest
from test_filtering import ODD
from test_teaching import KNOWN, NEW, card_of, taught

from spamnb import bulk
from spamnb.bulk import BulkJudge
from spamnb.errors import DamagedModel
from spamnb.filtering import Judge
from spamnb.models import KINDS

ALL_KINDS = pytest.mark.parametrize("kind", KINDS)


def assert_alike(card, c, raws):
    """Bulk, in two portions, and one by one."""
    judge, portions = BulkJudge(card, c), (raws[:7], raws[7:])
    many = [verdict for some in portions for verdict in judge.verdicts(some)]
    alone = [Judge(card, c).judge(raw) for raw in raws]
    assert [(one.label, one.reason) for one in many] == [(one.label, one.reason) for one in alone]
    assert [one.score for one in many] == pytest.approx([one.score for one in alone], abs=1e-9)


@ALL_KINDS
@pytest.mark.parametrize("c", [None, 1.0, 99.0])
def test_verdicts_are_those_of_one_message_at_a_time(cards, kind, c, mail, unseen_mail):
    assert_alike(cards[kind], c, [*ODD, *(raw for _, raw in (*mail, *unseen_mail)), *ODD])


@pytest.mark.parametrize("kind", ["corrected", "multinomial"])  # others are fitted anew
def test_lessons_since_the_last_fit_are_heard(kind, unseen_mail):
    card = card_of(KNOWN, kind)
    for lesson in NEW:
        taught(card, lesson, int(lesson.label))
    assert card.later_rows
    assert_alike(card, None, [raw for _, raw in unseen_mail])


def test_a_model_of_no_mail_knows_no_word():
    assert_alike(card_of([], "corrected"), None, ODD)


def test_a_judge_that_remembers_too_much_begins_anew(cards, monkeypatch, unseen_mail):
    monkeypatch.setattr(bulk, "MOST_REMEMBERED", 10)
    assert_alike(cards["corrected"], None, [raw for _, raw in unseen_mail])


def test_a_scorecard_with_impossible_numbers_is_damaged(unseen_mail):
    card = card_of(KNOWN, "corrected")
    card.columns[0].scale = float("inf")
    with pytest.raises(DamagedModel):
        BulkJudge(card).verdicts(raw for _, raw in unseen_mail)


def test_no_mail_has_no_verdicts(cards):
    assert BulkJudge(cards["corrected"]).verdicts([]) == []
