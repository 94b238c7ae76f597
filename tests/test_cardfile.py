"""A scorecard comes back from its file as it was, or not at all."""

import pytest

from spamnb.cardfile import FORMAT, HEAD, LATER, MAGIC, NUMBERS, SCORECARD, from_bytes, open_model, to_bytes
from spamnb.errors import BadConfig, DamagedModel, NoModel
from spamnb.filtering import Judge
from spamnb.models import KINDS, Choice, fit, score_rows
from spamnb.scorecard import TABLES

ALL_KINDS = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def small(corpus_of_words):
    """The file of a model of four words."""
    corpus = corpus_of_words(
        (False, "tea tea", "a@x"), (False, "tea milk", "a@x"), (True, "pills tea"), (True, "pills rum")
    )
    return to_bytes(fit(corpus, Choice()))


@ALL_KINDS
def test_scores_are_the_same_to_the_bit_after_a_round_trip(cards, kind, mail, unseen_mail, unseen_corpus):
    again = from_bytes(to_bytes(cards[kind]))
    before, after = Judge(cards[kind]), Judge(again)
    for _, raw in (*mail, *unseen_mail):
        assert after.judge(raw).score == before.judge(raw).score
    assert score_rows(again, unseen_corpus).tolist() == score_rows(cards[kind], unseen_corpus).tolist()


@ALL_KINDS
def test_every_number_and_table_survives_a_round_trip(cards, kind):
    card = cards[kind]
    again = from_bytes(to_bytes(card))
    assert {name: getattr(again, name) for name in NUMBERS} == {name: getattr(card, name) for name in NUMBERS}
    assert {name: list(again.tables[name]) for name in TABLES} == {name: list(card.tables[name]) for name in TABLES}
    assert to_bytes(again) == to_bytes(card)


def test_a_model_of_nothing_survives_a_round_trip(corpus):
    card = from_bytes(to_bytes(fit(corpus.take(~corpus.labels), Choice())))
    assert Judge(card).judge(b"Subject: any\n\n").label == "unsure"


def test_a_scorecard_cut_off_anywhere_is_damaged(small):
    for length in range(len(small)):
        with pytest.raises(DamagedModel):
            from_bytes(small[:length])


def test_a_scorecard_with_something_behind_it_is_damaged(small):
    with pytest.raises(DamagedModel):
        from_bytes(small + bytes(8))


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def test_a_flipped_bit_of_head_or_description_is_refused(small):
    _, _, length, _, _ = HEAD.unpack(small[: HEAD.size])
    version = range(len(MAGIC), len(MAGIC) + 2)
    for place in range(HEAD.size + length):
        with pytest.raises(BadConfig if place in version else DamagedModel):
            from_bytes(flipped(small, place))


@pytest.mark.parametrize("number", [0, FORMAT + 1, 65535])
def test_another_format_is_told_by_its_number(small, number):
    place = len(MAGIC)
    with pytest.raises(BadConfig, match=f"format {number}, this program reads {FORMAT}"):
        from_bytes(small[:place] + number.to_bytes(2, "little") + small[place + 2 :])


@pytest.mark.parametrize("content", [b"", b"\n", b"PK\3\4" + bytes(100), b"Spamnb scorecard\n" + bytes(100)])
def test_what_is_no_scorecard_is_damaged(content):
    with pytest.raises(DamagedModel, match="not a scorecard"):
        from_bytes(content)


def test_a_model_is_opened_from_its_directory(tmp_path, small, cards, unseen_mail):
    (tmp_path / SCORECARD).write_bytes(to_bytes(cards["corrected"]))
    opened, kept = Judge(open_model(str(tmp_path))), Judge(cards["corrected"])
    assert [opened.judge(raw).score for _, raw in unseen_mail] == [kept.judge(raw).score for _, raw in unseen_mail]


def test_a_directory_without_a_scorecard_holds_no_model(tmp_path):
    with pytest.raises(NoModel, match="spamnb train"):
        open_model(str(tmp_path))
    with pytest.raises(NoModel):
        open_model(str(tmp_path / "gone"))


@pytest.mark.parametrize("name", [SCORECARD, LATER])
@pytest.mark.parametrize("content", [b"", b"rubbish"])
def test_a_damaged_file_in_the_directory_is_never_taken_for_an_empty_model(tmp_path, small, name, content):
    (tmp_path / SCORECARD).write_bytes(small)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DamagedModel, match=name):
        open_model(str(tmp_path))


def test_a_scorecard_that_cannot_be_read_is_told_with_the_reason(tmp_path):
    (tmp_path / SCORECARD).mkdir()
    with pytest.raises(BadConfig, match="directory"):
        open_model(str(tmp_path))
