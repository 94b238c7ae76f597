"""What every model must keep to, whatever it assumes of mail: one list of checks, all kinds and all their forms."""

from collections import Counter
from dataclasses import replace
from functools import cache
from math import log

import numpy as np
import pytest
from conftest import invented_mail
from scipy import sparse
from scipy.spatial.distance import jensenshannon
from scipy.stats import norm, poisson

from spamnb.bulk import BulkJudge
from spamnb.cardfile import from_bytes, to_bytes
from spamnb.corpus import merged
from spamnb.errors import Usage
from spamnb.filtering import Judge
from spamnb.gathering import from_lessons
from spamnb.learning import learn, lesson_of
from spamnb.mailbox import Mail
from spamnb.message import parse
from spamnb.models import Choice, check_choice, fit, score_rows
from spamnb.models.fitting import HELD_OUT_FOLDS, held_out_scores
from spamnb.models.logistic import calibration, logistic_weights
from spamnb.models.neighbours import project
from spamnb.naive import INFORMATIVE, NEVER, SHRINK
from spamnb.settings import KINDS
from spamnb.store import Store
from spamnb.tokens import ENVELOPE_BIT, MEASURES, measures, token_id
from spamnb.training import keep, refit


def corpus_of(pairs):
    """A corpus of messages, each learned as the user says."""
    return from_lessons([lesson_of(raw, int(label), 0) for label, raw in pairs])


MAIL = invented_mail(16, 13, seed=5)
UNSEEN = invented_mail(4, 4, seed=6)
UNKNOWN_CLASS = [(False, raw) for _, raw in invented_mail(8, 8, seed=7)]
CORPUS, UNLABELLED = corpus_of(MAIL), corpus_of(UNKNOWN_CLASS)

CHOICES = {
    **{kind: Choice(kind) for kind in KINDS},
    "multinomial frequency": Choice("multinomial", prior="frequency"),
    "multinomial map": Choice("multinomial", 2.0, estimate="map"),
    "multinomial mle": Choice("multinomial", estimate="mle"),
    "multinomial auto": Choice("multinomial", "auto"),
    "multinomial empirical": Choice("multinomial", "empirical"),
    "multinomial binary": Choice("multinomial", counts="binary"),
    "multinomial chi2": Choice("multinomial", select="chi2:50"),
    "multinomial information": Choice("multinomial", select="information:50"),
    "multinomial df": Choice("multinomial", select="df:2"),
    "multinomial measures": Choice("multinomial", measures=True),
    "bernoulli mle": Choice("bernoulli", estimate="mle"),
    "bernoulli map": Choice("bernoulli", 2.0, estimate="map"),
    "bernoulli auto": Choice("bernoulli", "auto"),
    "bernoulli empirical": Choice("bernoulli", "empirical"),
    "categorical Laplace": Choice("categorical", 1.0),
    "poisson Laplace": Choice("poisson", 1.0),
    "poisson measures": Choice("poisson", measures=True, variance="each"),
    "logistic df": Choice("logistic", select="df:3"),
    "gaussian each": Choice("gaussian", variance="each"),
    "gaussian features": Choice("gaussian", variance="features"),
    "gaussian classes": Choice("gaussian", variance="classes"),
    "gaussian one": Choice("gaussian", variance="one"),
    "gaussian mle": Choice("gaussian", variance="each", estimate="mle"),
    "neighbours euclidean": Choice("neighbours", distance="euclidean"),
    "neighbours cosine": Choice("neighbours", distance="cosine", counts="raw"),
    "neighbours Jensen-Shannon": Choice("neighbours", distance="jensen-shannon", counts="raw"),
    "neighbours average": Choice("neighbours", vote="average", neighbours=4),
    "neighbours majority": Choice("neighbours", vote="majority"),
    "neighbours projected": Choice("neighbours", project=64),
    "em unlabelled": Choice("em", unlabelled=UNLABELLED),
    "em of equals": Choice("em", 1.0, unlabelled=UNLABELLED, unlabelled_weight=1.0),
}
SHARES = ("capitals", "digits", "hour")  # measures that are no sizes or counts
MEASURED = [name for name, choice in CHOICES.items() if choice.kind == "gaussian" or choice.measures]
NEIGHBOURS = [name for name, choice in CHOICES.items() if choice.kind == "neighbours"]
WORDS = [name for name, choice in CHOICES.items() if choice.kind not in ("gaussian", "neighbours")]
AVERAGED = ("corrected", "logistic", "em")  # kinds that divide by a message's length
EVERY_MODEL = pytest.mark.parametrize("name", CHOICES)


