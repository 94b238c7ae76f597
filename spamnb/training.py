"""Train a model on mailboxes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .archive import Saved
from .corpus import Corpus
from .counting import Chunk, count_chunk
from .errors import BadConfig, BadData, CannotWrite, NoInput, Usage
from .gathering import Gathered, gather, taught
from .journal import Journal
from .mailbox import LeftOut, Unit, units
from .models import Choice, fit
from .parallel import in_groups
from .scorecard import HAM, SPAM, Scorecard
from .settings import Settings
from .store import Store
from .tokens import ADDRESS, token_id

Progress = Callable[[int, int], None]  # told how much of how much is done


@dataclass(frozen=True)
class Trained:
    """A new model and how it came about."""

    gathered: Gathered
    card: Scorecard


def train(
    store: Store,
    ham: Sequence[str],
    spam: Sequence[str],
    choice: Choice,
    *,
    overwrite: bool = False,
    jobs: int | None = None,
    progress: Progress = lambda done, total: None,
) -> Trained:
    """Fit a model on mailboxes of any kind and put it into its directory."""
    if not overwrite:
        with suppress(BadConfig):  # a place that cannot be read is told when it is to be written
            refuse_to_lose_lessons(store)
    gathered = read_labelled(ham, spam, jobs=jobs, progress=progress)
    card = fit(gathered.corpus, choice)
    with store.locked():
        if not overwrite:
            refuse_to_lose_lessons(store)
        store.save(Saved(gathered.corpus, choice, new_generation()), card)
    return Trained(gathered, card)


def refuse_to_lose_lessons(store: Store) -> None:
    """Training anew forgets what has been taught since; that must be wanted."""
    if lessons := store.lessons_at_stake():
        raise CannotWrite(
            f"{store.path}: {lessons} lessons learned since the last training would go; --replace lets them"
        )


def current(store: Store) -> tuple[Saved, Journal]:
    """The model with the lessons of its journal, and those lessons."""
    while True:
        generation = store.generation()
        saved = store.load()
        journal = store.lessons(saved.generation)
        if store.generation() == generation:  # else it was folded meanwhile, and the lessons are in the new model
            break
    return replace(saved, corpus=taught(saved.corpus, journal.lessons)) if journal.lessons else saved, journal


def refit(store: Store) -> Journal:
    """Fold the journal into the model and fit it anew. Needs the lock."""
    saved, journal = current(store)
    keep(store, saved.corpus, saved.choice)
    return journal


def keep(store: Store, corpus: Corpus, choice: Choice) -> None:
    """Fit a model to a corpus and put it in the place of the one there was. Needs the lock."""
    store.save(Saved(corpus, choice, new_generation()), fit(corpus, choice))


def begin(store: Store, choice: Choice) -> None:
    """A model that has learned nothing yet. Needs the lock."""
    keep(store, gather((), 0).corpus, choice)


def new_generation() -> str:
    """A name for a fitted model that no other has."""
    return secrets.token_hex(8)


def read_labelled(
    ham: Sequence[str], spam: Sequence[str], *, jobs: int | None, progress: Progress = lambda done, total: None
) -> Gathered:
    """The corpus of some ham and some spam. A folder named for one class is not read again inside the other."""
    left_out = LeftOut()
    work = {
        label: [unit for path in paths for unit in units(path, left_out, others)]
        for label, paths, others in ((False, ham, spam), (True, spam, ham))
    }
    gathered = gather(labelled_chunks(work, jobs, progress), int(time.time()))
    gathered.left_out.merge(left_out)
    for count, name, paths in zip(gathered.corpus.messages, (HAM, SPAM), (ham, spam), strict=True):
        if not count:
            also = " (all its messages are in the other class too)" if gathered.contradictions else ""
            raise BadData(f"{', '.join(paths)}: no {name} to learn from{also}; name a mailbox that holds {name}")
    return gathered


def labelled_chunks(work: dict[bool, list[Unit]], jobs: int | None, progress: Progress) -> Iterator[tuple[bool, Chunk]]:
    """The counted mail of both classes."""
    done, total = 0, sum(unit.size for mail in work.values() for unit in mail)
    for label, chunk in in_groups(count_chunk, work, jobs):
        done += chunk.size
        progress(done, total)
        yield label, chunk


def check_counts(kind: str, counts: str | None) -> None:
    """Refuse to count what the model does not look at."""
    if kind == "corrected" and counts == "raw":
        raise Usage("--counts raw goes with --kind multinomial; the corrected model looks whether a word is there")


def choice_of(settings: Settings) -> Choice:
    """The model that the settings ask for."""
    check_counts(settings.kind, settings.counts)
    contacts = read_contacts(settings.contacts) if settings.contacts else np.empty(0, np.uint64)
    return Choice(settings.kind, settings.alpha, settings.counts, contacts)


def read_contacts(path: str) -> NDArray[np.uint64]:
    """Ids of all addresses in a file of any kind: an address book, a vCard, a list, a mailbox."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = {address.lower().rstrip(".") for line in file for address in ADDRESS.findall(line)}
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}; name a file with addresses in it") from None
    return np.unique(np.array([token_id(address) for address in found], np.uint64))
