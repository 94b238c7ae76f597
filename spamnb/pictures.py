"""Pictures as text, for a terminal: at most 78 columns, no colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_letters

import numpy as np

from .curves import LOG_C, Array, Findings, histogram, losses, reliability, roc
from .evaluation import Trial

WIDTH = 78
COLUMNS, ROWS = 64, 14  # of a chart's field
SEVERAL = "+"  # where the marks of several lines meet
SPREAD = "-"  # one standard deviation to either side; gives way to any other mark
BAR = 24
RATES = (0.01, 0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Scale:
    """One direction of a chart: its ends, and what stands where."""

    label: str
    low: float  # at the left or at the bottom
    high: float
    ticks: Sequence[tuple[float, str]]

    def cells(self, values: Array, cells: int) -> list[int]:
        """In which of so many cells each value lies; what lies beyond an end is shown at it."""
        share = (np.asarray(values, float) - self.low) / (self.high - self.low)
        return [int(cell) for cell in np.clip(np.rint(share * (cells - 1)), 0, cells - 1)]


Line = tuple[str, Array, Array]  # a mark, and where it stands


def drawn(findings: Findings) -> str:
    """All there is to show."""
    best = findings.best
    parts = [draw_roc(findings.trials), draw_sweep(best), draw_scores(best), draw_calibration(best)]
    if findings.curves:
        parts.append(draw_curves(findings))
    return "\n\n".join(parts)


def chart(title: str, lines: Sequence[Line], x: Scale, y: Scale, joined: bool = True) -> str:
    """A field of characters with labelled axes; lines go in steps, or are points alone."""
    field = [[" "] * COLUMNS for _ in range(ROWS)]
    for mark, xs, ys in lines:
        corners = list(zip(x.cells(xs, COLUMNS), y.cells(ys, ROWS), strict=True))
        for column, row in {*(steps(corners) if joined else corners)}:
            there = field[ROWS - 1 - row][column]
            field[ROWS - 1 - row][column] = mark if there in (" ", SPREAD, mark) else SEVERAL
    names = dict(
        zip(y.cells(np.array([value for value, _ in y.ticks]), ROWS), (text for _, text in y.ticks), strict=True)
    )
    edge = max(len(text) for _, text in y.ticks) + 1
    shown = [
        f"{names.get(ROWS - 1 - row, ''):>{edge}} {'┤' if ROWS - 1 - row in names else '│'}{''.join(cells)}".rstrip()
        for row, cells in enumerate(field)
    ]
    return "\n".join([title, f" {y.label}", *shown, *foot(x, edge)])


def steps(corners: list[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """The cells on the way from corner to corner: first sideways, then up or down."""
    yield corners[0]
    for (column, row), (next_column, next_row) in pairwise(corners):
        sideways, upwards = sorted((column, next_column)), sorted((row, next_row))
        yield from ((between, row) for between in range(sideways[0], sideways[1] + 1))
        yield from ((next_column, between) for between in range(upwards[0], upwards[1] + 1))


def foot(x: Scale, edge: int) -> list[str]:
    """The axis below a chart."""
    axis, below = ["─"] * COLUMNS, [" "] * (COLUMNS + edge + 6)
    free = 0
    for cell, (_, text) in zip(x.cells(np.array([value for value, _ in x.ticks]), COLUMNS), x.ticks, strict=True):
        start = max(0, edge + 2 + cell - len(text) // 2)
        axis[cell] = "┬"
        if start >= free:
            below[start : start + len(text)] = text
            free = start + len(text) + 1
    return [" " * (edge + 1) + "└" + "".join(axis), "".join(below).rstrip(), f"{x.label:>{edge + 2 + COLUMNS}}"]


def rates(label: str, low: float, high: float) -> Scale:
    """A scale of rates in percent, by their logarithms; the end below stands for none."""
    least = min(low, high)
    ticks = [(least, "none"), *((float(np.log10(rate)), f"{rate:g}") for rate in RATES if np.log10(rate) > least + 0.2)]
    return Scale(label, low, high, ticks)


def draw_roc(trials: Sequence[Trial]) -> str:
    """Ham lost against spam missed; the better the further up and left."""
    spam = trials[0].outcome.labels
    least = [float(np.log10(50.0 / count)) for count in (np.sum(~spam), np.sum(spam))]  # half a message
    lines = []
    for mark, trial in zip(ascii_letters, trials, strict=False):
        lost, missed = roc(trial.outcome)
        lines.append((mark, np.log10(np.maximum(lost, 10 ** least[0])), np.log10(np.maximum(missed, 10 ** least[1]))))
    x, y = rates("ham lost %, log scale", least[0], 2.0), rates("spam missed %, log scale", 2.0, least[1])
    return chart("ROC, the better the further up and left", lines, x, y) + legend(trials)


def legend(trials: Sequence[Trial]) -> str:
    """Which letter is which model."""
    names = [f"{mark} {trial.kind}" for mark, trial in zip(ascii_letters, trials, strict=False)]
    return wrapped(names if len(names) == 1 else [*names, f"{SEVERAL} several"])


def wrapped(names: Sequence[str]) -> str:
    """Names in lines that are not too wide."""
    lines = [""]
    for name in names:
        if len(lines[-1]) + len(name) + 3 > WIDTH:
            lines.append("")
        lines[-1] += f"   {name}"
    return "".join(f"\n{line}" for line in lines)


def draw_sweep(trial: Trial) -> str:
    """What is lost at each threshold."""
    powers = np.linspace(*LOG_C, 8 * COLUMNS)
    lost, missed = losses(trial.outcome, powers * np.log(10))
    ticks = [(float(power), f"1e{power:g}" if abs(power) > 3 else f"{10.0**power:g}") for power in range(-3, 10, 2)]
    top = max(10.0, float(lost.max()), float(missed.max()))
    title = f"threshold: {trial.kind}, h ham lost, s spam missed, {SEVERAL} both"
    y = Scale("% of the class", 0.0, top, [(share * top, f"{share * top:.0f}") for share in (0.0, 0.5, 1.0)])
    return chart(title, [("h", powers, lost), ("s", powers, missed)], Scale("c, log scale", *LOG_C, ticks), y)


def bar(count: float, most: float, width: int = BAR) -> str:
    """A bar of a length in proportion; whatever is there has some."""
    return "█" * max(round(width * count / most), int(count > 0))


def draw_scores(trial: Trial) -> str:
    """How the scores of either class lie."""
    edges, ham, spam = histogram(trial.outcome, ROWS)
    most = max(ham.max(), spam.max())
    lines = [f"scores: {trial.kind}, messages by log odds of spam", f"{'score from':>12}  {'ham':<{BAR + 7}} spam"]
    for edge, hams, spams in zip(edges, ham, spam, strict=False):
        left, right = (f"{count or '':>5} {bar(count, most)}" for count in (hams, spams))
        lines.append(f"{edge:>12.1f} │{left:<{BAR + 7}}│{right}".rstrip())
    return "\n".join(lines)


def draw_calibration(trial: Trial) -> str:
    """Whether mail that is said to be spam with some probability is spam as often."""
    lines = [f"calibration: {trial.kind}, │ as said, █ as found", f"{'said %':>8} {'found %':>8} {'messages':>9}"]
    width = WIDTH - 30
    for said, found, messages in zip(*reliability(trial.outcome), strict=True):
        cells = list(f"{bar(found, 100.0, width):<{width + 1}}")
        cells[min(round(width * said / 100), width)] = "│"
        lines.append(f"{said:>8.1f} {found:>8.1f} {messages:>9,} {''.join(cells)}".rstrip())
    return "\n".join(lines)


def draw_curves(findings: Findings) -> str:
    """Error against training messages; for a model alone, with one standard deviation to either side."""
    curves, trials = findings.curves, findings.trials
    assert curves is not None
    lines: list[Line] = []
    for mark, trial in zip(ascii_letters, trials, strict=False):
        points = curves.of(trial.kind)
        at, means = np.log10([point.messages for point in points]), np.array([point.mean for point in points])
        if len(trials) == 1:
            spread = np.array([point.spread for point in points])
            lines += [(SPREAD, at, end) for end in (means + spread, means - spread)]
        lines.append((mark, at, means))
    numbers = sorted({point.messages for point in curves.points})
    top = max(float(ys.max()) for _, _, ys in lines) or 1.0
    x_ticks = [(float(np.log10(number)), f"{number:,}") for number in numbers]
    x = Scale("training messages, log scale", x_ticks[0][0], max(x_ticks[-1][0], x_ticks[0][0] + 1e-9), x_ticks)
    y = Scale("error %", 0.0, top, [(share * top, f"{share * top:.1f}") for share in (0.0, 0.5, 1.0)])
    spread_told = " ± standard deviation" if len(trials) == 1 else ""
    title = f"learning curve: mean error{spread_told} on {curves.held_out:,} messages at c = {curves.c:g}"
    return chart(title, lines, x, y, joined=False) + legend(trials)
