"""Classes of the user's naming, evaluated: who is taken for whom."""

import json

import pytest
from click.testing import CliRunner

from spamnb.commands.evaluate import evaluate
from spamnb.commands.train import train
from spamnb.confusion import confused, confusion_of
from spamnb.errors import BadData, Usage
from spamnb.models import Choice
from spamnb.protocols import planned
from spamnb.scorecard import Verdict
from spamnb.training import read_classes

TOPICS = {
    "garden": "roses tulips spade compost hedge mower seeds pruning",
    "sea": "harbour sail tide anchor gull mast rudder mooring",
    "kitchen": "flour oven yeast butter whisk dough kettle ladle",
}


@pytest.fixture(scope="module")
def mail(tmp_path_factory):
    """A folder for each topic; every message has some of its words."""
    folder = tmp_path_factory.mktemp("topics")
    for name, words in TOPICS.items():
        (folder / name).mkdir()
        several = words.split()
        for number in range(8):
            text = " ".join(several[number % 4 : number % 4 + 4])
            (folder / name / str(number)).write_text(f"Subject: note {number}\n\n{text} about {name} {number}\n")
    return {name: [str(folder / name)] for name in TOPICS}


@pytest.fixture(scope="module")
def corpus(mail):
    return read_classes(mail, jobs=1).corpus


def run(command, *args):
    done = CliRunner().invoke(command, list(args), standalone_mode=False)
    if done.exception:
        raise done.exception
    return done.output


def options(mail):
    return [f"--class={name}={path}" for name, [path] in mail.items()]


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli", "categorical", "poisson"])
def test_topics_of_their_own_words_are_told_apart(corpus, kind):
    found = confused(corpus, Choice(kind), planned(corpus, "folds", 4), {})
    assert found.counts.tolist() == [[8, 0, 0, 0], [0, 8, 0, 0], [0, 0, 8, 0]]
    assert (found.errors, found.messages, found.error_percent) == (0, 24, 0.0)


def test_a_class_with_a_high_offset_is_named_no_more(corpus):
    found = confused(corpus, Choice("multinomial"), planned(corpus, "folds", 4), {"sea": 1e300})
    assert found.counts[:, 1].tolist() == [0, 0, 0]
    assert found.errors == 8
    low, high = found.interval
    assert low < 100 / 3 < high


def test_verdicts_are_counted_by_what_is_and_what_is_called():
    known = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "unsure"), ("a", "a")]
    found = confusion_of(("a", "b"), [(name, Verdict(1.0, called)) for name, called in known])
    assert found.counts.tolist() == [[2, 1, 0], [0, 1, 1]]
    assert found.error_percent == pytest.approx(40.0)


def test_no_verdict_is_no_confusion():
    with pytest.raises(BadData, match="no message to judge"):
        confusion_of(("a", "b"), [])


def test_the_command_shows_who_is_taken_for_whom(mail, tmp_path):
    model = ("--model", str(tmp_path / "model"))
    run(train, *model, *options(mail))
    text = run(evaluate, *model, *options(mail))
    assert "called garden" in text
    assert "0 of 24 messages misnamed: 0.00 %" in text
    rows = [json.loads(line) for line in run(evaluate, *model, "--format", "jsonl").splitlines()]
    assert [row["is"] for row in rows[:3]] == list(TOPICS)
    assert rows[1]["called"] == {"garden": 0, "sea": 8, "kitchen": 0, "unsure": 0}
    assert rows[3]["messages"] == 24
    offset = run(evaluate, *model, "--threshold", "sea=1e300", *options(mail))
    assert "8 of 24 messages misnamed" in offset


def test_mail_needs_no_model_for_folds_of_its_own(mail, tmp_path):
    text = run(evaluate, "--model", str(tmp_path / "none"), "--folds", "4", "--kind", "bernoulli", *options(mail))
    assert "0 of 24 messages misnamed" in text


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--kinds", "all"], "--kinds is about ham and spam"),
        (["--cost", "10:1"], "--cost is about ham and spam"),
        (["--threshold"], "give NAME=C"),
        (["--threshold", "hill=3"], "no class 'hill'"),
        (["--kind", "logistic"], "tells ham from spam"),
    ],
)
def test_what_is_about_ham_and_spam_is_refused(mail, tmp_path, given, why):
    model = ("--model", str(tmp_path / "model"))
    run(train, *model, *options(mail))
    with pytest.raises(Usage, match=why):
        run(evaluate, *model, *given)


def test_ham_and_spam_are_nothing_to_a_model_of_topics(mail, tmp_path):
    model = ("--model", str(tmp_path / "model"))
    run(train, *model, *options(mail))
    with pytest.raises(Usage, match="--class NAME=PATH"):
        run(evaluate, *model, mail["sea"][0], mail["garden"][0])
    with pytest.raises(Usage, match="the model has the classes garden, sea, kitchen"):
        run(evaluate, *model, f"--class=hill={mail['sea'][0]}", f"--class=sea={mail['sea'][0]}")
