"""Mail goes out whatever happens: with a verdict, or as it came."""

import io
import os
import resource
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import invented_mail
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mail_bytes import any_mail, assert_passed_whole, without_forged

from spamnb import passing
from spamnb.cardfile import from_bytes, to_bytes
from spamnb.gathering import from_lessons
from spamnb.headers import DIALECTS
from spamnb.learning import label_of, lesson_of
from spamnb.models import Choice
from spamnb.scorecard import UNSURE, Verdict
from spamnb.store import Store
from spamnb.training import keep

SPAMNB = Path(sys.executable).parent / "spamnb"
TORTURE = Path(__file__).parent.parent.parent / "shared" / "corpora" / "torture.tar.xz"
OPTIONS = {
    "model": None,
    "threshold": None,
    "headers": "spamassassin",
    "subject_tag": None,
    "evidence": False,
    "learn": False,
}
RAW = b"From: someone@xn.example\nSubject: casino bonus\n\ncasino pills free offer\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Store:
    """A model that knows ham from spam."""
    store = Store(tmp_path_factory.mktemp("model") / "model")
    with store.locked():
        lessons = [lesson_of(raw, label, 0) for label, raw in invented_mail(20, 20, seed=8)]
        keep(store, from_lessons(lessons), Choice())
    return store


@pytest.fixture
def damaged(tmp_path, model) -> Path:
    """A model's directory with a scorecard to damage."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "scorecard").write_bytes(model.card.read_bytes())
    return tmp_path / "model"


class Streams:
    """Standard input and output in memory, so that one process can pass many messages."""

    def __init__(self, monkeypatch, model: Store) -> None:
        self.patch, self.model = monkeypatch, model

    def passed(self, raw: bytes, tempfail: bool = False, **options) -> tuple[int, bytes]:
        out = io.TextIOWrapper(io.BytesIO())
        self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        self.patch.setattr(sys, "stdout", out)
        chosen = {**OPTIONS, "model": str(self.model.path), **options}
        status = passing.pass_mail(lambda: chosen, {}, tempfail)
        return status, out.buffer.getvalue()


@pytest.fixture
def streams(monkeypatch, model) -> Streams:
    return Streams(monkeypatch, model)


def run(*arguments, given=RAW, env=(), **options) -> subprocess.CompletedProcess[bytes]:
    """The real program."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **dict(env)}
    return subprocess.run([SPAMNB, "filter", *map(str, arguments)], input=given, capture_output=True, timeout=60,
                          check=False, env=environment, **options)  # fmt: skip


def assert_unchanged(*arguments, given=RAW, **options) -> bytes:
    """As it came, one line, exit 0; 75 with --tempfail. What the line says."""
    done = run(*arguments, given=given, **options)
    assert done.stdout == given
    assert done.returncode == 0
    assert done.stderr.startswith(b"spamnb: message passed on unchanged: ")
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.endswith(b"\n")
    later = run("--tempfail", *arguments, given=given, **options)
    assert (later.returncode, later.stdout, later.stderr) == (75, given, done.stderr)
    return done.stderr


# Byte for byte


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=any_mail, evidence=st.booleans())
def test_any_bytes_pass_whole(streams, capsys, dialect, raw, evidence):
    status, out = streams.passed(raw, headers=dialect, evidence=evidence)
    assert status == 0
    assert_passed_whole(raw, out, dialect)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not TORTURE.exists(), reason="no torture corpus beside the repository")
def test_the_torture_corpus_passes_whole(streams, capsys):
    count = 0
    with tarfile.open(TORTURE) as archive:
        for number, member in enumerate(archive):
            if member.isfile():
                raw = archive.extractfile(member).read()
                dialect = DIALECTS[number % len(DIALECTS)]
                status, out = streams.passed(raw, headers=dialect, evidence=True)
                assert (status, capsys.readouterr().err) == (0, "")
                first, rest = without_forged(raw, dialect)
                assert out.startswith(first), member.name
                assert out.endswith(rest), member.name
                assert_passed_whole(raw, out, dialect)
                count += 1
    assert count > 1000


