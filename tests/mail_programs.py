"""What the tests of mail programs share: recipes as they are printed, and a home to install them in."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from spamnb.commands.recipe import RECIPES
from spamnb.learning import label_of, lesson_of
from spamnb.store import Store

BIN = Path(sys.executable).parent
SAMPLE = Path(__file__).parent.parent / "sample_mail"
SEPARATOR = re.compile(r"^# ---- file: (\S+)(?: \((.*)\))? ----\n", re.M)
OUR_HEADERS = re.compile(rb"\A(?:X-Spam(?:-Status|-Flag|-Level|nb[\w-]*):.*\n(?:[ \t].*\n)*)+")
LIMIT = 60  # seconds after which a program that hangs is a failure


class Piece(NamedTuple):
    """One file of a recipe."""

    path: str
    note: str
    text: str

    @property
    def executable(self) -> bool:
        return self.note == "executable"

    def save(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text)
        path.chmod(0o755 if self.executable else 0o600)
        return path


def printed(name: str) -> str:
    done = subprocess.run([BIN / "spamnb", "recipe", name], capture_output=True, check=True, timeout=LIMIT)
    assert done.stderr == b""
    return done.stdout.decode()


def pieces(name: str) -> list[Piece]:
    """The files of a recipe as it is printed, in order."""
    assert name in RECIPES
    parts = SEPARATOR.split(printed(name))[1:]
    return [
        Piece(path, note or "", text) for path, note, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


class Home:
    """A user's home with spamnb installed as `pip install --user` does it, and a model."""

    def __init__(self, path: Path, model: Path) -> None:
        self.path = path
        self.model = path / ".local/share/spamnb/default"
        self.spamnb = path / ".local/bin/spamnb"
        self.spamnb.parent.mkdir(parents=True)
        self.spamnb.symlink_to(BIN / "spamnb")
        shutil.copytree(model, self.model)

    def run(self, *command: str | Path, stdin: bytes = b"", check: bool = True) -> subprocess.CompletedProcess[bytes]:
        """Run a program as this user would: nothing of the surroundings but the system's programs."""
        environ = {"HOME": str(self.path), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        return subprocess.run(command, input=stdin, capture_output=True, env=environ, timeout=LIMIT, check=check)

    def folder(self, name: str) -> list[bytes]:
        """The messages in a maildir, sorted."""
        return sorted(file.read_bytes() for part in ("new", "cur") for file in (self.path / name / part).glob("*"))

    def learned_as(self, raw: bytes) -> bool | None:
        """What the model knows a message as."""
        label = label_of(Store(self.model).scorecard(), lesson_of(raw, None, 0))
        return None if label is None else bool(label)

    def damage_the_model(self) -> None:
        """In place, under the eyes of whoever reads it."""
        with open(self.model / "scorecard", "r+b") as file:
            file.write(os.urandom(100))
            file.truncate(200)


def sample(label: str) -> list[bytes]:
    """Messages that the model of the sample mail has not seen, and judges rightly."""
    return [file.read_bytes() for file in sorted((SAMPLE / "judge" / label).glob("*.eml"))]


def without_our_headers(raw: bytes) -> bytes:
    return OUR_HEADERS.sub(b"", raw)
