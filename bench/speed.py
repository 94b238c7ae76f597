#!/usr/bin/env python3
"""How quick is spamnb? Beside bogofilter (when installed) and bare Python, on the same mail, in one run, alternating.

    python bench/speed.py --index CORPUS/index [--rounds 3] [--learn-sizes 1000,10000,40000]

Times are medians with their spread; compare by the ratios, which a busy machine disturbs less. Peak memory is the sum
over all processes of a command (proportional set size), sampled.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

BIN = Path(sys.executable).parent
SPAMNB = BIN / "spamnb"
ONE_SHOTS = 20


def read_index(index: Path) -> list[tuple[str, Path]]:
    """(label, path) of each message, in order."""
    lines = [line.split(None, 1) for line in index.read_text().splitlines() if line.strip()]
    return [(label.lower(), (index.parent / path.strip()).resolve()) for label, path in lines]


def folder_of(pairs: Iterable[tuple[str, Path]], folder: Path) -> tuple[Path, Path]:
    """Two folders of links, ham and spam."""
    for name in ("ham", "spam"):
        (folder / name).mkdir(parents=True)
    for number, (label, path) in enumerate(pairs):
        (folder / label / f"{number:07d}").symlink_to(path)
    return folder / "ham", folder / "spam"


def run(*command: object, stdin: Path | None = None, lines: Iterable[Path] = ()) -> float:
    """Seconds that a command takes; it reads a file, or a list of paths, from standard input."""
    source = stdin.read_bytes() if stdin else "".join(f"{line}\n" for line in lines).encode()
    started = time.perf_counter()
    subprocess.run([str(word) for word in command], input=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=False)  # fmt: skip
    return time.perf_counter() - started


def in_turn(rounds: int, **tasks: Callable[[], float]) -> dict[str, list[float]]:
    """The times of some tasks, run in turn."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            times[name].append(task())
    return times


def family(root: int) -> list[int]:
    """A process and all that descend from it."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def peak_megabytes(*command: object) -> float:
    """The most memory that a command and its workers hold at a time."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0.0
    done = threading.Event()
    while not done.wait(0.1):
        if process.poll() is not None:
            break
        total = 0
        for member in family(process.pid):
            try:
                rollup = Path(f"/proc/{member}/smaps_rollup").read_text()
                total += int(rollup.partition("Pss:")[2].split()[0])
            except (OSError, IndexError, ValueError):
                continue
        peak = max(peak, total / 1024)
    return peak


def row(what: str, times: list[float], speed: str = "", **beside: float) -> None:
    """A line of the table: the median, its spread, and ratios."""
    spread = f"{1000 * min(times):.0f}–{1000 * max(times):.0f} ms"
    ratios = ", ".join(f"{ratio:.2f} × {name}" for name, ratio in beside.items())
    print(f"| {what} | {speed or f'{1000 * median(times):.1f} ms'} | {spread} | {ratios} |", flush=True)