@pytest.mark.parametrize("raw", [b"", b"\n", b"x", RAW, RAW.replace(b"\n", b"\r\n"), RAW.rstrip(), b"From a b\n" + RAW])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_program_passes_what_the_function_passes(streams, model, raw, dialect):
    done = run("--model", model.path, "--headers", dialect, given=raw)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (0, done.stdout) == streams.passed(raw, headers=dialect)


def test_options_shape_the_verdict(streams):
    out = streams.passed(RAW, threshold="0.001", subject_tag="[SPAM]", evidence=True)[1]
    assert b"required=-6.91" in out
    assert b"\nSubject: [SPAM] casino bonus\n" in out
    assert b"\nX-Spamnb-Evidence: " in out


# Whatever fails


def test_without_a_model_mail_passes_unchanged(tmp_path):
    assert b"no model here" in assert_unchanged("--model", tmp_path)


@pytest.mark.parametrize("contents", [b"", b"garbage", "truncated", "altered", "directory", "later"])
def test_with_a_damaged_model_mail_passes_unchanged(damaged, contents):
    card = damaged / "scorecard"
    if contents == "truncated":
        os.truncate(card, card.stat().st_size - 8)
    elif contents == "altered":
        card.write_bytes(card.read_bytes()[:-1] + b"\x55")
    elif contents == "directory":
        card.unlink()
        card.mkdir()
    elif contents == "later":
        (damaged / "scorecard.later").write_bytes(b"garbage")
    else:
        card.write_bytes(contents)
    assert str(card).encode() in assert_unchanged("--model", damaged)


def test_with_a_model_of_numbers_that_are_none_mail_passes_unchanged(damaged):
    card = from_bytes((damaged / "scorecard").read_bytes())
    card.prior = float("nan")
    (damaged / "scorecard").write_bytes(to_bytes(card))
    assert b"numbers that are none" in assert_unchanged("--model", damaged)


@pytest.mark.parametrize(
    "arguments",
    [["--headers", "nonsense"], ["--no-such-option"], ["--threshold", "x"], ["--threshold", "-1"], ["some file"],
     ["--model"], ["--headers"], ["--evidence=yes"], ["-x"]],
)  # fmt: skip
def test_with_wrong_options_mail_passes_unchanged(arguments):
    assert_unchanged(*arguments)


def test_with_wrong_settings_mail_passes_unchanged(tmp_path, model):
    (tmp_path / "config").write_text("this is = = not TOML")
    env = {"SPAMNB_CONFIG": str(tmp_path / "config"), "SPAMNB_MODEL": str(model.path)}
    assert b"config" in assert_unchanged(env=env)
    env = {"SPAMNB_THRESHOLD": "many", "SPAMNB_MODEL": str(model.path)}
    assert b"SPAMNB_THRESHOLD" in assert_unchanged(env=env)


@pytest.mark.parametrize("error", [RuntimeError("a bug"), MemoryError(), RecursionError(), KeyboardInterrupt()])
def test_with_a_bug_mail_passes_unchanged(streams, monkeypatch, capsys, error):
    def judge(self, raw):
        raise error

    monkeypatch.setattr(passing.Judge, "judge", judge)
    assert streams.passed(RAW) == (0, RAW)
    assert streams.passed(RAW, tempfail=True) == (75, RAW)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"spamnb: message passed on unchanged: {str(error) or type(error).__name__}"] * 2


def test_with_too_little_memory_mail_passes_unchanged_or_is_left_to_the_sender(model):
    """With room enough to read a message but not to judge it, it goes out as it came; with less, 75."""
    raw = b"Subject: large\r\n\r\n" + b"some words of a large message\r\n" * 800_000
    seen = set()
    for room in range(50, 500, 15):  # megabytes
        limit = (room << 20, room << 20)
        done = run("--model", model.path, given=raw, preexec_fn=lambda limit=limit: limited(limit))
        if not done.stderr.startswith(b"spamnb: ") and done.stderr:
            continue  # not even Python could start
        if done.returncode == 75:
            assert done.stdout == b""
            assert b"could not be read" in done.stderr
            seen.add("left")
        elif done.stdout == raw:
            assert done.returncode == 0
            assert done.stderr == b"spamnb: message passed on unchanged: MemoryError\n"
            seen.add("unchanged")
        else:
            assert_passed_whole(raw, done.stdout, "spamassassin")
            seen.add("judged")
            break
    assert seen >= {"unchanged", "judged"}


