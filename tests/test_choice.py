"""What may be said about which kind of model; all else is refused with the way out."""

from dataclasses import fields
from pathlib import Path

import pytest

from spamnb.errors import BadConfig, BadData, Usage
from spamnb.headers import Style, verdict_headers
from spamnb.learning import learn
from spamnb.mailbox import Mail
from spamnb.models import Choice, check_choice, suited
from spamnb.models.choice import ALPHAS, OPTIONS
from spamnb.models.gaussian import VARIANCES
from spamnb.models.likeness import TEXT_DISTANCES
from spamnb.models.neighbours import DISTANCES, VOTES
from spamnb.scorecard import Verdict
from spamnb.settings import KINDS, OF_A_MODEL, load_settings
from spamnb.store import Store
from spamnb.training import begin, choice_of, current, train

SAMPLE = Path(__file__).parent.parent / "sample_mail"


def test_every_kind_says_what_goes_with_it():
    assert set(OPTIONS) == set(KINDS)
    assert {kind for kind, options in OPTIONS.items() if "alpha" in options} == set(ALPHAS)


@pytest.mark.parametrize(
    ("choice", "why"),
    [
        (Choice("logistic", 1.0), "--alpha is nothing to --kind logistic"),
        (Choice("corrected", counts="raw"), "--counts is nothing to --kind corrected; it goes with multinomial"),
        (Choice("corrected", 0.0), "needs a number above 0"),
        (Choice("poisson", "auto"), "--alpha auto goes with --kind multinomial and bernoulli"),
        (Choice("multinomial", "auto", prior="frequency"), "finds the alpha of a uniform prior"),
        (Choice("multinomial", "empirical", estimate="mean"), "leave --estimate out"),
        (Choice("multinomial", 0.5, estimate="map"), "give --alpha 1 or more"),
        (Choice("multinomial", 0.5, estimate="mle"), "leave --alpha out"),
        (Choice("multinomial", variance="one"), "add --measures"),
        (Choice("neighbours", project=20, distance="jensen-shannon"), "--project keeps the euclidean"),
    ],
)
def test_what_a_kind_does_not_look_at_is_refused(choice, why):
    with pytest.raises(Usage, match=why):
        check_choice(choice)


def test_another_kind_keeps_of_a_choice_what_goes_with_it():
    found = suited(Choice("multinomial", "auto", "binary", select="df:2", measures=True), "poisson")
    assert found == Choice("poisson", select="df:2", measures=True, contacts=found.contacts)


def test_a_selection_that_leaves_no_word_is_told_in_training(tmp_path):
    mail = {name: [str(SAMPLE / "judge" / name)] for name in ("ham", "spam")}
    with pytest.raises(BadData, match="--select df:100000 leaves no word"):
        train(Store(tmp_path / "model"), mail, Choice("bernoulli", select="df:100000"), jobs=1)
    assert not (tmp_path / "model" / "model.joblib").exists()


@pytest.mark.parametrize("kind", ["bernoulli", "neighbours"])
def test_a_model_that_begins_with_little_mail_learns_whatever_it_selects(tmp_path, kind):
    store = Store(tmp_path / "model")
    with store.locked():
        begin(store, Choice(kind, select="df:5", **({"project": 5000} if kind == "neighbours" else {})))
    for number, label in enumerate([0, 1, 0, 1]):
        learn(store, [Mail("-", b"Subject: a\n\nsome words %d\n" % number)], label)
    assert current(store)[0].corpus.messages == (2, 2)


def test_more_dimensions_than_anything_could_need_are_refused():
    with pytest.raises(Usage, match="from 1 to 10,000, or auto"):
        load_settings({}, {"project": "10000000"})


@pytest.mark.parametrize("distance", ["compression", "edit"])
def test_no_model_is_made_of_texts_that_it_does_not_keep(distance):
    with pytest.raises(Usage, match="needs the mail itself"):
        choice_of(load_settings({}, {"kind": "neighbours", "distance": distance}))


def test_every_setting_of_a_model_is_a_field_of_the_choice():
    assert set(OF_A_MODEL) | {"contacts", "unlabelled", "texts"} == {field.name for field in fields(Choice)}


@pytest.mark.parametrize("line", ["project = true", "neighbours = true", "alpha = true", "jobs = true"])
def test_yes_is_no_number(tmp_path, line):
    config = tmp_path / "config.toml"
    config.write_text(line)
    with pytest.raises(BadConfig, match="must be a"):
        load_settings({"SPAMNB_CONFIG": str(config)}, {})


@pytest.mark.parametrize(("label", "status"), [("work", "No, score=-4.60"), ("spam", "Yes, score=3.00")])
def test_the_score_in_a_filters_header_is_that_of_being_spam(label, status):
    verdict = Verdict(3.0, label, of_classes={"work": 0.99, "spam": 0.01})
    headers = dict(verdict_headers(verdict, 0.0, Style()))
    assert headers["X-Spam-Status"].startswith(status)
    assert headers["X-Spamnb"].startswith(f"{label}, score=3.00")
    assert ("X-Spam-Level" in headers) == (label == "spam")


@pytest.mark.parametrize(("name", "values"), [("variance", VARIANCES), ("vote", VOTES), ("kind", OPTIONS),
                                              ("distance", (*DISTANCES, *TEXT_DISTANCES))])  # fmt: skip
def test_what_the_models_know_may_be_set(name, values):
    for value in values:
        assert getattr(load_settings({}, {name: value}), name) == value
