"""Words kept: each score against its definition, and which columns stay."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.stats import chi2_contingency
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from spamnb.models.selection import chi2_scores, document_frequencies, information_scores, selected
from spamnb.selecting import Selection, parse_selection

SCORES = pytest.mark.parametrize("score", [chi2_scores, information_scores])
CLASSES = pytest.mark.parametrize("classes", [2, 3, 5])


@st.composite
def tables(draw):
    """Messages of each class that have each word, and messages of each class, some classes being empty."""
    messages = draw(arrays(np.int64, st.integers(1, 4), elements=st.integers(0, 50)))
    shares = draw(arrays(np.float64, (len(messages), 6), elements=st.floats(0, 1)))
    return np.floor(shares * messages[:, None]).astype(np.int64), messages


def some_mail(classes, seed=3, messages=120, words=30):
    """Counts and labels; the words lean towards a class of their own."""
    random = np.random.default_rng(seed)
    labels = np.arange(messages, dtype=np.int8) % classes
    rates = random.gamma(0.3, 1.0, (classes, words))
    return sparse.csr_matrix(random.poisson(rates[labels]).astype(np.int32)), labels


def chosen(counts, labels, text):
    return selected(counts, labels, int(labels.max()) + 1, parse_selection(text)).tolist()


# What the user writes


@pytest.mark.parametrize(
    ("text", "method", "number"), [("chi2:500", "chi2", 500), ("information:1", "information", 1), ("df:03", "df", 3)]
)
def test_a_selection_is_a_method_and_a_number(text, method, number):
    assert parse_selection(text) == Selection(method, number)


@pytest.mark.parametrize(
    "text",
    [
        *("", "chi2", "chi2:", "chi2:0", "chi2:-1", "chi2:1.5", "chi2: 5", "chi2:1_0", "chi2:+5", "chi2:5:5", "chi2:٣"),
        *("df", ":5", "idf:5", "CHI2:5", "information:many", "df:" + "9" * 5000),
    ],
)
def test_another_selection_is_told_what_it_must_be(text):
    with pytest.raises(ValueError, match=r"^must be chi2:N, information:N or df:MIN, N a whole number from 1 on$"):
        parse_selection(text)


@given(st.sampled_from(["chi2", "information", "df"]), st.integers(1, 10**18 - 1))
def test_a_selection_reads_as_it_is_written(method, number):
    assert parse_selection(str(Selection(method, number))) == Selection(method, number)


# Scores


@CLASSES
def test_document_frequencies_count_a_message_once_a_word(classes):
    counts, labels = some_mail(classes)
    dense = counts.toarray() > 0
    expected = [dense[labels == label].sum(axis=0) for label in range(classes)]
    np.testing.assert_array_equal(document_frequencies(counts, labels, classes), expected)


def test_a_zero_that_the_matrix_stores_is_no_word():
    counts = sparse.csr_matrix((np.array([0, 2], np.int32), [0, 1], [0, 2]), shape=(1, 3))
    assert document_frequencies(counts, np.zeros(1, np.int8), 2).tolist() == [[0, 1, 0], [0, 0, 0]]


def test_chi2_by_hand():
    """10 ham of which 2 have the word, 10 spam of which 8: expected 5 everywhere, 4 × (3² / 5) = 7.2."""
    assert chi2_scores(np.array([[2], [8]]), np.array([10, 10])).tolist() == [pytest.approx(7.2)]
    assert chi2_scores(np.array([[0], [1]]), np.array([1, 1])).tolist() == [2.0]  # 4 × (½² / ½)


def test_information_by_hand():
    """The word is spam's alone and in all of it: its presence tells the class, log 2. In half of each: nothing."""
    scores = information_scores(np.array([[0, 5, 0], [10, 5, 5]]), np.array([10, 10]))
    # the third: 5 of 20 with it and spam, 5 spam without, 10 ham without
    assert scores == pytest.approx([log(2), 0.0, 0.25 * log(2) + 0.25 * log(2 / 3) + 0.5 * log(4 / 3)], abs=1e-15)


@CLASSES
def test_chi2_agrees_with_scipy(classes):
    counts, labels = some_mail(classes)
    present, messages = document_frequencies(counts, labels, classes), np.bincount(labels)
    scores = chi2_scores(present, messages)
    told = [word for word in range(present.shape[1]) if 0 < present[:, word].sum() < len(labels)]
    assert len(told) > 20
    for word in told:
        table = np.array([present[:, word], messages - present[:, word]])
        assert scores[word] == pytest.approx(chi2_contingency(table, correction=False).statistic, rel=1e-12)


@CLASSES
def test_information_agrees_with_scikit_learn(classes):
    counts, labels = some_mail(classes)
    dense = counts.toarray() > 0
    scores = information_scores(document_frequencies(counts, labels, classes), np.bincount(labels))
    one_by_one = [mutual_info_score(labels, column) for column in dense.T]
    np.testing.assert_allclose(scores, one_by_one, rtol=0, atol=1e-12)
    np.testing.assert_allclose(scores, mutual_info_classif(dense, labels, discrete_features=True), rtol=0, atol=1e-12)


@SCORES
@given(tables())
def test_scores_are_never_below_nothing(score, table):
    assert (score(*table) >= 0).all()


