"""Lessons learned since a model was last folded: appended, checked, and on disk before they are acknowledged.

The first line names the generation of the model that the lessons belong to; a journal of another generation is an old
one that has been folded in already. Then a line a lesson: a checksum and a JSON object. The last lesson about a message
holds, so reading the journal twice changes nothing.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from zlib import crc32

HEADER = "spamnb journal 1 {generation}\n"


@dataclass(frozen=True)
class Lesson:
    """A message as it was learned; label None says that it was forgotten."""

    digest: str
    label: int | None  # number of the class: 0 for ham, 1 for spam
    date: int = 0
    sender: int = 0
    measures: tuple[float, ...] = ()
    counts: dict[str, int] | None = None


@dataclass(frozen=True)
class Journal:
    """The lessons that could be read, and how many records could not."""

    lessons: list[Lesson]
    damaged: int = 0


def read_journal(path: Path, generation: str | None) -> Journal:
    """The lessons for this generation of the model, or for any."""
    try:
        header, *lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return Journal([])
    if generation is not None and header + b"\n" != HEADER.format(generation=generation).encode():
        return Journal([])
    records = [line for line in lines if line]
    lessons = [lesson for line in records if (lesson := parsed(line))]
    return Journal(lessons, len(records) - len(lessons))


def append_lessons(path: Path, generation: str, lessons: list[Lesson]) -> None:
    """Add lessons and wait until they are on disk; a journal of another generation is begun anew."""
    header = HEADER.format(generation=generation).encode()
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "r+b", buffering=0) as file:
        if file.read(len(header)) != header:
            file.truncate(0)
            size, begin = 0, header
        else:
            size = file.seek(-1, os.SEEK_END) + 1
            begin = b"\n" * (file.read(1) != b"\n")  # a crash cut the last record off; the next gets a line of its own
        try:
            write_at(file, size, begin + b"".join(map(line_of, lessons)))
            os.fsync(handle)
        except OSError:
            file.truncate(size)  # no part of a batch that failed may count
            raise


def write_at(file: IO[bytes], position: int, content: bytes) -> None:
    """Write all of it: a disk that is nearly full takes a part."""
    file.seek(position)
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


def line_of(lesson: Lesson) -> bytes:
    """A lesson as a line of the journal."""
    text = json.dumps(vars(lesson), separators=(",", ":")).encode()
    return b"%08x %s\n" % (crc32(text), text)


def parsed(line: bytes) -> Lesson | None:
    """A line as a lesson, or None when it is not whole."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % crc32(text):
        return None
    content = json.loads(text)
    content["measures"] = tuple(content["measures"])
    return Lesson(**content)
