"""Killed, crowded, full, forbidden, forged: nothing that was acknowledged is lost, and nothing else is overwritten.

SPAMNB_SOAK makes the counts those of the targets: 500 kills, 32 writers of 25 messages each.
"""

import json
import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import invented_mail

from spamnb import archive
from spamnb.errors import CannotWrite
from spamnb.filtering import Judge
from spamnb.gathering import from_lessons
from spamnb.learning import label_of, learn, lesson_of
from spamnb.mailbox import Mail
from spamnb.message import digest
from spamnb.models import Choice, fit
from spamnb.store import Store
from spamnb.training import current, keep

BIN = Path(sys.executable).parent
DRIVER = Path(__file__).parent / "hostile_driver.py"
SOAK = bool(os.environ.get("SPAMNB_SOAK"))
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
START = invented_mail(20, 20, seed=20)


def make_model(path: Path, mail=START, date: int = 0) -> Store:
    store = Store(path)
    with store.locked():
        keep(store, from_lessons([lesson_of(raw, label, date) for label, raw in mail]), Choice())
    return store


@pytest.fixture(scope="module")
def start(tmp_path_factory) -> Path:
    return make_model(tmp_path_factory.mktemp("start") / "model").path


@pytest.fixture
def store(start, tmp_path) -> Store:
    """A model of forty messages."""
    shutil.copytree(start, tmp_path / "model")
    return Store(tmp_path / "model")


@pytest.fixture
def message(tmp_path) -> Path:
    """A spam that the model has not learned."""
    path = tmp_path / "message"
    path.write_bytes(invented_mail(0, 1, seed=21)[0][1])
    return path


def labels_in(store: Store) -> dict[str, bool]:
    """What the truth holds; no message twice."""
    corpus = current(store)[0].corpus
    names = [name.decode() for name in corpus.digests.tolist()]
    assert len(set(names)) == len(names)
    return dict(zip(names, corpus.labels.tolist(), strict=True))


def assert_exact(store: Store) -> None:
    """The scorecard counts what the rows hold, and nothing twice."""
    card, fitted = store.scorecard(), fit(current(store)[0].corpus, Choice())
    assert card.messages == fitted.messages
    assert card.totals == fitted.totals
    assert card.words == fitted.words
    assert all(card.counts(card.row(int(number))) == fitted.counts(row)
               for row, number in enumerate(fitted.tables["ids"]))  # fmt: skip


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# kill -9


