"""Pictures in a file, readable in black and white; the only importer of matplotlib."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .curves import LOG_C, Findings, histogram, losses, reliability, roc
from .errors import BadConfig, CannotWrite, Usage
from .evaluation import Trial

SUFFIXES = (".svg", ".png")
STYLES = ("-", "--", ":", "-.", (0, (6, 1)), (0, (1, 1.5)), (0, (3, 1, 1, 1)), (0, (8, 3, 2, 3)), (0, (2, 2)))
MARKERS = ("o", "s", "^", "v", "D", "x", "+", "*", "P")
GREYS = ("black", "0.45")
LOOKS: dict[Any, Any] = {
    "font.size": 9,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.85",
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "spamnb",  # the same picture is the same file
}
ABOVE: dict[str, Any] = {"loc": "upper center", "ncols": 2}  # where the axis leaves room for a legend
RATES = (0.01, 0.1, 1.0, 10.0, 100.0)


def check_picture(path: str) -> None:
    """Refuse a picture that could not be drawn in the end, before the work begins."""
    if not path.endswith(SUFFIXES):
        raise Usage(f"--plot {path}: a picture is a FILE.svg or a FILE.png; without a file it is text")
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise CannotWrite(f"{path}: no such directory; make it first")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise BadConfig("--plot needs matplotlib; pip install 'spamnb[plot]'") from None


def plot(findings: Findings, path: str) -> None:
    """Draw all there is to show into a file."""
    check_picture(path)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    layout: Any = [["roc", "sweep"], ["scores", "calibration"]]
    if findings.curves:
        layout.append(["curve", "curve"])
    with mpl.rc_context(LOOKS):  # Figure draws with Agg and needs no display
        figure = Figure(figsize=(9.0, 3.6 * len(layout)), layout="constrained")
        axes = figure.subplot_mosaic(layout)
        draw_roc(axes["roc"], findings)
        draw_sweep(axes["sweep"], findings.best)
        draw_scores(axes["scores"], findings.best)
        draw_calibration(axes["calibration"], findings.best)
        if findings.curves:
            draw_curves(axes["curve"], findings)
        if len(findings.trials) > 1:
            handles, labels = axes["roc"].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=5, handlelength=4, title="models")
        try:
            figure.savefig(path, dpi=150, metadata={"Date": None} if path.endswith(".svg") else None)
        except OSError as error:
            raise CannotWrite(f"{path}: {error.strerror or error}; name a file that can be written") from None


def look(place: int) -> dict[str, Any]:
    """Line, marker and grey that tell a model from the others."""
    turn = len(STYLES)
    return {
        "linestyle": STYLES[place % turn],
        "marker": MARKERS[place % turn],
        "color": GREYS[place % 2],
        "linewidth": 1.2,
        "markersize": 4,
        "markerfacecolor": "white" if place % 2 else "black",
    }


def draw_roc(axis: Any, findings: Findings) -> None:
    """Ham lost against spam missed, both on a log scale, the better the further up and left."""
    axis.set(xscale="log", yscale="log", title="ROC (the better the further up and left)")
    spam = findings.trials[0].outcome.labels
    floors = 50.0 / np.sum(~spam), 50.0 / np.sum(spam)  # half a message stands for none, which has no logarithm
    for place, trial in enumerate(findings.trials):
        xs, ys = (np.maximum(part, floor) for part, floor in zip(roc(trial.outcome), floors, strict=True))
        axis.plot(xs, ys, drawstyle="steps-post", label=trial.kind, markevery=(0.03 * place, 0.2), **look(place))
    for direction, floor in zip((axis.xaxis, axis.yaxis), floors, strict=True):
        ticks = [floor, *(rate for rate in RATES if rate > 1.5 * floor)]
        direction.set_ticks(ticks, ["none", *(f"{rate:g}" for rate in ticks[1:])])
        direction.set_minor_formatter("")
    axis.set(xlim=(floors[0] / 1.3, 110), ylim=(110, floors[1] / 1.3))
    axis.set(xlabel="ham lost (%, log scale)", ylabel="spam missed (%, log scale)")


def draw_sweep(axis: Any, trial: Trial) -> None:
    """What is lost at each threshold."""
    powers = np.linspace(*LOG_C, 600)
    lost, missed = losses(trial.outcome, powers * np.log(10))
    axis.plot(10**powers, lost, "-", color="black", label="ham lost")
    axis.plot(10**powers, missed, "--", color="black", label="spam missed")
    axis.set(xscale="log", xlabel="c (spam must be c times likelier than ham)", ylabel="messages of the class (%)")
    top = max(10.0, lost.max(), missed.max())
    axis.set(ylim=(-0.03 * top, 1.25 * top), title=f"threshold: {trial.kind}")
    axis.legend(**ABOVE)


def draw_scores(axis: Any, trial: Trial) -> None:
    """How the scores of either class lie."""
    edges, ham, spam = histogram(trial.outcome)
    for counts, name, hatch, shade in ((ham, "ham", "", "0.75"), (spam, "spam", "////", "none")):
        axis.stairs(counts, edges, fill=True, facecolor=shade, edgecolor="black", hatch=hatch, label=name)
        axis.stairs(counts, edges, color="black", linewidth=0.8)
    axis.set(xlabel="score (log odds of spam)", ylabel="messages", title=f"scores: {trial.kind}")
    axis.yaxis.get_major_locator().set_params(integer=True)
    axis.set_ylim(top=1.25 * max(ham.max(), spam.max()))
    axis.legend(**ABOVE)


def draw_calibration(axis: Any, trial: Trial) -> None:
    """Whether mail that is said to be spam with some probability is spam as often."""
    said, seen, messages = reliability(trial.outcome)
    axis.plot([0, 100], [0, 100], ":", color="0.4", label="as said")
    axis.plot(said, seen, "o-", color="black", label="as found (of so many messages)")
    around = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    raised = False
    for x, y, count, apart in zip(said, seen, messages, np.diff(said, prepend=-100.0), strict=True):
        raised = apart < 8 and not raised  # two numbers side by side would read as one
        away = 20 if raised else 8
        beside = (0, -away - 7 if y > 50 else away)
        axis.annotate(f"{count:,}", (x, y), beside, textcoords="offset points", ha="center", fontsize=8, bbox=around)
    axis.set(xlim=(-6, 106), ylim=(-6, 126), yticks=range(0, 101, 20), title=f"calibration: {trial.kind}")
    axis.set(xlabel="probability of spam said (%)", ylabel="share of spam found (%)")
    axis.legend(**ABOVE)


def draw_curves(axis: Any, findings: Findings) -> None:
    """Error against training messages, with one standard deviation to either side."""
    curves = findings.curves
    assert curves is not None
    ticks = sorted({point.messages for point in curves.points})
    for place, trial in enumerate(findings.trials):
        points = curves.of(trial.kind)
        apart = (ticks[-1] / ticks[0]) ** (0.006 * (place - len(findings.trials) / 2))  # no bar hides another
        messages = np.array([point.messages for point in points]) * apart
        means, spreads = [point.mean for point in points], [point.spread for point in points]
        axis.errorbar(messages, means, spreads, capsize=2, elinewidth=0.7, label=trial.kind, **look(place))
    axis.set_xscale("log")
    axis.xaxis.set_ticks(ticks, [f"{tick:,}" for tick in ticks])
    axis.xaxis.set_minor_formatter("")
    axis.set_ylim(bottom=0)
    axis.set(xlabel="training messages (log scale)", ylabel="error (%)")
    axis.set_title(
        f"learning curve (mean ± standard deviation, {curves.held_out:,} messages judged at c = {curves.c:g})"
    )