@cache
def card_of(name):
    """The model fitted to all of the mail; to be read, not taught."""
    return fit(CORPUS, CHOICES[name])


def as_fitted(card):
    """A scorecard's bytes, without the name that each training gives it."""
    again = from_bytes(to_bytes(card))
    again.generation, again.lessons = "", 0
    return to_bytes(again)


def near(number, name):
    """Equal but for rounding; without smoothing, millions are added and taken away again."""
    return pytest.approx(number, abs=1e-6 if CHOICES[name].estimate == "mle" else 1e-9, rel=1e-12)


@EVERY_MODEL
def test_every_form_of_a_model_can_be_asked_for(name):
    check_choice(CHOICES[name])


def test_measures_have_no_mode_to_be_estimated_by():
    with pytest.raises(Usage, match="mean divides by n − 1, mle by n"):
        check_choice(Choice("gaussian", estimate="map"))


# Merge order


@EVERY_MODEL
def test_the_order_and_the_portions_in_which_mail_comes_leave_no_trace(name):
    choice = CHOICES[name]
    if choice.unlabelled is not None:
        choice = replace(choice, unlabelled=merged([corpus_of(UNKNOWN_CLASS[9:]), corpus_of(UNKNOWN_CLASS[8::-1])]))
    backwards = MAIL[::-1]
    portions = merged([corpus_of(backwards[start::3]) for start in (2, 0, 1)])
    for corpus in (corpus_of(backwards), portions):
        assert as_fitted(fit(corpus, choice)) == as_fitted(card_of(name))


# Learn and forget


def taught(store, pairs, forget=False):
    """Messages learned one by one, or forgotten; then the model is fitted anew."""
    for label, raw in pairs:
        learn(store, [Mail("", raw)], None if forget else int(label), fold=False)
    with store.locked():
        refit(store)
    return as_fitted(store.scorecard())


@EVERY_MODEL
def test_messages_learned_one_by_one_make_the_model_of_them_all_and_forgotten_leave_the_one_before(name, tmp_path):
    store = Store(tmp_path / "model")
    with store.locked():
        keep(store, corpus_of(MAIL[2:-2]), CHOICES[name])
    before = as_fitted(store.scorecard())
    assert taught(store, [*MAIL[:2], *MAIL[-2:]]) == as_fitted(card_of(name)) != before
    assert taught(store, [*MAIL[:2], *MAIL[-2:]], forget=True) == before


@EVERY_MODEL
def test_a_message_learned_the_wrong_way_and_then_the_right_way_is_learned_right(name, tmp_path):
    store = Store(tmp_path / "model")
    with store.locked():
        keep(store, CORPUS, CHOICES[name])
    label, raw = MAIL[0]
    assert taught(store, [(not label, raw)]) != as_fitted(card_of(name))
    assert taught(store, [(label, raw)]) == as_fitted(card_of(name))


# One message, many messages, and the formula


@EVERY_MODEL
def test_a_message_is_scored_alone_as_among_others(name):
    judge = Judge(card_of(name))
    rows = score_rows(card_of(name), corpus_of(UNSEEN))
    by_digest = {lesson_of(raw, 0, 0).digest: judge.judge(raw).score for _, raw in UNSEEN}
    digests = corpus_of(UNSEEN).digests.tolist()
    assert len(set(rows.tolist())) > 1  # the premise
    in_bulk = BulkJudge(card_of(name)).verdicts(raw for _, raw in UNSEEN)
    assert [verdict.score for verdict in in_bulk] == near([judge.judge(raw).score for _, raw in UNSEEN], name)
    assert rows.tolist() == near([by_digest[digest.decode()] for digest in digests], name)


@EVERY_MODEL
def test_the_scorecard_adds_up_to_the_formula_of_the_textbook(name):
    card, formula = card_of(name), FORMULAS[CHOICES[name].kind]
    for _, raw in (*UNSEEN, MAIL[0], MAIL[-1]):
        assert Judge(card).judge(raw).score in [near(score, name) for score in formula(Direct(name, raw))]