class Killer:
    """Commands in children of one driver, killed when asked."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def run(self, *command, after: float | None = None, step: int | None = None) -> tuple[bool, float]:
        """Whether it was acknowledged, and how long it took."""
        job = {"command": [str(word) for word in command], "after": after, "step": step}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer["status"] in (0, -9)
        return answer["status"] == 0, answer["seconds"]


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    command = [sys.executable, DRIVER, "kill"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        yield Killer(process)
        process.stdin.close()


class Life:
    """A model's life of random commands, with what must be in it and what may be after each."""

    def __init__(self, folder: Path, store: Store, chance: random.Random) -> None:
        self.folder, self.store, self.chance = folder, store, chance
        self.number = 0
        self.now = labels_in(store)

    def folder_of(self, label: bool, mail: list[bytes]) -> Path:
        self.number += 1
        path = self.folder / f"{self.number}" / ("spam" if label else "ham")
        path.mkdir(parents=True)
        for number, raw in enumerate(mail):
            (path / f"{number}.eml").write_bytes(raw)
        return path

    def new_mail(self, label: bool, count: int) -> list[bytes]:
        ham, spam = (0, count) if label else (count, 0)
        return [raw for _, raw in invented_mail(ham, spam, seed=self.chance.randrange(10**9))]

    def learn(self) -> tuple[list[object], dict[str, bool | None], bool]:
        """The command, what each message becomes by it, and whether that happens to all of them or to none."""
        label = self.chance.random() < 0.5
        mail = self.new_mail(label, self.chance.randint(1, 4))
        command = ["learn", "--spam" if label else "--ham", self.folder_of(label, mail)]
        return command, {digest(raw): label for raw in mail}, False

    def correct(self) -> tuple[list[object], dict[str, bool | None], bool]:
        label, raw = self.chance.choice(START)
        label = not self.now.get(digest(raw), not label)
        return ["learn", "--spam" if label else "--ham", self.folder_of(label, [raw])], {digest(raw): label}, False

    def expire(self) -> tuple[list[object], dict[str, bool | None], bool]:
        corpus = current(self.store)[0].corpus
        order = sorted(zip((-corpus.dates).tolist(), corpus.digests.tolist(), strict=True))
        keep = max(30, len(order) - self.chance.randint(1, 5))
        return ["expire", "--keep", keep], {name.decode(): None for _, name in order[keep:]}, True

    def merge(self) -> tuple[list[object], dict[str, bool | None], bool]:
        mail = [(label, raw) for label in (False, True) for raw in self.new_mail(label, 2)]
        self.number += 1
        other = make_model(self.folder / f"{self.number}", mail)
        return ["merge", other.path], {digest(raw): label for label, raw in mail}, True

    def train(self) -> tuple[list[object], dict[str, bool | None], bool]:
        mail = {label: self.new_mail(label, 15) for label in (False, True)}
        folders = [self.folder_of(label, mail[label]) for label in (False, True)]
        becomes: dict[str, bool | None] = dict.fromkeys(self.now)
        becomes.update({digest(raw): label for label in mail for raw in mail[label]})
        return ["train", "--replace", *folders], becomes, True

    def after(self, becomes: dict[str, bool | None]) -> dict[str, bool]:
        whole = {**self.now, **becomes}
        return {name: label for name, label in whole.items() if label is not None}

    def check(self, becomes: dict[str, bool | None], together: bool, acknowledged: bool) -> None:
        """The truth loads and holds what was acknowledged; of what was not, all, some or none of it."""
        found, done = labels_in(self.store), self.after(becomes)
        if acknowledged:
            assert found == done
        elif together:
            assert found in (self.now, done)
        else:
            assert all(found.get(name) in (self.now.get(name), done.get(name)) for name in {*found, *self.now, *done})
        Judge(self.store.scorecard()).judge(START[0][1])
        self.now = found


COMMANDS = ("learn", "correct", "expire", "merge", "train")


def test_a_writer_killed_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path, store, killer):
    chance = random.Random(2026)
    life = Life(tmp_path / "mail", store, chance)
    typical = {}
    for name in COMMANDS:
        command, becomes, together = getattr(life, name)()
        done, typical[name] = killer.run(command[0], "--model", store.path, *command[1:])
        assert done
        life.check(becomes, together, done)
    kills, lost = 0, 0
    while kills < (500 if SOAK else 20):
        name = chance.choices(COMMANDS, (6, 2, 2, 2, 1))[0]
        command, becomes, together = getattr(life, name)()
        moment = chance.uniform(0, 1.1 * typical[name])
        done, _ = killer.run(command[0], "--model", store.path, *command[1:], after=moment)
        kills += not done
        before = life.now
        life.check(becomes, together, done)
        lost += not done and life.now == before
        if not done and chance.random() < 0.2:  # the next writer finds everything in order
            command, becomes, together = life.learn()
            done, _ = killer.run(command[0], "--model", store.path, *command[1:])
            life.check(becomes, together, done)
            assert_exact(store)
    print(f"{kills} kills, {lost} of them before anything was on disk")
    assert lost  # else the moments were all too late to prove anything
    done, _ = killer.run("refit", "--model", store.path)
    assert done
    assert labels_in(store) == life.now
    assert_exact(store)


