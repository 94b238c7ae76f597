"""The command line, as click reads it."""

from __future__ import annotations

import os
from importlib import import_module
from keyword import iskeyword

import click

from . import __version__
from .errors import Usage

# Each command is a function of its own name in a module of that name; only the one that runs is imported.
COMMANDS = (
    "train", "classify", "filter", "learn", "forget", "evaluate", "cluster", "explain", "inspect", "audit", "refit",
    "expire", "merge", "export", "import", "recipe",
)  # fmt: skip


class Commands(click.Group):
    """Imports a command when it is asked for: what a mail filter imports is its latency."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name + "_" * iskeyword(cmd_name)
        return getattr(import_module(f".commands.{name}", __package__), name)  # type: ignore[no-any-return]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spamnb")
def commands() -> None:
    """A naive Bayes spam filter that you train on your own mail."""


def run(args: list[str]) -> int:
    """Read the command line and do what it says; the exit status."""
    # Threads of the linear algebra library cost more than they give here, and many times that on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "_SPAMNB_COMPLETE" in os.environ:
        commands.main(prog_name="spamnb")
    try:
        with commands.make_context("spamnb", args) as context:
            return commands.invoke(context) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return Usage.exit_code
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        raise Usage(error.format_message()) from None
    except click.Abort:
        raise KeyboardInterrupt from None
