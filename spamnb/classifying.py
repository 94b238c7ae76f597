"""Verdicts on any amount of mail, as lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial

from .cardfile import open_model
from .errors import NoInput, SpamnbError, Usage
from .filtering import Judge, Judged, current_judge, judge_units
from .mailbox import LeftOut, Unit, messages, units
from .notices import printable, warn
from .settings import Settings

WORTH_NUMPY = 1 << 20  # bytes of mail, on which it saves what its import takes (decisions/010)
EXIT_CODES = {"spam": 0, "ham": 1, "unsure": 2}


def classify_paths(paths: list[str], settings: Settings, form: str, exit_code: bool, learn: bool = False) -> int:
    """Print a line a message; the exit status."""
    status = 0
    answers: list[Judged] = []
    for judged, left_out in (judge_and_learn if learn else judge_all)(paths, settings):
        status = warn(left_out) or status
        if exit_code:
            answers += judged
            if len(answers) > 1:
                raise Usage("--exit-code answers for one message, and there are more; leave it out")
        for one in judged:
            print(verdict_line(one, form))
    if not exit_code or status:
        return status
    if not answers:
        raise NoInput("no message to answer for; name one, or pipe one in")
    return EXIT_CODES.get(answers[0].verdict.label, EXIT_CODES["ham"])  # a class of the user's naming is not spam


def judge_all(
    paths: list[str], settings: Settings, exclude: Sequence[str] = ()
) -> Iterator[tuple[list[Judged], LeftOut]]:
    """Verdicts on all mail in the paths, in order, with what could not be read; some folders inside may be excluded."""
    open_model(settings.model)  # a missing model is told before the mail is looked at
    left_out = LeftOut()
    work = list(units_of(paths, left_out, exclude))
    if sum(unit.size for unit in work) < WORTH_NUMPY:
        yield judge_units(Judge, settings.model, settings.threshold, work)
    else:
        from .bulk import BulkJudge
        from .parallel import in_parallel

        current_judge(BulkJudge, settings.model, settings.threshold)  # here once, for all workers that are forked
        judge = partial(judge_units, BulkJudge, settings.model, settings.threshold)
        yield from in_parallel(judge, work, settings.jobs)
    yield [], left_out


def judge_and_learn(paths: list[str], settings: Settings) -> Iterator[tuple[list[Judged], LeftOut]]:
    """The same, one message at a time, each learned from where its class is beyond doubt."""
    from .learning import learn_if_sure
    from .store import Store

    store, left_out = Store(settings.model), LeftOut()
    for unit in units_of(paths, left_out):
        for mail in messages(unit, left_out):
            verdict = Judge(store.scorecard(), settings.threshold).judge(mail.raw)
            yield [Judged(mail.name, verdict)], LeftOut()
            learn_if_sure(store, mail.raw, verdict)
    yield [], left_out


def units_of(paths: list[str], left_out: LeftOut, exclude: Sequence[str] = ()) -> Iterator[Unit]:
    """The work in several mailboxes; one that is not there is an error only when it is the only one."""
    for path in paths:
        try:
            yield from units(path, left_out, exclude)
        except SpamnbError as error:
            if len(paths) == 1:
                raise
            left_out.unreadable.append((path, str(error).removeprefix(f"{path}: ")))


def verdict_line(one: Judged, form: str) -> str:
    """A verdict for people or for machines."""
    verdict = one.verdict
    if form == "text":
        reason = f"  ({verdict.reason})" if verdict.reason else ""
        return f"{verdict.label:<6}  {verdict.probability:.4f}  {printable(one.name)}{reason}"
    fields: dict[str, object] = {
        "path": one.name,
        "label": verdict.label,
        "score": verdict.score,
        "probability": verdict.probability,
    }
    if verdict.reason:
        fields["reason"] = verdict.reason
    if verdict.of_classes:
        fields["classes"] = verdict.of_classes
    return json.dumps(fields)