@pytest.mark.parametrize("lessons", [0, 1] if SOAK else [1])
@pytest.mark.parametrize("name", [*COMMANDS, "refit"])
def test_a_writer_killed_at_every_step_loses_nothing(tmp_path, start, killer, name, lessons):
    """Moments are chance; this is each of them: before every call that opens, secures, names or removes a file."""
    chance, step, done = random.Random(7), 0, False
    while not done:
        step += 1
        store = Store(shutil.copytree(start, tmp_path / f"model{step}"))
        life = Life(tmp_path / f"mail{step}", store, chance)
        for _ in range(lessons):  # so that there is a journal
            command, becomes, together = life.learn()
            killer.run(command[0], "--model", store.path, "--no-refit", *command[1:])
            life.check(becomes, together, True)
        command, becomes, together = getattr(life, name)() if name != "refit" else (["refit"], {}, True)
        done, _ = killer.run(command[0], "--model", store.path, *command[1:], step=step)
        life.check(becomes, together, done)
        for _ in range(2):
            command, becomes, together = life.learn()
            assert killer.run(command[0], "--model", store.path, *command[1:])[0]
            life.check(becomes, together, True)
        assert_exact(store)
    assert step > 5


# Many at once


def test_many_writers_and_readers_at_once_lose_nothing(tmp_path, store):
    writers, each, readers = (32, 25, 6) if SOAK else (8, 5, 2)
    mail = invented_mail(writers * each, writers * each, seed=22)[::2]
    work = []
    for number in range(writers):
        files = []
        for place, (label, raw) in enumerate(mail[number * each : (number + 1) * each]):
            path = tmp_path / "mail" / str(number) / ("spam" if label else "ham") / f"{place}.eml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
            files.append(str(path))
        work.append(files)
    job = {
        "model": str(store.path),
        "work": work,
        "readers": readers,
        "file": work[0][0],
        "done": str(tmp_path / "end"),
    }
    command = [sys.executable, DRIVER, "crowd", json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=True, timeout=600)
    answer = json.loads(done.stdout)
    print(f"{writers} writers of {each}, {readers} readers: {answer['seconds']:.1f} s")
    assert answer["writers"] == [0] * writers
    assert answer["readers"] == [0] * readers
    found = labels_in(store)
    assert len(found) == len(START) + writers * each
    assert all(found[digest(raw)] == label for label, raw in mail[: writers * each])
    assert_exact(store)


@pytest.mark.parametrize("moment", ["between seal and checksum", "between the pickle and its arrays"])
def test_a_model_replaced_while_it_is_read_is_read_again(store, tmp_path, monkeypatch, moment):
    """Its parts are opened by name one after another; those of two models together would be damage, or worse."""
    other = make_model(tmp_path / "other", invented_mail(3, 3, seed=25))
    expected = labels_in(other)
    owner, name = (
        (archive, "sealed_generation")
        if moment == "between seal and checksum"
        else (archive.ArrayUnpickler, "find_class")
    )
    step = getattr(owner, name)

    def overtaken(*arguments):
        found = step(*arguments)
        if other.model.exists():
            other.model.replace(store.model)
        return found

    monkeypatch.setattr(owner, name, overtaken)
    assert labels_in(store) == expected


# Commands, as users run them


def run(*command, powers: bool = True, **options) -> subprocess.CompletedProcess[str]:
    """A command; without powers, root is bound by the modes of files like anybody else."""
    words = [BIN / "spamnb", *map(str, command)]
    if not powers and os.geteuid() == 0:
        words = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", *words]
    return subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False, **options)


