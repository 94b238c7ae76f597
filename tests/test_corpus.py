"""Mail becomes a count matrix, and the order in which it was read leaves no trace."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spamnb.corpus import HAM_AND_SPAM
from spamnb.counting import count_chunk
from spamnb.errors import BadData
from spamnb.gathering import Heap, gather
from spamnb.mailbox import Unit
from spamnb.message import digest, parse
from spamnb.tokens import MEASURES, measures, sender, token_id, tokens

LUNCH = b"From: anna@example.org\nSubject: lunch\n\nAt noon, at noon?\n"
PILLS = b"From: doc@example.net\nSubject: pills\n\nBuy cheap cheap cheap pills\n"
WATCH = b"Subject: watch\n\nCheap watches\n"


def unit(name, raw):
    found = Unit(name, len(raw))
    found.raw = raw
    return found


def gathered(*chunks, date=0):
    """Of chunks given as (is spam, [raw, ...])."""
    named = [(label, [unit(f"{place}/{n}", raw) for n, raw in enumerate(raws)])
             for place, (label, raws) in enumerate(chunks)]  # fmt: skip
    return gather([(label, count_chunk(units)) for label, units in named], date)


def column(corpus, token):
    """The counts of a token, message by message."""
    return corpus.counts[:, corpus.tokens.index(token)].toarray().ravel().tolist()


def row_of(corpus, raw):
    return corpus.digests.tolist().index(digest(raw).encode())


def counts_of(corpus, raw):
    row = corpus.counts[row_of(corpus, raw)]
    return {corpus.tokens[number]: int(count) for number, count in zip(row.indices, row.data, strict=True)}


def assert_same(one, other, but=()):
    """Every field of two corpora is equal, type and all."""
    assert one.tokens == other.tokens
    assert one.counts.shape == other.counts.shape
    for part in ("data", "indices", "indptr"):
        assert getattr(one.counts, part).tolist() == getattr(other.counts, part).tolist()
    for name in {field.name for field in fields(one)} - {"tokens", "counts", *but}:
        mine, yours = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
        assert (name, mine.dtype, mine.tolist()) == (name, yours.dtype, yours.tolist())


# What stands in it


def test_a_row_holds_the_counts_of_its_message(gathered_from):
    corpus = gathered_from([(False, LUNCH), (True, PILLS)]).corpus
    for raw in (LUNCH, PILLS):
        assert counts_of(corpus, raw) == dict(tokens(parse(raw)))
    assert counts_of(corpus, PILLS)["cheap"] == 3


def test_labels_senders_measures_and_date_stand_beside_their_message():
    corpus = gathered((False, [LUNCH]), (True, [PILLS, WATCH]), date=1_700_000_000).corpus
    for label, raw in ((False, LUNCH), (True, PILLS), (True, WATCH)):
        row = row_of(corpus, raw)
        address = sender(parse(raw))
        assert corpus.labels[row] == label
        assert corpus.senders[row] == (token_id(address) if address else 0)
        assert corpus.measures[row].tolist() == pytest.approx(measures(parse(raw)))
    assert corpus.dates.tolist() == [1_700_000_000] * 3
    assert corpus.messages == (1, 2)


def test_rows_stand_in_the_order_of_digests_and_columns_in_the_order_of_ids(corpus):
    assert corpus.digests.tolist() == sorted(set(corpus.digests.tolist()))
    assert corpus.ids.tolist() == sorted({token_id(token) for token in corpus.tokens})
    assert [token_id(token) for token in corpus.tokens] == corpus.ids.tolist()
    assert corpus.counts.has_sorted_indices


def test_a_line_end_inside_a_token_does_not_shift_the_words_behind_it():
    hostile = b"Content-Type: application/x; name*=utf-8''a%0Ab.x%0Ay\n\nhello\n"
    corpus = gathered((False, [hostile, LUNCH]), (True, [PILLS])).corpus
    assert counts_of(corpus, LUNCH) == dict(tokens(parse(LUNCH)))
    assert len(counts_of(corpus, hostile)) == len(tokens(parse(hostile)))
    assert not any("\n" in token for token in corpus.tokens)


def test_no_mail_is_an_empty_corpus():
    found = gathered((False, []), (True, []))
    assert found.corpus.messages == (0, 0)
    assert found.corpus.counts.shape == (0, 0)
    assert found.corpus.measures.shape == (0, len(MEASURES))


def test_a_class_without_mail_is_bad_data(gathered_from):
    with pytest.raises(BadData, match="no spam to learn from"):
        gathered_from([(False, LUNCH), (True, LUNCH), (False, WATCH)])


def test_unreadable_mail_is_told_and_the_rest_is_read(tmp_path):
    gone = str(tmp_path / "gone.eml")
    found = gather([(False, count_chunk([Unit(gone, 1)])), (True, count_chunk([unit("a", PILLS)]))], 0)
    assert [path for path, _ in found.left_out.unreadable] == [gone]
    assert found.corpus.messages == (0, 1)


# Copies


def test_copies_of_a_message_count_once_and_are_reported():
    found = gathered((False, [LUNCH, LUNCH]), (False, [LUNCH]), (True, [PILLS]))
    assert found.corpus.messages == (1, 1)
    assert found.duplicates == 2
    assert column(found.corpus, "noon") == [2 if label == 0 else 0 for label in found.corpus.labels]


def test_a_message_in_both_classes_is_left_out_and_all_its_copies_are_named():
    found = gathered((False, [LUNCH, WATCH]), (True, [PILLS, LUNCH, LUNCH, PILLS]))
    assert found.corpus.digests.tolist() == sorted(digest(raw).encode() for raw in (WATCH, PILLS))
    assert found.contradictions == ["0/0", "1/1", "1/2"]
    assert found.duplicates == 1
    assert "lunch" not in found.corpus.tokens


def test_copies_take_no_memory_but_for_their_names():
    heap = Heap(HAM_AND_SPAM)
    for _ in range(50):
        heap.add(False, count_chunk([unit("copy", LUNCH), unit("copy", LUNCH)]))
    assert sum(map(len, heap.parts["lengths"])) == 1
    assert len(heap.parts["indices"]) == 1
    assert heap.gathered(0).duplicates == 99


@pytest.mark.parametrize(
    "copy",
    [LUNCH + b"\n" * 40, LUNCH.replace(b"\n", b"\r\n"), b"From x Mon Jan  5 10:00:00 2026\n" + LUNCH,
     b"X-Spam-Status: Yes\n" + LUNCH],
    ids=["blank lines", "line ends", "mbox separator", "filter's header"],
)  # fmt: skip
def test_which_of_two_copies_was_read_first_leaves_no_trace(copy):
    one, other = (gathered((False, copies), (True, [PILLS])) for copies in ([LUNCH, copy], [copy, LUNCH]))
    assert one.duplicates == other.duplicates == 1
    assert_same(one.corpus, other.corpus)


# Order and workers


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_order_of_reading_leaves_no_trace(mail, data):
    some = [*mail[:8], *mail[-8:], *mail[:2], (True, mail[3][1])]  # two copies, and one in both classes
    shuffled = data.draw(st.permutations(some))
    cuts = data.draw(st.integers(1, len(some)))
    whole = gathered(*((label, [raw]) for label, raw in some))
    runs = [shuffled[start : start + cuts] for start in range(0, len(some), cuts)]
    parts = gathered(
        *((is_spam, [raw for label, raw in run if label == is_spam]) for run in runs for is_spam in (True, False))
    )
    assert_same(whole.corpus, parts.corpus)
    assert (parts.duplicates, len(parts.contradictions)) == (2, 2)


def test_two_workers_build_the_same_corpus_as_one(gathered_from, mail):
    assert_same(gathered_from(mail, jobs=1).corpus, gathered_from(mail, jobs=2).corpus, but={"dates"})


# Some of the messages


def test_taking_some_messages_keeps_their_words_alone(corpus_of_words):
    corpus = corpus_of_words(
        (False, "tea tea milk", "a@x.example"), (True, "pills tea"), (True, "pills rum", "b@x.example")
    )
    some = corpus.take(np.array([True, False, True]))
    assert set(some.tokens) == {"tea", "milk", "pills", "rum"}
    one = corpus.take(np.array([1]))
    assert sorted(one.tokens) == ["pills", "tea"]
    assert one.ids.tolist() == sorted(map(token_id, one.tokens))
    assert one.counts.toarray().tolist() == [[1, 1]]
    assert (one.messages, one.senders.tolist(), some.messages) == ((0, 1), [0], (1, 1))
    assert some.senders.tolist() == [token_id("a@x.example"), token_id("b@x.example")]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_taking_part_of_a_corpus_is_gathering_part_of_the_mail(mail, data):
    kept = data.draw(st.lists(st.booleans(), min_size=len(mail), max_size=len(mail)).filter(any))
    some = [pair for pair, keep in zip(mail, kept, strict=True) if keep]
    wanted = {digest(raw).encode() for _, raw in some}
    corpus = gathered(*((label, [raw]) for label, raw in mail)).corpus
    rows = np.array([name in wanted for name in corpus.digests.tolist()])
    assert_same(corpus.take(rows), gathered(*((label, [raw]) for label, raw in some)).corpus)


# Senders


def test_a_message_never_vouches_for_itself(corpus_of_words):
    corpus = corpus_of_words(
        (False, "w", "once@x.example"),  # nobody else wrote from there
        (False, "w", "twice@x.example"),
        (False, "w", "twice@x.example"),
        (False, "w", "both@x.example"),  # the other from there is spam
        (True, "w", "both@x.example"),  # but for the spam, the other is ham
        (True, "w", "spammer@x.example"),
        (True, "w", "spammer@x.example"),
        (False, "w"),
        (False, "w"),  # no address is no common address
    )
    assert corpus.has_other_ham_sender().tolist() == [False, True, True, False, True, False, False, False, False]


def test_each_message_gets_the_token_of_what_is_known_of_its_sender(corpus_of_words):
    corpus = corpus_of_words(
        (False, "w", "contact@x"), (True, "w", "contact@x"), (False, "w", "ham@x"), (True, "w", "nobody@x"), (True, "w")
    )
    contacts = np.array([token_id("contact@x")], np.uint64)
    seen = corpus.with_senders(contacts, np.array([False, True, True, False, False]))
    assert column(seen, "known:contact") == [1, 1, 0, 0, 0]  # the address book outweighs earlier ham
    assert column(seen, "known:ham") == [0, 0, 1, 0, 0]
    assert column(seen, "known:no") == [0, 0, 0, 1, 0]
    assert column(seen, "w") == [1, 1, 1, 1, 1]
    assert seen.ids.tolist() == sorted(map(token_id, seen.tokens))
    assert len(seen.tokens) == 4


def test_a_corpus_without_senders_gets_no_token_for_them(corpus_of_words):
    corpus = corpus_of_words((False, "tea"), (True, "pills"))
    assert corpus.with_senders(np.empty(0, np.uint64), corpus.has_other_ham_sender()).tokens == corpus.tokens
