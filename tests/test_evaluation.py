"""Figures by hand and by scikit-learn, and a recommended c that keeps its promise."""

import importlib
import json
from datetime import UTC, datetime, timedelta
from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from spamnb.cli import run
from spamnb.commands.evaluate import is_picture
from spamnb.errors import BadData, NoModel, Usage
from spamnb.evaluation import (
    LARGEST_C,
    SWEEP,
    Cost,
    Outcome,
    cross_validate,
    figures,
    judged,
    one_minus_auc,
    recommended,
    sweep,
)
from spamnb.models import KINDS, Choice, fit, score_rows, train_and_test
from spamnb.scorecard import HAM, SPAM, UNSURE, Verdict

ALL_KINDS = pytest.mark.parametrize("kind", KINDS)
THREE_DIGITS = sorted({float(f"{digits}e{power}") for digits in range(100, 1000) for power in range(-2, 6)})
LOGS = np.array([log(c) for c in THREE_DIGITS])
# Round scores, and some that sit on the edge of a number of three digits.
EDGES = st.sampled_from(THREE_DIGITS[:4000]).flatmap(
    lambda c: st.sampled_from([log(c), np.nextafter(log(c), 99), np.nextafter(log(c), -99)])
)
SCORE = st.one_of(st.integers(-5, 11).map(float), st.floats(-3, 11), EDGES)


def outcome(ham, spam, c=1.0):
    """Of scores alone, decided at c."""
    labels = np.arange(len(ham) + len(spam)) >= len(ham)
    nothing = np.zeros(len(labels), bool)
    return Outcome(labels, np.array([*ham, *spam], float), nothing, nothing).at(c)


# Ranking


@pytest.mark.parametrize(
    ("ham", "spam", "share"),
    [
        ([1, 2], [3, 4], 0.0),
        ([3, 4], [1, 2], 1.0),
        ([1, 1], [1, 1], 0.5),
        ([1, 3], [2], 0.5),
        ([1, 2, 5], [3, 4], 2 / 6),
        ([0, 2], [2, 9, 9], 0.5 / 6),
        ([-1000], [1e9], 0.0),
    ],
)
def test_one_minus_auc_is_the_share_of_pairs_in_the_wrong_order(ham, spam, share):
    found = outcome(ham, spam)
    assert one_minus_auc(found.labels, found.scores) == pytest.approx(share)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=30), st.lists(st.integers(-4, 4), min_size=1, max_size=30))
def test_one_minus_auc_agrees_with_scikit_learn_ties_and_all(ham, spam):
    found = outcome(ham, spam)
    expected = 1 - roc_auc_score(found.labels, found.scores)
    assert one_minus_auc(found.labels, found.scores) == pytest.approx(expected, abs=1e-12)


# Figures


def test_figures_by_hand():
    verdicts = [(False, HAM), (False, HAM), (False, UNSURE), (False, SPAM), (True, SPAM), (True, SPAM), (True, SPAM),
                (True, UNSURE), (True, HAM), (True, HAM)]  # fmt: skip
    found = figures(
        judged((label, Verdict({HAM: -1.0, UNSURE: 0.0, SPAM: 1.0}[said], said)) for label, said in verdicts)
    )
    assert (found.ham, found.ham_as_ham, found.ham_unsure, found.ham_lost) == (4, 2, 1, 1)
    assert (found.spam, found.spam_as_spam, found.spam_unsure, found.spam_missed) == (6, 3, 1, 2)
    assert found.ham_lost_percent == pytest.approx(100 * 1 / 4)
    assert found.spam_missed_percent == pytest.approx(100 * 3 / 6)  # in rates, unsure counts as ham
    assert found.error_percent == pytest.approx(100 * 4 / 10)
    # pairs that rank wrongly: ham −1 −1 0 1 against spam 1 1 1 0 −1 −1, ties half
    assert found.one_minus_auc_percent == pytest.approx(100 * (2 * 1.0 + 2.5 + 4.5) / 24)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([HAM, SPAM, UNSURE])), min_size=2).filter(
    lambda said: len({label for label, _ in said}) == 2))  # fmt: skip
def test_every_message_is_counted_once(said):
    found = figures(judged((label, Verdict(0.0, answer)) for label, answer in said))
    assert found.ham_as_ham + found.ham_unsure + found.ham_lost == found.ham
    assert found.spam_as_spam + found.spam_unsure + found.spam_missed == found.spam
    assert found.ham + found.spam == len(said)
    assert found.ham_lost == said.count((False, SPAM))
    assert found.spam_missed == said.count((True, HAM))


def test_at_another_c_spam_is_what_scores_above_log_c():
    found = outcome([-1.0, log(9), 5.0], [log(9), 3.0]).at(9.0)
    assert found.called_spam.tolist() == [False, False, True, False, True]
    assert not found.unsure.any()


