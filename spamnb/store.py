"""The model's directory: a lock for writers, atomic replacement, the journal. The only writer of model files.

    model.joblib      dictionary, count matrix, labels, digests, settings (archive.py): the truth, with the journal
    journal           lessons since (journal.py)
    scorecard         compiled from both; all that judging needs (cardfile.py)
    scorecard.later   its rows that lessons have changed
    lock              held by writers, never replaced

Readers take no lock: they see the files before a change or after it, never half of one.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EACCES
from pathlib import Path
from typing import IO, TYPE_CHECKING

from .cardfile import LATER, SCORECARD, later_to_bytes, open_model, to_bytes
from .errors import BadConfig, CannotWrite, NoModel, SpamnbError, TryLater
from .journal import Journal, Lesson, append_lessons, read_journal
from .notices import tell
from .scorecard import Scorecard
from .seal import sealed_generation

if TYPE_CHECKING:
    from .archive import Saved

Writer = Callable[[IO[bytes]], object]

PATIENCE = 30.0  # seconds that a writer waits for another


class Store:
    """One model's directory."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.model = self.path / "model.joblib"
        self.journal = self.path / "journal"
        self.card = self.path / SCORECARD
        self.later = self.path / LATER
        self.lock = self.path / "lock"
        self.warned = False  # that others can write here

    def load(self) -> Saved:
        """The truth as of the last fold, without the journal; read again when it was replaced meanwhile."""
        from .archive import load_saved

        try:
            while True:
                with self.model.open("rb") as held:  # as long as it is open, no other file gets its number
                    try:
                        saved = load_saved(self.model)
                    except SpamnbError:
                        if is_at(held, self.model):
                            raise
                    else:
                        if is_at(held, self.model):
                            return saved
        except FileNotFoundError:
            raise NoModel(f"{self.path}: no model here; 'spamnb train HAM SPAM' makes one") from None
        except OSError as error:
            raise BadConfig(f"{self.model}: {error.strerror}; name another model with --model") from None

    def scorecard(self) -> Scorecard:
        """The compiled model, for judging."""
        return open_model(str(self.path))

    def lessons(self, generation: str | None) -> Journal:
        """What has been taught since that generation of the model was fitted, or since any."""
        try:
            return read_journal(self.journal, generation)
        except OSError as error:
            raise BadConfig(f"{self.journal}: {error.strerror}; name another model with --model") from None

    def generation(self) -> str | None:
        """Which model.joblib it is, by its seal; None when it has none."""
        try:
            return sealed_generation(self.model)
        except OSError:
            return None

    def lessons_at_stake(self) -> int:
        """How many lessons, folded in or not, would go with the model."""
        waiting = {lesson.digest.encode() for lesson in self.lessons(self.generation()).lessons}
        try:
            corpus = self.load().corpus
        except SpamnbError:  # there is none to look into
            return len(waiting)
        return len(waiting | set(corpus.digests[corpus.lessons].tolist()))

    def save(self, saved: Saved, card: Scorecard) -> None:
        """Replace the model: either all of the new one is there afterwards, or all of the old. Needs the lock.

        The moment is when model.joblib gets its name: from then on the journal is one of an older generation. A
        scorecard that a crash has left behind is made anew by the next writer.
        """
        from .archive import write_saved

        card.generation = saved.generation
        self.replace(
            (self.model, lambda file: write_saved(file, saved)), (self.card, lambda file: file.write(to_bytes(card)))
        )
        self.journal.unlink(missing_ok=True)
        self.later.unlink(missing_ok=True)

    def teach(self, card: Scorecard, lessons: list[Lesson]) -> None:
        """Put lessons on disk. Needs the lock."""
        begun = self.journal.exists()
        try:
            append_lessons(self.journal, card.generation, lessons)
            if not begun:
                sync_directory(self.path)
        except OSError as error:
            raise CannotWrite(f"{self.journal}: {error.strerror}; nothing was learned") from None

    def save_later(self, card: Scorecard) -> None:
        """Replace the rows that lessons have changed. Needs the lock."""
        rows = (self.later, lambda file: file.write(later_to_bytes(card)))
        self.replace(rows, outcome="lessons are in the journal, and heard after the next 'spamnb refit'")

    @contextmanager
    def locked(self, patience: float = PATIENCE, create: bool = True) -> Iterator[None]:
        """Keep other writers out; the directory is made when it is not there and may be."""
        if not create and not self.path.is_dir():
            raise NoModel(f"{self.path}: no model here; 'spamnb train HAM SPAM' makes one")
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.check_place()
            handle = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise CannotWrite(f"{self.path}: {error.strerror}; name another directory with --model") from None
        try:
            wait_for(handle, self.path, patience)
            yield
        finally:
            os.close(handle)

    def check_place(self) -> None:
        """Refuse to write where a file is a link to another or nothing new can be put; warn where others can write."""
        for path in (self.lock, self.model, self.journal, self.card, self.later):
            if path.is_symlink():
                raise CannotWrite(f"{path}: is a symbolic link; remove it, or name another directory with --model")
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
        if self.path.stat().st_mode & 0o022 and not self.warned:
            self.warned = True
            tell(f"{self.path} is writable by others; chmod go-w")

    def replace(self, *files: tuple[Path, Writer], outcome: str = "the model is as it was") -> None:
        """Write files beside their targets, make sure of all of them, and only then put them in place, in order."""
        target = self.path
        try:
            for target, write in files:
                prepare(beside(target), write)
            for target, _ in files:
                beside(target).replace(target)
            sync_directory(self.path)
        except OSError as error:
            raise CannotWrite(f"{target}: {error.strerror}; {outcome}") from None
        finally:
            for target, _ in files:
                beside(target).unlink(missing_ok=True)


def is_at(file: IO[bytes], path: Path) -> bool:
    """Whether an open file is still the one at a path: joblib maps a model by its path, array by array."""
    return os.path.samestat(os.fstat(file.fileno()), path.stat())


def beside(target: Path) -> Path:
    """Where a file is written before it takes its target's place."""
    return target.with_name(f".{target.name}.new")


def prepare(path: Path, write: Writer) -> None:
    """A new file, on disk; what was there by that name, a link perhaps, goes."""
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w+b") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


def wait_for(handle: int, path: Path, patience: float) -> None:
    """Take the lock, or give up after a while."""
    limit = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > limit:
                raise TryLater(f"{path}: another spamnb is writing this model; try again later") from None
            time.sleep(0.02)


def sync_directory(path: Path) -> None:
    """Make a new name in a directory last through a crash."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