def writers_of(store: Store, message: Path, tmp_path: Path) -> dict[str, list[object]]:
    """Every command that writes, such that it has something to write."""
    other = tmp_path / "other"
    if not other.exists():
        make_model(other, invented_mail(3, 3, seed=23))
        for label, folder in ((False, "ham"), (True, "spam")):
            (tmp_path / folder).mkdir()
            for number, (_, raw) in enumerate(pair for pair in invented_mail(5, 5, seed=24) if pair[0] == label):
                (tmp_path / folder / f"{number}.eml").write_bytes(raw)
        (tmp_path / "known").write_bytes(START[0][1])
        (tmp_path / "dump").write_text(".MSG_COUNT 1 1 20240101\nword 1 1 20240101\n")
    return {
        "learn": ["learn", "--spam", message],
        "forget": ["forget", tmp_path / "known"],
        "train": ["train", "--replace", tmp_path / "ham", tmp_path / "spam"],
        "expire": ["expire", "--keep", "30"],
        "merge": ["merge", other],
        "import": ["import", tmp_path / "dump"],
        "refit": ["refit"],
    }


WRITERS = ("learn", "forget", "train", "expire", "merge", "import", "refit")


def assert_refused(done: subprocess.CompletedProcess[str], *names: object, status: int = 73) -> None:
    """One line that names the place, and the status of what cannot be written."""
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith("spamnb: ")
    assert done.stderr.count("\n") == 1
    assert all(str(name) in done.stderr for name in names)


# Places where one may not write


def test_without_its_powers_root_is_bound_by_modes(tmp_path):
    (tmp_path / "secret").touch(mode=0o000)
    command = [sys.executable, "-c", f"open({str(tmp_path / 'secret')!r})"]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", *command]
    assert b"PermissionError" in subprocess.run(command, capture_output=True, check=False).stderr


@pytest.fixture
def read_only(store) -> Iterator[Store]:
    store.path.chmod(0o555)
    yield store
    store.path.chmod(0o700)


@pytest.mark.parametrize("name", WRITERS)
def test_a_read_only_model_is_not_written(read_only, message, tmp_path, name):
    command = writers_of(read_only, message, tmp_path)[name]
    before = snapshot(read_only.path)
    done = run(command[0], "--model", read_only.path, *command[1:], powers=False)
    assert_refused(done, f"{read_only.path}: Permission denied")
    assert snapshot(read_only.path) == before


def test_a_read_only_model_can_be_read(read_only, message):
    for command in (["classify", message], ["explain", message], ["inspect"], ["export"], ["evaluate"]):
        done = run(command[0], "--model", read_only.path, *command[1:], powers=False)
        assert (done.returncode, done.stderr) == (0, ""), command
    assert "X-Spamnb: " in run("filter", "--model", read_only.path, powers=False, input=message.read_text()).stdout


def test_a_model_without_a_lock_can_be_read_where_none_can_be_made(store, message):
    store.lock.unlink()
    store.path.chmod(0o555)
    assert run("classify", "--model", store.path, message, powers=False).returncode == 0
    assert run("inspect", "--model", store.path, powers=False).returncode == 0
    assert_refused(run("learn", "--model", store.path, "--spam", message, powers=False), store.path)
    store.path.chmod(0o700)


def test_a_place_where_no_model_can_be_made_is_named(tmp_path, message):
    (tmp_path / "closed").mkdir(mode=0o555)
    done = run("learn", "--model", tmp_path / "closed" / "model", "--spam", message, powers=False)
    assert_refused(done, tmp_path / "closed" / "model")
    (tmp_path / "closed").chmod(0o700)


SOMEBODY = 54321
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


