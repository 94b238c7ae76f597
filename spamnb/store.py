"""The model's directory: a lock, atomic replacement, and a loader that runs nobody's code.

model.joblib   dictionary, count matrix, labels, digests, settings; then a checksum of all before it
scorecard      compiled from it; all that judging needs
journal        lessons since (journal.py)
lock           held by writers, never replaced
"""

from __future__ import annotations

import fcntl
import os
import pickle
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import joblib
import numpy as np
from joblib.numpy_pickle import NumpyUnpickler
from scipy import sparse

from .corpus import Corpus
from .errors import BadConfig, CannotWrite, DamagedModel, NoModel, SpamnbError, TryLater
from .journal import read_journal
from .models import Choice
from .scorecard import SCORECARD, Scorecard, open_model, to_bytes

FORMAT = 1
SEAL = b"spamnb model end"
SEAL_BYTES = len(SEAL) + 32
PATIENCE = 30.0  # seconds that a writer waits for another
# What a model file may name: arrays, and the wrapper that joblib puts around them.
HARMLESS = {("joblib.numpy_pickle", "NumpyArrayWrapper"), ("numpy", "ndarray"), ("numpy", "dtype")}
FIELDS = ("ids", "labels", "digests", "dates", "senders", "measures")


@dataclass(frozen=True)
class Saved:
    """What model.joblib holds."""

    corpus: Corpus
    choice: Choice
    generation: str

    def with_senders(self) -> Corpus:
        """The corpus as the model sees it, with a token for what is known of each sender."""
        return self.corpus.with_senders(self.choice.contacts, self.corpus.has_other_ham_sender())


class Store:
    """One model's directory."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.model = self.path / "model.joblib"
        self.card = self.path / SCORECARD
        self.journal = self.path / "journal"

    def load(self) -> Saved:
        """Read the truth; refuses what is damaged, of another format, or names code."""
        if not self.model.exists():
            raise NoModel(f"{self.path}: no model here; 'spamnb train HAM SPAM' makes one")
        try:
            check_seal(self.model)
            content = load_arrays(self.model)
            if content["format"] != FORMAT:
                raise BadConfig(
                    f"{self.model}: format {content['format']}, this program reads {FORMAT}; train the model anew"
                )
            return unpack(content)
        except (KeyError, TypeError, ValueError, IndexError, EOFError, AttributeError, pickle.UnpicklingError) as error:
            raise DamagedModel(f"{self.model}: not a model of spamnb ({error}); train it anew") from None

    def scorecard(self) -> Scorecard:
        """The compiled model, for judging."""
        return open_model(str(self.path))

    def save(self, corpus: Corpus, choice: Choice, card: Scorecard) -> None:
        """Replace the model: either all of the new one is there afterwards, or all of the old. Needs the lock."""
        generation = secrets.token_hex(8)
        card.generation = generation
        content = pack(Saved(corpus, choice, generation))
        self.replace(self.model, lambda file: write_sealed(file, content))
        self.replace(self.card, lambda file: file.write(to_bytes(card)))
        self.journal.unlink(missing_ok=True)

    def lessons(self) -> int:
        """How many lessons the model has been taught since it was trained."""
        try:
            generation = self.load().generation
        except SpamnbError:  # nothing to compare with: every lesson in the journal is worth asking about
            generation = None
        return len(read_journal(self.journal, generation).lessons)

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
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
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


def pack(saved: Saved) -> dict[str, Any]:
    """A model as plain containers and arrays."""
    corpus, choice = saved.corpus, saved.choice
    return {
        "format": FORMAT,
        "generation": saved.generation,
        "kind": choice.kind,
        "alpha": choice.alpha,
        "counts_as": choice.counts,
        "contacts": choice.contacts,
        "tokens": np.frombuffer("\n".join(corpus.tokens).encode("utf-8", "surrogatepass"), np.uint8),
        "counts": (corpus.counts.data, corpus.counts.indices, corpus.counts.indptr),
        **{name: getattr(corpus, name) for name in FIELDS},
    }


def unpack(content: dict[str, Any]) -> Saved:
    """The model out of its containers."""
    words = content["tokens"].tobytes().decode("utf-8", "surrogatepass")
    tokens = words.split("\n") if words else []
    labels, ids = content["labels"], content["ids"]
    if len(ids) != len(tokens):
        raise ValueError("the dictionary does not fit its ids")
    counts = sparse.csr_matrix(content["counts"], shape=(len(labels), len(ids)))
    counts.check_format()
    corpus = Corpus(tokens=tokens, counts=counts, **{name: content[name] for name in FIELDS})
    choice = Choice(content["kind"], content["alpha"], content["counts_as"], content["contacts"])
    return Saved(corpus, choice, content["generation"])


def write_sealed(file: IO[bytes], content: dict[str, Any]) -> None:
    """The joblib dump, and behind it a checksum."""
    joblib.dump(content, file)
    file.seek(0)
    seal = SEAL + checksum(file, -1)
    file.seek(0, os.SEEK_END)
    file.write(seal)


def check_seal(path: Path) -> None:
    """Refuse a file that is not, to the byte, what was written."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END) - SEAL_BYTES
        file.seek(max(size, 0))
        seal = file.read()
        if size < 0 or not seal.startswith(SEAL):
            raise DamagedModel(f"{path}: truncated, or not a model of spamnb; train it anew")
        file.seek(0)
        if SEAL + checksum(file, size) != seal:
            raise DamagedModel(f"{path}: altered or damaged; train it anew, or take it from a backup")


def checksum(file: IO[bytes], size: int) -> bytes:
    """Of the next `size` bytes, or of all that is left."""
    total = blake2b(digest_size=32)
    while block := file.read(1 << 20 if size < 0 else min(1 << 20, size)):
        total.update(block)
        size -= len(block) if size >= 0 else 0
    return total.digest()


class ArrayUnpickler(NumpyUnpickler):  # type: ignore[misc]
    """Reads arrays and plain containers, and refuses to look up anything else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in HARMLESS:
            raise DamagedModel(f"{self.filename}: names {module}.{name}, which no model needs; not loaded")
        return super().find_class(module, name)


def load_arrays(path: Path) -> dict[str, Any]:
    """joblib.load, mapped, without its trust."""
    with path.open("rb") as file:
        content = ArrayUnpickler(str(path), file, ensure_native_byte_order=False, mmap_mode="r").load()
    arrays = [content["tokens"], content["contacts"], *content["counts"], *(content[name] for name in FIELDS)]
    if any(not isinstance(array, np.ndarray) or array.dtype.hasobject for array in arrays):
        raise DamagedModel(f"{path}: holds objects where numbers belong; not loaded")
    return dict(content)
