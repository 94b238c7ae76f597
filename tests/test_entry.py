"""The light entry and click answer alike, and a command line that the entry cannot read goes to click."""

from pathlib import Path

import click
import pytest

from spamnb.cli import run
from spamnb.commands.classify import classify
from spamnb.commands.filter import filter as filter_command
from spamnb.entry import CHOICES, QUICK, dispatch, filter_options, understood
from spamnb.headers import DIALECTS

MAIL = Path(__file__).parent.parent / "sample_mail" / "judge"
FILTER_LINES = [
    [],
    ["--evidence", "--learn", "--tempfail"],
    ["--model", "a-model", "--threshold", "1e-3"],
    ["--model=/some-where/my-model", "--threshold=1e-3", "--subject-tag=-x-y"],
    ["--headers=bogofilter", "--subject-tag", "[SPAM] "],
]
CLASSIFY_LINES = [
    [],
    ["--format", "jsonl"],
    ["--threshold=0.5", "--format=jsonl"],
    ["--exit-code"],
]


@pytest.mark.parametrize("args", FILTER_LINES)
def test_filter_has_the_same_options_either_way(args):
    quick, by_click = understood("filter", args), filter_command.make_context("filter", list(args)).params
    assert quick is not None
    assert {name: value for name, value in quick.items() if name != "paths"} == by_click
    assert filter_options(args) == quick


@pytest.mark.parametrize("label", ["ham", "spam"])
@pytest.mark.parametrize("args", CLASSIFY_LINES)
def test_classify_answers_alike_either_way(sample_model, capsys, args, label):
    line = ["classify", *args, "--model", str(sample_model), str(sorted((MAIL / label).iterdir())[0])]
    quick = dispatch(line[0], line[1:]), capsys.readouterr()
    assert quick == (run(line), capsys.readouterr())
    assert quick[1].out


@pytest.mark.parametrize("args", [["--jobs", "2"], ["-x"], ["--format", "xml"], ["--exit-code=1"], ["--model"]])
def test_what_the_entry_cannot_read_it_leaves_to_click(args):
    assert understood("classify", args) is None


def test_the_entry_knows_no_option_that_click_does_not():
    for name, command in (("filter", filter_command), ("classify", classify)):
        options = {option for parameter in command.params for option in parameter.opts}
        assert {"--" + option.replace("_", "-") for option in QUICK[name]} <= options
    assert CHOICES["headers"] == DIALECTS


def test_a_wrong_option_of_filter_is_clicks_to_tell():
    with pytest.raises(click.UsageError, match="bogus"):
        filter_options(["--bogus"])
