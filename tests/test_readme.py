"""What the README says the demo prints is what it prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DEMO = re.compile(r"^    \$ spamnb (.*)\n((?:    .*\n|\n)*?)(?=^    \$|^\S)", re.M)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "model"


def said(text: str) -> list[str]:
    """Lines with something on them, whatever the white space."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip() and line.strip() != "…"]


def test_the_demo_prints_what_the_readme_shows(model):
    shown = DEMO.findall((ROOT / "README.md").read_text())
    assert [arguments.split()[0] for arguments, _ in shown] == ["train", "classify", "evaluate", "evaluate"]
    for arguments, output in shown:
        command = [Path(sys.executable).parent / "spamnb", *arguments.split(), "--model", model]
        printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
        lines = said(printed.replace(str(model), ".demo"))
        assert [line for line in said(output) if line not in lines] == []
