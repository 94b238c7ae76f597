"""Keep a model in bounds and move it about: expire, merge, export, import."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from .archive import Saved
from .corpus import HAM_AND_SPAM, Corpus, merged, with_block
from .errors import BadData
from .gathering import from_lessons
from .journal import Lesson
from .models import KINDS, Choice, check_choice
from .models.choice import asked_for
from .models.multinomial import word_totals
from .store import Store
from .training import current, keep

FORMAT = "spamnb export 1"
MOST_COUNTED = 2**32  # as the tables of a scorecard have it, and bogofilter
MESSAGE_COUNT = ".MSG_COUNT"  # bogofilter's name for how many messages there were
# bogofilter's prefixes and ours; what has no counterpart keeps its name.
BOGOFILTER_PREFIXES = {"subj": "subject", "rcvd": "received", "rtrn": "return", "mime": "part"}
OUR_PREFIXES = {ours: theirs for theirs, ours in BOGOFILTER_PREFIXES.items()}


def expire(store: Store, *, before: int | None = None, most: int | None = None) -> int:
    """Remove the messages that were learned before a time, or all but the newest; how many went."""
    with store.locked(create=False):
        saved, _ = current(store)
        corpus = saved.corpus
        kept = np.ones(len(corpus.dates), bool) if before is None else corpus.dates >= before
        if most is not None:
            newest = np.lexsort((corpus.digests, -corpus.dates))
            kept[newest[most:]] = False
        gone = int((~kept).sum())
        if gone:
            keep(store, corpus.take(kept), saved.choice)
    return gone


def merge(store: Store, others: Iterable[Store]) -> int:
    """Take the messages of other models in; where two differ on a message, the later lesson holds. How many changed."""
    changed = 0
    taken = [current(other)[0].corpus for other in others]
    with store.locked(create=False):
        saved, _ = current(store)
        corpus = saved.corpus
        for other in taken:
            check_classes(corpus, other.classes)
            corpus, news = absorbed(corpus, other)
            changed += news
        if changed or corpus is not saved.corpus:
            keep(store, corpus, saved.choice)
    return changed


def check_classes(corpus: Corpus, classes: tuple[str, ...]) -> None:
    """Refuse to mix messages of other classes in."""
    if classes != corpus.classes:
        here, there = ", ".join(corpus.classes), ", ".join(classes)
        raise BadData(f"this model has the classes {here}, the other {there}; they cannot become one")


def absorbed(corpus: Corpus, other: Corpus) -> tuple[Corpus, int]:
    """One corpus with the messages of another that it lacks or that were learned otherwise later."""
    known = {name: row for row, name in enumerate(corpus.digests.tolist())}
    rows = [known.get(name, -1) for name in other.digests.tolist()]
    later = np.array([row < 0 or other.dates[number] > corpus.dates[row] for number, row in enumerate(rows)], bool)
    replaced = [row for row, newer in zip(rows, later, strict=True) if newer and row >= 0]
    if not later.any() and (other.block is None or corpus.block is not None):
        return corpus, 0
    rest = corpus.take(np.delete(np.arange(len(corpus.labels)), replaced))
    news = [row < 0 or corpus.labels[row] != other.labels[number] for number, row in enumerate(rows) if later[number]]
    return merged([rest, other.take(later)]), sum(news)


@dataclass(frozen=True)
class Imported:
    """What an import brought."""

    messages: int
    words: int  # of a list of totals


def export_lines(saved: Saved) -> Iterator[str]:
    """The model as text: a line about it, a line a message, a line of totals if it has a block."""
    corpus, choice = saved.corpus, saved.choice
    if choice.unlabelled is not None:
        raise BadData("a model with unlabelled mail cannot be exported; copy its directory instead")
    about = {name: getattr(choice, name) for name in ("kind", *asked_for(choice))}
    yield json.dumps({
        "format": FORMAT, "classes": corpus.classes, **about, "contacts": choice.contacts.tolist(),
    })  # fmt: skip
    counts = corpus.counts
    for row, name in enumerate(corpus.digests.tolist()):
        part = slice(counts.indptr[row], counts.indptr[row + 1])
        words = {
            corpus.tokens[column]: int(count)
            for column, count in zip(counts.indices[part], counts.data[part], strict=True)
        }
        yield json.dumps({
            "class": corpus.classes[int(corpus.labels[row])],
            "learned": datetime.fromtimestamp(int(corpus.dates[row]), UTC).isoformat(),
            "digest": name.decode(),
            "sender": int(corpus.senders[row]),
            "measures": [float(value) for value in corpus.measures[row]],
            "taught": bool(corpus.lessons[row]),
            "words": words,
        })  # fmt: skip
    if corpus.block is not None:
        totals = {token: corpus.block[:, column].tolist() for column, token in enumerate(corpus.tokens)}
        yield json.dumps({
            "block": corpus.block_messages, "totals": {token: pair for token, pair in totals.items() if any(pair)},
        })  # fmt: skip


def bogofilter_lines(saved: Saved) -> Iterator[str]:
    """Word totals as `bogoutil -d` prints them: word, spam, ham, date."""
    corpus = saved.corpus
    check_classes(corpus, HAM_AND_SPAM)
    date = datetime.fromtimestamp(int(corpus.dates.max(initial=0)), UTC).strftime("%Y%m%d")
    ham, spam = (word_totals(corpus, label, binary=True) for label in (False, True))
    yield f"{MESSAGE_COUNT} {corpus.messages_counted[1]} {corpus.messages_counted[0]} {date}"
    for token, in_ham, in_spam in zip(corpus.tokens, ham, spam, strict=True):
        yield f"{renamed(token, OUR_PREFIXES)} {in_spam} {in_ham} {date}"


def import_lines(store: Store, lines: Iterable[str], name: str) -> Imported:
    """Take an export of ours, or a dump of bogofilter's, into a model."""
    text = iter(lines)
    first = next(text, "")
    with store.locked(create=False):
        saved, _ = current(store)
        choice, empty = saved.choice, not any(saved.corpus.messages_counted)
        try:
            if first.startswith("{"):
                about = json.loads(first)
                choice = choice_in(about) if empty else choice
                before = replace(saved.corpus, classes=classes_in(about)) if empty else saved.corpus
                corpus, imported = with_export(before, about, text)
            else:
                check_classes(saved.corpus, HAM_AND_SPAM)
                corpus, imported = with_dump(saved.corpus, [first, *text])
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise BadData(f"{name}: neither an export of spamnb nor a dump of bogoutil -d ({error})") from None
        keep(store, corpus, choice)
    return imported


