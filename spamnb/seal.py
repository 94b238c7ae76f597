"""The end of a model file: which generation it is, and a checksum. Read without loading the rest."""

from __future__ import annotations

import os
from pathlib import Path

SEAL = b"spamnb model end "
GENERATION_LETTERS = 16
SEAL_BYTES = len(SEAL) + GENERATION_LETTERS + 32


def seal_of(generation: str, checksum: bytes) -> bytes:
    """The seal of a file with this checksum."""
    return SEAL + generation.encode("ascii") + checksum


def sealed_generation(path: Path) -> str | None:
    """The generation of a model file, or None when it has no seal."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - SEAL_BYTES, 0))
        seal = file.read()
    if len(seal) != SEAL_BYTES or not seal.startswith(SEAL):
        return None
    return seal[len(SEAL) : len(SEAL) + GENERATION_LETTERS].decode("ascii", "replace")