class Direct:
    """The rows that a model learned and one message, as dense numbers under one dictionary."""

    def __init__(self, name, raw):
        self.choice, self.card = CHOICES[name], card_of(name)
        corpus = CORPUS.with_senders(self.choice.contacts, CORPUS.has_other_ham_sender())
        kept = np.isin(corpus.ids, self.card.tables["ids"])
        message = parse(raw)
        found = Judge(self.card).tokens_of(message)
        self.ids = corpus.ids[kept]
        self.rows = corpus.counts.toarray()[:, kept]
        self.spam = corpus.labels
        self.x = np.array([found[token] for token, here in zip(corpus.tokens, kept, strict=True) if here])
        self.found = found
        self.measures = bell_shaped(np.array([measures(message)], np.float32))[0]
        self.prior = log(self.spam.sum() / (~self.spam).sum())
        self.alpha = self.card.alpha

    def both(self):
        """The rows of spam with sign + and those of ham with sign −."""
        return (+1, self.rows[self.spam]), (-1, self.rows[~self.spam])


def bell_shaped(measured):
    """Measures as the Gaussian model takes them: sizes and counts as their logarithms."""
    found = measured.astype(float)
    sizes = [name not in SHARES for name in MEASURES]
    found[:, sizes] = np.log1p(found[:, sizes])
    return found


def log_of(number):
    return log(number) if number else NEVER


def multinomial_formula(d):
    once = d.choice.counts == "binary"
    rows, x = (np.minimum(d.rows, 1), np.minimum(d.x, 1)) if once else (d.rows, d.x)
    words = rows.shape[1]
    alphas = [d.alpha] * words
    if d.choice.prior == "frequency":
        alphas = [d.alpha * words * rows[:, j].sum() / rows.sum() for j in range(words)]
    score = d.prior
    for sign, here in ((+1, rows[d.spam]), (-1, rows[~d.spam])):
        for j in np.flatnonzero(x):
            score += sign * x[j] * (log_of(here[:, j].sum() + alphas[j]) - log(here.sum() + sum(alphas)))
    return [score + (sum(gaussian_odds(d)) if d.choice.measures else 0.0)]


def bernoulli_formula(d):
    score = d.prior
    for sign, here in d.both():
        whole = log(len(here) + 2 * d.alpha)
        for j in range(len(d.x)):
            having = (here[:, j] > 0).sum()
            score += sign * (log_of((having if d.x[j] else len(here) - having) + d.alpha) - whole)
    return [score]


def categorical_formula(d):
    score = d.prior
    for sign, here in d.both():
        for j, value in enumerate(np.minimum(d.x, 3)):
            alike = (np.minimum(here[:, j], 3) == value).sum()
            score += sign * log((alike + d.alpha) / (len(here) + 4 * d.alpha))
    return [score]


def poisson_formula(d):
    score = d.prior
    for sign, here in d.both():
        rates = (here.sum(axis=0) + d.alpha) / (len(here) + d.alpha)
        score += sign * poisson.logpmf(d.x, rates).sum()
    return [score + (sum(gaussian_odds(d)) if d.choice.measures else 0.0)]


def gaussian_formula(d):
    return [d.prior + sum(gaussian_odds(d))]


def gaussian_odds(d):
    """log N(m; spam) − log N(m; ham) of every measure; one that is the same in all mail, and has no spread, is mute."""
    return [
        norm.logpdf(d.measures[f], spam_mean, spam_spread) - norm.logpdf(d.measures[f], ham_mean, ham_spread)
        for f, ((ham_mean, ham_spread), (spam_mean, spam_spread)) in bells(d.choice).items()
    ]


def bells(choice):
    """Mean and spread of ham and of spam, for every measure that has a spread."""
    learned = bell_shaped(CORPUS.measures)
    lost = 0 if choice.estimate == "mle" else 1
    of_class = [learned[CORPUS.labels == label] for label in (False, True)]
    squares = np.array([[((rows[:, f] - rows[:, f].mean()) ** 2).sum() for f in range(9)] for rows in of_class])
    free = np.array([len(rows) - lost for rows in of_class])
    variances = {
        "each": lambda y, f: squares[y, f] / free[y],
        "features": lambda y, f: squares[:, f].sum() / free.sum(),
        "classes": lambda y, f: squares[y].sum() / (9 * free[y]),
        "one": lambda y, f: squares.sum() / (9 * free.sum()),
    }[choice.variance or "features"]
    found = {f: [(of_class[y][:, f].mean(), variances(y, f) ** 0.5) for y in (0, 1)] for f in range(9)}
    return {f: both for f, both in found.items() if both[0][1] or both[1][1]}


