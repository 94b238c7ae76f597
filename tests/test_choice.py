"""What may be said about which kind of model; all else is refused with the way out."""

import pytest

from spamnb.errors import BadConfig, BadData, Usage
from spamnb.headers import Style, verdict_headers
from spamnb.models import Choice, check_choice, fit, suited
from spamnb.models.choice import ALPHAS, OPTIONS
from spamnb.scorecard import Verdict
from spamnb.settings import KINDS, load_settings


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


def test_a_selection_that_leaves_no_word_is_told(corpus):
    with pytest.raises(BadData, match="--select df:100000 leaves no word"):
        fit(corpus, Choice("bernoulli", select="df:100000"))


def test_more_dimensions_than_anything_could_need_are_refused(corpus):
    with pytest.raises(Usage, match="give fewer dimensions, or auto"):
        fit(corpus, Choice("neighbours", project=10_000_000))


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
