"""The command line: each command parses, calls, prints. Work modules are imported where they are needed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import click

from . import __version__
from .errors import BadData, NoInput, SpamnbError, Usage
from .settings import Settings, load_settings

if TYPE_CHECKING:
    from .evaluation import Outcome
    from .filtering import Judged
    from .mailbox import LeftOut, Unit

EXIT_CODES = {"spam": 0, "ham": 1, "unsure": 2}
SWEEP = "sweep"


def main() -> NoReturn:
    """Run the program; every failure is one line and an exit code of sysexits.h."""
    try:
        status = commands.main(standalone_mode=False, prog_name="spamnb") or 0
        sys.stdout.flush()
    except SpamnbError as error:
        status = complain(str(error), error.exit_code)
    except click.ClickException as error:
        status = complain(error.format_message(), 64)
    except (KeyboardInterrupt, click.Abort):
        status = complain("interrupted; nothing was changed", 130)
    except BrokenPipeError:  # the reader has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 141
    except Exception as error:
        if os.environ.get("SPAMNB_DEBUG"):
            raise
        status = complain(f"a bug in spamnb: {type(error).__name__}: {error}; SPAMNB_DEBUG=1 shows where", 70)
    sys.exit(status)


def complain(text: str, status: int) -> int:
    """One line on standard error."""
    click.echo("spamnb: " + " ".join(text.split()), err=True)
    return status


def settled(**options: Any) -> Settings:
    """The settings, with this command's options over all others."""
    return load_settings(os.environ, options)


model_option = click.option("--model", metavar="DIR", help="Directory of the model.")
jobs_option = click.option("--jobs", metavar="N", help="Processes to use; by default as many as pay.")
format_option = click.option(
    "--format", "form", type=click.Choice(["text", "jsonl"]), default="text", show_default=True
)
kind_options = [
    click.option("--kind", metavar="KIND", help="corrected (the default) or multinomial (the textbook's)."),
    click.option("--alpha", metavar="A", help="Smoothing: added to every count."),
    click.option("--counts", metavar="raw|binary", help="How often a word stands in a message, or whether."),
]


