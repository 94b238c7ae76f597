"""Models: the textbook's numbers, agreement with scikit-learn, and no message judged by a model that saw it."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

from spamnb.filtering import Judge
from spamnb.message import digest, short_digest
from spamnb.models import Choice, cutoffs, fit, score_rows, train_and_test
from spamnb.models.fitting import (
    HELD_OUT_FOLDS,
    MOST_C,
    MOST_HAM_LOST,
    MOST_SPAM_LOST,
    fit_plain,
    folds_of,
    held_out_scores,
)
from spamnb.models.logistic import RIDGE, calibration, fit_logistic, logistic_loss, unit_rows
from spamnb.models.multinomial import fit_multinomial
from spamnb.naive import threshold_offset
from spamnb.tokens import token_id

KINDS = ("corrected", "multinomial")  # those that hear lessons at once; test_contract.py has them all

ALL_KINDS = pytest.mark.parametrize("kind", KINDS)
SCORES = arrays(float, st.integers(1, 60), elements=st.floats(-50, 50))


# Multinomial


@pytest.fixture(scope="module")
def four_messages(corpus_of_words):
    """Ham: tea 3, milk 1, of 4 words. Spam: pills 3, tea 1, rum 1, of 5 words. Dictionary: 4 words."""
    return corpus_of_words((False, "tea tea"), (False, "tea milk"), (True, "pills pills tea"), (True, "pills rum"))


@pytest.mark.parametrize(
    ("text", "score"),
    [
        # alpha 1: p = (n + 1) / (4 + 4) in ham, (n + 1) / (5 + 4) in spam
        ("tea", log((2 / 9) / (4 / 8))),
        ("milk", log((1 / 9) / (2 / 8))),
        ("pills", log((4 / 9) / (1 / 8))),
        ("rum", log((2 / 9) / (1 / 8))),
        ("pills pills tea", 2 * log(32 / 9) + log(4 / 9)),
        ("pills unheard-of", log(32 / 9)),  # a word outside the dictionary says nothing
        ("unheard-of", 0.0),
    ],
)
def test_multinomial_by_hand(four_messages, corpus_of_words, text, score):
    card = fit_multinomial(four_messages, alpha=1.0, binary=False)
    assert score_rows(card, corpus_of_words((True, text))) == pytest.approx([score], abs=1e-12)


@pytest.mark.parametrize(("c", "label"), [(1.0, "spam"), (1.5, "spam"), (1.6, "ham"), (100.0, "ham")])
def test_multinomial_calls_spam_what_has_more_evidence_than_the_offset(four_messages, corpus_of_words, c, label):
    """t = −b + log(32/9) + log(4/9), b = log c + log 2 − log 2: above 0 up to c = 128/81 = 1.58."""
    card = fit_multinomial(four_messages, alpha=1.0, binary=False)
    evidence = log(32 / 9) + log(4 / 9)
    assert (evidence - threshold_offset(c, 2, 2) > 0) == (label == "spam")
    assert card.verdict(*score_rows(card, corpus_of_words((True, "pills tea"))), c).label == label


def test_the_offset_is_log_c_and_the_odds_of_ham():
    assert threshold_offset(3.0, 8, 2) == pytest.approx(log(3 * 8 / 2))
    assert threshold_offset(1.0, 5, 5) == 0.0


def test_the_score_begins_with_the_odds_of_spam(corpus_of_words):
    corpus = corpus_of_words((False, "tea"), (False, "tea"), (False, "tea"), (True, "tea"))
    assert score_rows(fit_multinomial(corpus, 1.0, False), corpus) == pytest.approx([log(1 / 3)] * 4)


def test_binary_counts_hear_a_word_once_a_message(four_messages, corpus_of_words):
    card = fit_multinomial(four_messages, alpha=1.0, binary=True)
    # messages with the word: tea 2 and milk 1 in ham, pills 2, tea 1, rum 1 in spam
    once, thrice = score_rows(card, corpus_of_words((True, "pills"), (True, "pills pills pills")))
    assert once == thrice == pytest.approx(log((3 / 8) / (1 / 7)))


def columns_like(corpus, other):
    """The counts of another corpus under this one's dictionary."""
    place = {token: number for number, token in enumerate(other.tokens)}
    empty = sparse.csc_matrix((len(other.labels), 1), dtype=np.int32)
    counts = other.counts.tocsc()
    return sparse.hstack([counts[:, place[token]] if token in place else empty for token in corpus.tokens]).tocsr()


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 1.0, 7.5])
@pytest.mark.parametrize("binary", [False, True], ids=["raw", "binary"])
def test_multinomial_agrees_with_scikit_learn(corpus, unseen_corpus, alpha, binary):
    card = fit_multinomial(corpus, alpha, binary)
    for judged, counts in ((corpus, corpus.counts), (unseen_corpus, columns_like(corpus, unseen_corpus))):
        learned, counts = (matrix.minimum(1) if binary else matrix for matrix in (corpus.counts, counts.astype(int)))
        joint = MultinomialNB(alpha=alpha).fit(learned, corpus.labels).predict_joint_log_proba(counts)
        np.testing.assert_allclose(score_rows(card, judged), joint[:, 1] - joint[:, 0], rtol=0, atol=1e-9)


