"""spamnb from Python, as the README has it."""

from pathlib import Path

import pytest

import spamnb
from spamnb.errors import NoModel

MAIL = Path(__file__).parent.parent / "sample_mail"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("library") / "model"
    trained = spamnb.train(path, ham=MAIL / "ham", spam=[str(MAIL / "spam")])
    assert min(trained.gathered.corpus.messages) >= 60
    return path


@pytest.mark.parametrize("label", ["ham", "spam"])
def test_bytes_are_judged_in_a_few_lines(model, label):
    judge = spamnb.open_judge(model)
    verdicts = [judge.judge(path.read_bytes()) for path in sorted((MAIL / "judge" / label).iterdir())]
    assert [verdict.label for verdict in verdicts] == [label] * 10
    assert label in repr(verdicts[0])


def test_a_message_is_learned_corrected_and_forgotten(tmp_path):
    raw = b"Subject: lunch\n\nat noon\n"
    assert spamnb.learn(tmp_path / "new", [raw], spam=True).new == 1
    assert spamnb.learn(tmp_path / "new", [raw], spam=False).moved == 1
    assert spamnb.learn(tmp_path / "new", [raw], spam=None).forgotten == 1


def test_a_model_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NoModel, match="no model here"):
        spamnb.open_judge(tmp_path)


def test_there_is_no_other_door():
    with pytest.raises(AttributeError, match="no attribute 'anything'"):
        spamnb.anything  # noqa: B018
