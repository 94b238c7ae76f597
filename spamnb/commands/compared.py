"""What `spamnb evaluate` is asked, found out and shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter

import click

from .. import evaluation, laboratory, pictures, plotting, projecting, protocols, report, showing, training
from ..archive import Saved
from ..cardfile import open_model
from ..classifying import judge_all
from ..corpus import Corpus
from ..curves import Findings
from ..errors import BadData, NoModel, Usage
from ..evaluation import Trial
from ..mailbox import LeftOut, messages, units
from ..message import digest
from ..models import Choice, check_choice, suited
from ..models.likeness import TEXT_DISTANCES, mail_text
from ..naming import has_named_classes
from ..notices import tell, warn
from ..settings import OF_A_MODEL, Settings
from ..showing import Row
from ..store import Store
from .asked import Asked, dashed
from .evaluate import TEXT

HOW = {
    None: "",
    "folds": "",
    "loo": ", each message by all others",
    "half": ", the later half by the earlier",
    "online": ", each block by all mail before it",
}


def measured(asked: Asked) -> tuple[int, Findings]:
    """What was asked for, found out; and an exit status."""
    if not asked.fits:
        return judged_by_the_model(asked)
    status, corpus, choices = to_fit(asked)
    if not corpus.is_ham_and_spam:
        raise BadData("this model tells classes of your own naming apart; evaluate measures ham and spam")
    plan = protocols.planned(corpus, asked.protocol or "folds", asked.folds or protocols.FOLDS, asked.seed)
    with report.progress("judging") as progress:
        trials = evaluation.trials(corpus, choices, plan, progress)
    shrunk = next((projecting.projected(corpus, choice) for choice in choices if choice.project), None)
    if not asked.curve:
        return status, Findings(trials, projected=shrunk)
    halves = asked.protocol == "half"
    plan = protocols.planned(corpus, "half" if halves else "folds", laboratory.PART_HELD_OUT, asked.seed)
    with report.progress("learning curve") as progress:
        curves = laboratory.learning_curves(corpus, choices, plan, asked.cs[0] or 1.0, asked.seed, progress)
    return status, Findings(trials, curves, shrunk)


def judged_by_the_model(asked: Asked) -> tuple[int, Findings]:
    """The outcome of judging mail by the user's model."""
    if has_named_classes(card := open_model(asked.settings.model)):
        raise Usage(f"the model has the classes {', '.join(card.classes)}; name mail with --class NAME=PATH")
    began = perf_counter()
    known, left_out = [], []
    for label, paths, others in ((False, *asked.mail), (True, *asked.mail[::-1])):
        for judged, unread in judge_all(paths, asked.settings._replace(threshold=None), others):
            known += [(label, one.verdict) for one in judged]
            left_out.append(warn(unread))
    outcome = evaluation.judged(known)
    return max(left_out), Findings([Trial("the model", outcome, perf_counter() - began)])


def to_fit(asked: Asked) -> tuple[int, Corpus, list[Choice]]:
    """An exit status, the messages, and the models to fit to them: those of the mail named, or the user's model's."""
    settings = asked.settings
    if not asked.mail[0]:
        saved = saved_model(settings)
        own = suited(saved.choice, asked.said.get("kind", saved.choice.kind))
        return 0, saved.corpus, choices_of(asked, replace(own, **asked.said))
    set_for = {name: getattr(settings, name) for name in OF_A_MODEL}
    if settings.contacts:
        set_for["contacts"] = training.read_contacts(settings.contacts)
    choices = choices_of(asked, Choice(**set_for))
    with report.progress("reading mail") as progress:
        gathered = training.read_labelled(*asked.mail, jobs=settings.jobs, progress=progress)
    corpus = gathered.corpus
    choices = [replace(choice, texts=texts_of(asked)) if choice.distance in TEXT_DISTANCES else choice
               for choice in choices]  # fmt: skip
    if asked.protocol in protocols.IN_TIME:
        with report.progress("reading dates") as progress:
            corpus = protocols.dated(corpus, asked.mail, settings.jobs, progress)
    return warn(gathered.left_out), corpus, choices


def texts_of(asked: Asked) -> dict[bytes, bytes]:
    """The text of each message in the mail that is named, by its digest."""
    if "-" in [*asked.mail[0], *asked.mail[1]]:
        raise Usage("mail on standard input cannot be read twice, for its texts; save it to a file, and name that")
    work = [unit for path in (*asked.mail[0], *asked.mail[1]) for unit in units(path, LeftOut())]
    raws = [mail.raw for unit in work for mail in messages(unit, LeftOut())]
    return {digest(raw).encode(): mail_text(raw) for raw in raws}