@pytest.mark.parametrize(("label", "missing"), [(True, "ham"), (False, "spam")])
def test_mail_of_one_class_alone_cannot_be_evaluated(label, missing):
    with pytest.raises(BadData, match=f"no {missing} to judge"):
        judged([(label, Verdict(1.0, SPAM))])


def test_no_mail_cannot_be_evaluated():
    with pytest.raises(BadData):
        judged([])


# The recommended c


@given(st.lists(SCORE, min_size=1, max_size=40), st.one_of(st.floats(0, 1), st.integers(0, 100).map(lambda n: n / 100)))
@example([1.0] * 29 + [-1.0] * 71, 0.29)  # 0.29 · 100 is less than 29
@example([1e-17], 0.0)  # e^1e-17 is 1, and log 1 less than 1e-17
@example([log(1.1)], 0.0)  # 1.1 / 0.01 is more than 110
def test_the_recommended_c_is_the_smallest_of_three_digits_that_keeps_to_the_limit(ham, limit):
    lost = (np.array(ham)[:, None] > LOGS).sum(axis=0) / len(ham)
    assert recommended(outcome(ham, [0.0]), limit) == THREE_DIGITS[np.flatnonzero(lost <= limit)[0]]


def test_the_recommended_c_has_an_end():
    """Scores of long messages go beyond what a c can be."""
    assert recommended(outcome([2000.0], [0.0]), 0.0) == LARGEST_C


@given(st.lists(SCORE, min_size=1, max_size=20), st.lists(SCORE, min_size=1, max_size=20), st.floats(0, 1))
def test_a_sweep_tries_the_recommended_c_among_others_in_order(ham, spam, limit):
    found = outcome(ham, spam)
    tried = dict(sweep(found, limit))
    assert list(tried) == sorted(tried)
    best = recommended(found, limit)
    assert tried.keys() == {c for c in (*SWEEP, best) if c <= best or (found.at(c).called_spam & found.labels).any()}
    assert tried[best].ham_lost <= limit * len(ham) + 1e-9
    assert tried[0.1] == figures(found.at(0.1))


# Cross-validation


@ALL_KINDS
def test_cross_validation_scores_each_message_by_a_model_without_its_fold(corpus, kind):
    found = cross_validate(corpus, Choice(kind), folds=3, seed=4)
    for train, test in train_and_test(corpus, 3, seed=4):
        card = fit(train, Choice(kind))
        scores = score_rows(card, corpus.take(test))
        assert found.scores[test] == pytest.approx(scores)
        assert found.called_spam[test].tolist() == [card.verdict(score).label == SPAM for score in scores]
        assert found.unsure[test].tolist() == [card.verdict(score).label == UNSURE for score in scores]
    assert found.labels.tolist() == corpus.labels.tolist()


