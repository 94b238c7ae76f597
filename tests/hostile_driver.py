"""Runs commands of spamnb in children that it forks and kills: started once, so that a kill costs no start of Python.

python hostile_driver.py kill           reads jobs, a JSON object a line: {"command": [...], "after": seconds or null,
                                        "step": the call to the file system before which it dies, or null}
python hostile_driver.py crowd JOB      many writers and readers at once; JOB is a JSON object
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from spamnb import cli, evaluation, learning, report, upkeep  # noqa: F401  all that a command may want, imported once
from spamnb.filtering import Judge
from spamnb.store import Store
from spamnb.training import current


def quiet() -> None:
    """Nothing but the answers of this driver on its streams."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def forked(work, *arguments) -> int:
    """Do something in a child, which ends with the status that the work returns."""
    pid = os.fork()
    if pid:
        return pid
    status = 70
    try:
        quiet()
        status = work(*arguments)
    except BaseException as error:
        status = getattr(error, "exit_code", 70)
    finally:
        os._exit(status)


STEPS = ("open", "fsync", "replace", "unlink", "close")


def run_until(step: int, command: list[str]) -> int:
    """Run a command, and die just before it changes something on disk for the so many-th time."""
    left = step

    def dying(call):
        def counted(*arguments, **options):
            nonlocal left
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return counted

    for name in STEPS:
        setattr(os, name, dying(getattr(os, name)))
    return cli.run(command)


def kill(command: list[str], after: float | None, step: int | None) -> dict[str, object]:
    """Run a command; kill it at a moment or a step, if any is given. It is acknowledged when it has ended with 0."""
    begun = time.monotonic()
    pid = forked(run_until, step, command) if step else forked(cli.run, command)
    if after is not None:
        time.sleep(after)
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return {"status": status, "seconds": time.monotonic() - begun}


def write(model: str, files: list[str]) -> int:
    """Learn files one by one; the number of those that failed."""
    return sum(cli.run(["learn", "--model", model, f"--{Path(file).parent.name}", file]) != 0 for file in files)


def read(model: str, file: str, done: str) -> int:
    """Judge a message, look at all rows, again and again until a file appears; every model seen must be whole."""
    raw, store, rounds = Path(file).read_bytes(), Store(model), 0
    before = 0
    while not os.path.exists(done):
        Judge(store.scorecard()).judge(raw)
        if rounds % 5 == 0:
            rows = len(current(store)[0].corpus.labels)
            assert rows >= before, "an acknowledged row has gone"
            before = rows
        rounds += 1
        time.sleep(0.01)
    return 0 if rounds > 3 else 1


def crowd(model: str, work: list[list[str]], readers: int, file: str, done: str) -> dict[str, object]:
    """Writers, each with files of its own, and readers beside them; the statuses of both."""
    begun = time.monotonic()
    reading = [forked(read, model, file, done) for _ in range(readers)]
    writing = [forked(write, model, files) for files in work]
    statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in writing]
    Path(done).touch()
    seen = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in reading]
    return {"writers": statuses, "readers": seen, "seconds": time.monotonic() - begun}


if __name__ == "__main__":
    if sys.argv[1] == "crowd":
        print(json.dumps(crowd(**json.loads(sys.argv[2]))))
    else:
        for line in sys.stdin:
            print(json.dumps(kill(**json.loads(line))), flush=True)
