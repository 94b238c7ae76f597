"""Learn, correct and forget messages one by one: on disk before they are acknowledged, in the scorecard at once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from math import log

from .errors import SpamnbError, Usage
from .journal import Lesson
from .mailbox import Mail
from .message import read, short_digest
from .original import Original
from .scorecard import HAM, SPAM, Scorecard, Verdict
from .settings import Settings
from .store import Store
from .teaching import teach
from .tokens import measures, sender, token_id, tokens

BATCH = 500  # messages that are acknowledged together
SURE_MARGIN = 3.0  # beyond a cutoff: twenty times likelier still
FOLD_SHARE = 0.05  # lessons per message in the model that make a refit worth its while: linear time in the long run


class Learned:
    """What became of the messages that were to be learned."""

    def __init__(self) -> None:
        self.new = 0
        self.moved = 0  # from another class
        self.unchanged = 0  # known already
        self.forgotten = 0
        self.unknown = 0  # to be forgotten, but never learned
        self.damaged = 0  # records of the journal that could not be read


def lesson_of(raw: bytes, label: int | None, date: int) -> Lesson:
    """A message as a lesson."""
    original = Original(raw)
    message = read(original)
    address, measured = sender(message), measures(message)
    counts = dict(tokens(message, measured))
    return Lesson(original.digest(), label, date, token_id(address) if address else 0, measured, counts)


def class_number(store: Store, name: str) -> int:
    """The number of a class of the model's."""
    try:
        classes: tuple[str, ...] = store.scorecard().classes
    except SpamnbError:  # it will be made anew from the truth, if that can be read: else who learns tells
        classes = (HAM, SPAM)
        with suppress(SpamnbError):
            classes = store.load().corpus.classes
    if name not in classes:
        raise Usage(f"the model has no class {name!r}; there are {', '.join(classes)}")
    return classes.index(name)


def learn(store: Store, mails: Iterable[Mail], label: int | None, fold: bool = True) -> Learned:
    """Teach the model that messages are ham (0), spam (1) or of a class with that number; or to forget them (None)."""
    learned = Learned()
    now = int(time.time())
    lessons = (lesson_of(mail.raw, label, now) for mail in mails)
    while batch := list(islice(lessons, BATCH)):
        with store.locked(create=False):
            card = up_to_date(store, learned)
            take_in(store, card, batch, learned)
            if fold and fold_is_due(card):
                fold_in(store)
    return learned


def learn_if_sure(store: Store, raw: bytes, verdict: Verdict) -> bool:
    """Learn a message from the model's own verdict: only far from every cutoff, and only to keep the classes even.

    What a filter teaches itself it will believe; the margin and the balance keep an error from growing.
    """
    card = store.scorecard()
    if card.classes != (HAM, SPAM):
        raise Usage("--learn keeps ham and spam even; teach other classes with 'spamnb learn --class NAME'")
    ham, spam = card.messages
    if verdict.label == SPAM:
        sure = verdict.score > log(card.c) + SURE_MARGIN and spam <= ham
    else:
        sure = verdict.label == HAM and verdict.score < card.ham_cutoff - SURE_MARGIN and ham <= spam
    if sure:
        learn(store, [Mail("-", raw)], verdict.label == SPAM)
    return sure


def take_in(store: Store, card: Scorecard, batch: list[Lesson], learned: Learned) -> None:
    """Put what is new in a batch on disk, then into the scorecard."""
    news: dict[str, Lesson] = {}
    for lesson in batch:
        before = news[lesson.digest].label if lesson.digest in news else label_of(card, lesson)
        if before == lesson.label:
            learned.unknown += lesson.label is None
            learned.unchanged += lesson.label is not None
            continue
        learned.forgotten += lesson.label is None
        learned.new += lesson.label is not None and before is None
        learned.moved += lesson.label is not None and before is not None
        news[lesson.digest] = lesson
    if not news:
        return
    store.teach(card, list(news.values()))
    for lesson in news.values():
        apply(card, lesson)
    store.save_later(card)


def label_of(card: Scorecard, lesson: Lesson) -> int | None:
    """What a message has been learned as."""
    return card.learned_as(short_digest(lesson.digest))


def apply(card: Scorecard, lesson: Lesson) -> None:
    """Teach the scorecard one lesson of the journal."""
    label = None if lesson.label is None else int(lesson.label)
    teach(card, short_digest(lesson.digest), label, lesson.counts or {}, lesson.sender)
    card.lessons += 1


def up_to_date(store: Store, learned: Learned) -> Scorecard:
    """The scorecard with every lesson of the journal; a crash may have left it some behind. Needs the lock."""
    try:
        card = store.scorecard()
        current = card.generation == store.generation()
    except SpamnbError:
        current = False
    if not current:  # missing, damaged or behind; it can be made anew from the truth, if that is there
        learned.damaged += fold_in(store)
        card = store.scorecard()
    journal = store.lessons(card.generation)
    if journal.damaged:  # said once, and gone with this journal
        learned.damaged += fold_in(store)
        return store.scorecard()
    if behind := journal.lessons[card.lessons :]:
        for lesson in behind:
            apply(card, lesson)
        store.save_later(card)
    return card


def ensure_model(store: Store, settings: Settings) -> None:
    """Make an empty model where there is none: a filter works from the first message on."""
    if os.path.exists(store.card) or os.path.exists(store.model):  # no error where one may not look: the lock tells
        return
    from .training import begin, choice_of

    with store.locked():
        if not store.model.exists():
            begin(store, choice_of(settings))


def fold_is_due(card: Scorecard) -> bool:
    """Whether the journal has grown enough for a refit; a small model is refitted at every lesson.

    So is one that hears nothing without a fit, and one that has got its first message of a class or lost its last: only
    a fit gives it an opinion, or takes it.
    """
    if not card.teachable:
        return card.lessons > 0
    return all(card.messages) != bool(card.columns) or card.lessons >= max(1.0, FOLD_SHARE * sum(card.messages))


def fold_in(store: Store) -> int:
    """Refit the model from its rows and its journal; how many records of that could not be read."""
    from .training import refit

    return refit(store).damaged
