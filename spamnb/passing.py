"""Mail in, mail out: the message with a verdict on it, or, whatever goes wrong, as it came."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from math import log

from .cardfile import open_model
from .errors import TryLater
from .filtering import Judge
from .headers import Style, tagged
from .notices import tell
from .scorecard import Verdict
from .settings import Settings, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def pass_mail(options: Callable[[], Mapping[str, Any]], environ: Mapping[str, str], tempfail: bool) -> int:
    """Read a message, judge it, write it; any failure but that of reading or writing lets it through unchanged."""
    try:
        raw = sys.stdin.buffer.read()
    except (OSError, MemoryError, AttributeError) as error:  # the last when standard input is closed
        return failed(error, "could not be read", TryLater.exit_code)
    status, learn_later = 0, None
    try:
        out, learn_later = judged(raw, options(), environ)
    except BaseException as error:  # a bug, a missing model, Ctrl-C: the mail comes first
        out = raw
        status = failed(error, "passed on unchanged", TryLater.exit_code if tempfail else 0)
    try:
        sys.stdout.buffer.write(out)
        sys.stdout.buffer.flush()
    except (OSError, AttributeError) as error:
        abandon_output()
        return failed(error, "could not be written", TryLater.exit_code)
    if learn_later:
        learn_after(learn_later)
    return status


def judged(
    raw: bytes, options: Mapping[str, Any], environ: Mapping[str, str]
) -> tuple[bytes, Callable[[], object] | None]:
    """The message with its verdict, and what is to be learned from it once it is safe."""
    chosen = {name: options.get(name) for name in ("model", "threshold")}
    settings = load_settings(environ, chosen)
    card = open_model(settings.model)
    judge = Judge(card, settings.threshold)
    style = Style(options["headers"], options["evidence"], options["subject_tag"] or "")
    if style.evidence:
        verdict, _, found = judge.explain(raw)
        clues = [(clue.token, clue.weight) for clue in found]
    else:
        verdict, clues = judge.judge(raw), []
    out = tagged(raw, verdict, log(judge.c or card.c), clues, style)
    return out, lesson(out, verdict, settings) if options["learn"] else None


def lesson(out: bytes, verdict: Verdict, settings: Settings) -> Callable[[], object]:
    """What `--learn` does after the mail has gone out: it learns the copy that can be corrected later."""

    def learn() -> object:
        from .learning import learn_if_sure
        from .store import Store

        return learn_if_sure(Store(settings.model), out, verdict)

    return learn


def learn_after(learn: Callable[[], object]) -> None:
    """Learn from a message that has been delivered; that this fails must not bring it back."""
    try:
        learn()
    except Exception as error:
        tell(f"delivered, but not learned from: {error}")


def abandon_output() -> None:
    """Send what is left for standard output nowhere; else it would be tried, and fail, again at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if sys.stdout is None:
        sys.stdout = os.fdopen(nowhere, "w")
    else:
        os.dup2(nowhere, sys.stdout.fileno())


def failed(error: BaseException, what: str, status: int) -> int:
    """One line, and the status to leave with."""
    tell(f"message {what}: {getattr(error, 'message', None) or str(error) or type(error).__name__}")
    return status
