"""Mailboxes of any kind ─▶ raw messages, streamed: `units` lists the work, `messages` does a piece of it."""

from __future__ import annotations

import io
import os  # not pathlib: a mail filter is started once per mail, and what it imports is its latency
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import chain

from .errors import NoInput, NotAMailbox

BLOCK = 1 << 20
SLICE = 2 << 20  # enough work to pay for handing it to a worker, little enough to share out evenly

# Bodies hold unquoted `From ` lines, so a separator must follow a blank line, which lines of a log or of forwarded
# headers seldom do, and carry a date, which prose does not. The bounds keep a hostile line cheap.
DATED = re.compile(
    rb"From (?:.{0,400} )?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:[A-Z][a-z]{2} +\d\d?|\d\d? +[A-Z][a-z]{2}) "
    rb"(?=.{0,40}\d:\d\d)(?=.{0,40}\b(?:19|20)\d\d\b)"
)
# In a file whose first separator has no date, none needs one; there a header must come next instead.
UNDATED = re.compile(rb"From .*\n[!-9;-~]+:")
ENOUGH_TO_TELL = re.compile(rb".*\n.*\n|(?s:.{2000})")
GZIP, BZIP2, XZ = b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0"

# Subfolders of a maildir that say nothing certain about the user's mail, or the opposite of the rest.
TRASH = ("trash", "bin", "deleted", "deleted messages", "deleted items", "papierkorb", "corbeille")
JUNK = ("junk", "junk e-mail", "junk email", "spam", "bulk mail")
UNSENT = ("draft", "drafts", "templates", "outbox", "unsent messages", "sent-later")
LEFT_OUT_FOLDERS = frozenset((*TRASH, *JUNK, *UNSENT))
# What mail programs keep beside the mail. MH marks a removed message with a comma.
NOT_MAIL_PREFIXES = (".", ",", "dovecot", "courierimap", "courierpop3", "maildirfolder", "maildirsize")
NOT_MAIL_SUFFIXES = (".msf", ".lock", "popstate.dat", "msgFilterRules.dat")


class Unit:
    """A file (end is None), or the bytes from start to end of an mbox, that a worker can read on its own."""

    __slots__ = ("end", "first", "path", "raw", "size", "start")

    def __init__(self, path: str, size: int, start: int = 0, end: int | None = None, first: int = 1) -> None:
        self.path, self.size = path, size
        self.start, self.end, self.first = start, end, first  # first: number of the first message, from 1
        self.raw: bytes | None = None  # the contents, when they cannot be read again


class Mail:
    """One message, named `path`, `path#n` or `-`."""

    __slots__ = ("name", "raw")

    def __init__(self, name: str, raw: bytes) -> None:
        self.name, self.raw = name, raw


class LeftOut:
    """What was not read, to be told to the user."""

    __slots__ = ("counts", "unreadable")

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}  # reason ─▶ messages
        self.unreadable: list[tuple[str, str]] = []  # (path, reason)

    def count(self, reason: str, messages: int = 1) -> None:
        if messages:
            self.counts[reason] = self.counts.get(reason, 0) + messages

    def cannot_read(self, path: str, error: OSError) -> None:
        self.unreadable.append((path, error.strerror or str(error)))

    def merge(self, other: LeftOut) -> None:
        for reason, messages in other.counts.items():
            self.count(reason, messages)
        self.unreadable += other.unreadable

    def total(self) -> int:
        return sum(self.counts.values()) + len(self.unreadable)


def units(path: str, notes: LeftOut, exclude: Iterable[str] = ()) -> Iterator[Unit]:
    """List what there is to read in a file, a folder of any kind or `-`, but for the paths in `exclude`."""
    if path == "-":
        raw = sys.stdin.buffer.read()
        unit = Unit(path, len(raw))
        unit.raw = raw
        yield unit
        return
    _check_readable(path)
    empty, noted_before = True, notes.total()
    is_folder = os.path.isdir(path)
    for file, size in _Walk(path, notes, exclude).files(path) if is_folder else [(path, os.path.getsize(path))]:
        empty = False
        try:
            yield from (Unit(file, size),) if size <= 2 * SLICE else slices(file, size)
        except OSError as error:
            notes.cannot_read(file, error)
    if empty and notes.total() == noted_before:
        raise NotAMailbox(f"{path}: no mail in this folder; name an mbox, a maildir or a folder of messages")