def saved_model(settings: Settings) -> Saved:
    """The user's model with its lessons."""
    try:
        return training.current(Store(settings.model))[0]
    except NoModel as error:
        raise NoModel(f"{error}, and 'spamnb evaluate HAM SPAM --folds 5' needs none") from None


def choices_of(asked: Asked, own: Choice) -> list[Choice]:
    """The models to fit, each with what goes with it of all that was said; what does not is told."""
    if "unlabelled_weight" in asked.said and own.unlabelled is None:
        raise Usage("--unlabelled-weight weighs unlabelled mail; evaluate a model that was trained with some")
    found = [suited(own, kind) for kind in asked.kinds] or [own]
    for choice in found:
        check_choice(choice)
    for name, value in asked.said.items():
        without = [choice.kind for choice in found if getattr(choice, name) != value]
        if len(without) == len(found):
            raise Usage(f"{dashed([name])} is nothing to {', '.join(without)}; leave it out")
        if without:
            tell(f"without {dashed([name])}, which is nothing to them: {', '.join(without)}")
    return found


def show(asked: Asked, findings: Findings) -> None:
    """All tables, then the pictures."""
    for rows, shown in tables(asked, findings):
        if asked.jsonl:
            for row in rows:
                click.echo(json.dumps(row))
        else:
            shown()
    if asked.plot == TEXT:
        click.echo("\n" + pictures.drawn(findings))
    elif asked.plot:
        plotting.plot(findings, asked.plot)
        if not asked.jsonl:
            click.echo(f"picture: {asked.plot}")


def tables(asked: Asked, findings: Findings) -> Iterator[tuple[Sequence[Row], Callable[[], None]]]:
    """Each table as rows, and how it is shown to people."""
    trials, curves = findings.trials, findings.curves
    if asked.sweep:
        yield from (swept(asked, trial) for trial in trials)
    elif asked.kinds:
        yield from (compared_at(asked, trials, c) for c in asked.cs)
    else:
        yield judged_at(asked, trials[0])
    if findings.projected:
        shrunk = findings.projected
        yield [showing.projection_row(shrunk)], partial(showing.show_projection, shrunk)
    if asked.cost:
        costs = list(showing.cost_rows(trials, asked.cost, () if asked.sweep else asked.cs))
        yield costs, partial(showing.show_costs, costs, asked.cost)
    if curves:
        kinds = [trial.kind for trial in trials]
        yield list(showing.curve_rows(curves)), partial(showing.show_curves, curves, kinds)


def decision(asked: Asked, c: float | None) -> str:
    """How it was decided what is spam, and who judged whom."""
    own = "the models' own cutoffs" if asked.kinds else "the model's own cutoffs"
    return f"judged at {f'c = {c:g}' if c else own}{HOW[asked.protocol]}"


def judged_at(asked: Asked, trial: Trial) -> tuple[Sequence[Row], Callable[[], None]]:
    """One model, at one c or at several."""
    found = {c: evaluation.figures(trial.at(c).outcome) for c in asked.cs}
    rows = [{"c": c, **vars(each)} for c, each in found.items()]
    if len(found) == 1:
        [(c, each)] = found.items()
        return rows, partial(report.show_figures, each, decision(asked, c))
    return rows, partial(showing.show_thresholds, [(c, each) for c, each in found.items() if c is not None])


def compared_at(asked: Asked, trials: Sequence[Trial], c: float | None) -> tuple[Sequence[Row], Callable[[], None]]:
    """Several models at one c."""
    found = laboratory.compared([trial.at(c) for trial in trials])
    return [showing.compared_row(row, c) for row in found], partial(showing.show_compared, found, decision(asked, c))


def swept(asked: Asked, trial: Trial) -> tuple[Sequence[Row], Callable[[], None]]:
    """One model at many c, one of them recommended."""
    best = evaluation.recommended(trial.outcome, asked.limit)
    found = evaluation.sweep(trial.outcome, asked.limit)
    kind = {"table": "sweep", "kind": trial.kind} if asked.kinds else {}

    def shown() -> None:
        if asked.kinds:
            click.echo(f"\n{trial.kind}")
        report.show_sweep(found, best, asked.limit)

    return [{**kind, "c": c, "recommended": c == best, **vars(each)} for c, each in found], shown