@as_root
@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_model_of_another_user_is_neither_read_nor_written(store, message, tmp_path, mode):
    writing = writers_of(store, message, tmp_path)
    before = snapshot(store.path)
    for path in (store.path, *store.path.iterdir()):
        os.chown(path, SOMEBODY, SOMEBODY)
    store.path.chmod(mode)
    raw = message.read_text()
    done = run("filter", "--model", store.path, powers=False, input=raw)
    assert (done.returncode, done.stdout) == (0, raw)
    assert "Permission denied" in done.stderr
    for reading in (["classify", message], ["explain", message], ["inspect"], ["export"]):
        done = run(reading[0], "--model", store.path, *reading[1:], powers=False)
        assert_refused(done, store.path, "Permission denied", status=78)
    for command in writing.values():
        done = run(command[0], "--model", store.path, *command[1:], powers=False)
        assert_refused(done, store.path, "Permission denied")
    assert snapshot(store.path) == before


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o702])
def test_where_others_can_write_a_writer_warns_once_and_works(store, message, mode):
    store.path.chmod(mode)
    done = run("learn", "--model", store.path, "--spam", message, powers=False)
    assert done.returncode == 0
    warning, learned = done.stderr.splitlines()
    assert warning == f"spamnb: {store.path} is writable by others; chmod go-w"
    assert learned.startswith("spamnb: learned 1 as spam")
    assert run("classify", "--model", store.path, message, powers=False).stderr == ""
    store.path.chmod(0o755)
    assert "writable" not in run("refit", "--model", store.path).stderr


def test_what_is_written_is_for_the_owner_alone(store, message):
    store.path.chmod(0o777)
    run("learn", "--model", store.path, "--spam", "--no-refit", message)
    run("learn", "--model", store.path, "--ham", message)
    assert {stat.S_IMODE(path.stat().st_mode) for path in store.path.iterdir()} == {0o600}


@pytest.mark.parametrize("file", ["scorecard", "scorecard.later"])
def test_mail_passes_a_model_that_cannot_be_read(store, message, file):
    run("learn", "--model", store.path, "--spam", "--no-refit", message)
    (store.path / file).chmod(0o000)
    raw = message.read_text()
    done = run("filter", "--model", store.path, powers=False, input=raw)
    assert (done.returncode, done.stdout) == (0, raw)
    assert done.stderr.startswith(f"spamnb: message passed on unchanged: {store.path / file}: Permission denied")
    assert run("filter", "--model", store.path, "--tempfail", powers=False, input=raw).returncode == 75


# A link where a file should be


@pytest.fixture
def precious(tmp_path) -> Path:
    """A file elsewhere that a writer must not touch."""
    path = tmp_path / "precious"
    path.write_text("precious")
    return path


FILES = ("model.joblib", "scorecard", "scorecard.later", "journal", "lock")
PAIRS = [(name, file) for name in WRITERS for file in FILES if SOAK or name == "learn" or file == "model.joblib"]


@pytest.mark.parametrize(("name", "file"), PAIRS)
def test_a_writer_refuses_a_link_where_a_file_should_be(store, message, tmp_path, precious, name, file):
    command = writers_of(store, message, tmp_path)[name]
    link = store.path / file
    if link.exists():
        shutil.copy(link, precious)
        link.unlink()
    link.symlink_to(precious)
    kept, before = precious.read_bytes(), snapshot(store.path)
    assert_refused(run(command[0], "--model", store.path, *command[1:]), f"{link}: is a symbolic link")
    assert precious.read_bytes() == kept
    assert snapshot(store.path) == before
    assert link.is_symlink()


def test_a_link_to_nothing_is_refused_too(store, message, tmp_path):
    store.journal.symlink_to(tmp_path / "new")
    assert_refused(run("learn", "--model", store.path, "--spam", message), f"{store.journal}: is a symbolic link")
    assert not (tmp_path / "new").exists()


def test_links_in_place_of_temporary_files_are_not_followed(store, message, precious):
    for file in ("model.joblib", "scorecard", "scorecard.later"):
        (store.path / f".{file}.new").symlink_to(precious)
    assert run("learn", "--model", store.path, "--spam", "--no-refit", message).returncode == 0
    assert run("refit", "--model", store.path).returncode == 0
    assert precious.read_text() == "precious"
    assert not any(path.is_symlink() for path in store.path.iterdir())
    assert digest(message.read_bytes()) in labels_in(store)


def test_a_directory_may_be_a_link(store, message, tmp_path):
    (tmp_path / "link").symlink_to(store.path)
    assert run("learn", "--model", tmp_path / "link", "--spam", message).returncode == 0
    assert digest(message.read_bytes()) in labels_in(store)


