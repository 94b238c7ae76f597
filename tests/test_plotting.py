"""Pictures in files: well-formed, labelled, told apart without colour; and a clear word where matplotlib is missing."""

import importlib
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from spamnb import plotting
from spamnb.curves import Findings
from spamnb.errors import BadConfig, CannotWrite, Usage
from spamnb.evaluation import Outcome, Trial
from spamnb.laboratory import LearningCurves, Point
from spamnb.models import KINDS

PNG = b"\x89PNG\r\n\x1a\n"


def trial(kind, seed):
    random = np.random.default_rng(seed)
    labels = np.arange(200) >= 120
    scores = random.normal(size=200) * 3 + np.where(labels, 4, -4)
    return Trial(kind, Outcome(labels, scores, scores > 0, np.zeros(200, bool)), 1.0)


def findings(kinds, curves=True):
    trials = [trial(kind, seed) for seed, kind in enumerate(kinds)]
    points = [Point(kind, size, (30.0 / size, 40.0 / size), (0.0, 0.0)) for kind in kinds for size in (10, 20, 40)]
    return Findings(trials, LearningCurves(66, 1.0, points) if curves else None)


@pytest.fixture(scope="module")
def matplotlib():
    return importlib.import_module("matplotlib")


def texts(path):
    return ["".join(node.itertext()).strip() for node in ElementTree.parse(path).iter() if node.tag.endswith("}text")]


LABELS = [
    "ham lost (%, log scale)", "spam missed (%, log scale)", "score (log odds of spam)", "messages",
    "c (spam must be c times likelier than ham)", "messages of the class (%)", "probability of spam said (%)",
    "share of spam found (%)",
]  # fmt: skip


def test_an_svg_is_xml_that_holds_the_labels_as_text(matplotlib, tmp_path):
    plotting.plot(findings(KINDS), str(tmp_path / "all.svg"))
    found = texts(tmp_path / "all.svg")
    assert {*LABELS, *KINDS, "training messages (log scale)", "error (%)", "models"} <= set(found)
    assert any(text.startswith("learning curve (mean ± standard deviation, 66 messages") for text in found)


def test_only_what_there_is_is_drawn(matplotlib, tmp_path):
    plotting.plot(findings(["multinomial"], curves=False), str(tmp_path / "one.svg"))
    found = texts(tmp_path / "one.svg")
    assert set(LABELS) <= set(found)
    assert not any("learning" in text or text == "models" for text in found)


def test_a_png_is_one(matplotlib, tmp_path):
    plotting.plot(findings(KINDS[:2]), str(tmp_path / "two.png"))
    assert (tmp_path / "two.png").read_bytes().startswith(PNG)


def test_the_same_findings_make_the_same_file(matplotlib, tmp_path):
    for name in ("first.svg", "second.svg"):
        plotting.plot(findings(KINDS[:2]), str(tmp_path / name))
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


def test_models_are_told_apart_without_colour():
    looks = [plotting.look(place) for place in range(len(KINDS))]
    assert len({str(look["linestyle"]) for look in looks}) == len(KINDS)
    assert len({look["marker"] for look in looks}) == len(KINDS)
    assert {look["color"] for look in looks} <= {"black", "0.45"}


def test_models_that_order_perfectly_or_alike_can_be_drawn(matplotlib, tmp_path):
    labels = np.arange(8) >= 4
    nothing = np.zeros(8, bool)
    trials = [
        Trial(name, Outcome(labels, scores, nothing, nothing), 0.0)
        for name, scores in (("perfect", labels * 2000.0 - 1000), ("level", np.zeros(8)))
    ]
    plotting.plot(Findings(trials), str(tmp_path / "odd.svg"))
    assert {"perfect", "level", "none"} <= set(texts(tmp_path / "odd.svg"))


@pytest.mark.parametrize("name", ["curve.pdf", "curve", "curve.svg.gz", "CURVE.JPG"])
def test_another_suffix_is_refused(name):
    with pytest.raises(Usage, match=r"FILE\.svg or a FILE\.png"):
        plotting.check_picture(name)


def test_a_place_that_is_not_there_is_told_before_the_work(tmp_path):
    with pytest.raises(CannotWrite, match="no such directory"):
        plotting.check_picture(str(tmp_path / "none" / "curve.svg"))


def test_a_file_that_cannot_be_written_is_told(matplotlib, tmp_path):
    (tmp_path / "curve.svg").mkdir()
    with pytest.raises(CannotWrite, match=r"curve\.svg: Is a directory"):
        plotting.plot(findings(KINDS[:1]), str(tmp_path / "curve.svg"))


def test_without_matplotlib_a_line_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BadConfig) as told:
        plotting.plot(findings(KINDS[:1]), str(tmp_path / "curve.svg"))
    assert str(told.value) == "--plot needs matplotlib; pip install 'spamnb[plot]'"
    assert list(tmp_path.iterdir()) == []