def logistic_formula(d):
    weights, intercept = logistic_weights(sparse.csr_matrix(d.rows), d.spam)
    return [intercept + divided(weights, d.x, 0.5)]


def divided(weights, x, exponent):
    """Σ w_j / k^exponent over the k words present that have a weight."""
    heard = weights[(x > 0) & ~np.isnan(weights)]
    return heard.sum() / max(len(heard), 1) ** exponent


def corrected_formula(d):
    """Two witnesses, two opinions each, every one divided by its spread, stretched to log odds on held-out mail."""
    present, messages = np.minimum(d.rows, 1), len(d.rows)
    ham, spam = present[~d.spam], present[d.spam]
    shared = log(ham.sum() + d.alpha * len(d.x)) - log(spam.sum() + d.alpha * len(d.x))
    naive = np.full(len(d.x), np.nan)
    for j in range(len(d.x)):
        in_ham, in_spam = ham[:, j].mean(), spam[:, j].mean()
        seen = present[:, j].sum()
        share = (SHRINK / 2 + seen * in_spam / (in_ham + in_spam)) / (SHRINK + seen)
        if abs(share - 0.5) > INFORMATIVE:
            naive[j] = log(spam[:, j].sum() + d.alpha) - log(ham[:, j].sum() + d.alpha) + shared
    opinions = 0.0
    for trust, part in ((1.5, d.ids < ENVELOPE_BIT), (1.0, d.ids >= ENVELOPE_BIT)):
        regression, _ = logistic_weights(sparse.csr_matrix(d.rows[:, part]), d.spam)
        trusts = trust, trust * messages / (messages + 200)
        for weights, exponent, trusted in zip((naive[part], regression), (0.75, 0.5), trusts, strict=True):
            spread = np.std([divided(weights, row, exponent) for row in d.rows[:, part]])
            opinions += trusted * divided(weights, d.x[part], exponent) / spread
    slope, intercept = calibration(held_out_scores(CORPUS, Choice(), HELD_OUT_FOLDS), CORPUS.labels)
    return [slope * opinions + intercept]


def neighbours_formula(d):
    """All scores that the nearest rows can give: of rows equally near, any may be asked."""
    about = d.card.about
    rows, x = (d.rows, d.x) if d.choice.counts == "raw" else (np.minimum(d.rows, 1), np.minimum(d.x, 1))
    if about["project"]:
        matrix = project(sparse.identity(len(x), format="csr"), d.ids, about["project"])
        rows, x = rows @ matrix, x @ matrix
    distance = {
        "euclidean": lambda row: np.sqrt(((row - x) ** 2).sum()),
        "cosine": lambda row: 1 - row @ x / np.sqrt((row @ row) * (x @ x)),
        "jensen-shannon": lambda row: jensenshannon(row, x),
    }[about["distance"]]
    distances, k = np.array([distance(row) for row in rows]), about["neighbours"]
    furthest, rounding = np.sort(distances)[k - 1], 1e-5 if about["project"] else 1e-9
    nearer, as_near = distances < furthest - rounding, abs(distances - furthest) <= rounding
    left, certain = k - nearer.sum(), (nearer & d.spam).sum()
    fewest, most = certain + max(0, left - (as_near & ~d.spam).sum()), certain + min(left, (as_near & d.spam).sum())
    votes = range(fewest, most + 1)
    if about["vote"] == "majority":
        return [np.sign(2 * spam - k) * log(2 * k + 1) for spam in votes]
    return [log((spam + 0.5) / (k - spam + 0.5)) for spam in votes]


def em_formula(d):
    prior, words = em_parameters(d)
    there = [words[token_id(token)] for token in d.found if token_id(token) in words]
    return [prior + 20 * sum(there) / len(there)]