# Rows of a count matrix


@pytest.mark.parametrize("step", [-1, 1])
def test_ids_next_to_each_other_are_different_words(four_messages, corpus_of_words, step):
    card = fit_multinomial(four_messages, alpha=1.0, binary=False)
    near = replace(corpus_of_words((True, "tea")), ids=np.array([token_id("tea") + step], np.uint64))
    assert score_rows(card, near).tolist() == [card.prior]


@ALL_KINDS
def test_a_corpus_without_a_word_in_common_gets_the_score_of_a_message_without_words(cards, corpus_of_words, kind):
    card = cards[kind]
    assert score_rows(card, corpus_of_words((True, "xylophonist"), (False, ""))) == pytest.approx([card.score({})] * 2)


# Logistic regression


@pytest.fixture(scope="module")
def noisy():
    """A well-conditioned problem that no plane separates."""
    random = np.random.default_rng(5)
    rows = random.normal(size=(400, 5))
    labels = random.random(400) < expit(rows @ [1.0, -2.0, 0.5, 0.0, 1.5] - 0.5)
    return sparse.csr_matrix(rows), labels


@pytest.mark.parametrize("size", [0.0, 1.0, 30.0])
def test_the_gradient_of_the_loss_is_its_finite_difference(noisy, size):
    rows, labels = noisy
    data = rows, rows.T.tocsr(), np.where(labels, 1.0, -1.0)
    at = size * np.random.default_rng(6).normal(size=rows.shape[1] + 1)
    _, gradient = logistic_loss(at, *data)
    np.testing.assert_allclose(gradient, approx_fprime(at, lambda x: logistic_loss(x, *data)[0], 1e-6), atol=1e-5)


def test_the_loss_of_certainty_is_finite():
    rows = sparse.csr_matrix([[1.0], [1.0]])
    value, gradient = logistic_loss(np.array([5000.0, 0.0]), rows, rows.T.tocsr(), np.array([1.0, -1.0]))
    assert value == pytest.approx(2500.0 + 0.5 * RIDGE * 5000.0**2)
    assert np.isfinite(gradient).all()


def test_logistic_weights_agree_with_scikit_learn(noisy):
    rows, labels = noisy
    weights, intercept = fit_logistic(rows, labels)
    peer = LogisticRegression(C=1 / (RIDGE * len(labels)), tol=1e-8, max_iter=1000).fit(rows.toarray(), labels)
    np.testing.assert_allclose([*weights, intercept], [*peer.coef_[0], *peer.intercept_], atol=2e-3)


def test_unit_rows_have_length_one_whatever_the_counts():
    rows = unit_rows(sparse.csr_matrix([[3, 0, 1, 9], [0, 0, 0, 0], [0, 7, 0, 0]]))
    np.testing.assert_allclose(rows.toarray(), [[3**-0.5, 0, 3**-0.5, 3**-0.5], [0, 0, 0, 0], [0, 1, 0, 0]])


@pytest.mark.parametrize(("slope", "intercept"), [(2.0, -1.0), (0.3, 0.5), (12.0, 4.0)])
def test_calibration_finds_the_log_odds_behind_the_scores(slope, intercept):
    random = np.random.default_rng(7)
    odds = random.normal(scale=2.0, size=20_000)
    found = calibration((odds - intercept) / slope, random.random(len(odds)) < expit(odds))
    assert found == pytest.approx((slope, intercept), rel=0.06, abs=0.06)


def test_calibration_of_scores_that_separate_the_classes_stops_short_of_certainty():
    scores, labels = np.array([-3.0, -2.0, 2.0, 3.0]), np.array([False, False, True, True])
    slope, intercept = calibration(scores, labels)
    assert 0 < slope * 3.0 + intercept < 3.0


def test_calibration_never_turns_the_order_round():
    slope, _ = calibration(np.array([5.0, 4.0, -4.0, -5.0]), np.array([False, False, True, True]))
    assert slope > 0


