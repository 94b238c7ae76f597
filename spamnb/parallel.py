"""Work on many units of mail, in several processes when that is quicker."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from .mailbox import Unit

PORTION_BYTES = 2 << 20
PORTION_UNITS = 800
WORTH_WORKERS = 8 << 20  # bytes of mail; starting two workers takes as long as they save on this much

Result = TypeVar("Result")


def portions(units: Iterable[Unit]) -> Iterator[list[Unit]]:
    """Units in lists that are worth handing to a worker."""
    portion: list[Unit] = []
    size = 0
    for unit in units:
        portion.append(unit)
        size += unit.size
        if size >= PORTION_BYTES or len(portion) >= PORTION_UNITS:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def jobs_worth(units: Iterable[Unit]) -> int:
    """How many processes so much mail is worth: one, or all that the machine can run (-1)."""
    return 1 if sum(unit.size for unit in units) < WORTH_WORKERS else -1


def in_parallel(work: Callable[[list[Unit]], Result], units: list[Unit], jobs: int | None) -> Iterator[Result]:
    """The results for each portion of the units, in order. Without a number of jobs, as many as pay."""
    if (jobs or jobs_worth(units)) == 1:
        yield from map(work, portions(units))
        return
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=jobs or -1, return_as="generator", pre_dispatch="4 * n_jobs")
    yield from workers(delayed(undisturbed)(work, portion) for portion in portions(units))


def undisturbed(work: Callable[[list[Unit]], Result], portion: list[Unit]) -> Result:
    """The work, in a process that leaves Ctrl-C to the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return work(portion)