def limited(limit: tuple[int, int]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, limit)


# The streams


@pytest.mark.parametrize("arguments", [["--model", "/nowhere"], ["--no-such-option"]])
def test_standard_input_is_read_to_its_end(arguments):
    raw = b"Subject: large\n\n" + b"x" * 10_000_000
    with subprocess.Popen([SPAMNB, "filter", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:  # fmt: skip
        process.stdin.write(raw)  # a BrokenPipeError if nobody reads
        process.stdin.close()
        assert process.stdout.read() == raw
        assert process.wait(60) == 0


def redirected(redirection: str, *arguments, given=RAW) -> subprocess.CompletedProcess[bytes]:
    """The program with a stream that the shell has closed or turned elsewhere."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", SPAMNB, "filter", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_output_that_cannot_be_written_is_left_to_the_sender(model, redirection, size):
    done = redirected(redirection, "--model", model.path, given=RAW * size if size == 1 else RAW + b"x" * size)
    assert done.returncode == 75
    assert done.stderr.startswith(b"spamnb: message could not be written: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_reader_that_has_gone_leaves_the_message_to_the_sender(model, size):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        with subprocess.Popen([SPAMNB, "filter", "--model", model.path], stdin=subprocess.PIPE, stdout=writer,
                              stderr=subprocess.PIPE) as process:  # fmt: skip
            _, said = process.communicate(RAW + b"x" * size, timeout=60)
    finally:
        os.close(writer)
    assert process.returncode == 75
    assert said == b"spamnb: message could not be written: [Errno 32] Broken pipe\n"


def test_no_input_at_all_is_left_to_the_sender(model):
    done = redirected("<&-", "--model", model.path)
    assert (done.returncode, done.stdout) == (75, b"")
    assert done.stderr.startswith(b"spamnb: message could not be read: ")


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_where_nobody_listens_the_message_is_all_that_goes_out(tmp_path, redirection):
    done = redirected(redirection, "--model", tmp_path)
    assert (done.returncode, done.stdout) == (0, RAW)
    done = redirected(redirection, "--model", tmp_path, "--tempfail")
    assert (done.returncode, done.stdout) == (75, RAW)


# Learning from what was passed


def sure_of(label, score):
    return lambda self, raw: Verdict(score, label)


@pytest.mark.parametrize(("label", "score"), [("spam", 40.0), ("ham", -40.0), (UNSURE, 0.0)])
def test_mail_beyond_doubt_is_learned_after_it_has_gone_out(tmp_path, monkeypatch, model, label, score):
    store = Store(tmp_path / "model")
    with store.locked():
        keep(store, model.load().corpus, Choice())
    monkeypatch.setattr(passing.Judge, "judge", sure_of(label, score))
    status, out = Streams(monkeypatch, store).passed(RAW, learn=True, subject_tag="[SPAM]")
    assert status == 0
    expected = {"spam": True, "ham": False}.get(label)
    assert label_of(store.scorecard(), lesson_of(RAW, None, 0)) == expected
    assert label_of(store.scorecard(), lesson_of(out, None, 0)) == expected


def test_without_the_option_nothing_is_learned(model, streams, monkeypatch):
    monkeypatch.setattr(passing.Judge, "judge", sure_of("spam", 40.0))
    streams.passed(RAW)
    assert not model.journal.exists()


def test_a_lesson_that_fails_does_not_bring_the_mail_back(damaged, monkeypatch, capsys):
    monkeypatch.setattr(passing.Judge, "judge", sure_of("spam", 40.0))
    status, out = Streams(monkeypatch, Store(damaged)).passed(RAW, learn=True, tempfail=True)
    assert status == 0
    assert_passed_whole(RAW, out, "spamassassin")
    said = capsys.readouterr().err
    assert said.startswith("spamnb: delivered, but not learned from: ")
    assert said.count("\n") == 1
