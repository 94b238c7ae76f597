"""Tables and progress for people; the only importer of rich."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from .auditing import Doubt
from .evaluation import Figures
from .filtering import Clue
from .inspection import Overview, WordFacts
from .scorecard import HAM, SPAM, Verdict
from .training import Trained

OFF_TERMINAL_WIDTH = 110


def console(stderr: bool = False) -> Console:
    """Where tables go; off a terminal they are plain text of a fixed width."""
    found = Console(stderr=stderr, highlight=False)
    return found if found.is_terminal else Console(stderr=stderr, highlight=False, width=OFF_TERMINAL_WIDTH)


@contextmanager
def progress(task: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on the terminal, nothing elsewhere; the caller tells how much of how much is done."""
    err = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
        auto_refresh=False,  # it would take a thread, and a process with threads cannot be forked
    ) as bars:
        bar = bars.add_task(task, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total, refresh=True)


def table(*headings: str, title: str = "", texts: int = 1) -> Table:
    """A table whose first columns are texts and whose others are numbers."""
    made = Table(box=SIMPLE, title=title or None, title_justify="left", pad_edge=False)
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="right" if number >= texts else "left", overflow="fold")
    return made


def show_trained(trained: Trained, path: str) -> None:
    """What a training found and made."""
    gathered, card = trained.gathered, trained.card
    made = table("learned", "messages")
    for name, count in zip(gathered.corpus.classes, gathered.corpus.messages, strict=True):
        made.add_row(name, f"{count:,}")
    made.add_row("words in the dictionary", f"{len(gathered.corpus.tokens):,}")
    if gathered.duplicates:
        made.add_row("duplicates, learned once", f"{gathered.duplicates:,}")
    out = console()
    out.print(made)
    if isinstance(trained.alpha, str):
        out.print(f"alpha, {trained.alpha}: {card.alpha:.6g}")
    if steps := card.about.get("log likelihood"):
        out.print(f"{card.about['unlabelled']:,} unlabelled messages; log likelihood by step: "
                  f"{', '.join(f'{step:.4f}' for step in steps)}", soft_wrap=True)  # fmt: skip
    decision = f"spam above c = {card.c:.3g}" if gathered.corpus.is_ham_and_spam else "the likeliest class is named"
    out.print(f"model: {path} ({card.kind}), {decision}", soft_wrap=True, markup=False)


def show_figures(found: Figures, decision: str) -> None:
    """The confusion matrix and the rates."""
    made = table("is", "called ham", "unsure", "called spam", "error")
    made.add_row(
        "ham", f"{found.ham_as_ham:,}", f"{found.ham_unsure:,}", f"{found.ham_lost:,}",
        f"{found.ham_lost_percent:.2f} % lost",
    )  # fmt: skip
    made.add_row(
        "spam", f"{found.spam_missed:,}", f"{found.spam_unsure:,}", f"{found.spam_as_spam:,}",
        f"{found.spam_missed_percent:.2f} % missed",
    )  # fmt: skip
    out = console()
    out.print(made)
    out.print(f"1-AUC {found.one_minus_auc_percent:.4f} %, errors {found.error_percent:.2f} %, {decision}")


def show_sweep(rows: Sequence[tuple[float, Figures]], best: float, max_ham_loss: float) -> None:
    """A line a threshold, with the recommended one marked."""
    made = table("c", "probability", "ham lost", "%", "spam missed", "% ")
    for c, found in rows:
        marked = c == best
        made.add_row(
            f"{c:.10g}" + (" ◀" if marked else ""), f"{c / (1 + c):.4f}",
            f"{found.ham_lost:,}", f"{found.ham_lost_percent:.2f}",
            f"{found.spam - found.spam_as_spam:,}", f"{found.spam_missed_percent:.2f}",
            style="bold" if marked else None,
        )  # fmt: skip
    out = console()
    out.print(made)
    out.print(f"recommended: --threshold {best:.10g} (ham lost at most {100 * max_ham_loss:g} %)")


def show_explanation(
    name: str,
    verdict: Verdict,
    fixed: float,
    clues: Sequence[Clue],
    facts: Sequence[WordFacts],
    more: Sequence[Clue],
    sides: tuple[str, str],
) -> None:
    """The strongest words for and against; with the rest they add up to the score."""
    out = console()
    reason = f" ({verdict.reason})" if verdict.reason else ""
    out.print(
        f"{name}: {verdict.label}{reason}, score {verdict.score:.3f}, probability {verdict.probability:.4f}",
        markup=False,
        soft_wrap=True,
    )
    made = table("word", "here", *(f"{side} with it" for side in sides), "adds")
    made.add_row("(every message)", "", "", "", f"{fixed:+.3f}")
    for clue, fact in zip(clues, facts, strict=True):
        made.add_row(shown(clue.token), str(clue.count), f"{fact.ham:,}", f"{fact.spam:,}", f"{clue.weight:+.3f}")
    if more:
        made.add_row(f"({len(more):,} more words)", "", "", "", f"{sum(clue.weight for clue in more):+.3f}")
    made.add_section()
    made.add_row("score", "", "", "", f"{verdict.score:+.3f}")
    out.print(made)


def show_overview(found: Overview) -> None:
    """What a model holds."""
    made = table("model", "", texts=2)
    for name, value in found.settings:
        made.add_row(name, value)
    out = console()
    out.print(made)
    two = set(found.words) == {HAM, SPAM}
    for name, words in found.words.items():
        show_words(words, f"strongest words for {name}", (HAM, SPAM) if two else ("others", name))


def show_words(words: Sequence[WordFacts], title: str = "", classes: tuple[str, str] = (HAM, SPAM)) -> None:
    """Some words, with the messages they were in and their weight."""
    made = table("word", *(f"{name} with it" for name in classes), "weight", title=title)
    for word in words:
        made.add_row(shown(word.token), f"{word.ham:,}", f"{word.spam:,}", f"{word.weight:+.3f}")
    console().print(made)


def show_doubts(doubts: Sequence[Doubt], names: Mapping[str, str]) -> None:
    """Messages that may have been learned as what they are not."""
    out = console()
    if not doubts:
        out.print("no message is contradicted by the others")
        return
    for doubt in doubts:
        where = names.get(doubt.digest, doubt.digest[:12])
        words = " ".join(doubt.subject_words[:10])
        line = f"learned as {doubt.label}, by the others spam with {doubt.probability:.4f}: {where}"
        out.print(shown(line), soft_wrap=True)
        out.print(shown(f"    from {doubt.sender or 'nobody'}; subject has: {words or 'no words'}"), soft_wrap=True)
    out.print("correct one with 'spamnb learn --ham PATH' or 'spamnb learn --spam PATH'")


def shown(token: str) -> str:
    """A token as text that is safe on a terminal: no control characters, no markup."""
    from rich.markup import escape

    return escape("".join(letter if letter.isprintable() else "·" for letter in token))
