"""The scorecard as a file, mapped into memory and read with the standard library alone.

A head, a description in JSON, then the tables. Rows that lessons have changed since the file was written stand in a
second, small file of the same form, so that a lesson need not rewrite the whole.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from array import array
from collections.abc import Mapping
from zlib import crc32

from .errors import BadConfig, DamagedModel, NoModel
from .scorecard import TABLES, Column, Scorecard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAGIC = b"spamnb scorecard\n"
FORMAT = 2
HEAD = struct.Struct("<17sHIIQ")  # magic, format, length of the description, checksum and length of all behind the head
SCORECARD, LATER = "scorecard", "scorecard.later"  # names in a model's directory
NUMBERS = (
    "kind",
    "alpha",
    "binary",
    "prior",
    "messages",
    "totals",
    "words",
    "c",
    "ham_cutoff",
    "generation",
    "lessons",
    "classes",
    "quadratic",
    "teachable",
    "about",
)


def to_bytes(card: Scorecard) -> bytes:
    """The base rows as a file."""
    tables = {name: (code, card.tables[name]) for name, code in TABLES.items()}
    return packed(card, tables, [column.weights for column in card.columns])


def later_to_bytes(card: Scorecard) -> bytes:
    """The rows that lessons changed, and the numbers that changed with them, as a file."""
    senders, classes = card.later_senders, card.later_classes
    tables = {
        "ids": card.later_rows.keys(),
        "ham": card.later_counts[0],
        "spam": card.later_counts[1],
        "senders": senders.keys(),
        "sender_ham": [ham for ham, _ in senders.values()],
        "sender_spam": [spam for _, spam in senders.values()],
        "digests": classes.keys(),
        "classes": classes.values(),
        "contacts": (),
    }
    return packed(
        card, {name: (TABLES[name], table) for name, table in tables.items()}, [column.later for column in card.columns]
    )


def packed(card: Scorecard, tables: Mapping[str, tuple[str, Any]], weights: list[Any]) -> bytes:
    """Head, description, tables: each table begins at a multiple of 8."""
    sections = [*tables.items(), *((f"weights {number}", ("d", table)) for number, table in enumerate(weights))]
    blocks, layout = [], []
    for name, (code, table) in sections:
        block = table_bytes(code, table)
        layout.append((name, code, len(block) // array(code).itemsize))
        blocks.append(block + bytes(-len(block) % 8))
    description = {name: getattr(card, name) for name in NUMBERS}
    description["columns"] = [
        {name: getattr(column, name) for name in Column.__slots__ if name not in ("weights", "later")}
        for column in card.columns
    ]
    description["layout"] = layout
    text = json.dumps(description, sort_keys=True).encode()
    text += b" " * (-(HEAD.size + len(text)) % 8)
    content = b"".join([text, *blocks])
    return HEAD.pack(MAGIC, FORMAT, len(text), crc32(content, len(text)), len(content)) + content


def table_bytes(code: str, table: Any) -> bytes:
    """A table as it stands in the file."""
    try:
        view = memoryview(table)
    except TypeError:
        return array(code, table).tobytes()
    return view.tobytes() if view.itemsize == array(code).itemsize else array(code, table).tobytes()


def unpacked(buffer: bytes | mmap.mmap, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The description of a file, and its tables, which stay in the buffer."""
    size = len(buffer)
    if size < HEAD.size or buffer[: len(MAGIC)] != MAGIC:
        raise DamagedModel(f"{name}: not a scorecard; 'spamnb refit' makes it anew")
    _, version, length, checksum, rest = HEAD.unpack(buffer[: HEAD.size])
    if version != FORMAT:
        raise BadConfig(f"{name}: format {version}, this program reads {FORMAT}; 'spamnb refit' makes it anew")
    view = memoryview(buffer)
    if rest != size - HEAD.size or crc32(view[HEAD.size :], length) != checksum:  # 1.5 ms for 11 MB
        raise DamagedModel(f"{name}: truncated or altered; 'spamnb refit' makes it anew")
    description = json.loads(view[HEAD.size : HEAD.size + length].tobytes())
    start, tables = HEAD.size + length, {}
    for section, code, count in description.pop("layout"):
        stop = start + count * array(code).itemsize
        tables[section] = view[start:stop].cast(code)
        start = stop + -stop % 8
    return description, tables


def from_bytes(buffer: bytes | mmap.mmap, later: bytes | mmap.mmap | None = None, name: str = SCORECARD) -> Scorecard:
    """Read a scorecard, and the rows that came later if they are of its generation."""
    description, tables = unpacked(buffer, name)
    newer = None
    if later is not None:
        newer, later_tables = unpacked(later, f"{name}.later")
        if newer["generation"] != description["generation"]:
            newer = None
    numbers = newer or description
    card = Scorecard(
        tables=tables,
        columns=[
            Column(weights=tables[f"weights {number}"], **column) for number, column in enumerate(numbers["columns"])
        ],
        **settled(numbers),
    )
    if newer:
        take_later(card, later_tables)
    return card


def settled(description: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a description, with tuples for JSON's lists."""
    return {name: frozen(description[name]) for name in NUMBERS}


def frozen(value: Any) -> Any:
    """A list of JSON as a tuple, and the lists in it too."""
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def take_later(card: Scorecard, tables: Mapping[str, Any]) -> None:
    """Add the rows of a later file."""
    card.later_rows = {number: card.base_rows + place for place, number in enumerate(tables["ids"])}
    card.later_counts = tables["ham"], tables["spam"]
    counts = zip(tables["sender_ham"], tables["sender_spam"], strict=True)
    card.later_senders = dict(zip(tables["senders"], counts, strict=True))
    card.later_classes = dict(zip(tables["digests"], tables["classes"], strict=True))
    for number, column in enumerate(card.columns):
        column.later = tables[f"weights {number}"]


def open_model(directory: str) -> Scorecard:
    """Map the scorecard in a model's directory into memory."""
    path = os.path.join(directory, SCORECARD)
    later = mapped(os.path.join(directory, LATER))  # first: a fold replaces the scorecard before it removes this
    base = mapped(path)
    if base is None and os.path.exists(os.path.join(directory, "model.joblib")):
        raise BadConfig(f"{path}: not there, but the model is; 'spamnb refit' makes it anew")
    if base is None:
        raise NoModel(f"{directory}: no model here; 'spamnb train HAM SPAM' makes one")
    return from_bytes(base, later, path)


def mapped(path: str) -> mmap.mmap | bytes | None:
    """A file's bytes, mapped; None when there is no file."""
    try:
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadConfig(f"{path}: {error.strerror}; make it readable, or name another model with --model") from None
    except ValueError:  # an empty file cannot be mapped
        return b""
