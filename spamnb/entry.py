"""Where the program begins. `filter` and `classify` of one message are served without click, which costs more than the
judgement itself; every other command line, and any that this does not understand, goes to cli.py."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

# Long options that may be given here, with the default of each; a bool takes no value.
QUICK: dict[str, dict[str, Any]] = {
    "filter": {
        "model": None,
        "threshold": None,
        "headers": "spamassassin",
        "subject_tag": None,
        "evidence": False,
        "learn": False,
        "tempfail": False,
    },
    "classify": {"model": None, "threshold": None, "format": "text", "exit_code": False},
}
CHOICES = {"headers": ("spamassassin", "bogofilter", "spamnb"), "format": ("text", "jsonl")}


def main() -> NoReturn:
    """Run the program; every failure is one line and an exit code of sysexits.h."""
    from .errors import CannotWrite, SpamnbError

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to stop
    try:
        status = dispatch("".join(sys.argv[1:2]), sys.argv[2:])
        sys.stdout.flush()
    except SpamnbError as error:
        status = complain(str(error), error.exit_code)
    except KeyboardInterrupt:
        status = complain("interrupted; what was saved before stands", 130)
    except BrokenPipeError:  # the reader has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 141
    except OSError as error:  # every file of the user's is guarded where it is opened: this is standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = complain(f"{error.strerror or error}; the output is not complete", CannotWrite.exit_code)
    except Exception as error:
        if os.environ.get("SPAMNB_DEBUG"):
            raise
        status = complain(f"a bug in spamnb: {type(error).__name__}: {error}; SPAMNB_DEBUG=1 shows where", 70)
    sys.exit(status)


def dispatch(command: str, args: list[str]) -> int:
    """Find out who serves a command line, and let him."""
    if command == "filter" and not {"-h", "--help"} & set(args):
        from .passing import pass_mail

        return pass_mail(lambda: filter_options(args), os.environ, "--tempfail" in args)
    if command == "classify" and (options := understood(command, args)) and one_message(options["paths"]):
        from .classifying import classify_paths
        from .settings import load_settings

        settings = load_settings(os.environ, {name: options[name] for name in ("model", "threshold")})
        return classify_paths(options["paths"] or ["-"], settings, options["format"], options["exit_code"])
    from .cli import run

    return run(sys.argv[1:])


def filter_options(args: list[str]) -> Mapping[str, Any]:
    """The options of `filter`, by click where they are not plain."""
    options = understood("filter", args)
    if options is not None and not options["paths"]:
        return options
    from .commands.filter import filter as command

    return command.make_context("filter", list(args)).params


def understood(command: str, args: list[str]) -> dict[str, Any] | None:
    """Plain options and paths, or None when there is more to it than this can read."""
    options = dict(QUICK[command])
    paths: list[str] = []
    words = iter(args)
    for word in words:
        name, equals, value = word[2:].partition("=")
        name = name.replace("-", "_")
        if not word.startswith("-") or word == "-":
            paths.append(word)
        elif not word.startswith("--") or name not in options:
            return None
        elif options[name] is False or options[name] is True:
            if equals:
                return None
            options[name] = True
        else:
            given = value if equals else next(words, None)
            if given is None or given not in CHOICES.get(name, (given,)):
                return None
            options[name] = given
    return {**options, "paths": paths}


def one_message(paths: list[str]) -> bool:
    """Standard input, or a file: what is not worth more than one process."""
    return not paths or (len(paths) == 1 and (paths[0] == "-" or os.path.isfile(paths[0])))


def complain(text: str, status: int) -> int:
    """One line on standard error."""
    from .notices import tell

    tell(text)
    return status
