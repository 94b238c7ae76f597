"""model.joblib: the truth of a model, sealed with a checksum and loaded without running anybody's code."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import joblib
import numpy as np
from joblib.numpy_pickle import NumpyUnpickler
from scipy import sparse

from .corpus import HAM_AND_SPAM, Corpus
from .errors import BadConfig, DamagedModel
from .models import Choice
from .seal import SEAL_BYTES, seal_of, sealed_generation
from .settings import OF_A_MODEL

FORMAT = 1
# What a model file may name: arrays, and the wrapper that joblib puts around them.
HARMLESS = {("joblib.numpy_pickle", "NumpyArrayWrapper"), ("numpy", "ndarray"), ("numpy", "dtype")}
MORE_CHOICE = tuple(name for name in OF_A_MODEL if name not in ("kind", "alpha", "counts"))
FIELDS = ("ids", "labels", "digests", "dates", "senders", "measures", "lessons")


@dataclass(frozen=True)
class Saved:
    """What model.joblib holds."""

    corpus: Corpus
    choice: Choice
    generation: str

    def with_senders(self) -> Corpus:
        """The corpus as the model sees it, with a token for what is known of each sender."""
        if not self.corpus.is_ham_and_spam:
            return self.corpus
        return self.corpus.with_senders(self.choice.contacts, self.corpus.has_other_ham_sender())


def load_saved(path: Path) -> Saved:
    """Read a model; refuses what is damaged, of another format, or names code."""
    try:
        check_seal(path)
        content = load_arrays(path)
        if content["format"] != FORMAT:
            raise BadConfig(f"{path}: format {content['format']}, this program reads {FORMAT}; train the model anew")
        return unpack(content)
    except (KeyError, TypeError, ValueError, IndexError, EOFError, AttributeError, pickle.UnpicklingError) as error:
        raise DamagedModel(f"{path}: not a model of spamnb ({error}); train it anew") from None


def write_saved(file: IO[bytes], saved: Saved) -> None:
    """Write a model into an empty file."""
    write_sealed(file, pack(saved), saved.generation)


def pack(saved: Saved) -> dict[str, Any]:
    """A model as plain containers and arrays."""
    corpus, choice = saved.corpus, saved.choice
    return {
        "format": FORMAT,
        "generation": saved.generation,
        "kind": choice.kind,
        "alpha": choice.alpha,
        "counts_as": choice.counts,
        "more_choice": {name: getattr(choice, name) for name in MORE_CHOICE},
        "unlabelled": None if choice.unlabelled is None else corpus_content(choice.unlabelled),
        "contacts": plain(choice.contacts),
        **corpus_content(corpus),
    }


def corpus_content(corpus: Corpus) -> dict[str, Any]:
    """A corpus as plain containers and arrays."""
    return {
        "classes": corpus.classes,
        "tokens": np.frombuffer("\n".join(corpus.tokens).encode("utf-8", "surrogatepass"), np.uint8),
        "block": None if corpus.block is None else plain(corpus.block),
        "block_messages": corpus.block_messages,
        "counts": tuple(map(plain, (corpus.counts.data, corpus.counts.indices, corpus.counts.indptr))),
        **{name: plain(getattr(corpus, name)) for name in FIELDS},
    }


def plain(table: Any) -> Any:
    """An array, not one that is mapped from the file to be replaced."""
    return np.asarray(table)


def unpack(content: dict[str, Any]) -> Saved:
    """The model out of its containers; models of older versions lack some of them."""
    unlabelled = content.get("unlabelled")
    choice = Choice(
        content["kind"],
        content["alpha"],
        content["counts_as"],
        content["contacts"],
        unlabelled=None if unlabelled is None else corpus_in(unlabelled),
        **content.get("more_choice", {}),
    )
    return Saved(corpus_in(content), choice, content["generation"])


def corpus_in(content: dict[str, Any]) -> Corpus:
    """A corpus out of its containers."""
    words = content["tokens"].tobytes().decode("utf-8", "surrogatepass")
    tokens = words.split("\n") if words else []
    labels, ids = content["labels"], content["ids"]
    if len(ids) != len(tokens) or any(len(content[name]) != len(labels) for name in FIELDS if name != "ids"):
        raise ValueError("its tables do not fit each other")
    counts = sparse.csr_matrix(content["counts"], shape=(len(labels), len(ids)))
    counts.check_format()
    return Corpus(
        tokens=tokens,
        counts=counts,
        block=content["block"],
        block_messages=content["block_messages"],
        classes=content.get("classes", HAM_AND_SPAM),
        **{name: content[name] for name in FIELDS},
    )


def write_sealed(file: IO[bytes], content: object, generation: str) -> None:
    """The joblib dump, and behind it a seal: the generation and a checksum."""
    joblib.dump(content, file)
    file.seek(0)
    seal = seal_of(generation, checksum(file, -1))
    file.seek(0, os.SEEK_END)
    file.write(seal)


def check_seal(path: Path) -> None:
    """Refuse a file that is not, to the byte, what was written."""
    generation = sealed_generation(path)
    if generation is None:
        raise DamagedModel(f"{path}: truncated, or not a model of spamnb; train it anew")
    with path.open("rb") as file:
        size = file.seek(-SEAL_BYTES, os.SEEK_END)
        seal = file.read()
        file.seek(0)
        if seal_of(generation, checksum(file, size)) != seal:
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
    arrays = [content["contacts"]]
    for part in (content, content.get("unlabelled")):
        if part is not None:
            arrays += [part["tokens"], *part["counts"], *(part[name] for name in FIELDS)]
            arrays += [part["block"]] if part["block"] is not None else []
    if any(not isinstance(array, np.ndarray) or array.dtype.hasobject for array in arrays):
        raise DamagedModel(f"{path}: holds objects where numbers belong; not loaded")
    return dict(content)
