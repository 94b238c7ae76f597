"""Train a model on mailboxes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from .models import SEVERAL, Choice, check_choice, fit
from .models.likeness import TEXT_DISTANCES
from .parallel import in_groups
from .scorecard import HAM, SPAM, Scorecard
from .settings import OF_A_MODEL, Settings
from .store import Store
from .tokens import ADDRESS, token_id

Progress = Callable[[int, int], None]  # told how much of how much is done


@dataclass(frozen=True)
class Trained:
    """A new model and how it came about."""

    gathered: Gathered
    card: Scorecard
    alpha: float | str | None = None  # as asked for


def train(
    store: Store,
    mail: Mapping[str, Sequence[str]],
    choice: Choice,
    unlabelled: Sequence[str] = (),
    *,
    overwrite: bool = False,
    jobs: int | None = None,
    progress: Progress = lambda done, total: None,
) -> Trained:
    """Fit a model on the mailboxes of each class, of any kind, and put it into its directory."""
    if not overwrite:
        with suppress(BadConfig):  # a place that cannot be read is told when it is to be written
            refuse_to_lose_lessons(store)
    gathered = read_classes(mail, jobs=jobs, progress=progress)
    if unlabelled:
        choice = replace(choice, unlabelled=read_unlabelled(unlabelled, gathered, jobs))
    card = fit(gathered.corpus, choice)
    if not card.words:
        raise BadData(f"--select {choice.select} leaves no word; give a smaller number")
    with store.locked():
        if not overwrite:
            refuse_to_lose_lessons(store)
        store.save(Saved(gathered.corpus, choice, new_generation()), card)
    return Trained(gathered, card, choice.alpha)


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
    """The corpus of some ham and some spam."""
    return read_classes({HAM: ham, SPAM: spam}, jobs=jobs, progress=progress)


def read_classes(
    mail: Mapping[str, Sequence[str]], *, jobs: int | None, progress: Progress = lambda done, total: None
) -> Gathered:
    """The corpus of mail of some classes. A folder named for one class is not read again inside another."""
    left_out = LeftOut()
    work = {}
    for label, (name, paths) in enumerate(mail.items()):
        others = [path for other, theirs in mail.items() if other != name for path in theirs]
        work[label] = [unit for path in paths for unit in units(path, left_out, others)]
    gathered = gather(labelled_chunks(work, jobs, progress), int(time.time()), tuple(mail))
    gathered.left_out.merge(left_out)
    for count, (name, paths) in zip(gathered.corpus.messages, mail.items(), strict=True):
        if not count:
            also = " (all its messages are in the other class too)" if gathered.contradictions else ""
            raise BadData(f"{', '.join(paths)}: no {name} to learn from{also}; name a mailbox that holds {name}")
    return gathered


def read_unlabelled(paths: Sequence[str], labelled: Gathered, jobs: int | None) -> Corpus:
    """The corpus of mail of unknown class, without messages whose class is known."""
    left_out = LeftOut()
    work = {0: [unit for path in paths for unit in units(path, left_out)]}
    found = gather(labelled_chunks(work, jobs, lambda done, total: None), int(time.time()))
    labelled.left_out.merge(left_out)
    labelled.left_out.merge(found.left_out)
    return found.corpus.take(~np.isin(found.corpus.digests, labelled.corpus.digests))


def labelled_chunks(work: dict[int, list[Unit]], jobs: int | None, progress: Progress) -> Iterator[tuple[int, Chunk]]:
    """The counted mail of all classes."""
    done, total = 0, sum(unit.size for mail in work.values() for unit in mail)
    for label, chunk in in_groups(count_chunk, work, jobs):
        done += chunk.size
        progress(done, total)
        yield label, chunk


def choice_of(settings: Settings, *, several: bool = False, unlabelled: bool = False) -> Choice:
    """The model that the settings ask for, for ham and spam or for classes of the user's naming."""
    if several and settings.kind not in SEVERAL:
        raise Usage(f"--kind {settings.kind} tells ham from spam; --class goes with {', '.join(SEVERAL)}")
    if several and settings.measures:
        raise Usage("--measures tell ham from spam; they do not go with --class")
    if unlabelled and settings.kind != "em":
        raise Usage("--unlabelled goes with --kind em")
    contacts = read_contacts(settings.contacts) if settings.contacts else np.empty(0, np.uint64)
    choice = Choice(contacts=contacts, **{name: getattr(settings, name) for name in OF_A_MODEL})
    check_choice(choice)
    check_can_last(choice)
    return choice


def check_can_last(choice: Choice) -> None:
    """Refuse what a model cannot be made of once its mail is gone."""
    if choice.distance in TEXT_DISTANCES:
        raise Usage(f"--distance {choice.distance} needs the mail itself: spamnb evaluate HAM SPAM --kind neighbours")


def read_contacts(path: str) -> NDArray[np.uint64]:
    """Ids of all addresses in a file of any kind: an address book, a vCard, a list, a mailbox."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = {address.lower().rstrip(".") for line in file for address in ADDRESS.findall(line)}
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}; name a file with addresses in it") from None
    return np.unique(np.array([token_id(address) for address in found], np.uint64))