def test_cross_validation_follows_from_the_seed(corpus):
    first, again, other = (cross_validate(corpus, Choice("multinomial"), 3, seed).scores.tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_cross_validation_ranks_spam_above_ham(corpus):
    found = cross_validate(corpus, Choice(), folds=3)
    assert one_minus_auc(found.labels, found.scores) < 0.1


def test_cross_validation_tells_how_far_it_is(corpus):
    told = []
    cross_validate(corpus, Choice("multinomial"), 3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_more_folds_than_messages_are_bad_data(corpus_of_words):
    corpus = corpus_of_words((False, "tea"), (False, "milk"), (False, "bread"), (True, "pills"), (True, "rum"))
    with pytest.raises(BadData, match="3 folds need 3 messages of each class; there are 2"):
        cross_validate(corpus, Choice("multinomial"), folds=3)
    assert len(cross_validate(corpus, Choice("multinomial"), folds=2).scores) == 5


def test_a_number_of_three_digits_is_recommended_when_scores_are_not():
    assert recommended(outcome([log(1234.5)], [0.0]), 0.0) == 1240.0
    assert recommended(outcome([log(1234.5)], [0.0]), 1.0) == 1.0


# Cost


def test_the_cost_is_the_mean_over_all_messages():
    found = outcome([-1.0, 5.0], [-2.0, -3.0, 1.0])
    assert Cost(10, 1).mean(found) == pytest.approx((10 * 1 + 2) / 5)
    assert Cost(1, 4).mean(found) == pytest.approx((1 + 4 * 2) / 5)


@pytest.mark.parametrize(
    ("cost", "ham", "spam", "c"),
    [
        (Cost(10, 1), [-5.0, -4.0], [4.0, 5.0], 10.0),  # nothing is lost at the c of theory
        (Cost(2, 1), [log(3.0)], [log(12.0)], 6.0),  # the middle of the range that separates them
        (Cost(10, 1), [-5.0], [log(2.0), log(5.0)], pytest.approx(0.116, abs=0.002)),
        (Cost(1, 10), [-9.0], [-8.0], pytest.approx(2.03e-4)),
    ],
)
def test_the_cheapest_c_by_hand(cost, ham, spam, c):
    assert cost.cheapest(outcome(ham, spam)) == c


@given(st.lists(SCORE, min_size=1, max_size=20), st.lists(SCORE, min_size=1, max_size=20),
       st.sampled_from([Cost(10, 1), Cost(1, 1), Cost(1, 7), Cost(0.1, 0.3)]))  # fmt: skip
@example([2000.0, -2000.0], [1999.0, -1999.0], Cost(10, 1))
def test_no_c_is_cheaper_than_the_cheapest(ham, spam, cost):
    found = outcome(ham, spam)
    least = cost.mean(found.at(cost.cheapest(found)))
    tried = [1e-12, cost.c, 1e12, *(np.exp(np.clip([*ham, *spam], -600, 600)) * 1.0000001)]
    assert all(least <= cost.mean(found.at(float(c))) + 1e-9 for c in tried if max(map(abs, [*ham, *spam])) < 600)


# The command


@pytest.fixture
def evaluate(tmp_path, monkeypatch, capsys, mail):
    """spamnb evaluate, on the invented mail or on a model of it, in this process; rows of jsonl, or text."""
    monkeypatch.setenv("HOME", str(tmp_path))
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    for number, (label, raw) in enumerate(mail):
        folder = tmp_path / ("spam" if label else "ham")
        folder.mkdir(exist_ok=True)
        when = begin + timedelta(days=number * 7 % len(mail))
        (folder / f"{number:03}.eml").write_bytes(f"Date: {when:%d %b %Y} 12:00:00 +0000\n".encode() + raw)
    both = [str(tmp_path / "ham"), str(tmp_path / "spam")]

    def evaluate(*args, mail=True, rows=True):
        assert run(["evaluate", *(both if mail else []), *args, *(["--format", "jsonl"] if rows else [])]) == 0
        said = capsys.readouterr()
        return [json.loads(line) for line in said.out.splitlines()] if rows else said.out + said.err

    return evaluate


def test_kinds_are_compared_in_one_table_over_the_same_mail(evaluate):
    rows = evaluate("--kinds", "all")
    assert [row["kind"] for row in rows] == list(KINDS)
    assert {(row["ham"], row["spam"], row["table"]) for row in rows} == {(30, 25, "kinds")}
    least = min(row["error_percent"] for row in rows)
    [best] = {row["best"] for row in rows}
    assert next(row for row in rows if row["kind"] == best)["error_percent"] == least
    for row in rows:
        low, high = row["error_interval"]
        assert low <= row["error_percent"] <= high
        assert 0 < row["p"] <= 1
    text = evaluate("--kinds", "multinomial,bernoulli", rows=False)
    assert text.count("◀") == 1
    assert "McNemar" in text


def test_one_kind_in_kinds_is_measured_as_by_kind(evaluate):
    [compared] = evaluate("--kinds", "multinomial", "--folds", "3", "--seed", "4")
    [single] = evaluate("--kind", "multinomial", "--folds", "3", "--seed", "4")
    assert {name: compared[name] for name in single} == single


def test_options_go_to_the_kinds_that_know_them_and_the_others_are_told(evaluate):
    text = evaluate("--kinds", "multinomial,logistic", "--alpha", "0.5", rows=False)
    assert "spamnb: without --alpha, which is nothing to them: logistic" in text
    with pytest.raises(Usage, match="--alpha is nothing to logistic"):
        evaluate("--kinds", "logistic", "--alpha", "0.5")


def test_several_thresholds_are_a_row_each(evaluate):
    rows = evaluate("--folds", "3", "--threshold", "1,9,99")
    assert [row["c"] for row in rows] == [1, 9, 99]
    assert [row["spam_missed"] for row in rows] == sorted(row["spam_missed"] for row in rows)
    rows = evaluate("--kinds", "multinomial,poisson", "--threshold", "1,9")
    assert [(row["kind"], row["c"]) for row in rows] == [
        ("multinomial", 1), ("poisson", 1), ("multinomial", 9), ("poisson", 9),
    ]  # fmt: skip
    assert "0.9000" in evaluate("--folds", "3", "--threshold", "1,9", rows=False)


def test_a_sweep_is_one_for_each_kind(evaluate):
    rows = evaluate("--kinds", "multinomial,poisson", "--threshold")
    assert {row["kind"] for row in rows if row["recommended"]} == {"multinomial", "poisson"}


def test_a_cost_is_told_as_judged_by_theory_and_at_its_best(evaluate):
    rows = [row for row in evaluate("--kind", "multinomial", "--folds", "3", "--cost", "10:1") if "table" in row]
    assert [(row["decided"], row["c"]) for row in rows[:2]] == [("as judged", None), ("theory", 10.0)]
    assert rows[2]["decided"] == "best seen"
    assert rows[2]["cost"] <= min(row["cost"] for row in rows)
    assert rows[0]["cost"] == pytest.approx((10 * rows[0]["ham_lost"] + rows[0]["spam_missed"]) / 55)


@pytest.mark.parametrize(("protocol", "judged"), [("folds", 55), ("loo", 55), ("half", 28)])
def test_a_protocol_says_who_is_judged(evaluate, protocol, judged):
    [row] = evaluate("--kind", "multinomial", "--protocol", protocol)
    assert row["ham"] + row["spam"] == judged


def test_online_all_but_the_first_are_judged(evaluate):
    [row] = evaluate("--kind", "multinomial", "--protocol", "online")
    assert 40 < row["ham"] + row["spam"] < 52
    assert "each block by all mail before it" in evaluate("--kind", "multinomial", "--protocol", "online", rows=False)


def test_a_learning_curve_prints_its_table(evaluate):
    rows = [row for row in evaluate("--kinds", "multinomial,poisson", "--learning-curve") if row["table"] != "kinds"]
    assert {row["kind"] for row in rows} == {"multinomial", "poisson"}
    assert {row["held_out"] for row in rows} == {19}
    assert max(row["messages"] for row in rows) == 36
    assert "training messages" in evaluate("--kind", "multinomial", "--learning-curve", rows=False)
    rows = evaluate("--kind", "multinomial", "--learning-curve", "--protocol", "half")
    assert {row["held_out"] for row in rows if "held_out" in row} == {28}


def test_pictures_are_text_or_a_file(evaluate, tmp_path):
    importlib.import_module("matplotlib")
    assert "calibration: multinomial" in evaluate("--kind", "multinomial", "--folds", "3", "--plot", rows=False)
    file = tmp_path / "curve.svg"
    assert f"picture: {file}" in evaluate("--kinds", "multinomial,poisson", "--plot", str(file), rows=False)
    assert "</svg>" in file.read_text()
    assert all("kind" in row for row in evaluate("--kinds", "poisson", "--plot", str(file)))


def test_a_plot_without_a_file_does_not_eat_the_mailboxes(tmp_path):
    (tmp_path / "ham").mkdir()
    assert not is_picture(str(tmp_path / "ham"))
    assert not is_picture("--folds")
    assert not is_picture("")
    assert is_picture(str(tmp_path / "curve.svg"))
    assert is_picture("curve.pdf")


def test_a_models_own_messages_are_compared_too_but_not_by_time(evaluate, tmp_path):
    assert run(["train", str(tmp_path / "ham"), str(tmp_path / "spam")]) == 0
    evaluate("--folds", "2", rows=False)
    assert len(evaluate("--kinds", "all", mail=False)) == len(KINDS)
    with pytest.raises(BadData, match="spamnb evaluate HAM SPAM"):
        evaluate("--protocol", "online", mail=False)


def test_where_there_is_no_model_the_way_out_names_mail(evaluate):
    with pytest.raises(NoModel, match="spamnb evaluate HAM SPAM"):
        evaluate(mail=False)


IDLE = [
    (["--kinds", "all", "--kind", "multinomial"], "one of the two"),
    (["--kinds", "all,none"], "'all' must be one of"),
    (["--kind", "multinomial"], "--folds N"),
    (["--protocol", "loo", "--folds", "3"], "--protocol folds"),
    (["--protocol", "twice"], "folds, loo, half, online"),
    (["--protocol", "loo", "--seed", "1"], "nothing to shuffle"),
    (["--seed", "1"], "nothing to shuffle"),
    (["--folds", "3", "--max-ham-loss", "1"], "--threshold without a C"),
    (["--learning-curve", "--threshold", "1,2"], "one C"),
    (["--learning-curve", "--protocol", "online"], "folds or half"),
    (["--folds", "3", "--plot"], "FILE.svg"),
    (["--folds", "3", "--plot", "curve.pdf"], "FILE.svg"),
    (["--folds", "3", "--threshold", "1,two"], "above 0"),
    *((["--folds", "3", "--cost", text], "10:1") for text in ("10", "10:0", "a:b", "1:2:3", "-1:1")),
]


@pytest.mark.parametrize(
    ("args", "way_out"), IDLE, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_no_option_is_read_and_ignored(evaluate, args, way_out):
    with pytest.raises(Usage, match=way_out):
        evaluate(*args)