@given(tables())
def test_a_word_tells_no_more_than_the_classes_hold(table):
    present, messages = table
    everyone = max(messages.sum(), 1)
    shares = messages[messages > 0] / everyone
    assert (information_scores(present, messages) <= -(shares * np.log(shares)).sum() + 1e-12).all()
    assert (chi2_scores(present, messages) <= everyone * max(len(shares) - 1, 0) + 1e-6).all()


@SCORES
@given(tables())
def test_presence_and_absence_tell_the_same(score, table):
    present, messages = table
    np.testing.assert_allclose(score(present, messages), score(messages[:, None] - present, messages), atol=1e-12)


@SCORES
@given(tables(), st.randoms(use_true_random=False))
def test_the_names_of_the_classes_do_not_matter(score, table, chance):
    present, messages = table
    order = chance.sample(range(len(messages)), len(messages))
    np.testing.assert_allclose(score(present, messages), score(present[order], messages[order]), atol=1e-12)


@SCORES
@given(st.integers(1, 9), arrays(np.int64, 3, elements=st.integers(1, 20)))
def test_a_word_as_frequent_in_every_class_tells_nothing(score, share, tens):
    assert score((share * tens)[:, None], 10 * tens) == pytest.approx([0.0], abs=1e-12)


@SCORES
def test_a_word_in_every_message_or_in_none_tells_nothing(score):
    assert score(np.array([[7, 0], [3, 0]]), np.array([7, 3])).tolist() == [0.0, 0.0]


@SCORES
def test_no_messages_and_no_words_have_scores_too(score):
    assert score(np.zeros((2, 3), int), np.zeros(2, int)).tolist() == [0.0, 0.0, 0.0]
    assert score(np.zeros((2, 0), int), np.array([3, 4])).tolist() == []


# Columns kept


@pytest.fixture(scope="module")
def six_messages():
    """Words 0 and 2 are in all ham alone; 1 is in every message; 3 in all spam alone; 4 in one ham; 5 in one spam."""
    rows = [[1, 2, 1, 0, 1, 0], [3, 1, 1, 0, 0, 0], [1, 1, 5, 0, 0, 0]]
    rows += [[0, 1, 0, 1, 0, 0], [0, 4, 0, 1, 0, 9], [0, 1, 0, 2, 0, 0]]
    return sparse.csr_matrix(np.array(rows, np.int32)), np.array([0, 0, 0, 1, 1, 1], np.int8)


@pytest.mark.parametrize("method", ["chi2", "information"])
@pytest.mark.parametrize(
    ("number", "kept"),
    [
        (1, [0]),  # 0, 2 and 3 tell the class alike: the first stays
        (2, [0, 2]),
        (3, [0, 2, 3]),
        (4, [0, 2, 3, 4]),
        (5, [0, 2, 3, 4, 5]),
        (6, [0, 1, 2, 3, 4, 5]),
        (100, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_the_words_that_tell_most_stay_and_of_equals_the_first(six_messages, method, number, kept):
    assert chosen(*six_messages, f"{method}:{number}") == kept


@pytest.mark.parametrize(
    ("least", "kept"), [(1, [0, 1, 2, 3, 4, 5]), (2, [0, 1, 2, 3]), (3, [0, 1, 2, 3]), (4, [1]), (7, [])]
)
def test_words_in_enough_messages_stay_however_often_they_stand_in_one(six_messages, least, kept):
    assert chosen(*six_messages, f"df:{least}") == kept


@pytest.mark.parametrize("method", ["chi2", "information"])
def test_of_many_equals_the_first_stay(method):
    telling = np.random.default_rng(4).random(1000) < 0.5  # the others stand in both messages
    counts = sparse.csr_matrix(np.array([np.ones(1000), ~telling], np.int32))
    assert chosen(counts, np.array([0, 1], np.int8), f"{method}:100") == np.flatnonzero(telling)[:100].tolist()


def test_words_that_tell_nothing_keep_their_order_in_spite_of_rounding():
    """Nine words, each in the same share of 130 ham and of 70 spam: 0, and computed as 1e-16 or, but for care, less."""
    labels = np.repeat(np.array([0, 1], np.int8), [130, 70])
    rank = np.concatenate([np.arange(130) / 130, np.arange(70) / 70])
    counts = sparse.csr_matrix((rank[:, None] < np.arange(1, 10) / 10).astype(np.int32))
    scores = information_scores(document_frequencies(counts, labels, 2), np.array([130, 70]))
    assert 0 <= scores.min() <= scores.max() < 1e-15
    for number in range(1, 10):
        assert chosen(counts, labels, f"information:{number}") == list(range(number))


@pytest.mark.parametrize("text", ["chi2:7", "information:7", "df:20"])
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_messages_does_not_matter(text, seed):
    counts, labels = some_mail(3)
    order = np.random.default_rng(seed).permutation(len(labels))
    assert chosen(counts, labels, text) == chosen(counts[order], labels[order], text)


@pytest.mark.parametrize("text", ["chi2:3", "information:3", "df:1"])
def test_columns_kept_are_indices_even_where_there_are_no_words(text):
    nothing = sparse.csr_matrix((4, 0), dtype=np.int32)
    kept = selected(nothing, np.array([0, 0, 1, 1], np.int8), 2, parse_selection(text))
    assert kept.dtype == np.intp
    assert kept.tolist() == []
