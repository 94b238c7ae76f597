"""Pictures as text: what is extreme stands at the edge, and no line is too wide for a terminal."""

import numpy as np
import pytest

from spamnb.curves import Findings
from spamnb.evaluation import Outcome, Trial
from spamnb.laboratory import LearningCurves, Point
from spamnb.pictures import (
    COLUMNS,
    ROWS,
    SEVERAL,
    WIDTH,
    Scale,
    chart,
    draw_calibration,
    draw_curves,
    draw_roc,
    draw_scores,
    draw_sweep,
    drawn,
)

ACROSS = Scale("across", 0.0, 10.0, [(0.0, "0"), (10.0, "10")])
UP = Scale("up", 0.0, 1.0, [(0.0, "0"), (1.0, "1")])


def trial(ham, spam, kind="multinomial"):
    labels = np.arange(len(ham) + len(spam)) >= len(ham)
    scores = np.array([*ham, *spam], float)
    return Trial(kind, Outcome(labels, scores, scores > 0, np.zeros(len(labels), bool)), 1.0)


def field(text):
    """The cells of a chart, the top row first."""
    rows = [line for line in text.splitlines() if "┤" in line or "│" in line]
    return [line[max(line.find("┤"), line.find("│")) + 1 :].ljust(COLUMNS) for line in rows]


def points(kind, *errors):
    return [Point(kind, 10 * 2**n, (error, error + 2), (0.0, 0.0)) for n, error in enumerate(errors)]


def test_the_ends_of_the_scales_are_the_corners_of_a_chart():
    cells = field(chart("corners", [("x", np.array([0.0, 10.0]), np.array([0.0, 1.0]))], ACROSS, UP, joined=False))
    assert len(cells) == ROWS
    assert all(len(row) == COLUMNS for row in cells)
    assert [(row, line.index("x")) for row, line in enumerate(cells) if "x" in line] == [
        (0, COLUMNS - 1),
        (ROWS - 1, 0),
    ]


def test_what_lies_beyond_a_scale_is_shown_at_its_end():
    cells = field(chart("beyond", [("x", np.array([-5.0, 99.0]), np.array([-9.0, 9.0]))], ACROSS, UP, joined=False))
    assert cells[0][-1] == cells[-1][0] == "x"


def test_lines_go_in_steps_and_several_marks_in_one_cell_are_told():
    lines = [("a", np.array([0.0, 10.0]), np.array([1.0, 0.0])), ("b", np.array([0.0]), np.array([1.0]))]
    cells = field(chart("steps", lines, ACROSS, UP))
    assert cells[0] == SEVERAL + "a" * (COLUMNS - 1)
    assert [row[-1] for row in cells] == ["a"] * ROWS


def test_axes_are_labelled():
    text = chart("title", [("x", np.array([5.0]), np.array([0.5]))], ACROSS, UP).splitlines()
    assert text[0] == "title"
    assert text[1].strip() == "up"
    assert text[2].strip().startswith("1 ┤")
    assert text[-1].strip() == "across"
    assert text[-2].split() == ["0", "10"]


def test_a_perfect_order_lies_in_the_best_corner_of_a_roc():
    cells = field(draw_roc([trial([-2, -1], [1, 2])]))
    assert cells[0][0] == "a"  # no spam missed, no ham lost
    worst = field(draw_roc([trial([1, 2], [-2, -1])]))
    assert worst[0][0] == " "
    assert worst[-1][-1] == "a"


def test_a_roc_names_its_models():
    text = draw_roc([trial([-1], [1], "multinomial"), trial([-1], [1], "poisson")])
    assert "a multinomial   b poisson   + several" in text
    assert "ham lost %" in text
    assert "spam missed %" in text


def test_a_sweep_loses_ham_at_low_c_and_misses_spam_at_high_c():
    cells = field(draw_sweep(trial([-1] * 5, [1] * 5)))
    assert (cells[0][0], cells[-1][0]) == ("h", "s")
    assert (cells[0][-1], cells[-1][-1]) == ("s", "h")


def test_scores_are_bars_of_either_class_from_low_to_high():
    lines = draw_scores(trial([-5] * 30 + [5], [5] * 10)).splitlines()[2:]
    assert len(lines) == ROWS
    ham, spam = zip(*(line.split("│")[1:3] for line in lines), strict=True)
    assert ham[0].split()[0] == "30"
    assert spam[0].strip() == ""
    assert spam[-1].split() == ["10", "█" * 8]
    assert ham[-1].split() == ["1", "█"]


def test_calibration_sets_what_was_found_beside_what_was_said():
    text = draw_calibration(trial([-9] * 9, [9] * 9 + [-9])).splitlines()[2:]
    low, high = (line.split(maxsplit=3) for line in text)
    assert low[:3] == ["0.0", "10.0", "10"]
    assert high[:3] == ["100.0", "100.0", "9"]
    assert text[0].index("│") < text[1].index("│")
    assert text[1].count("█") > 40


def test_a_learning_curve_shows_its_points_and_their_spread_where_they_belong():
    points = [Point("multinomial", 10, (0.0, 40.0), (0.0, 0.0)), Point("multinomial", 40, (0.0,), (0.0,))]
    text = draw_curves(Findings([trial([-1], [1])], LearningCurves(30, 1.0, points)))
    cells = field(text)
    first, last = ("".join(row[column] for row in cells) for column in (0, -1))
    assert (first[0], first[-1]) == ("-", "-")
    assert first.count("a") == 1
    assert last.strip() == last[-1] == "a"  # no error, no spread
    assert text.splitlines()[-3].split() == ["10", "40"]


@pytest.mark.parametrize("kinds", [1, 9, 30])
def test_no_line_is_wider_than_a_terminal(kinds):
    names = [f"kind-number-{number}" for number in range(kinds)]
    random = np.random.default_rng(0)
    trials = [trial(random.normal(-900, 500, 3000), random.normal(900, 500, 2000), name) for name in names]
    curves = LearningCurves(123456, 1.0, [point for name in names for point in points(name, 50.0, 40.0, 3.0, 2.0)])
    text = drawn(Findings(trials, curves))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert not set(text) & set("\t\r\x1b")
    for title in ("ROC", "threshold:", "scores:", "calibration:", "learning curve:"):
        assert title in text


def test_without_learning_curves_none_is_drawn():
    assert "learning curve" not in drawn(Findings([trial([-1, 0], [1, 2])]))
