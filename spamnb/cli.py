"""The command line: finds a command, runs it, and turns every failure into one line and an exit code."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from . import __version__
from .errors import SpamnbError

# Each command is a function of its own name in a module of that name; only the one that runs is imported.
COMMANDS = ("train", "classify", "evaluate", "explain", "inspect", "learn", "forget", "refit")


class Commands(click.Group):
    """Imports a command when it is asked for: what a mail filter imports is its latency."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f".commands.{cmd_name}", __package__)
        return getattr(module, cmd_name)  # type: ignore[no-any-return]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spamnb")
def commands() -> None:
    """A naive Bayes spam filter that you train on your own mail."""


def main() -> NoReturn:
    """Run the program; every failure is one line and an exit code of sysexits.h."""
    try:
        status = commands.main(standalone_mode=False, prog_name="spamnb") or 0
        sys.stdout.flush()
    except SpamnbError as error:
        status = complain(str(error), error.exit_code)
    except click.ClickException as error:
        status = complain(error.format_message(), 64)
    except (KeyboardInterrupt, click.Abort):
        status = complain("interrupted; nothing was changed", 130)
    except BrokenPipeError:  # the reader has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 141
    except Exception as error:
        if os.environ.get("SPAMNB_DEBUG"):
            raise
        status = complain(f"a bug in spamnb: {type(error).__name__}: {error}; SPAMNB_DEBUG=1 shows where", 70)
    sys.exit(status)


def complain(text: str, status: int) -> int:
    """One line on standard error."""
    click.echo("spamnb: " + " ".join(text.split()), err=True)
    return status