def compared(what: str, mail: list[Path], rounds: int, tasks: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The medians of some tasks on the same mail, run in turn, and how quick they are beside bogofilter."""
    times = in_turn(rounds, **tasks)
    size = sum(path.stat().st_size for path in mail) / 1e6
    for name, found in times.items():
        speed = f"{len(mail) / median(found):,.0f} messages/s, {size / median(found):.1f} MB/s"
        peer = {"bogofilter": median(times["bogofilter"]) / median(found)} if "bogofilter" in times else {}
        row(f"{what}, {name}", found, speed, **peer)
    return {f"{what}, {name}": median(found) for name, found in times.items()}


def bulk(pairs: list[tuple[str, Path]], test: list[Path], work: Path, rounds: int) -> dict[str, float]:
    """Training and classifying many messages: seconds, megabytes. The model stays in the folder `model`."""
    print(f"| **{len(pairs):,} messages trained, {len(test):,} judged** | | | |")
    ham, spam = folder_of(pairs, work / "mail")
    judged, _ = folder_of([("ham", path) for path in test], work / "judged")
    model, textbook, words = work / "model", work / "textbook", work / "bogofilter"
    train = [SPAMNB, "train", "--replace", ham, spam, "--model"]
    tasks = {
        "default": lambda: run(*train, model),
        "multinomial": lambda: run(*train, textbook, "--kind", "multinomial"),
        "one process": lambda: run(*train, work / "alone", "--jobs", "1"),
    }
    if shutil.which("bogofilter"):
        tasks["bogofilter"] = lambda: bogofilter_train(pairs, words)
    found = compared("train", [path for _, path in pairs], rounds, tasks)
    classify = [SPAMNB, "classify", "--format", "jsonl", judged, "--model"]
    tasks = {"default": lambda: run(*classify, model), "multinomial": lambda: run(*classify, textbook)}
    if shutil.which("bogofilter"):
        tasks["bogofilter"] = lambda: run("bogofilter", "-d", words, "-TT", "-b", lines=test)
    found |= compared("classify", test, rounds, tasks)
    found["peak MB of training"] = peak_megabytes(*train, model)
    for name in ("model.joblib", "scorecard"):
        found[f"MB of {name}"] = (model / name).stat().st_size / 1e6
    for name in ("peak MB of training", "MB of model.joblib", "MB of scorecard"):
        print(f"| {name} | {found[name]:.1f} | | |")
    return found


def growth(small: dict[str, float], large: dict[str, float]) -> None:
    """What twice the work costs."""
    print("| **when the work doubles** | | | |")
    for what, value in large.items():
        print(f"| {what} | {value / small[what]:.2f} × | | |")


def bogofilter_train(pairs: list[tuple[str, Path]], words: Path) -> float:
    """A new word list from the same mail."""
    shutil.rmtree(words, ignore_errors=True)
    words.mkdir()
    return sum(
        run("bogofilter", "-d", words, flag, "-b", lines=[path for label, path in pairs if label == wanted])
        for wanted, flag in (("spam", "-s"), ("ham", "-n"))
    )


def one_shot(model: Path, message: Path) -> None:
    """A process a message, beside bare Python."""
    times = in_turn(
        ONE_SHOTS,
        python=lambda: run(BIN / "python", "-c", "pass"),
        classify=lambda: run(SPAMNB, "classify", "--model", model, stdin=message),
        filter=lambda: run(SPAMNB, "filter", "--model", model, stdin=message),
    )
    bare = median(times["python"])
    for name, found in times.items():
        row(f"one message, {name}", found, python=median(found) / bare)


def lessons(pairs: list[tuple[str, Path]], sizes: list[int], work: Path) -> None:
    """One lesson into models of several sizes, and what it writes on average until a refit."""
    for size in sizes:
        size = min(size, len(pairs) - 40)
        ham, spam = folder_of(pairs[:size], work / f"learn{size}")
        model = work / f"model{size}"
        run(SPAMNB, "train", "--model", model, ham, spam)
        new, written, times, bare = pairs[size : size + 40], 0, [], []
        for label, path in new:
            before = (model / "journal").stat().st_size if (model / "journal").exists() else 0
            times.append(run(SPAMNB, "learn", "--no-refit", f"--{label}", "--model", model, path))
            bare.append(run(BIN / "python", "-c", "pass"))
            written += (model / "journal").stat().st_size - before + (model / "scorecard.later").stat().st_size
        refit = run(SPAMNB, "refit", "--model", model)
        row(f"learn into {size:,}", times, python=median(times) / median(bare))
        print(
            f"| … written for a lesson, mean of 40 | {written / 40 / 1e6:.3f} MB | | refit {refit:.1f} s |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--learn-sizes", default="1000,10000,40000")
    parser.add_argument("--limit", type=int, help="only the first N messages of the index")
    args = parser.parse_args()
    pairs = read_index(args.index)[: args.limit]
    quarter = len(pairs) // 4
    print("| what | median | spread | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        last = [path for _, path in pairs[2 * quarter :]]
        small = bulk(pairs[:quarter], last[:quarter], work / "small", args.rounds)
        large = bulk(pairs[: 2 * quarter], last[: 2 * quarter], work / "large", args.rounds)
        growth(small, large)
        ham, spam = folder_of(pairs, work / "all")
        peak = peak_megabytes(SPAMNB, "train", "--model", work / "model", ham, spam)
        print(f"| peak MB of training all {len(pairs):,} | {peak:.0f} | | |", flush=True)
        print(f"| MB of their scorecard | {(work / 'model' / 'scorecard').stat().st_size / 1e6:.1f} | | |")
        typical = sorted((path for _, path in pairs), key=lambda path: path.stat().st_size)[len(pairs) // 2]
        one_shot(work / "model", typical)
        lessons(pairs, [int(size) for size in args.learn_sizes.split(",")], work)


if __name__ == "__main__":
    main()