# Folds


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 8), st.integers(0, 5))
def test_every_fold_has_its_share_of_either_class(labels, folds, seed):
    labels = np.array(labels)
    fold = folds_of(labels, folds, seed)
    assert set(fold.tolist()) <= set(range(folds))
    for label in (False, True):
        sizes = np.bincount(fold[labels == label], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


def test_folds_follow_from_the_seed():
    labels = np.arange(40) % 3 == 0
    assert folds_of(labels, 4, seed=1).tolist() == folds_of(labels, 4, seed=1).tolist()
    assert folds_of(labels, 4, seed=1).tolist() != folds_of(labels, 4, seed=2).tolist()


def test_each_message_is_tested_once_and_never_learned_then(corpus):
    tested = np.zeros(len(corpus.labels), int)
    for train, test in train_and_test(corpus, 4):
        tested += test
        assert not set(train.digests.tolist()) & set(corpus.digests[test].tolist())
        assert len(train.digests) + test.sum() == len(corpus.digests)
    assert (tested == 1).all()


def with_word(corpus, row, word, count):
    """The corpus with one more word, in one message alone."""
    added = sparse.csr_matrix(([count], ([row], [0])), shape=(len(corpus.labels), 1), dtype=np.int32)
    ids = np.append(corpus.ids, np.array([token_id(word)], np.uint64))
    order = np.argsort(ids)
    names = [*corpus.tokens, word]
    counts = sparse.hstack([corpus.counts, added], format="csr")[:, order]
    counts.sort_indices()
    return replace(corpus, tokens=[names[column] for column in order], ids=ids[order], counts=counts)


@ALL_KINDS
@pytest.mark.parametrize("row", [0, 17, 54])
def test_a_word_of_one_message_does_not_move_its_own_held_out_score(corpus, kind, row):
    clean = held_out_scores(corpus, Choice(kind), 3)
    poisoned = held_out_scores(with_word(corpus, row, "poison", 1000), Choice(kind), 3)
    assert poisoned[row] == pytest.approx(clean[row], abs=1e-9)


@ALL_KINDS
def test_a_held_out_score_does_not_know_the_sender_from_the_message_itself(corpus_of_words, kind):
    """A ham from an address of its own is judged as a spam of the same words from a stranger would be."""
    words = [(label, f"{word} {word}s", f"{number}@{label}.example") for number in range(6)
             for label, word in ((False, "tea"), (True, "pills"))]  # fmt: skip
    own, stranger = (corpus_of_words(*words, (False, "tea pills", sender)) for sender in ("new@x", "other@x"))
    scores = [held_out_scores(corpus, Choice(kind), 3)[-1] for corpus in (own, stranger)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-9)
    assert (own.senders != stranger.senders).any()


# Cutoffs


@given(SCORES, SCORES)
def test_cutoffs_keep_to_the_losses_allowed(ham, spam):
    labels = np.arange(len(ham) + len(spam)) >= len(ham)
    spam_cutoff, ham_cutoff = cutoffs(np.append(ham, spam), labels)
    assert (ham > spam_cutoff).mean() <= MOST_HAM_LOST or spam_cutoff == MOST_C
    assert (spam <= ham_cutoff).mean() <= MOST_SPAM_LOST  # what is at the ham cutoff is called ham
    assert ham_cutoff <= spam_cutoff
    assert spam_cutoff >= 0.0  # what is likelier ham is never called spam


def test_a_corrected_model_carries_the_cutoffs_of_its_held_out_scores(corpus, cards):
    card = cards["corrected"]
    held_out = held_out_scores(corpus, Choice("corrected"), HELD_OUT_FOLDS)
    slope, intercept = calibration(held_out, corpus.labels)
    assert (log(card.c), card.ham_cutoff) == pytest.approx(cutoffs(slope * held_out + intercept, corpus.labels))


def test_a_multinomial_model_calls_spam_what_is_likelier_spam(cards):
    card = cards["multinomial"]
    assert (card.c, card.ham_cutoff) == (1.0, 0.0)


# Fitting


@ALL_KINDS
def test_spam_words_raise_the_score_and_ham_words_lower_it(cards, kind):
    judge = Judge(cards[kind])
    text = b"From: someone@new.example\nSubject: the time\n\nwe have all of it %s\n"
    ham, plain, spam = (judge.judge(text % words).score for words in (b"choir rehearsal", b"", b"casino winner"))
    assert ham < plain < spam


@ALL_KINDS
@pytest.mark.parametrize("raw", [b"", b"\n", b"Subject:\n\n", b"\xff\0", b"From: a@b\n\nxylophonist\n"])
def test_a_message_that_says_nothing_has_a_finite_score(cards, kind, raw):
    assert abs(Judge(cards[kind]).judge(raw).score) < 1e6


@ALL_KINDS
@pytest.mark.parametrize("each", [1, 2, 3, 10])
def test_little_mail_is_enough_to_rank_its_own_spam_above_its_own_ham(corpus, kind, each):
    few = corpus.take(np.concatenate([np.flatnonzero(corpus.labels == label)[:each] for label in (False, True)]))
    scores = score_rows(fit(few, Choice(kind)), few)
    assert few.messages == (each, each)
    assert scores[few.labels].min() > scores[~few.labels].max()


def test_held_out_mail_that_misleads_does_not_turn_the_model_round(corpus_of_words):
    """Held out, each message looks like the one of the other class that stays; one word tells them apart."""
    topics = {topic: " ".join(topic + letter for letter in "abcd") for topic in ("garden", "lunch")}
    corpus = corpus_of_words(
        (False, topics["garden"] + " plan"), (True, topics["lunch"] + " casino"),
        (False, topics["lunch"] + " plan"), (True, topics["garden"] + " casino"),
    )  # fmt: skip
    held_out = held_out_scores(corpus, Choice("corrected"), 2)
    assert held_out[corpus.labels].max() < held_out[~corpus.labels].min()  # the premise
    scores = score_rows(fit(corpus, Choice("corrected")), corpus)
    assert scores[corpus.labels].min() > scores[~corpus.labels].max()


@ALL_KINDS
def test_a_message_without_words_can_be_learned(corpus_of_words, kind):
    corpus = corpus_of_words((False, ""), (False, "tea"), (True, "pills"), (True, ""))
    assert np.isfinite(score_rows(fit(corpus, Choice(kind)), corpus)).all()


def test_corrected_scores_are_log_odds_on_held_out_mail(corpus):
    """Stretched a second time, they would stay as they are."""
    held_out = held_out_scores(corpus, Choice("corrected"), 3)
    slope, intercept = calibration(held_out, corpus.labels)
    assert calibration(slope * held_out + intercept, corpus.labels) == pytest.approx((1.0, 0.0), abs=1e-3)


@ALL_KINDS
def test_the_model_knows_who_sent_what_and_the_contacts(corpus_of_words, kind):
    corpus = corpus_of_words(
        (False, "tea", "a@x"), (True, "pills", "a@x"), (False, "tea", "a@x"), (True, "rum", "b@x"), (True, "rum")
    )
    card = fit(corpus, Choice(kind, contacts=np.array([token_id("boss@x")], np.uint64)))
    assert card.sender_counts(token_id("a@x")) == (2, 1)
    assert card.sender_counts(token_id("b@x")) == (0, 1)
    assert card.sender_counts(token_id("c@x")) == card.sender_counts(0) == (0, 0)
    assert card.is_contact(token_id("boss@x"))
    assert not card.is_contact(token_id("a@x"))


@ALL_KINDS
def test_the_model_remembers_which_message_it_learned_as_what(cards, mail, kind):
    card = cards[kind]
    for label, raw in mail:
        assert card.learned_as(short_digest(digest(raw))) == label
    assert card.learned_as(short_digest(digest(b"never seen"))) is None


@ALL_KINDS
def test_a_model_of_one_class_is_unsure_of_everything(corpus, mail, kind):
    card = fit(corpus.take(~corpus.labels), Choice(kind))
    for c in (None, 1.0):
        verdict = Judge(card, c).judge(mail[0][1])
        assert (verdict.label, verdict.reason) == ("unsure", "only 0 spam learned")
    assert score_rows(card, corpus).tolist() == [0.0] * len(corpus.labels)


@ALL_KINDS
def test_alpha_and_counts_of_the_users_choice_are_heard(corpus, kind):
    default, smooth = (fit_plain(corpus, Choice(kind, alpha)) for alpha in (None, 50.0))
    assert np.abs(score_rows(default, corpus) - score_rows(smooth, corpus)).max() > 0.01


def test_multinomial_is_by_default_the_textbooks(corpus, cards):
    seen = corpus.with_senders(np.empty(0, np.uint64), corpus.has_other_ham_sender())
    card, textbook = cards["multinomial"], fit_multinomial(seen, alpha=1.0, binary=False)
    assert card.prior == textbook.prior
    assert card.columns[0].weights.tolist() == textbook.columns[0].weights.tolist()
    binary = fit(corpus, Choice("multinomial", counts="binary"))
    assert binary.columns[0].weights.tolist() == fit_multinomial(seen, 1.0, True).columns[0].weights.tolist()