def choice_in(about: dict[str, Any]) -> Choice:
    """The model that an export is of: a new one becomes the same."""
    if about["kind"] not in KINDS:
        raise ValueError(f"no kind {about['kind']!r}")
    names = [field.name for field in fields(Choice) if field.name in about and field.name != "unlabelled"]
    choice = Choice(**{**{name: about[name] for name in names}, "contacts": np.array(about["contacts"], np.uint64)})
    check_choice(choice)
    return choice


def classes_in(about: dict[str, Any]) -> tuple[str, ...]:
    """The classes of an export's messages."""
    return tuple(about.get("classes", HAM_AND_SPAM))


def with_export(corpus: Corpus, about: dict[str, Any], lines: Iterator[str]) -> tuple[Corpus, Imported]:
    """The corpus with the messages and the block of an export."""
    if about["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT!r}")
    check_classes(corpus, classes_in(about))
    records = [json.loads(line) for line in lines if line.strip()]
    messages = [record for record in records if "block" not in record]
    other = from_lessons([lesson_in(record, corpus.classes) for record in messages], corpus.classes)
    taught = {record["digest"].encode() for record in messages if record.get("taught", True)}
    other = replace(other, lessons=np.array([name in taught for name in other.digests.tolist()], bool))
    words = 0
    for record in records:
        if "block" in record:
            totals = {token: (counted(ham), counted(spam)) for token, (ham, spam) in record["totals"].items()}
            ham, spam = map(counted, record["block"])
            other, words = with_block(other, totals, (ham, spam)), len(totals)
    corpus, news = absorbed(corpus, other)
    return corpus, Imported(news, words)


def lesson_in(record: dict[str, Any], classes: tuple[str, ...]) -> Lesson:
    """A line of an export as a lesson."""
    date = int(datetime.fromisoformat(record["learned"]).timestamp())
    if any(count < 1 or "\n" in word for word, count in record["words"].items()):
        raise ValueError("a word that cannot be, or that stands there less than once")
    label = classes.index(record["class"])
    return Lesson(record["digest"], label, date, record["sender"], tuple(record["measures"]), record["words"])


def with_dump(corpus: Corpus, lines: Iterable[str]) -> tuple[Corpus, Imported]:
    """The corpus with the totals of a bogofilter word list as its block."""
    totals: dict[str, tuple[int, int]] = {}
    for line in lines:
        if line.strip():
            word, spam, ham, *_ = line.rstrip("\r\n").rsplit(" ", 3)  # any other white space may be in a word
            totals[renamed(word, BOGOFILTER_PREFIXES)] = counted(ham), counted(spam)
    messages = totals.pop(MESSAGE_COUNT, None)
    if messages is None:
        raise ValueError(f"it has no {MESSAGE_COUNT}")
    totals = {word: pair for word, pair in totals.items() if not word.startswith(".") and any(pair)}
    return with_block(corpus, totals, messages), Imported(0, len(totals))


def counted(number: Any) -> int:
    """A count, if it can be one."""
    count = int(number)
    if not 0 <= count < MOST_COUNTED:
        raise ValueError(f"{number} is no count")
    return count


def renamed(token: str, prefixes: dict[str, str]) -> str:
    """A token with another prefix for the same place."""
    prefix, colon, word = token.partition(":")
    return prefixes.get(prefix, prefix) + colon + word if colon else token
