"""What a model holds is told with the counts of its mail."""

from dataclasses import replace

import numpy as np
import pytest

from spamnb.archive import Saved
from spamnb.filtering import Judge
from spamnb.inspection import RARE, facts, facts_of, overview, tokens_like
from spamnb.message import parse
from spamnb.models import Choice, fit
from spamnb.tokens import token_id

KINDS = ("corrected", "multinomial")  # those that hear lessons at once; test_contract.py has them all

ALL_KINDS = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def pantry(corpus_of_words):
    return corpus_of_words(
        (False, "tea tea milk subject:tea"),
        (False, "tea date:GMT"),
        (True, "pills tea subject:pills"),
        (True, "pills pills rum"),
    )


# Words


@ALL_KINDS
def test_facts_count_messages_not_occurrences(pantry, kind):
    found = facts_of(pantry, fit(pantry, Choice(kind)), ["tea", "milk", "pills", "subject:tea"])
    assert [(fact.token, fact.ham, fact.spam) for fact in found] == [
        ("tea", 2, 1),
        ("milk", 1, 0),
        ("pills", 0, 2),
        ("subject:tea", 1, 0),
    ]


@ALL_KINDS
def test_facts_come_in_the_order_of_the_columns_asked_for(pantry, kind):
    card = fit(pantry, Choice(kind))
    columns = [pantry.tokens.index(word) for word in ("pills", "milk", "tea")]
    assert [fact.token for fact in facts(pantry, card, columns)] == ["pills", "milk", "tea"]
    assert facts(pantry, card, []) == []


@ALL_KINDS
def test_the_weight_of_a_word_is_what_it_adds_to_a_message_of_its_own(cards, kind, corpus):
    card = cards[kind]
    for fact in facts_of(corpus, card, ["casino", "choir", "subject:casino"]):
        row = card.row(token_id(fact.token))
        assert fact.weight == pytest.approx(card.score({row: 1}) - card.score({}))


@ALL_KINDS
def test_spam_words_weigh_more_than_ham_words(cards, kind, corpus):
    casino, choir = facts_of(corpus, cards[kind], ["casino", "choir"])
    assert choir.weight < 0 < casino.weight


def test_a_word_that_no_message_has_is_listed_with_zeros(pantry):
    [known, unknown] = facts_of(pantry, fit(pantry, Choice("multinomial")), ["rum", "xylophonist"])
    assert (known.ham, known.spam) == (0, 1)
    assert (unknown.token, unknown.ham, unknown.spam, unknown.weight) == ("xylophonist", 0, 0, 0.0)


@pytest.mark.parametrize(
    ("words", "tokens"),
    [
        (["tea"], ["subject:tea", "tea"]),
        (["TEA"], ["subject:tea", "tea"]),
        (["subject:tea"], ["subject:tea"]),
        (["gmt"], ["date:GMT"]),
        (["GMT"], ["date:GMT"]),
        (["rum", "pills"], ["pills", "subject:pills", "rum"]),
        (["te", "ea"], ["ea", "te"]),  # a part of a word is another word
        (["xylophonist", "rum"], ["rum", "xylophonist"]),  # unknown words at the end
        ([""], [""]),
        ([], []),
    ],
)
def test_a_word_is_found_wherever_it_stood(pantry, words, tokens):
    assert tokens_like(pantry, words) == tokens


# Overview


@ALL_KINDS
def test_the_overview_names_the_strongest_words_of_either_class(cards, kind, corpus):
    found = overview(Saved(corpus, Choice(kind), "g"), cards[kind], 5)
    spam, ham = ([fact.weight for fact in side] for side in (found.words["spam"], found.words["ham"]))
    assert len(spam) == len(ham) == 5
    assert spam == sorted(spam, reverse=True)
    assert ham == sorted(ham)
    assert max(ham) < 0 < min(spam)


@ALL_KINDS
def test_the_overview_leaves_out_rare_words(cards, kind, corpus):
    found = overview(Saved(corpus, Choice(kind), "g"), cards[kind], 10_000)
    assert min(fact.ham + fact.spam for fact in (*found.words["spam"], *found.words["ham"])) >= RARE


@ALL_KINDS
def test_the_overview_counts_messages_words_senders_and_contacts(corpus, mail, kind):
    contacts = np.array([token_id("boss@x")], np.uint64)
    choice = Choice(kind, alpha=0.25, contacts=contacts)
    settings = dict(overview(Saved(corpus, choice, "g"), fit(corpus, choice), 1).settings)
    addresses = {parse(raw).header("from") for label, raw in mail if not label} - {""}
    assert settings["kind"] == kind
    assert settings["messages"] == "30 ham, 25 spam"
    assert settings["words"] == f"{len(corpus.tokens):,}"
    assert settings["senders of ham known"] == str(len(addresses))
    assert settings["contacts"] == "1"
    assert settings["alpha"] == "0.25"


def test_the_overview_tells_when_the_mail_was_learned(corpus):
    days = np.where(np.arange(len(corpus.labels)) == 3, 1_000_000_000, 1_700_000_000)
    card = fit(corpus, Choice("multinomial"))
    for dates, said in ((days, "2001-09-09 to 2023-11-14"), (np.full(len(days), 1_700_000_000), "2023-11-14")):
        settings = dict(overview(Saved(replace(corpus, dates=dates), Choice("multinomial"), "g"), card, 1).settings)
        assert settings["learned"] == said


def test_a_strong_spam_word_of_the_overview_moves_a_message_towards_spam(cards, corpus):
    found = overview(Saved(corpus, Choice(), "g"), cards["corrected"], 10_000).words["spam"]
    word = next(fact.token for fact in found if fact.token.isalpha())
    judge = Judge(cards["corrected"])
    assert judge.judge(f"Subject: x\n\n{word}\n".encode()).score > judge.judge(b"Subject: x\n\n\n").score
