"""Work on many units of mail, in several processes when that is quicker."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .errors import TryLater
from .mailbox import Unit

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

    Link = Connection[Any, Any]

PORTION_BYTES = 2 << 20
PORTION_UNITS = 800
SHARES = 8  # portions that each worker gets at least, so that all are done at about the same time
WORTH_WORKERS = 1 << 20  # bytes of mail; on half of it two workers are no quicker than one process (decisions/010)
IN_HAND = 2  # portions that a worker has before it, so that it need not wait for the next

Result = TypeVar("Result")
Group = TypeVar("Group")
Work = Callable[[list[Unit]], Result]


def portions(units: Iterable[Unit], portion_bytes: int = PORTION_BYTES) -> Iterator[list[Unit]]:
    """Units in lists that are worth handing to a worker."""
    portion: list[Unit] = []
    size = 0
    for unit in units:
        portion.append(unit)
        size += unit.size
        if size >= portion_bytes or len(portion) >= PORTION_UNITS:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def jobs_worth(size: int) -> int:
    """How many processes so many bytes of mail are worth: one, or as many as the machine can run."""
    if size < WORTH_WORKERS:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_parallel(work: Work[Result], units: Sequence[Unit], jobs: int | None) -> Iterator[Result]:
    """The results for each portion of the units, in order. Without a number of jobs, as many as pay."""
    return (result for _, result in in_groups(work, {"": units}, jobs))


def in_groups(
    work: Work[Result], groups: Mapping[Group, Sequence[Unit]], jobs: int | None
) -> Iterator[tuple[Group, Result]]:
    """The same for groups of units, each result with its group: no portion is of two."""
    size = sum(unit.size for units in groups.values() for unit in units)
    jobs = jobs or jobs_worth(size)
    portion_bytes = min(PORTION_BYTES, size // (SHARES * jobs) + 1)
    cut = {group: list(portions(units, portion_bytes)) for group, units in groups.items()}
    shares = [share for some in cut.values() for share in some]
    of = [group for group, some in cut.items() for _ in some]
    jobs = min(jobs, len(shares))
    if jobs <= 1:
        return zip(of, map(work, shares), strict=True)
    results = from_forks(work, shares, jobs) if may_fork() else from_loky(work, shares, jobs)
    return zip(of, results, strict=True)


def may_fork() -> bool:
    """Whether this process can be copied: not on a Mac, where system libraries break, nor beside other threads."""
    from multiprocessing import current_process

    if sys.platform != "linux" or current_process().daemon:
        return False
    return len(os.listdir("/proc/self/task")) == 1  # threads of the linear algebra library count, too


def from_loky(work: Work[Result], shares: list[list[Unit]], jobs: int) -> Iterator[Result]:
    """The results of processes that start from nothing: half a second for two."""
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="4 * n_jobs")
    yield from workers(delayed(undisturbed)(work, share) for share in shares)


def undisturbed(work: Work[Result], portion: list[Unit]) -> Result:
    """The work, in a process that leaves Ctrl-C to the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return work(portion)


def from_forks(work: Work[Result], shares: list[list[Unit]], jobs: int) -> Iterator[Result]:
    """The results of copies of this process: they have the work already, and are told the numbers of their shares."""
    from multiprocessing.connection import wait

    links, workers = forks(work, shares, jobs)
    try:
        numbers = iter(range(len(shares)))
        for link, number in zip(links * IN_HAND, numbers, strict=False):
            link.send(number)
        found: dict[int, Result] = {}
        for wanted in range(len(shares)):
            while wanted not in found:
                for link in cast("list[Link]", wait(links)):
                    number, found[number] = answer(link)
                    for another in islice(numbers, 1):
                        link.send(another)
            yield found.pop(wanted)
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def forks(work: Work[Any], shares: list[list[Unit]], jobs: int) -> tuple[list[Link], list[ForkProcess]]:
    """Workers, and a link to each."""
    from multiprocessing import get_context

    context = get_context("fork")
    pairs = [context.Pipe() for _ in range(jobs)]
    workers = []
    for _, there in pairs:
        others = [end for pair in pairs for end in pair if end is not there]  # an open end would hide that one is gone
        workers.append(context.Process(target=serve, args=(work, shares, there, others), daemon=True))
        workers[-1].start()
    for _, there in pairs:
        there.close()
    return [here for here, _ in pairs], workers


def serve(work: Work[Any], shares: list[list[Unit]], link: Link, others: list[Link]) -> None:
    """Work on the shares that the link names, as long as somebody is there to name them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for end in others:
        end.close()
    with suppress(EOFError, ConnectionError):
        while True:
            number = link.recv()
            try:
                result, error = work(shares[number]), None
            except Exception as failure:  # to be raised where somebody can mend it
                result, error = None, failure
            link.send((number, result, error))


def answer(link: Link) -> tuple[int, Any]:
    """What a worker found, and for which share."""
    try:
        number, result, error = link.recv()
    except (EOFError, ConnectionError):
        raise TryLater("a worker was killed, perhaps for want of memory; try again, or with --jobs 1") from None
    if error is not None:
        raise error
    return number, result


def beside(work: Callable[[], Result], worth: bool) -> Callable[[], Result]:
    """Begin some work in a copy of this process; what is returned waits for the result.

    Where it is not worth that, or cannot be done, the work is done when its result is asked for.
    """
    if not worth or jobs_worth(WORTH_WORKERS) == 1 or not may_fork():
        return work
    links, workers = forks(lambda _: work(), [[]], 1)
    links[0].send(0)

    def result() -> Result:
        try:
            return cast("Result", answer(links[0])[1])
        finally:
            links[0].close()
            workers[0].kill()
            workers[0].join()

    return result
