"""The installed command as its users meet it: exit codes, what goes to which stream, one line for every failure."""

import ctypes
import fcntl
import json
import os
import pickle
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from spamnb import __version__
from spamnb.archive import pack, write_sealed
from spamnb.cli import COMMANDS
from spamnb.journal import Lesson, append_lessons
from spamnb.mailbox import LeftOut, messages, units
from spamnb.message import digest
from spamnb.store import Store

SPAMNB = Path(sys.executable).with_name("spamnb")
SAMPLE = Path(__file__).parent.parent / "sample_mail"
JUDGE = SAMPLE / "judge"
SEPARATOR = b"From someone@example.org  Mon Jan  5 10:00:00 2026\n"
MAIL = b"From: ann@example.org\nSubject: lunch\n\nAt noon?\n"
LIMIT = 60  # seconds after which a command that hangs is a failure


class Run(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The lines of standard output, as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


class Command:
    """The installed command, with a home of its own and nothing else of its surroundings."""

    def __init__(self, home: Path) -> None:
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # more only wait for a busy machine's cores
        self.environ = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **one_thread}

    def __call__(
        self,
        *args: str | Path,
        stdin: bytes = b"",
        cwd: Path | None = None,
        environ: dict[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> Run:
        done = subprocess.run(
            [SPAMNB, *args],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env={**self.environ, **(environ or {})},
            preexec_fn=before,
            timeout=LIMIT,
            check=False,
        )
        run = Run(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in run.err
        assert "a bug in spamnb" not in run.err
        return run

    def start(self, *args: str | Path, **options: Any) -> "subprocess.Popen[bytes]":
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen([SPAMNB, *args], **{"env": self.environ, **pipes, **options})


@pytest.fixture(scope="session")
def spamnb(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def training(spamnb: Command, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A model trained on the sample mail, and what the command said; tests only read it."""
    path = tmp_path_factory.mktemp("sample") / "model"
    return path, spamnb("train", SAMPLE / "ham", SAMPLE / "spam", "--model", path)


@pytest.fixture(scope="session")
def model(training: tuple[Path, Run]) -> Path:
    return training[0]


@pytest.fixture(scope="session")
def multinomial(spamnb: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The textbook's model of the sample mail."""
    path = tmp_path_factory.mktemp("multinomial") / "model"
    assert spamnb("train", "--kind", "multinomial", SAMPLE / "ham", SAMPLE / "spam", "--model", path).code == 0
    return path


@pytest.fixture(scope="session")
def three_ham(spamnb: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A textbook model that has learned too little."""
    path = tmp_path_factory.mktemp("three") / "model"
    ham = [option for mail in sorted((JUDGE / "ham").iterdir())[:3] for option in ("--ham", mail)]
    assert spamnb("train", *ham, "--spam", SAMPLE / "spam", "--kind", "multinomial", "--model", path).code == 0
    return path


@pytest.fixture
def own_model(model: Path, tmp_path: Path) -> Path:
    """A copy of the model that a test may damage."""
    return Path(shutil.copytree(model, tmp_path / "model"))


def first(label: str) -> Path:
    """The first message to judge of a class."""
    return min((JUDGE / label).iterdir())


def one_line(run: Run) -> str:
    """The complaint of a command that failed: one line, and nothing among the results."""
    assert run.out == ""
    assert run.err.startswith("spamnb: ")
    assert run.err.count("\n") == 1
    assert run.err.endswith("\n")
    return run.err


def snapshot(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def write(path: Path, contents: bytes = MAIL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents)
    return path


# The sample mail


def raws(*paths: Path) -> list[bytes]:
    notes = LeftOut()
    found = [mail.raw for path in paths for unit in units(str(path), notes) for mail in messages(unit, notes)]
    assert notes.total() == 0
    return found


def test_the_sample_mail_is_enough_of_each_class_and_all_different():
    parts = [raws(SAMPLE / "ham"), raws(SAMPLE / "spam"), raws(JUDGE / "ham"), raws(JUDGE / "spam")]
    ham, spam, judge_ham, judge_spam = map(len, parts)
    assert ham >= 60
    assert spam >= 60
    assert (judge_ham, judge_spam) == (10, 10)
    assert len({digest(raw) for part in parts for raw in part}) == ham + spam + judge_ham + judge_spam


def test_the_sample_ham_is_a_maildir_and_the_sample_spam_a_folder_with_an_mbox():
    assert (SAMPLE / "ham" / "cur").is_dir()
    assert {path.name for path in (SAMPLE / "ham").iterdir()} <= {"cur", "new", "tmp"}
    [mbox] = (SAMPLE / "spam").iterdir()
    assert mbox.read_bytes().startswith(b"From ")
    assert len(raws(mbox)) >= 60


def test_a_model_of_the_sample_mail_judges_what_was_held_back(spamnb, model):
    rows = spamnb("classify", "--format", "jsonl", JUDGE, "--model", model).rows
    wrong = [
        row["path"] for row in rows if {"ham": "spam", "spam": "ham"}[Path(row["path"]).parent.name] == row["label"]
    ]
    assert wrong == []
    assert sum(row["label"] != "unsure" for row in rows) >= 18


# Help


def test_the_version_is_told(spamnb):
    assert spamnb("--version") == (0, f"spamnb, version {__version__}\n", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_takes_the_model_after_its_name(spamnb, name):
    run = spamnb(name, "-h")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith(f"Usage: spamnb {name} ")
    assert ("--model DIR" in run.out) == (name not in ("recipe", "cluster"))  # which need none
    assert run == spamnb(name, "--help")


def test_all_commands_are_listed(spamnb):
    run = spamnb("-h")
    assert run.code == 0
    assert {"train", "classify", "evaluate", "explain", "inspect"} <= set(COMMANDS)
    assert [name for name in COMMANDS if f"\n  {name} " not in run.out] == []


@pytest.mark.parametrize("args", [["frobnicate"], ["classify", "--frobnicate"], ["classify", "--format", "xml"]])
def test_what_is_not_understood_is_a_usage_error_that_names_it(spamnb, args):
    run = spamnb(*args)
    assert run.code == 64
    assert args[-1] in one_line(run)


# Train


def test_training_ends_with_a_table_on_stdout_and_nothing_on_stderr(training):
    path, run = training
    assert (run.code, run.err) == (0, "")
    assert re.search(rf"ham +{len(raws(SAMPLE / 'ham'))}\b", run.out)
    assert re.search(rf"spam +{len(raws(SAMPLE / 'spam'))}\b", run.out)
    assert str(path) in run.out
    assert sorted(snapshot(path)) == ["lock", "model.joblib", "scorecard"]


def test_a_maildir_and_its_junk_folder_do_what_they_say(spamnb, tmp_path):
    for number in range(3):
        write(tmp_path / "Maildir" / "cur" / f"{number}:2,S", MAIL + b"%d\n" % number)
        write(tmp_path / "Maildir" / ".Junk" / "cur" / f"{number}:2,S", b"Subject: pills\n\n%d\n" % number)
    write(tmp_path / "Maildir" / ".Trash" / "cur" / "1:2,S", MAIL + b"old\n")
    run = spamnb("train", "Maildir", "Maildir/.Junk", "--model", "model", cwd=tmp_path)
    assert run.code == 0
    assert re.search(r"ham +3\b", run.out)
    assert re.search(r"spam +3\b", run.out)
    assert run.err == "spamnb: left out: 1 in .Trash\n"


def test_a_message_of_both_classes_is_named_on_stderr(spamnb, tmp_path):
    for folder in ("ham", "spam"):
        write(tmp_path / folder / "same", MAIL)
        write(tmp_path / folder / "own", MAIL + folder.encode())
    run = spamnb("train", "ham", "spam", "--model", "model", cwd=tmp_path)
    assert run.code == 0
    assert run.err.splitlines() == [
        f"spamnb: {folder}/same: is in both classes; left out" for folder in ("ham", "spam")
    ]


@pytest.mark.parametrize(
    ("args", "said"),
    [([], "no mailbox of ham"), (["ham"], "1 mailboxes given"), (["--ham", "x"], "no mailbox of spam")],
)
def test_training_wants_both_classes(spamnb, args, said):
    run = spamnb("train", *args)
    assert run.code == 64
    assert said in one_line(run)


def refused_training(spamnb: Command, own_model: Path, ham: Path | str, spam: Path | str) -> Run:
    """Train where there is a model; it stays as it was."""
    before = snapshot(own_model)
    run = spamnb("train", ham, spam, "--model", own_model)
    assert snapshot(own_model) == before
    return run


def test_a_training_that_fails_makes_no_model(spamnb, tmp_path):
    run = spamnb("train", tmp_path / "missing", SAMPLE / "spam", "--model", tmp_path / "model")
    assert run.code == 66
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_not_there_is_named_with_the_way_out(spamnb, own_model, tmp_path):
    run = refused_training(spamnb, own_model, tmp_path / "missing", SAMPLE / "spam")
    assert run.code == 66
    assert f"{tmp_path / 'missing'}: no such file or directory; name mail that you can read" in one_line(run)


def make_fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def make_folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize(
    ("make", "way_out"),
    [
        (make_folder, "name an mbox, a maildir or a folder of messages"),
        (make_fifo, "pipe what it gives to '-' instead"),
        (lambda path: Path("/dev/null"), "pipe what it gives to '-' instead"),
    ],
    ids=["empty folder", "FIFO", "device"],
)
def test_what_is_no_mailbox_is_named_with_the_way_out(spamnb, own_model, tmp_path, make, way_out):
    path = make(tmp_path / "box")
    run = refused_training(spamnb, own_model, SAMPLE / "ham", path)
    assert run.code == 65
    assert one_line(run).startswith(f"spamnb: {path}: ")
    assert way_out in run.err
    judged = spamnb("classify", path, "--model", own_model)
    assert (judged.code, judged.err) == (65, run.err)


def test_a_class_without_mail_is_named_with_the_way_out(spamnb, own_model, tmp_path):
    write(tmp_path / "gone" / "cur" / "1:2,T")
    run = refused_training(spamnb, own_model, SAMPLE / "ham", tmp_path / "gone")
    assert run.code == 65
    assert f"{tmp_path / 'gone'}: no spam to learn from; name a mailbox that holds spam" in one_line(run)


def test_training_over_lessons_tells_how_many_would_go_and_changes_nothing(spamnb, own_model):
    store = Store(own_model)
    append_lessons(store.journal, store.load().generation, [Lesson(f"{n:032x}", True) for n in range(3)])
    before = snapshot(own_model)
    train = ("train", JUDGE / "ham", JUDGE / "spam", "--model", own_model)
    run = spamnb(*train)
    assert run.code == 73
    assert "3 lessons" in one_line(run)
    assert "--replace" in run.err
    assert snapshot(own_model) == before

    assert spamnb(*train, "--replace").code == 0
    assert store.load().corpus.messages == (10, 10)
    assert store.lessons_at_stake() == 0


def test_a_directory_that_cannot_be_made_is_named(spamnb, tmp_path):
    write(tmp_path / "file")
    run = spamnb("train", JUDGE / "ham", JUDGE / "spam", "--model", tmp_path / "file" / "model")
    assert run.code == 73
    assert f"{tmp_path / 'file' / 'model'}: " in one_line(run)


# Numbers that cannot be

IMPOSSIBLE = [
    *(("train", "--alpha", value, "from 0 on") for value in ("-1", "nan")),
    *(("classify", "--threshold", value, "above 0") for value in ("0", "nan", "inf")),
    *(("classify", "--jobs", value, "whole number from 1 on") for value in ("0",)),
    *(("classify", "--jobs", value, "number") for value in ("nan", "inf")),
    ("evaluate", "--threshold", "0", "above 0"),
    ("evaluate", "--threshold", "nan", "above 0"),
    ("evaluate", "--folds", "1", "2"),
    ("train", "--kind", "weibull", "corrected, multinomial"),
]


@pytest.mark.parametrize(("command", "option", "value", "allowed"), IMPOSSIBLE)
def test_an_impossible_number_is_told_with_what_is_allowed(spamnb, model, command, option, value, allowed):
    mail = [JUDGE / "ham", JUDGE / "spam"] if command == "train" else []
    run = spamnb(command, *mail, option, value, "--model", model / "untouched" if command == "train" else model)
    assert run.code == 64
    assert option in one_line(run)
    assert value in run.err
    assert allowed in run.err
    assert not (model / "untouched").exists()


# Models that cannot be used

READERS = [("classify", "scorecard"), ("explain", "scorecard"), ("inspect", "model.joblib")]


@pytest.mark.parametrize("command", [command for command, _ in READERS])
def test_a_missing_model_is_told_with_the_way_to_make_one(spamnb, tmp_path, command):
    run = spamnb(command, "--model", tmp_path / "none", stdin=MAIL)
    assert run.code == 78
    assert f"{tmp_path / 'none'}: no model here; 'spamnb train HAM SPAM' makes one" in one_line(run)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "file"), READERS)
def test_a_truncated_model_is_refused_and_stays_as_it_is(spamnb, own_model, command, file):
    os.truncate(own_model / file, (own_model / file).stat().st_size // 2)
    before = snapshot(own_model)
    run = spamnb(command, "--model", own_model, stdin=MAIL)
    assert run.code == 65
    assert f"{own_model / file}: truncated" in one_line(run)
    assert re.search("'spamnb (train|refit)|train it anew", run.err)
    assert snapshot(own_model) == before


def forge(own_model: Path, **changes: object) -> None:
    """Alter what the model holds, and seal it."""
    saved = pack(Store(own_model).load())
    plain = {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in saved.items()}
    plain["counts"] = tuple(np.array(part) for part in saved["counts"])
    with (own_model / "forged").open("w+b") as file:
        write_sealed(file, {**plain, **changes}, "0123456789abcdef")
    (own_model / "forged").replace(own_model / "model.joblib")


def test_a_scorecard_of_another_version_is_refused(spamnb, own_model):
    contents = bytearray((own_model / "scorecard").read_bytes())
    contents[len(b"spamnb scorecard\n")] += 1
    write(own_model / "scorecard", bytes(contents))
    run = spamnb("classify", "--model", own_model, stdin=MAIL)
    assert run.code == 78
    assert f"{own_model / 'scorecard'}: format " in one_line(run)
    assert (own_model / "scorecard").read_bytes() == contents


def test_a_model_of_another_version_is_refused(spamnb, own_model):
    forge(own_model, format=99)
    before = snapshot(own_model)
    run = spamnb("inspect", "--model", own_model)
    assert run.code == 78
    assert f"{own_model / 'model.joblib'}: format 99, this program reads" in one_line(run)
    assert snapshot(own_model) == before


class Bomb:
    """Unpickled by a careless reader, it makes a directory."""

    def __init__(self, mark: Path) -> None:
        self.mark = str(mark)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, (self.mark,)


@pytest.mark.parametrize("command", ["inspect", "evaluate", "explain"])
def test_a_model_that_names_code_is_refused_and_nothing_is_executed(spamnb, own_model, tmp_path, command):
    forge(own_model, kind=Bomb(tmp_path / "bombed"))
    before = snapshot(own_model)
    run = spamnb(command, "--model", own_model, stdin=MAIL)
    assert run.code == 65
    assert "names posix.mkdir, which no model needs; not loaded" in one_line(run)
    assert not (tmp_path / "bombed").exists()
    assert snapshot(own_model) == before


@pytest.mark.parametrize(("command", "file"), READERS)
def test_a_plain_pickle_in_the_place_of_a_model_is_refused_and_nothing_is_executed(
    spamnb, own_model, tmp_path, command, file
):
    write(own_model / file, pickle.dumps(Bomb(tmp_path / "bombed")))
    run = spamnb(command, "--model", own_model, stdin=MAIL)
    assert run.code == 65
    assert str(own_model / file) in one_line(run)
    assert not (tmp_path / "bombed").exists()


# Classify: the answers


def test_text_is_label_probability_and_path(spamnb, model):
    run = spamnb("classify", first("spam"), "--model", model)
    assert (run.code, run.err) == (0, "")
    label, probability, path = run.out.split()
    assert label == "spam"
    assert 0.5 < float(probability) <= 1
    assert path == str(first("spam"))


def test_jsonl_has_path_label_score_and_probability(spamnb, model):
    run = spamnb("classify", "--format", "jsonl", first("ham"), "--model", model)
    assert (run.code, run.err) == (0, "")
    [row] = run.rows
    assert list(row) == ["path", "label", "score", "probability"]
    assert (row["path"], row["label"]) == (str(first("ham")), "ham")
    assert row["probability"] == pytest.approx(1 / (1 + exp(-row["score"])), rel=1e-12)


def test_standard_input_is_a_message_named_by_a_dash(spamnb, model):
    by_path = spamnb("classify", "--format", "jsonl", first("spam"), "--model", model).rows
    for args in ([], ["-"]):
        rows = spamnb("classify", *args, "--format", "jsonl", "--model", model, stdin=first("spam").read_bytes()).rows
        assert rows == [{**by_path[0], "path": "-"}]


def test_the_line_ends_of_a_message_never_change_its_score(spamnb, model):
    raw = first("spam").read_bytes().replace(b"\r\n", b"\n")
    run = spamnb("classify", "--format", "jsonl", "--model", model, stdin=raw)
    assert run == spamnb("classify", "--format", "jsonl", "--model", model, stdin=raw.replace(b"\n", b"\r\n"))


def test_a_threshold_moves_the_line_between_ham_and_spam(spamnb, model):
    [row] = spamnb("classify", "--format", "jsonl", first("spam"), "--model", model).rows
    c = exp(row["score"])
    labels = [
        spamnb("classify", "--threshold", repr(at), first("spam"), "--model", model).out.split()[0]
        for at in (c * 0.999, c * 1.001)
    ]
    assert labels == ["spam", "ham"]


def test_a_model_that_has_learned_too_little_is_unsure_and_says_so(spamnb, three_ham):
    [row] = spamnb("classify", "--format", "jsonl", first("spam"), "--model", three_ham).rows
    assert (row["label"], row["reason"]) == ("unsure", "only 3 ham learned")
    run = spamnb("classify", first("spam"), "--model", three_ham)
    assert run.out.startswith("unsure ")
    assert run.out.endswith(f"{first('spam')}  (only 3 ham learned)\n")


@pytest.mark.parametrize("c", ["0.001", "1", "1e6"])
def test_the_textbook_model_is_never_unsure_at_a_threshold(spamnb, multinomial, three_ham, c):
    for path in (multinomial, three_ham):
        rows = spamnb("classify", "--threshold", c, "--format", "jsonl", SAMPLE, "--model", path).rows
        assert len(rows) > 100
        assert [row["label"] for row in rows] == ["spam" if row["score"] > log(float(c)) else "ham" for row in rows]


# Classify: which mail


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    """A folder with a message, an mbox of two, an mbox of one, a maildir, and a link to a file."""
    write(tmp_path / "mail" / "one.eml")
    write(tmp_path / "mail" / "single.mbox", SEPARATOR + MAIL)
    write(tmp_path / "mail" / "two.mbox", SEPARATOR + MAIL + b"\n" + SEPARATOR + MAIL)
    write(tmp_path / "mail" / "zbox" / "cur" / "1:2,S")
    (tmp_path / "mail" / "link.eml").symlink_to("one.eml")
    return tmp_path


NAMES = ["link.eml", "one.eml", "single.mbox", "two.mbox#1", "two.mbox#2", "zbox/cur/1:2,S"]


def judged_paths(run: Run) -> list[str]:
    assert (run.code, run.err) == (0, "")
    return [row["path"] for row in run.rows]


@pytest.mark.parametrize("given", ["mail", "mail/", "./mail", "mail/../mail"])
def test_a_path_is_the_argument_joined_with_the_entry_as_given(spamnb, model, mail, given):
    run = spamnb("classify", "--format", "jsonl", given, "--model", model, cwd=mail)
    assert judged_paths(run) == [os.path.join(given, name) for name in NAMES]


def test_several_messages_on_standard_input_are_numbered(spamnb, model, mail):
    box = (mail / "mail" / "two.mbox").read_bytes()
    assert judged_paths(spamnb("classify", "--format", "jsonl", "--model", model, stdin=box)) == ["-#1", "-#2"]


def test_results_stand_in_the_order_of_the_arguments(spamnb, model, mail):
    given = ["mail/two.mbox", "mail/one.eml", "mail/link.eml"]
    run = spamnb("classify", "--format", "jsonl", *given, "--model", model, cwd=mail)
    assert judged_paths(run) == ["mail/two.mbox#1", "mail/two.mbox#2", "mail/one.eml", "mail/link.eml"]


def test_paths_may_come_from_a_file_or_from_standard_input(spamnb, model, mail):
    paths = "mail/zbox\nmail/one.eml\n"
    write(mail / "list", paths.encode())
    expected = ["mail/link.eml", "mail/zbox/cur/1:2,S", "mail/one.eml"]
    classify = ("classify", "mail/link.eml", "--format", "jsonl", "--model", model, "--files-from")
    assert judged_paths(spamnb(*classify, "list", cwd=mail)) == expected
    assert judged_paths(spamnb(*classify, "-", cwd=mail, stdin=paths.encode())) == expected


def test_a_list_of_no_paths_gives_no_results(spamnb, model):
    assert spamnb("classify", "--files-from", "-", "--model", model) == (0, "", "")


def test_a_list_that_is_not_there_is_named(spamnb, model, tmp_path):
    run = spamnb("classify", "--files-from", tmp_path / "none", "--model", model)
    assert run.code == 66
    assert f"{tmp_path / 'none'}: No such file" in one_line(run)


def test_a_name_cannot_play_tricks_on_the_terminal(spamnb, model, tmp_path):
    name = b"a\x1b[31m\n\xff.eml"
    Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_bytes(MAIL)
    run = spamnb("classify", tmp_path, "--model", model)
    assert (run.code, run.err) == (0, "")
    assert run.out.endswith(f"{tmp_path}/a?[31m??.eml\n")
    [row] = spamnb("classify", tmp_path, "--format", "jsonl", "--model", model).rows
    assert os.fsencode(row["path"]) == os.path.join(os.fsencode(tmp_path), name)


def test_two_workers_give_the_same_lines_in_the_same_order_as_one(spamnb, model, tmp_path):
    for number in range(450):  # more than one worker is handed at a time
        write(tmp_path / "mail" / f"{number:03}", MAIL + b"%d\n" % number)
    classify = ("classify", "--format", "jsonl", SAMPLE / "spam", tmp_path / "mail", JUDGE, "--model", model)
    one, two = (spamnb(*classify, "--jobs", jobs) for jobs in ("1", "2"))
    assert one == two
    paths = judged_paths(two)
    assert len(paths) > 520
    assert [path for path in paths if "/mail/" in path] == [str(tmp_path / "mail" / f"{n:03}") for n in range(450)]
    assert "junk.mbox#1" in paths[0]


# Classify: bad mail


def test_any_bytes_at_all_get_a_verdict(spamnb, model, tmp_path):
    nested = b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(50_000))
    odd = {
        "empty": b"",
        "line": b"Subject: long\n\n" + b"word " * (4 << 20),
        "nested": nested + b"\n\nhello\n",
        "random": random.Random(1).randbytes(200_000),
        "zeros": bytes(100_000),
    }
    for name, contents in odd.items():
        write(tmp_path / name, contents)
    run = spamnb("classify", "--format", "jsonl", tmp_path, "--model", model)
    assert judged_paths(run) == [str(tmp_path / name) for name in odd]
    assert {row["label"] for row in run.rows} <= {"ham", "spam", "unsure"}


def test_nothing_on_standard_input_is_a_message_too(spamnb, model):
    assert judged_paths(spamnb("classify", "--format", "jsonl", "--model", model)) == ["-"]


def without_the_rights_of_root() -> None:
    """In a child that is about to become the command: may it read no more than its owner's bits allow."""
    drop, override, read_search = 24, 1, 2  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    for capability in (override, read_search):
        if ctypes.CDLL(None, use_errno=True).prctl(drop, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "cannot give up the rights of root")


@pytest.fixture
def partly_readable(tmp_path: Path) -> Path:
    """Three messages, one that may not be read, and a link that leads nowhere."""
    for name in ("a", "c", "e"):
        write(tmp_path / "mail" / name, MAIL + name.encode())
    write(tmp_path / "mail" / "b").chmod(0)
    (tmp_path / "mail" / "d").symlink_to("nowhere")
    return tmp_path / "mail"


def unreadable(folder: Path) -> list[str]:
    return [
        f"spamnb: {folder / 'b'}: Permission denied; the rest was used",
        f"spamnb: {folder / 'd'}: No such file or directory; the rest was used",
    ]


PLAIN_USER = without_the_rights_of_root if os.geteuid() == 0 else None


def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_judged(spamnb, model, partly_readable):
    run = spamnb("classify", "--format", "jsonl", partly_readable, "--model", model, before=PLAIN_USER)
    assert run.code == 65
    assert [row["path"] for row in run.rows] == [str(partly_readable / name) for name in ("a", "c", "e")]
    assert sorted(run.err.splitlines()) == unreadable(partly_readable)


def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_learned(spamnb, tmp_path, partly_readable):
    run = spamnb("train", partly_readable, JUDGE / "spam", "--model", tmp_path / "model", before=PLAIN_USER)
    assert run.code == 65
    assert sorted(run.err.splitlines()) == unreadable(partly_readable)
    assert Store(tmp_path / "model").load().corpus.messages == (3, 10)


def test_a_path_that_is_not_there_among_others_is_named_and_the_rest_is_judged(spamnb, model, tmp_path):
    run = spamnb("classify", tmp_path / "none", first("ham"), "--format", "jsonl", "--model", model)
    assert run.code == 65
    assert [row["path"] for row in run.rows] == [str(first("ham"))]
    assert run.err.startswith(f"spamnb: {tmp_path / 'none'}: no such file or directory")
    assert run.err.count("\n") == 1


def test_what_is_left_out_is_told_on_stderr_and_is_no_failure(spamnb, model, tmp_path):
    write(tmp_path / "box" / "cur" / "1:2,S")
    write(tmp_path / "box" / "cur" / "2:2,T")
    run = spamnb("classify", tmp_path / "box", "--model", model)
    assert run.code == 0
    assert run.out.count("\n") == 1
    assert run.err == "spamnb: left out: 1 flagged as deleted or draft\n"


# Classify: the exit code


def test_the_exit_code_answers_for_one_message_when_it_is_asked_to(spamnb, model, three_ham):
    answers = [
        spamnb("classify", "--exit-code", path, "--model", directory)
        for path, directory in ((first("spam"), model), (first("ham"), model), (first("ham"), three_ham))
    ]
    assert [(run.code, run.out.split()[0]) for run in answers] == [(0, "spam"), (1, "ham"), (2, "unsure")]
    assert spamnb("classify", first("ham"), "--model", model).code == 0


def test_the_exit_code_cannot_answer_for_several_messages(spamnb, model):
    run = spamnb("classify", "--exit-code", first("ham"), first("spam"), "--model", model)
    assert run.code == 64
    assert "--exit-code answers for one message" in run.err


def test_an_exit_code_that_is_an_error_never_looks_like_a_verdict(spamnb, model, tmp_path):
    assert spamnb("classify", "--exit-code", tmp_path / "none", "--model", model).code == 66
    assert spamnb("classify", "--exit-code", "--files-from", "-", "--model", model).code == 66
    assert spamnb("classify", "--exit-code", "--model", tmp_path / "none", stdin=MAIL).code == 78


# Evaluate

COUNTS = {
    "ham", "ham_as_ham", "ham_unsure", "ham_lost", "spam", "spam_as_spam", "spam_unsure", "spam_missed",
    "ham_lost_percent", "spam_missed_percent", "error_percent", "one_minus_auc_percent",
}  # fmt: skip


def evaluated(spamnb: Command, model: Path, *args: str | Path) -> list[dict[str, Any]]:
    run = spamnb("evaluate", *args, "--format", "jsonl", "--model", model)
    assert (run.code, run.err) == (0, "")
    return run.rows


def test_a_model_is_measured_on_its_own_messages(spamnb, model):
    [row] = evaluated(spamnb, model)
    assert set(row) == {"c", *COUNTS}
    assert row["c"] is None
    assert (row["ham"], row["spam"]) == (len(raws(SAMPLE / "ham")), len(raws(SAMPLE / "spam")))
    assert row["ham_as_ham"] + row["ham_unsure"] + row["ham_lost"] == row["ham"]
    assert row["spam_as_spam"] + row["spam_unsure"] + row["spam_missed"] == row["spam"]
    assert row["ham_lost_percent"] == pytest.approx(100 * row["ham_lost"] / row["ham"])
    assert row["spam_missed_percent"] == pytest.approx(100 * (1 - row["spam_as_spam"] / row["spam"]))


def test_a_sweep_recommends_one_threshold_that_keeps_the_promise(spamnb, model):
    rows = evaluated(spamnb, model, "--threshold", "--max-ham-loss", "2")
    assert all(set(row) == {"c", "recommended", *COUNTS} for row in rows)
    assert [row["c"] for row in rows] == sorted(row["c"] for row in rows)
    [best] = [row for row in rows if row["recommended"]]
    assert best["ham_lost_percent"] <= 2
    assert all(row["ham_lost_percent"] >= best["ham_lost_percent"] for row in rows if row["c"] <= best["c"])

    text = spamnb("evaluate", "--threshold", "--max-ham-loss", "2", "--model", model)
    assert (text.code, text.err) == (0, "")
    assert text.out.count("◀") == 1
    assert f"recommended: --threshold {best['c']:.10g} (ham lost at most 2 %)" in text.out


def test_a_threshold_without_a_value_does_not_eat_the_mailboxes(spamnb, model):
    mail = (JUDGE / "ham", JUDGE / "spam")
    before, after = evaluated(spamnb, model, "--threshold", *mail), evaluated(spamnb, model, *mail, "--threshold")
    assert before == after
    assert {(row["ham"], row["spam"]) for row in before} == {(10, 10)}
    assert sum(row["recommended"] for row in before) == 1


def test_mail_is_judged_at_the_threshold_given(spamnb, model):
    scores = {
        label: [row["score"] for row in spamnb("classify", "--format", "jsonl", JUDGE / label, "--model", model).rows]
        for label in ("ham", "spam")
    }
    [row] = evaluated(spamnb, model, JUDGE / "ham", JUDGE / "spam", "--threshold", "9")
    assert row["c"] == 9
    assert row["ham_lost"] == sum(score > log(9) for score in scores["ham"])
    assert row["spam_as_spam"] == sum(score > log(9) for score in scores["spam"])
    assert row["ham_unsure"] == row["spam_unsure"] == 0


def test_the_same_seed_measures_the_same_and_another_seed_does_not(spamnb, model):
    first_time, second_time = (evaluated(spamnb, model, "--seed", "3") for _ in range(2))
    assert first_time == second_time
    assert first_time != evaluated(spamnb, model, "--seed", "4")


def test_folds_over_other_mail_need_no_model(spamnb, tmp_path):
    [row] = evaluated(spamnb, tmp_path / "none", JUDGE / "ham", JUDGE / "spam", "--folds", "2", "--kind", "multinomial")
    assert (row["ham"], row["spam"]) == (10, 10)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_is_loaded_cannot_be_of_another_kind(spamnb, model):
    run = spamnb("evaluate", JUDGE / "ham", JUDGE / "spam", "--kind", "multinomial", "--model", model)
    assert run.code == 64
    assert "--folds" in one_line(run)


def test_more_folds_than_messages_are_refused(spamnb, model):
    run = spamnb("evaluate", "--folds", "1000", "--model", model)
    assert run.code == 65
    assert "1000 folds need 1000 messages of each class" in one_line(run)


def test_figures_are_a_table_for_people(spamnb, model):
    run = spamnb("evaluate", JUDGE / "ham", JUDGE / "spam", "--model", model)
    assert (run.code, run.err) == (0, "")
    assert "% lost" in run.out
    assert "% missed" in run.out
    assert "1-AUC" in run.out


# Explain and inspect


@pytest.mark.parametrize("label", ["ham", "spam"])
def test_contributions_add_up_to_the_score(spamnb, model, multinomial, label):
    for directory in (model, multinomial):
        run = spamnb("explain", "--format", "jsonl", first(label), "--model", directory)
        assert (run.code, run.err) == (0, "")
        [row] = run.rows
        [judged] = spamnb("classify", "--format", "jsonl", first(label), "--model", directory).rows
        assert row["score"] == pytest.approx(judged["score"], abs=1e-9)
        assert row["every_message"] + sum(clue["adds"] for clue in row["clues"]) == pytest.approx(
            row["score"], abs=1e-9
        )
        assert (row["path"], row["label"]) == (judged["path"], judged["label"])
        assert len(row["clues"]) > 20
        weights = [abs(clue["adds"]) for clue in row["clues"]]
        assert weights == sorted(weights, reverse=True)


def test_an_explanation_for_people_adds_up_too(spamnb, model):
    run = spamnb("explain", "--words", "5", first("spam"), "--model", model)
    assert (run.code, run.err) == (0, "")
    adds = [float(line.split()[-1]) for line in run.out.splitlines() if re.search(r" [+-]\d+\.\d+ *$", line)]
    *parts, total = adds
    assert len(parts) == 1 + 5 + 1  # what every message gets, five words, the rest
    assert sum(parts) == pytest.approx(total, abs=0.005)
    assert str(first("spam")) in run.out


def test_inspect_tells_what_the_model_holds(spamnb, model):
    run = spamnb("inspect", "--format", "jsonl", "--top", "3", "--model", model)
    assert (run.code, run.err) == (0, "")
    [row] = run.rows
    assert row["kind"] == "corrected"
    assert row["messages"] == f"{len(raws(SAMPLE / 'ham'))} ham, {len(raws(SAMPLE / 'spam'))} spam"
    assert [len(row[words]) for words in ("spam_words", "ham_words")] == [3, 3]
    assert all(word["weight"] > 0 for word in row["spam_words"])
    assert all(word["weight"] < 0 for word in row["ham_words"])
    text = spamnb("inspect", "--top", "3", "--model", model).out
    assert all(word["token"] in text for word in row["spam_words"] + row["ham_words"])


def test_inspect_tells_what_the_model_knows_of_words_wherever_they_stood(spamnb, model):
    rows = spamnb("inspect", "FREE", "zyzzogeton", "--format", "jsonl", "--model", model).rows
    found = {row["token"]: row for row in rows}
    assert {"free", "subject:free"} <= set(found)
    assert found["free"]["spam"] > 0
    assert (found["zyzzogeton"]["ham"], found["zyzzogeton"]["spam"], found["zyzzogeton"]["weight"]) == (0, 0, 0)
    assert "zyzzogeton" in spamnb("inspect", "zyzzogeton", "--model", model).out


# Settings reach the command


def test_the_environment_and_the_config_file_name_the_model(spamnb, model, tmp_path):
    config = write(tmp_path / "config.toml", f'model = "{model}"\nthreshold = 1e-300\n'.encode())
    by_config = spamnb("classify", first("ham"), environ={"SPAMNB_CONFIG": str(config)})
    assert by_config.out.startswith("spam ")
    by_environ = spamnb("classify", first("ham"), environ={"SPAMNB_MODEL": str(model)})
    assert by_environ.out.startswith("ham ")
    both = spamnb("classify", "--threshold", "1", first("ham"), environ={"SPAMNB_CONFIG": str(config)})
    assert both.out.startswith("ham ")


def test_a_wrong_setting_is_named_with_where_it_stands(spamnb, tmp_path):
    config = write(tmp_path / "config.toml", b"jobs = 0\n")
    run = spamnb("classify", environ={"SPAMNB_CONFIG": str(config)})
    assert run.code == 78
    assert f"{config}: jobs: 0 must be a whole number from 1 on" in one_line(run)
    run = spamnb("classify", environ={"SPAMNB_JOBS": "many"})
    assert run.code == 78
    assert "SPAMNB_JOBS: 'many' must be" in one_line(run)


# Streams

COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9\d)[;m]")


def on_a_terminal(spamnb: Command, *args: str | Path, **environ: str) -> str:
    """What a command writes when its output and errors are a terminal."""
    ours, theirs = pty.openpty()
    with spamnb.start(*args, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                      env={**spamnb.environ, "TERM": "xterm-256color", **environ}) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while block := os.read(ours, 4096):
                shown += block
        except OSError:  # how a terminal says that nobody will write any more
            pass
        assert process.wait(LIMIT) == 0
    os.close(ours)
    return shown.decode()


def test_no_colour_off_a_terminal(spamnb, model, training):
    for run in (training[1], spamnb("inspect", "--model", model), spamnb("evaluate", "--threshold", "--model", model)):
        assert "\x1b" not in run.out + run.err


def test_no_color_is_honoured_on_a_terminal(spamnb, model, tmp_path):
    train = ("train", JUDGE / "ham", JUDGE / "spam", "--model", tmp_path / "model")
    assert COLOUR.search(on_a_terminal(spamnb, *train))  # the progress bar
    assert not COLOUR.search(on_a_terminal(spamnb, *train, NO_COLOR="1"))
    assert not COLOUR.search(on_a_terminal(spamnb, "evaluate", "--threshold", "--model", model, NO_COLOR="1"))


def test_a_reader_that_has_had_enough_hears_no_complaint(spamnb, model):
    with spamnb.start("classify", *[SAMPLE] * 10, "--model", model) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


# Ctrl-C


def interrupted(process: "subprocess.Popen[bytes]") -> str:
    """Press Ctrl-C; the command says so in one line and goes."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert out == b""
    return err.decode()


def test_ctrl_c_while_reading_mail_leaves_the_old_model(spamnb, own_model):
    before = snapshot(own_model)
    with spamnb.start("train", "-", SAMPLE / "spam", "--model", own_model) as process:
        process.stdin.write(bytes(1 << 20))  # more than a pipe holds: when it is gone, the command is reading
        process.stdin.flush()
        assert interrupted(process).split("\n")[-2:] == ["spamnb: interrupted; what was saved before stands", ""]
    assert snapshot(own_model) == before


def test_ctrl_c_while_about_to_save_leaves_the_old_model(spamnb, own_model):
    before = snapshot(own_model)
    with (own_model / "lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with spamnb.start("train", JUDGE / "ham", JUDGE / "spam", "--model", own_model) as process:
            wait_until_open(process.pid, own_model / "lock")
            err = interrupted(process)
    assert err.strip() == "spamnb: interrupted; what was saved before stands"
    assert snapshot(own_model) == before


def wait_until_open(pid: int, path: Path) -> None:
    """Until a process has opened a file."""
    limit = time.monotonic() + LIMIT
    while time.monotonic() < limit:
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            if os.path.lexists(handle) and os.path.realpath(handle) == str(path.resolve()):
                return
        time.sleep(0.01)
    pytest.fail(f"{path} was never opened")


# A folder of one class inside the other


def test_evaluate_reads_no_folder_of_one_class_inside_the_other(spamnb, model, tmp_path):
    mail = tmp_path / "mail"
    shutil.copytree(SAMPLE / "judge" / "ham", mail)
    shutil.copytree(SAMPLE / "judge" / "spam", mail / "bad")
    run = spamnb("evaluate", mail, mail / "bad", "--format", "jsonl", "--model", model)
    found = json.loads(run.out)
    assert (found["ham"], found["spam"]) == (10, 10)


def test_folded_lessons_are_told_before_a_training_too(spamnb, model, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(model, copy)
    spamnb("learn", "--ham", SAMPLE / "judge" / "ham", "--model", copy)
    spamnb("refit", "--model", copy)
    run = spamnb("train", SAMPLE / "ham", SAMPLE / "spam", "--model", copy)
    assert run.code == 73
    assert "10 lessons" in run.err


def test_corrections_hold_through_a_refit(spamnb, model, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(model, copy)
    wrong = sorted((SAMPLE / "judge" / "spam").iterdir())[:3]
    spamnb("learn", "--ham", *wrong, "--model", copy)
    spamnb("refit", "--model", copy)
    labels = [
        json.loads(line)["label"]
        for line in spamnb("classify", "--format", "jsonl", *wrong, "--model", copy).out.splitlines()
    ]
    assert len(labels) == 3
    assert "spam" not in labels