def _check_readable(path: str) -> None:
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise NotAMailbox(f"{path}: neither a file nor a folder; pipe what it gives to '-' instead")
    try:
        os.close(os.open(path, os.O_RDONLY))
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise NoInput(f"{path}: {reason}; name mail that you can read, or '-' for standard input") from None


def slices(path: str, size: int, slice_bytes: int = SLICE) -> Iterator[Unit]:
    """Cut a plain mbox at separators, so that workers can share it; any other file stays whole."""
    whole = Unit(path, size)
    with open(path, "rb", buffering=0) as file:
        blocks = _blocks(file, whole)
        head = next(blocks, b"")
        if _separator(head) is not DATED:  # a slice must show by its first line what separates its messages
            yield whole
            return
        start, at, first = 0, 0, 1
        for number, (piece, _) in enumerate(_split(head, blocks, DATED), 1):
            if at - start >= slice_bytes:
                yield Unit(path, at - start, start, at, first)
                start, first = at, number
            at += len(piece)
        yield Unit(path, at - start, start, at, first) if start else whole


class _Walk:
    """The files of mail below a folder, sorted, maildirs read by their own rules."""

    def __init__(self, root: str, notes: LeftOut, exclude: Iterable[str]) -> None:
        self.notes = notes
        self.excluded = [os.stat(path) for path in exclude if os.path.exists(path)]
        # Whoever names the trash wants the trash, and what lies in it.
        self.choosy = not _is_left_out_folder(os.path.basename(os.path.abspath(root)))

    def files(self, folder: str, in_maildir: bool = False) -> Iterator[tuple[str, int]]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self.notes.cannot_read(folder, error)
            return
        maildir = _is_maildir(folder)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not (maildir and entry.name == "tmp"):
                    yield from self._folder(entry, in_maildir or maildir)
            elif _is_mail_name(entry.name):
                if maildir:
                    self.notes.count("beside the cur and new of a maildir")
                else:
                    yield from self._file(entry)

    def _folder(self, entry: os.DirEntry[str], in_maildir: bool) -> Iterator[tuple[str, int]]:
        wanted = _is_mail_name(entry.name) or _is_maildir(entry.path)  # .git is hidden, .Work is a Maildir++ folder
        if not wanted or self._status(entry) is None:
            return
        if in_maildir and self.choosy and _is_left_out_folder(entry.name):
            inside = LeftOut()  # a message flagged as deleted is in the trash all the same
            files = sum(1 for _ in _Walk(entry.path, inside, ()).files(entry.path))
            self.notes.count(f"in {entry.name}", files + inside.total())
        else:
            yield from self.files(entry.path, in_maildir)

    def _file(self, entry: os.DirEntry[str]) -> Iterator[tuple[str, int]]:
        status = self._status(entry)
        if status is None:
            return
        _, mark, flags = entry.name.rpartition(":2,")
        if mark and self.choosy and ("T" in flags or "D" in flags):
            self.notes.count("flagged as deleted or draft")
        elif entry.is_file():
            yield entry.path, status.st_size
        else:  # a link to a folder could lead round in circles
            self.notes.count("links to folders" if entry.is_dir() else "pipes, sockets and devices")

    def _status(self, entry: os.DirEntry[str]) -> os.stat_result | None:
        try:
            status = entry.stat()
        except OSError as error:
            self.notes.cannot_read(entry.path, error)
            return None
        return None if any(os.path.samestat(status, other) for other in self.excluded) else status


def _is_maildir(folder: str) -> bool:  # one of the two will do: git keeps no empty folders
    return os.path.isdir(os.path.join(folder, "cur")) or os.path.isdir(os.path.join(folder, "new"))


def _is_left_out_folder(name: str) -> bool:
    # Maildir++ writes a path with dots: .Trash.2024 lies in the trash.
    return not LEFT_OUT_FOLDERS.isdisjoint(name.lower().split("."))


def _is_mail_name(name: str) -> bool:
    return not (name.startswith(NOT_MAIL_PREFIXES) or name.endswith(NOT_MAIL_SUFFIXES))


def messages(unit: Unit, notes: LeftOut) -> Iterator[Mail]:
    """Read a unit; what cannot be read is noted, never raised."""
    try:
        with open(unit.path, "rb", buffering=0) if unit.raw is None else io.BytesIO(unit.raw) as file:
            for mail in _mails(unit, file):
                if _is_internal_data(mail.raw):
                    notes.count("folder internal data")
                else:
                    yield mail
    except OSError as error:
        notes.cannot_read(unit.path, error)


