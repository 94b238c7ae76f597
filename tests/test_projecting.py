"""What `evaluate --kind neighbours` tells of projections, and neighbours by the text of the mail itself."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from spamnb.commands.evaluate import evaluate
from spamnb.errors import Usage
from spamnb.evaluation import cross_validate, figures
from spamnb.message import digest
from spamnb.models import Choice
from spamnb.models import nearest as nearest_module
from spamnb.models.likeness import mail_text
from spamnb.models.nearest import dimension_of
from spamnb.models.neighbours import dimension_for
from spamnb.projecting import projected

SAMPLE = [str(Path(__file__).parent.parent / "sample_mail" / name) for name in ("ham", "spam")]


def run(*args):
    done = CliRunner().invoke(evaluate, [*SAMPLE, "--folds", "4", "--kind", "neighbours", *args], standalone_mode=False)
    if done.exception:
        raise done.exception
    return done.output


@pytest.fixture
def texts(mail):
    return {digest(raw).encode(): mail_text(raw) for _, raw in mail}


def test_more_dimensions_keep_more_distances(corpus):
    few, many = (projected(corpus, Choice("neighbours", project=number)) for number in (20, 2000))
    assert few.kept.within < many.kept.within
    assert many.kept.within > 0.99
    assert few.dimensions == 20
    assert few.messages == len(corpus.labels)


def test_auto_takes_so_many_dimensions_that_no_pair_is_expected_outside():
    assert dimension_of(Choice("neighbours", project="auto"), 100) == dimension_for(0.2, 1 - 1 / 4950)
    assert dimension_of(Choice("neighbours"), 100) is None


def test_the_command_tells_distortion_and_times():
    text = run("--project", "auto")
    assert "of pairs keep their distance within 20 %" in text
    assert all(way in text for way in ("sparse, ", "dense, ", "projected to "))
    rows = [json.loads(line) for line in run("--project", "64", "--format", "jsonl").splitlines()]
    assert rows[-1]["table"] == "projection"
    assert rows[-1]["dimensions"] == 64
    assert 0.5 < rows[-1]["kept"]["within"] <= 1.0


@pytest.mark.parametrize("distance", ["compression", "edit"])
def test_the_nearest_text_decides_and_not_the_words_counted(corpus, distance):
    said = {True: b"win a prize now, claim it today, number %d", False: b"shall we meet at the pond on Sunday? %d"}
    rows = enumerate(zip(corpus.digests.tolist(), corpus.labels.tolist(), strict=True))
    texts = {name: said[label] % number for number, (name, label) in rows}
    choice = Choice("neighbours", distance=distance, texts=texts)
    assert figures(cross_validate(corpus, choice, 4)).error_percent == 0
    alike = dict.fromkeys(texts, b"the same for all")
    assert figures(cross_validate(corpus, replace(choice, texts=alike), 4)).error_percent > 20


@pytest.mark.parametrize("distance", ["compression", "edit"])
def test_the_command_compares_texts_of_the_mail_it_is_given(distance):
    assert "called spam" in run("--distance", distance)


def test_too_many_texts_are_refused(corpus, texts, monkeypatch):
    monkeypatch.setattr(nearest_module, "MOST_TEXTS", 5)
    with pytest.raises(Usage, match="at most 5 messages"):
        cross_validate(corpus, Choice("neighbours", distance="edit", texts=texts), 2)


def test_texts_cannot_be_read_twice_from_standard_input():
    arguments = ["--ham", "-", "--spam", SAMPLE[1], "--folds", "2", "--kind", "neighbours", "--distance", "edit"]
    done = CliRunner().invoke(evaluate, arguments, input=b"Subject: a\n\nb\n", standalone_mode=False)
    assert isinstance(done.exception, Usage)
    assert "cannot be read twice" in str(done.exception)