def model_choice(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that choose a model."""
    for option in reversed(kind_options):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spamnb")
def commands() -> None:
    """A naive Bayes spam filter that you train on your own mail."""


def both_classes(
    paths: tuple[str, ...], ham: tuple[str, ...] = (), spam: tuple[str, ...] = ()
) -> tuple[list[str], list[str]]:
    """The mailboxes of each class: two arguments, or options, or both."""
    if len(paths) not in (0, 2):
        raise Usage(f"{len(paths)} mailboxes given; first ham, then spam, or any number with --ham and --spam")
    hams, spams = [*paths[:1], *ham], [*paths[1:], *spam]
    if not hams or not spams:
        raise Usage(f"no mailbox of {'spam' if hams else 'ham'} given; usage: HAM SPAM, or --ham PATH --spam PATH")
    return hams, spams


def warn(left_out: LeftOut) -> int:
    """Say what was left out; 65 when something could not be read."""
    for reason, count in sorted(left_out.counts.items()):
        click.echo(f"spamnb: left out: {count} {reason}", err=True)
    for path, reason in left_out.unreadable:
        click.echo(f"spamnb: {path}: {reason}; the rest was used", err=True)
    return BadData.exit_code if left_out.unreadable else 0


@commands.command()
@click.argument("mailboxes", nargs=-1, metavar="[HAM SPAM]")
@click.option("--ham", multiple=True, metavar="PATH", help="A mailbox of ham; may be repeated.")
@click.option("--spam", multiple=True, metavar="PATH", help="A mailbox of spam; may be repeated.")
@model_choice
@click.option("--contacts", metavar="FILE", help="A file with the addresses of people you know.")
@click.option("--replace", is_flag=True, help="Even if lessons learned since the last training are lost.")
@jobs_option
@model_option
def train(
    mailboxes: tuple[str, ...], ham: tuple[str, ...], spam: tuple[str, ...], replace: bool, **options: Any
) -> int:
    """Fit a model on mailboxes of any kind: mbox, maildir, MH, folders, files."""
    from . import report, training
    from .store import Store

    hams, spams = both_classes(mailboxes, ham, spam)
    settings = settled(**options)
    choice = training.choice_of(settings)
    with report.progress("reading mail") as progress:
        trained = training.train(
            Store(settings.model), hams, spams, choice, replace=replace, jobs=settings.jobs, progress=progress
        )
    report.show_trained(trained, settings.model)
    for name in trained.gathered.contradictions:
        click.echo(f"spamnb: {name}: is in both classes; left out", err=True)
    return warn(trained.gathered.left_out)


@commands.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--files-from", metavar="FILE", help="Read paths from a file, one a line, or from standard input (-).")
@click.option("--threshold", metavar="C", help="Spam must be C times likelier than ham.")
@click.option("--exit-code", is_flag=True, help="Answer for one message: 0 spam, 1 ham, 2 unsure.")
@format_option
@jobs_option
@model_option
def classify(paths: tuple[str, ...], files_from: str | None, exit_code: bool, form: str, **options: Any) -> int:
    """Judge files, folders, or a message on standard input."""
    settings = settled(**options)
    status, label, count = 0, "", 0
    for judged, left_out in judge_all(named_paths(paths, files_from), settings):
        for one in judged:
            if exit_code and (count := count + 1) > 1:
                raise Usage("--exit-code answers for one message, and there are more; leave it out")
            click.echo(verdict_line(one, form))
            label = one.verdict.label
        status = warn(left_out) or status
    if exit_code and not status:
        if not count:
            raise NoInput("no message to answer for")
        return EXIT_CODES[label]
    return status


def named_paths(paths: tuple[str, ...], files_from: str | None) -> list[str]:
    """The paths given as arguments and in a list; standard input when there are none."""
    if files_from is None:
        return list(paths) or ["-"]
    try:
        with click.open_file(files_from, encoding="utf-8", errors="surrogateescape") as file:
            return [*paths, *filter(None, file.read().split("\n"))]
    except OSError as error:
        raise NoInput(f"{files_from}: {error.strerror}; name a file with one path a line") from None


def judge_all(paths: list[str], settings: Settings) -> Iterator[tuple[list[Judged], LeftOut]]:
    """Verdicts on all mail in the paths, in order, with what could not be read."""
    from functools import partial

    from .filtering import judge_units
    from .mailbox import LeftOut, units
    from .scorecard import open_model

    open_model(settings.model)  # a missing model is told before the mail is looked at
    left_out = LeftOut()
    work: list[Unit] = []
    for path in paths:
        try:
            work += units(path, left_out)
        except SpamnbError as error:
            if len(paths) == 1:
                raise
            left_out.unreadable.append((path, str(error).removeprefix(f"{path}: ")))
    judge = partial(judge_units, settings.model, settings.threshold)
    if len(work) == 1:
        yield judge(work)[:2]
    else:
        from .parallel import in_parallel

        for judged, unread, _ in in_parallel(judge, work, settings.jobs):
            yield judged, unread
    yield [], left_out


def verdict_line(one: Judged, form: str) -> str:
    """A verdict for people or for machines."""
    verdict = one.verdict
    if form == "text":
        reason = f"  ({verdict.reason})" if verdict.reason else ""
        return f"{verdict.label:<6}  {verdict.probability:.4f}  {printable(one.name)}{reason}"
    fields = {"path": one.name, "label": verdict.label, "score": verdict.score, "probability": verdict.probability}
    if verdict.reason:
        fields["reason"] = verdict.reason
    return json.dumps(fields)


def printable(text: str) -> str:
    """A name that cannot play tricks on a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


class ThresholdCommand(click.Command):
    """Lets --threshold stand alone, wherever it stands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        following = zip(args, [*args[1:], ""], strict=False)
        given = [f"--threshold={SWEEP}" if arg == "--threshold" and not is_number(after) else arg
                 for arg, after in following]  # fmt: skip
        return super().parse_args(ctx, given)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@commands.command(cls=ThresholdCommand)
@click.argument("mailboxes", nargs=-1, metavar="[HAM SPAM]")
@click.option("--threshold", metavar="[C]", help="Judge at this c; alone: try many and recommend one.")
@click.option("--max-ham-loss", metavar="PERCENT", type=click.FloatRange(0, 100), default=0.1, show_default=True,
              help="Ham that the recommended c may lose.")  # fmt: skip
@click.option("--folds", type=click.IntRange(2), metavar="N", help="Folds of the cross-validation (without mail: 5).")
@click.option("--seed", type=int, default=0, show_default=True, help="Which messages share a fold.")
@model_choice
@format_option
@jobs_option
@model_option
def evaluate(
    mailboxes: tuple[str, ...],
    threshold: str | None,
    max_ham_loss: float,
    folds: int | None,
    seed: int,
    form: str,
    **options: Any,
) -> int:
    """Measure the model: on its own messages by folds, or on the mail in HAM and SPAM."""
    from . import evaluation, report

    settings = settled(threshold=None if threshold == SWEEP else threshold, **options)
    status, outcome = measured(mailboxes, settings, options, folds, seed)
    if threshold == SWEEP:
        limit = max_ham_loss / 100
        best, rows = evaluation.recommended(outcome, limit), evaluation.sweep(outcome, limit)
        if form == "jsonl":
            for at, found in rows:
                click.echo(json.dumps({"c": at, "recommended": at == best, **vars(found)}))
        else:
            report.show_sweep(rows, best, limit)
        return status
    c = settings.threshold
    found = evaluation.figures(outcome.at(c) if c else outcome)
    if form == "jsonl":
        click.echo(json.dumps({"c": c, **vars(found)}))
    else:
        report.show_figures(found, f"judged at c = {c:g}" if c else "judged at the model's own cutoffs")
    return status


def measured(
    mailboxes: tuple[str, ...], settings: Settings, options: dict[str, Any], folds: int | None, seed: int
) -> tuple[int, Outcome]:
    """The outcome of folds over the model's rows, of folds over other mail, or of judging other mail; and a status."""
    from dataclasses import replace

    from . import evaluation, report, training
    from .store import Store

    hams, spams = both_classes(mailboxes) if mailboxes else ([], [])
    if mailboxes and not folds:
        if any(options[name] for name in ("kind", "alpha", "counts")):
            raise Usage("--kind, --alpha and --counts need something to fit; add --folds N")
        known, left_out = [], []
        for label, paths in ((False, hams), (True, spams)):
            for judged, unread in judge_all(paths, settings._replace(threshold=None)):
                known += [(label, one.verdict) for one in judged]
                left_out.append(warn(unread))
        return max(left_out), evaluation.judged(known)
    status = 0
    if mailboxes:
        with report.progress("reading mail") as progress:
            gathered = training.read_labelled(hams, spams, jobs=settings.jobs, progress=progress)
        corpus, choice, status = gathered.corpus, training.choice_of(settings), warn(gathered.left_out)
    else:
        saved = Store(settings.model).load()
        asked = {name: getattr(settings, name) for name in ("kind", "alpha", "counts") if options[name] is not None}
        corpus, choice = saved.corpus, replace(saved.choice, **asked)
    with report.progress("judging folds") as progress:
        return status, evaluation.cross_validate(corpus, choice, folds or 5, seed, progress)


@commands.command()
@click.argument("path", default="-")
@click.option("--words", type=click.IntRange(1), default=20, show_default=True, help="How many words to show.")
@click.option("--threshold", metavar="C", help="Spam must be C times likelier than ham.")
@format_option
@model_option
def explain(path: str, words: int, form: str, **options: Any) -> int:
    """Show which words spoke for and against, and how much."""
    from . import inspection, report
    from .filtering import Judge
    from .mailbox import LeftOut, messages, units
    from .store import Store

    settings = settled(**options)
    store = Store(settings.model)
    judge = Judge(store.scorecard(), settings.threshold)
    corpus = store.load().with_senders()
    left_out = LeftOut()
    for unit in units(path, left_out):
        for mail in messages(unit, left_out):
            verdict, fixed, clues = judge.explain(mail.raw)
            if form == "jsonl":
                shares = [{"word": clue.token, "count": clue.count, "adds": clue.weight} for clue in clues]
                line = {"path": mail.name, "label": verdict.label, "score": verdict.score, "every_message": fixed}
                click.echo(json.dumps({**line, "probability": verdict.probability, "clues": shares}))
            else:
                shown, more = clues[:words], clues[words:]
                facts = inspection.facts_of(corpus, judge.card, [clue.token for clue in shown])
                report.show_explanation(printable(mail.name), verdict, fixed, shown, facts, more)
    return warn(left_out)


@commands.command()
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--top", type=click.IntRange(1), default=15, show_default=True, help="How many strongest words to show.")
@format_option
@model_option
def inspect(words: tuple[str, ...], top: int, form: str, **options: Any) -> None:
    """Show what the model holds, or what it knows of these words."""
    from . import inspection, report
    from .store import Store

    store = Store(settled(**options).model)
    saved, card = store.load(), store.scorecard()
    if words:
        corpus = saved.with_senders()
        facts = inspection.facts_of(corpus, card, inspection.tokens_like(corpus, words))
        if form == "jsonl":
            for fact in facts:
                click.echo(json.dumps(vars(fact)))
        else:
            report.show_words(facts)
        return
    found = inspection.overview(saved, card, top)
    if form == "jsonl":
        strongest = {"spam_words": found.spam_words, "ham_words": found.ham_words}
        click.echo(json.dumps({**dict(found.settings), **{k: [vars(w) for w in v] for k, v in strongest.items()}}))
    else:
        report.show_overview(found)
