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
from pathlib import Path
from typing import IO, TYPE_CHECKING

from .cardfile import LATER, SCORECARD, later_to_bytes, open_model, to_bytes
from .errors import CannotWrite, NoModel, SpamnbError, TryLater
from .journal import Journal, Lesson, append_lessons, read_journal
from .scorecard import Scorecard

if TYPE_CHECKING:
    from .archive import Saved

PATIENCE = 30.0  # seconds that a writer waits for another


class Store:
    """One model's directory."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.model = self.path / "model.joblib"
        self.journal = self.path / "journal"
        self.card = self.path / SCORECARD
        self.later = self.path / LATER

    def load(self) -> Saved:
        """The truth as of the last fold, without the journal."""
        from .archive import load_saved

        if not self.model.exists():
            raise NoModel(f"{self.path}: no model here; 'spamnb train HAM SPAM' makes one")
        return load_saved(self.model)

    def scorecard(self) -> Scorecard:
        """The compiled model, for judging."""
        return open_model(str(self.path))

    def lessons(self, generation: str) -> Journal:
        """What has been taught since that generation of the model was fitted."""
        return read_journal(self.journal, generation)

    def lessons_at_stake(self) -> int:
        """How many lessons would go with the model."""
        try:
            generation = self.load().generation
        except SpamnbError:  # nothing to compare with: every lesson in the journal is worth asking about
            generation = None
        return len(read_journal(self.journal, generation).lessons)

    def save(self, saved: Saved, card: Scorecard) -> None:
        """Replace the model: either all of the new one is there afterwards, or all of the old. Needs the lock."""
        from .archive import write_saved

        card.generation = saved.generation
        self.replace(self.model, lambda file: write_saved(file, saved))
        self.replace(self.card, lambda file: file.write(to_bytes(card)))
        self.journal.unlink(missing_ok=True)
        self.later.unlink(missing_ok=True)

    def teach(self, card: Scorecard, lessons: list[Lesson]) -> None:
        """Put lessons on disk. Needs the lock."""
        try:
            append_lessons(self.journal, card.generation, lessons)
        except OSError as error:
            raise CannotWrite(f"{self.journal}: {error.strerror}; nothing was learned") from None

    def save_later(self, card: Scorecard) -> None:
        """Replace the rows that lessons have changed. Needs the lock."""
        self.replace(self.later, lambda file: file.write(later_to_bytes(card)))

    @contextmanager
    def locked(self, patience: float = PATIENCE) -> Iterator[None]:
        """Keep other writers out; the directory is made when it is not there."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise CannotWrite(f"{self.path}: {error.strerror}; name another directory with --model") from None
        try:
            wait_for(handle, self.path, patience)
            yield
        finally:
            os.close(handle)

    def replace(self, target: Path, write: Callable[[IO[bytes]], object]) -> None:
        """Write a file beside its target, make sure of it, and only then put it in its place."""
        temporary = target.with_name(f".{target.name}.new")
        try:
            temporary.unlink(missing_ok=True)
            handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "w+b") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except OSError as error:
            raise CannotWrite(f"{target}: {error.strerror}; the model is as it was") from None
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(self.path)


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
