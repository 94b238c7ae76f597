"""Some messages ─▶ a small count matrix over words of its own. Runs in workers, so it imports nothing heavy."""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass
from itertools import count

from .mailbox import LeftOut, Unit, messages
from .message import read
from .original import Original
from .tokens import measures, sender, token_id, tokens


@dataclass
class Chunk:
    """What a worker found in some of the mail: a small count matrix over words of its own."""

    words: str  # joined by line ends
    indices: array[int]
    counts: array[int]
    lengths: array[int]  # tokens of each message
    digests: list[str]
    senders: array[int]
    measures: array[float]
    names: list[str]
    left_out: LeftOut
    size: int  # bytes of mail read

    @property
    def tokens(self) -> list[str]:
        return self.words.split("\n") if self.words else []


def count_chunk(units: list[Unit]) -> Chunk:
    """Read some mail and count its tokens. Runs in a worker."""
    chunk = Chunk("", array("I"), array("I"), array("I"), [], array("Q"), array("d"), [], LeftOut(), 0)
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    indices: list[int] = []  # a list takes many numbers quicker than an array does
    counts: list[int] = []
    for unit in units:
        chunk.size += unit.size
        for mail in messages(unit, chunk.left_out):
            if not mail.raw.strip():
                chunk.left_out.count("without a byte of mail")
                continue
            original = Original(mail.raw)
            message = read(original)
            measured = measures(message)
            row = tokens(message, measured)
            indices += map(numbers.__getitem__, row)
            counts += row.values()
            chunk.lengths.append(len(row))
            chunk.digests.append(original.digest())
            address = sender(message)
            chunk.senders.append(token_id(address) if address else 0)
            chunk.measures.extend(measured)
            chunk.names.append(mail.name)
    chunk.indices, chunk.counts = array("I", indices), array("I", counts)
    chunk.words = "\n".join(numbers)
    return chunk