def _is_internal_data(raw: bytes) -> bool:
    """Whether a mail program keeps its notes about the folder in this message."""
    if raw.find(b"INTERNAL DATA", 0, 2000) < 0 and raw.find(b"Internal Data", 0, 2000) < 0:
        return False  # settled in a fraction of the time it took to read the file
    headers = re.split(rb"\n\r?\n", raw, maxsplit=1)[0]
    return bool(re.search(rb"(?im)^(Subject:.*FOLDER|From:.*Mail System) INTERNAL DATA", headers))


def _mails(unit: Unit, file: io.RawIOBase | io.BytesIO) -> Iterator[Mail]:
    blocks = _blocks(file, unit)
    head = next(blocks, b"")
    if head.startswith((GZIP, BZIP2, XZ)):
        blocks, head = _decompressed(file, head), b""
        while not ENOUGH_TO_TELL.match(head.lstrip(b"\r\n")) and (block := next(blocks, b"")):
            head += block  # decompressed blocks can be too small to show a separator
    separator = _separator(head)
    if separator is None:
        yield Mail(unit.path, b"".join((head, *blocks)))
        return
    for number, (piece, is_last) in enumerate(_split(head, blocks, separator), unit.first):
        is_alone = is_last and number == 1 and unit.end is None
        yield Mail(unit.path if is_alone else f"{unit.path}#{number}", _unwrapped(piece))


def _blocks(file: io.RawIOBase | io.BytesIO, unit: Unit) -> Iterator[bytes]:
    if unit.size <= BLOCK and unit.end is None:
        yield file.read() or b""  # most files are one small message: one call, no more
        return
    file.seek(unit.start)
    left = sys.maxsize if unit.end is None else unit.end - unit.start
    while block := file.read(min(left, BLOCK)):
        left -= len(block)
        yield block


def _decompressed(file: io.RawIOBase | io.BytesIO, head: bytes) -> Iterator[bytes]:
    import bz2
    import gzip
    import lzma
    import zlib

    file.seek(0)
    kind = gzip if head.startswith(GZIP) else bz2 if head.startswith(BZIP2) else lzma
    try:
        with kind.open(file) as stream:
            while block := stream.read1(BLOCK):  # unlike read, it hands over what lies before the damage
                yield block
    except (EOFError, zlib.error, lzma.LZMAError) as damage:
        raise OSError(f"damaged: {damage}") from damage


def _separator(head: bytes) -> re.Pattern[bytes] | None:
    """What separates the messages of a file that begins like this; None if it is a single message."""
    if not head.startswith((b"From ", b"\n", b"\r\n")):
        return None
    begin = head.lstrip(b"\r\n")
    return DATED if DATED.match(begin) else UNDATED if UNDATED.match(begin) else None


def _split(head: bytes, blocks: Iterator[bytes], separator: re.Pattern[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Cut an mbox before each separator: pieces that joined are the whole, and whether it is the last."""
    buffer = bytearray()
    searched = len(head) - len(head.lstrip(b"\r\n"))  # blank lines before the first separator go with it
    for block in chain((head,), blocks, (b"",)):
        buffer += block
        begin = 0
        while (at := buffer.find(b"\nFrom ", searched)) >= 0:
            if block and not ENOUGH_TO_TELL.match(buffer, at + 1):
                break  # the rest of the line is in the next block
            searched = at + 1
            if buffer.endswith((b"\n", b"\n\r"), begin, at) and separator.match(buffer, at + 1):
                yield bytes(buffer[begin : at + 1]), False
                begin = at + 1
        else:
            searched = max(searched, len(buffer) - len(b"\nFrom"))
        del buffer[:begin]
        searched -= begin
    yield bytes(buffer), True


def _unwrapped(piece: bytes) -> bytes:
    """The message as it was before an mbox took it: no `From ` line, no quoting, no blank line at the end."""
    blank_line = 2 if piece.endswith(b"\n\r\n") else 1 if piece.endswith(b"\n\n") else 0
    raw = piece[: len(piece) - blank_line].lstrip(b"\r\n").partition(b"\n")[2]
    return re.sub(rb"(?m)^>(?=>*From )", b"", raw) if b">From " in raw else raw
