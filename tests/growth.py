"""Is a function linear in its input? Asked of growth, since seconds differ from machine to machine."""

import time
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input", bytes, str)
STEP = 8
ALLOWED = 3 * STEP  # linear work grows 8 times a step, quadratic work 64 times: 24 lies well away from both
FLOOR = 0.005  # seconds of processor time; what is quicker may be noise or a fixed cost, so it counts as this


def assert_linear(work: Callable[[Input], object], repeated: Input, size: int) -> None:
    """Work on ever longer runs of a text, up to `size`; each step may cost a little more than it is longer.

    Regular expressions backtrack inside C, where no tracer counts, so this counts processor time, which other
    processes do not add to, and takes the best of three before it complains. It starts small: quadratic work is
    caught at a step that takes seconds, not at the last, which would take days.
    """
    before = FLOOR
    for length in (size // STEP**exponent for exponent in range(4, -1, -1)):
        text = repeated * max(1, length // len(repeated))
        allowed = ALLOWED * before
        spent = min_time(work, text, allowed)
        assert spent <= allowed, f"{length:,} of {repeated!r}: {spent:.3f} s, {STEP} times less took {before:.3f} s"
        before = max(FLOOR, spent)


def min_time(work: Callable[[Input], object], text: Input, enough: float) -> float:
    """The least processor time of three runs, or of the first that is quick enough."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work(text)
        best = min(best, time.process_time() - start)
        if best <= enough:
            break
    return best
