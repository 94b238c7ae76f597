"""The laboratory's tables, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .confusion import Confusion
from .evaluation import Cost, Figures, Trial, figures
from .laboratory import Compared, Interval, LearningCurves
from .projecting import Projected
from .report import console, table

Row = dict[str, Any]  # of a table, as a line of jsonl

MOST_NAMED_COLUMNS = 6  # of a confusion matrix; more are numbered


def percent(value: float, interval: Interval, digits: int = 2) -> str:
    """A rate over its interval."""
    low, high = (f"{end:.{1 if end < 99.95 else 0}f}" for end in interval)
    return f"{value:.{digits}f}\n{low}–{high}"


def show_compared(rows: Sequence[Compared], decision: str) -> None:
    """A line a model with its figures, and a line for each but the best with the paired test."""
    made = table("kind", "error %", "ham lost %", "spam missed %", "1-AUC %", "seconds")
    for row in rows:
        found = row.found
        made.add_row(
            row.kind + (" ◀" if row.is_best else ""),
            percent(found.error_percent, row.error),
            percent(found.ham_lost_percent, row.ham_lost),
            percent(found.spam_missed_percent, row.spam_missed),
            percent(found.one_minus_auc_percent, row.one_minus_auc, 3),
            f"{row.seconds:.2f}",
        )
    found, out = rows[0].found, console()
    out.print(made)
    out.print(f"{found.ham:,} ham and {found.spam:,} spam, the same for each kind, {decision}")
    out.print("below each figure its 95 % interval; in rates unsure counts as ham")
    if len(rows) > 1:
        out.print(paired([row for row in rows if not row.is_best]))


def paired(rows: Sequence[Compared]) -> Any:
    """McNemar's test of each model beside the best."""
    best = rows[0].best
    made = table("kind", "only it errs", f"only {best} errs", "p (McNemar)")
    for row in rows:
        made.add_row(row.kind, f"{row.only_it_errs:,}", f"{row.only_best_errs:,}", f"{row.p:.2g}")
    return made


def compared_row(row: Compared, c: float | None) -> Row:
    """A line of the comparison."""
    ends = {name: getattr(row, name) for name in ("error", "ham_lost", "spam_missed", "one_minus_auc")}
    paired_with = {"best": row.best, "only_it_errs": row.only_it_errs, "only_best_errs": row.only_best_errs, "p": row.p}
    intervals = {f"{name}_interval": list(end) for name, end in ends.items()}
    return {"table": "kinds", "kind": row.kind, "c": c, **vars(row.found), **intervals, "seconds": row.seconds} | (
        paired_with
    )


def show_thresholds(rows: Sequence[tuple[float, Figures]]) -> None:
    """A line a threshold that was asked for."""
    made = table("c", "probability", "ham lost", "%", "spam missed", "% ", "error %", texts=0)
    for c, found in rows:
        made.add_row(
            f"{c:.10g}", f"{c / (1 + c):.4f}", f"{found.ham_lost:,}", f"{found.ham_lost_percent:.2f}",
            f"{found.spam - found.spam_as_spam:,}", f"{found.spam_missed_percent:.2f}", f"{found.error_percent:.2f}",
        )  # fmt: skip
    console().print(made)


def cost_rows(trials: Sequence[Trial], cost: Cost, cs: Sequence[float | None]) -> Iterator[Row]:
    """What each model costs: as it was judged, at the c of theory, and at the best c seen."""
    for trial in trials:
        asked = [("as judged" if c is None else "as asked", c) for c in cs]
        for name, c in [*asked, ("theory", cost.c), ("best seen", cost.cheapest(trial.outcome))]:
            outcome = trial.at(c).outcome
            found = figures(outcome)
            yield {
                "table": "cost", "kind": trial.kind, "decided": name, "c": c, "cost": cost.mean(outcome),
                "ham_lost": found.ham_lost, "spam_missed": found.spam - found.spam_as_spam,
            }  # fmt: skip