def em_parameters(d):
    """Expectation and maximisation by loops, on words of two messages or more, 20 words' worth to a message."""
    unknown = d.choice.unlabelled
    weight = 0.1 if d.choice.unlabelled_weight is None else d.choice.unlabelled_weight
    labelled = [dict(zip(d.ids.tolist(), row, strict=True)) for row in d.rows]
    others = [dict(zip(unknown.ids.tolist(), row, strict=True)) for row in unknown.counts.toarray()] if unknown else []
    texts = [{word for word, count in text.items() if count} for text in labelled + others]
    often = {word for word, having in Counter(word for text in texts for word in text).items() if having > 1}
    texts = [{word: 20 / len(text & often) for word in text & often} for text in texts]
    heard = {int(word) for word in d.card.tables["ids"] if d.card.heard(d.card.row(int(word)))}
    assert heard == often
    seen = {word for text in texts[: len(labelled)] for word in text}
    share = [float(spam) for spam in d.spam]  # how much of a message is spam's
    fitted = maximised(texts[: len(labelled)], share, [1.0] * len(share), seen, d.alpha)
    share += [spam_share(text, fitted) for text in texts[len(labelled) :]]
    for _ in d.card.about["log likelihood"]:
        weights = [1.0] * len(labelled) + [weight] * len(others)
        fitted = maximised(texts, share, weights, often, d.alpha)
        share[len(labelled) :] = [spam_share(text, fitted) for text in texts[len(labelled) :]]
    return fitted


def maximised(texts, share, weights, words, alpha):
    """The log odds of the classes, and those of each word."""
    prior, odds = 0.0, dict.fromkeys(words, 0.0)
    for sign in (+1, -1):
        belongs = [w * (s if sign > 0 else 1 - s) for w, s in zip(weights, share, strict=True)]
        totals = dict.fromkeys(words, alpha)
        for text, part in zip(texts, belongs, strict=True):
            for word, count in text.items():
                totals[word] += part * count
        prior += sign * log(sum(belongs))
        whole = log(sum(totals.values()))
        for word, total in totals.items():
            odds[word] += sign * (log(total) - whole)
    return prior, odds


def spam_share(text, fitted):
    prior, odds = fitted
    evidence = prior + sum(count * odds.get(word, 0.0) for word, count in text.items())
    return 1 / (1 + np.exp(-evidence))


