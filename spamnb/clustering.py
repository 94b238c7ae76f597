"""Mailboxes without labels ─▶ groups of messages that use the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus, columns_of
from .counting import Chunk, count_chunk
from .errors import BadData, Usage
from .gathering import gather
from .mailbox import LeftOut, Unit, units
from .models.mixture import FEWEST_MESSAGES, Progress, cluster, group_words, repeated
from .parallel import in_parallel
from .tokens import ENVELOPE_BIT

FEW = 20  # messages; with fewer, words that stand in one alone are most of what there is to go by
SUBJECT = "subject:"


@dataclass(frozen=True)
class Unsorted:
    """Mail to be sorted: each message once, and the digest of every message by its name."""

    corpus: Corpus
    digest_of: dict[str, str]
    left_out: LeftOut


@dataclass(frozen=True)
class Group:
    """Messages that belong together, and the words that tell them from the others."""

    group: int  # from 1, the largest first
    messages: int  # copies included
    words: list[str]


@dataclass(frozen=True)
class Grouped:
    """Groups, whose message is whose, and how the objective went."""

    groups: list[Group]
    members: list[tuple[str, int]]  # name of each message, copies too, in the order read; its group
    steps: list[float]


def read_unsorted(
    paths: Sequence[str], *, jobs: int | None = None, progress: Progress = lambda done, total: None
) -> Unsorted:
    """The messages of mailboxes of any kind, whatever they are."""
    left_out, digest_of = LeftOut(), dict[str, str]()
    work = [unit for path in paths for unit in units(path, left_out)]
    gathered = gather(((0, chunk) for chunk in named_chunks(work, jobs, progress, digest_of)), 0)
    left_out.merge(gathered.left_out)
    if not digest_of:
        raise BadData(f"{', '.join(paths)}: no message to sort; name a mailbox that holds mail")
    return Unsorted(gathered.corpus, digest_of, left_out)


def named_chunks(work: list[Unit], jobs: int | None, progress: Progress, digest_of: dict[str, str]) -> Iterator[Chunk]:
    """The counted mail; the digest of each message is noted under its name."""
    done, total = 0, sum(unit.size for unit in work)
    for chunk in in_parallel(count_chunk, work, jobs):
        done += chunk.size
        progress(done, total)
        digest_of.update(zip(chunk.names, chunk.digests, strict=True))
        yield chunk


def sort_mail(
    mail: Unsorted,
    groups: int,
    method: str = "em",
    *,
    words: int = 10,
    seed: int = 0,
    envelope: bool = False,
    progress: Progress = lambda done, total: None,
) -> Grouped:
    """Groups of messages that use the same words: those of the text, or the envelope's tokens too."""
    check_enough(groups, len(mail.corpus.digests))
    corpus = mail.corpus
    heard = heard_tokens(corpus, envelope)
    counts = columns_of(corpus.counts, heard)
    found, _, steps = cluster(counts, groups, method, seed, progress=progress)
    assignment = by_size(found)
    shown = np.array([column for column, token in enumerate(heard) if envelope or is_word(corpus.tokens[token])], int)
    names = [corpus.tokens[column] for column in heard[shown]]
    telling = group_words(columns_of(counts, shown), assignment, names, words)
    group_of = dict(zip(corpus.digests.tolist(), (assignment + 1).tolist(), strict=True))
    members = [(name, group_of[digest.encode()]) for name, digest in mail.digest_of.items()]
    sizes = Counter(group for _, group in members)
    return Grouped([Group(number, sizes[number], best) for number, best in enumerate(telling, 1)], members, steps)


def check_enough(groups: int, messages: int) -> None:
    """Refuse to make more groups than there are messages."""
    if groups > messages:
        there = f"are {messages} different messages" if messages > 1 else "is 1 message"
        raise Usage(f"--groups {groups}: there {there}; ask for {messages} or fewer, or name more mail")


def heard_tokens(corpus: Corpus, envelope: bool) -> NDArray[np.intp]:
    """The columns to sort by."""
    heard = repeated(corpus.counts, 1 if len(corpus.digests) < FEW else FEWEST_MESSAGES)
    return heard if envelope else heard[corpus.ids[heard] < np.uint64(ENVELOPE_BIT)]


def by_size(assignment: NDArray[np.intp]) -> NDArray[np.intp]:
    """The groups numbered anew, the largest 0; one that stayed empty has no number."""
    sizes = np.bincount(assignment)
    number = np.empty(len(sizes), np.intp)
    number[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return number[assignment]


def is_word(token: str) -> bool:
    """Whether a token is a word of the text or the subject, not a link, an amount or a trick."""
    return ":" not in token or token.startswith(SUBJECT)