def show_costs(rows: Sequence[Row], cost: Cost) -> None:
    """The mean cost of a message."""
    made = table("kind", "decided", "c", "ham lost", "spam missed", "cost per message", texts=2)
    last = ""
    for row in rows:
        c = "own cutoffs" if row["c"] is None else f"{row['c']:.4g}"
        lost, missed = f"{row['ham_lost']:,}", f"{row['spam_missed']:,}"
        made.add_row("" if row["kind"] == last else row["kind"], row["decided"], c, lost, missed, f"{row['cost']:.4f}")
        last = row["kind"]
    out = console()
    out.print(made)
    out.print(f"a lost ham costs {cost.ham_lost:g}, a missed spam {cost.spam_missed:g}")
    out.print(f"c = {cost.c:.4g} is cheapest if probabilities are right; the best c seen was chosen on this very mail")


def show_confusion(found: Confusion) -> None:
    """Who is taken for whom."""
    many = len(found.classes) > MOST_NAMED_COLUMNS
    called = [str(number) if many else f"called {name}" for number, name in enumerate(found.classes, 1)]
    made = table("is", *called, "unsure", "error %")
    for number, (name, row) in enumerate(zip(found.classes, found.counts, strict=True), 1):
        error = f"{100.0 * (1 - row[number - 1] / row.sum()):.2f}" if row.any() else ""
        shown = [f"{count:,}" if count or not many else "·" for count in row.tolist()]
        made.add_row(f"{number} {name}" if many else name, *shown, error)
    low, high = found.interval
    out = console()
    out.print(made, soft_wrap=many)
    out.print(
        f"{found.errors:,} of {found.messages:,} messages misnamed: {found.error_percent:.2f} % ({low:.1f}–{high:.1f})"
    )


def confusion_rows(found: Confusion) -> Iterator[Row]:
    """A line a class, and one about all."""
    for name, row in zip(found.classes, found.counts.tolist(), strict=True):
        yield {"table": "confusion", "is": name, "called": dict(zip((*found.classes, "unsure"), row, strict=True))}
    error, interval = found.error_percent, list(found.interval)
    yield {"table": "error", "messages": found.messages, "error_percent": error, "error_interval": interval}


def projection_row(found: Projected) -> Row:
    """A line about a random projection."""
    return {"table": "projection", **vars(found), "kept": vars(found.kept)}


def show_projection(found: Projected) -> None:
    """What the projection kept of the distances, and the time beside the other ways."""
    made = table(f"{found.distance} distances of {found.messages:,} messages", "seconds")
    made.add_row(f"sparse, {found.words:,} words", f"{found.seconds_sparse:.3f}")
    dense = "too large" if found.seconds_dense is None else f"{found.seconds_dense:.3f}"
    made.add_row(f"dense, {found.words:,} words", dense)
    made.add_row(f"projected to {found.dimensions:,} dimensions", f"{found.seconds_projected:.3f}")
    low, middle, high = found.kept.quantiles
    out = console()
    out.print(made)
    out.print(
        f"{100 * found.kept.within:.1f} % of pairs keep their distance within 20 %, "
        f"{100 * found.kept.squared_within:.1f} % its square"
    )
    out.print(f"projected / original: median {middle:.3f}, 95 % of pairs between {low:.3f} and {high:.3f}")


def show_curves(curves: LearningCurves, kinds: Sequence[str]) -> None:
    """A line a model, a column for each number of training messages."""
    points = {(point.kind, point.messages): point for point in curves.points}
    numbers = sorted({messages for _, messages in points})
    made = table("error %", *(f"{number:,}" for number in numbers), title="learning curve: training messages")
    for kind in kinds:
        cells = [points[kind, number] for number in numbers]
        spreads = [f"\n±{cell.spread:.1f}" if len(cell.errors) > 1 else "" for cell in cells]
        made.add_row(kind, *(f"{cell.mean:.1f}{spread}" for cell, spread in zip(cells, spreads, strict=True)))
    repeats, out = max(len(point.errors) for point in curves.points), console()
    out.print(made)
    out.print(
        f"{curves.held_out:,} messages held out, judged at c = {curves.c:g}; the last column trains on all others,"
    )
    out.print(f"the columns before it show mean and standard deviation of {repeats} draws from them")


def curve_rows(curves: LearningCurves) -> Iterator[Row]:
    """The points of all learning curves."""
    for point in curves.points:
        yield {
            "table": "learning curve", "kind": point.kind, "messages": point.messages, "held_out": curves.held_out,
            "c": curves.c, "repeats": len(point.errors), "error_percent": point.mean, "spread": point.spread,
            "one_minus_auc_percent": sum(point.one_minus_auc) / len(point.one_minus_auc),
        }  # fmt: skip