FORMULAS = {
    "corrected": corrected_formula,
    "multinomial": multinomial_formula,
    "bernoulli": bernoulli_formula,
    "categorical": categorical_formula,
    "poisson": poisson_formula,
    "logistic": logistic_formula,
    "gaussian": gaussian_formula,
    "neighbours": neighbours_formula,
    "em": em_formula,
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_most_messages_have_neighbours_without_a_tie(name):
    """Else the formula above would let any score pass."""
    clear = [len(neighbours_formula(Direct(name, raw))) == 1 for _, raw in (*UNSEEN, *MAIL)]
    assert np.mean(clear) > 0.5


@pytest.mark.parametrize(
    ("name", "words"), [("multinomial chi2", 50), ("multinomial information", 50), ("multinomial df", None)]
)
def test_a_model_of_selected_words_has_these_alone(name, words):
    corpus = CORPUS.with_senders(CHOICES[name].contacts, CORPUS.has_other_ham_sender())
    of_two = int(((corpus.counts.toarray() > 0).sum(axis=0) >= 2).sum())
    assert len(card_of(name).tables["ids"]) == (words or of_two) < len(corpus.ids)


# Spammier


def words_of_spam_alone(unknown):
    """Words that ham never had; not those of unlabelled mail, which may be of either class."""
    totals = [np.asarray(CORPUS.counts[CORPUS.labels == label].sum(axis=0)).ravel() for label in (False, True)]
    alone = [CORPUS.tokens[column] for column in np.flatnonzero((totals[0] == 0) & (totals[1] > 0))]
    return [word for word in alone if unknown is None or word not in unknown.tokens]


@pytest.mark.parametrize("name", WORDS)
def test_a_word_that_only_spam_has_never_lowers_the_score(name):
    """Where a model averages over words, spam can be so spammy that one more word dilutes it; ham cannot."""
    judge, choice = Judge(card_of(name)), CHOICES[name]
    raised = 0
    for label, raw in (*UNSEEN, *MAIL):
        if label and choice.kind in AVERAGED:
            continue
        message = parse(raw)
        found, measured = judge.tokens_of(message), measures(message) if judge.card.quadratic else ()
        plain = judge.verdict_on(found, measured).score
        for word in words_of_spam_alone(choice.unlabelled):
            if word not in found:
                spammier = judge.verdict_on({**found, word: 1}, measured).score
                assert spammier >= plain - 1e-12
                raised += spammier > plain
    assert raised >= 100


@pytest.mark.parametrize("name", MEASURED)
def test_a_measure_that_goes_from_the_mean_of_ham_to_that_of_spam_raises_the_score(name):
    judge = Judge(card_of(name))
    for f, ((ham_mean, _), (spam_mean, _)) in bells(CHOICES[name]).items():
        if ham_mean == spam_mean:
            continue
        scores = []
        for value in np.linspace(ham_mean, spam_mean, 6):
            measured = list(measures(parse(MAIL[0][1])))
            measured[f] = value if MEASURES[f] in SHARES else np.expm1(value)
            scores.append(judge.verdict_on({}, measured).score)
        assert (np.diff(scores) > 0).all()


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_message_like_a_learned_spam_scores_above_one_like_a_learned_ham(name):
    judge = Judge(fit(CORPUS, replace(CHOICES[name], neighbours=1)))
    scores = {label: [judge.judge(raw).score for is_spam, raw in MAIL if is_spam == label] for label in (False, True)}
    assert max(scores[False]) < min(scores[True])


# An empty message


def odds_of_classes(d):
    """log m_spam − log m_ham; a message without words tells nothing more."""
    return d.prior


def odds_of_no_word(d):
    """Absent words count: Π_j p(x_j = 0 | y)."""
    values = {"bernoulli": 2, "categorical": 4}[d.choice.kind]
    odds = d.prior
    for sign, here in d.both():
        lacking = (here == 0).sum(axis=0)
        odds += sign * sum(log_of(n + d.alpha) - log(len(here) + values * d.alpha) for n in lacking)
    return odds


def odds_of_rates(d):
    """−Σ_j λ_spam,j + Σ_j λ_ham,j: so much less likely is silence of a class that talks more."""
    rates = [sign * (here.sum(axis=0) + d.alpha) / (len(here) + d.alpha) for sign, here in d.both()]
    return d.prior - np.sum(rates)


def intercept_of_regression(d):
    return logistic_weights(sparse.csr_matrix(d.rows), d.spam)[1]


def intercept_of_calibration(d):
    return calibration(held_out_scores(CORPUS, Choice(), HELD_OUT_FOLDS), CORPUS.labels)[1]


def odds_of_shares(d):
    """Of all mail, the unlabelled divided up as the model sees it: log p_spam − log p_ham."""
    if d.choice.unlabelled is None:
        return d.prior
    return em_parameters(d)[0]


EMPTY = {
    "corrected": intercept_of_calibration,
    "multinomial": odds_of_classes,
    "bernoulli": odds_of_no_word,
    "categorical": odds_of_no_word,
    "poisson": odds_of_rates,
    "logistic": intercept_of_regression,
    "gaussian": odds_of_classes,
    "neighbours": odds_of_classes,
    "em": odds_of_shares,
}


@EVERY_MODEL
def test_a_message_without_a_known_word_gets_the_prior(name, corpus_of_words):
    """And, where a model looks at measures, what these say; absent words count where they are part of the model."""
    card, choice = card_of(name), CHOICES[name]
    d = Direct(name, MAIL[0][1])
    expected = EMPTY[choice.kind](d) + (sum(gaussian_odds(d)) if name in MEASURED else 0.0)
    measured = np.array([measures(parse(MAIL[0][1]))], np.float32)
    for words in ({}, {"xylophonist": 2}):
        verdict = Judge(card).verdict_on(words, measured[0].tolist() if card.quadratic else ())
        assert verdict.score == near(expected, name)
    unknown = replace(corpus_of_words((True, "xylophonist")), measures=measured)
    assert score_rows(card, unknown).tolist() == [near(expected, name)]


# Clues and files


@EVERY_MODEL
def test_what_every_message_gets_and_the_clues_add_up_to_the_score(name):
    judge = Judge(card_of(name))
    for _, raw in (*UNSEEN, MAIL[0], MAIL[-1]):
        verdict, fixed, clues = judge.explain(raw)
        assert verdict.score == judge.judge(raw).score
        assert fixed + sum(clue.weight for clue in clues) == near(verdict.score, name)
        assert {clue.token for clue in clues if clue.token.startswith("measure:")} == {
            f"measure:{measure}" for measure in MEASURES if name in MEASURED
        }


@EVERY_MODEL
def test_a_scorecard_survives_its_file(name):
    card = card_of(name)
    again = from_bytes(to_bytes(card))
    assert to_bytes(again) == to_bytes(card)
    assert [Judge(again).judge(raw).score for _, raw in UNSEEN] == [Judge(card).judge(raw).score for _, raw in UNSEEN]
    assert score_rows(again, CORPUS).tolist() == score_rows(card, CORPUS).tolist()