# A full disk


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "spamnb-test", place], capture_output=True, check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("cannot mount a small tmpfs here")
    yield place
    subprocess.run(["umount", place], check=True)


def fill(place: Path, left: int) -> Path:
    """Leave only so many bytes of a disk."""
    (place / "junk").unlink(missing_ok=True)
    status = os.statvfs(place)
    (place / "junk").write_bytes(b"\0" * max(status.f_bavail * status.f_frsize - left, 0))
    return place / "junk"


def assert_outcome(done: subprocess.CompletedProcess[str], store: Store, before: dict[str, bool], name: str) -> None:
    """Acknowledged and done, or refused in one line and as it was, unless the line says what is in the journal."""
    after = labels_in(store)
    Judge(store.scorecard()).judge(START[0][1])
    if done.returncode == 0:
        assert after != before or name in ("refit", "import")
    else:
        assert_refused(done, store.path)
        in_the_journal = "lessons are in the journal" in done.stderr
        assert (after != before) == in_the_journal


def assert_done(again: subprocess.CompletedProcess[str], done: subprocess.CompletedProcess[str]) -> None:
    """With room, the command does its work, unless there is none left: what is forgotten cannot be forgotten again."""
    was_done = done.returncode == 0 or "lessons are in the journal" in done.stderr
    assert again.returncode == 0 or (was_done and again.returncode == 66), again.stderr


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_costs_nothing_that_was_there(start, small_disk, tmp_path, message, name):
    message.write_bytes(message.read_bytes() + b" ".join(b"word%d" % number for number in range(3000)))
    refused = 0
    for left in (0, 4_096, 20_000, 60_000, 200_000) if SOAK else (0, 20_000):
        shutil.rmtree(small_disk / "model", ignore_errors=True)
        store = Store(shutil.copytree(start, small_disk / "model"))
        command = writers_of(store, message, tmp_path)[name]
        before = labels_in(store)
        junk = fill(small_disk, left)
        done = run(command[0], "--model", store.path, *command[1:])
        refused += done.returncode != 0
        assert_outcome(done, store, before, name)
        junk.unlink()
        again = run(command[0], "--model", store.path, *command[1:])
        assert_done(again, done)
        assert not [path for path in store.path.iterdir() if path.name.endswith(".new")]
    assert refused


LIMITED = """
import resource, signal, sys
from spamnb import entry
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv[1:] = sys.argv[2:]
entry.main()
"""


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("room", [200, 2_000, 30_000] if SOAK else [2_000])
def test_a_limit_on_the_size_of_files_costs_nothing_that_was_there(store, message, tmp_path, name, room):
    message.write_bytes(message.read_bytes() + b" ".join(b"word%d" % number for number in range(3000)))
    command = writers_of(store, message, tmp_path)[name]
    before = labels_in(store)
    words = [sys.executable, "-c", LIMITED, str(room), command[0], "--model", store.path, *command[1:]]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert_outcome(done, store, before, name)
    again = run(command[0], "--model", store.path, *command[1:])
    assert_done(again, done)


def test_a_lesson_that_reached_the_journal_alone_is_heard_after_the_next_writer(store, message, monkeypatch):
    """The journal is the truth; a scorecard that could not be written is behind, not wrong."""

    def full(self, card):
        raise CannotWrite("full")

    mail, known = [Mail("", message.read_bytes())], lesson_of(message.read_bytes(), None, 0)
    with monkeypatch.context() as patch:
        patch.setattr(Store, "save_later", full)
        with pytest.raises(CannotWrite):
            learn(store, mail, True, fold=False)
    assert digest(message.read_bytes()) in labels_in(store)
    assert label_of(store.scorecard(), known) is None
    assert learn(store, mail, True, fold=False).unchanged == 1
    assert label_of(store.scorecard(), known) == 1
    assert_exact(store)
