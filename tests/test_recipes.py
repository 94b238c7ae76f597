"""Every recipe as it is printed: complete, with commands and options that exist, and understood by those it is for."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from email import message_from_bytes
from pathlib import Path

import click
import pytest
from mail_programs import BIN, LIMIT, Home, pieces, printed, sample

from spamnb.cli import COMMANDS, commands
from spamnb.commands.recipe import RECIPES

ALL = [pytest.param(piece, id=f"{name}-{Path(piece.path).name}") for name in RECIPES for piece in pieces(name)]
SPAM, HAM = sample("spam")[0], sample("ham")[0]


def of_kind(test):
    """The files of all recipes for which a test holds."""
    return [param for param in ALL if test(param.values[0])]


def test_there_is_a_text_for_every_recipe_and_no_other():
    folder = Path(__file__).parent.parent / "spamnb" / "recipes"
    assert {file.stem for file in folder.glob("*")} == set(RECIPES)


@pytest.mark.parametrize("args", [["exim"], []])
def test_an_unknown_recipe_is_a_usage_error_that_names_all(args):
    done = subprocess.run([BIN / "spamnb", "recipe", *args], capture_output=True, text=True, timeout=LIMIT)
    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.count("\n") == 1
    assert all(name in done.stderr for name in RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_plain_text_in_files_with_names(name):
    text = printed(name)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 120
    assert pieces(name)
    assert all(piece.text.startswith("#!") == piece.executable for piece in pieces(name))


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_uses_commands_and_options_that_exist(name):
    text = re.sub(r'[",]+', " ", printed(name))
    used = [(command, re.findall(r" (--?[a-z][\w-]*)", rest)) for command, rest in re.findall(
        rf"\bspamnb +({'|'.join(COMMANDS)})\b([^\n;|]*)", text)]  # fmt: skip
    assert used
    context = click.Context(commands)
    for command, options in used:
        known = commands.get_command(context, command).params
        assert set(options) <= {option for param in known for option in [*param.opts, *param.secondary_opts]}


@pytest.mark.parametrize("piece", of_kind(lambda piece: piece.text.startswith("#!/bin/sh\n")))
def test_shell_scripts_are_shell(piece):
    subprocess.run(["sh", "-n"], input=piece.text.encode(), check=True, timeout=LIMIT)


@pytest.mark.parametrize("piece", of_kind(lambda piece: "python3" in piece.text.partition("\n")[0]))
def test_python_scripts_are_python(piece):
    compile(piece.text, piece.path, "exec")


@pytest.mark.needs("sievec")
@pytest.mark.parametrize("name", ["sieve", "imapsieve"])
def test_sieve_scripts_compile_with_the_settings_that_come_with_them(name, tmp_path):
    conf, *others = pieces(name)
    conf.save(tmp_path / "dovecot.conf")
    scripts = [piece for piece in others if piece.path.endswith(".sieve")]
    assert scripts
    for piece in scripts:
        file = piece.save(tmp_path / Path(piece.path).name)
        subprocess.run(["sievec", "-c", tmp_path / "dovecot.conf", file], check=True, timeout=LIMIT)


def test_sieve_and_imapsieve_set_alike_what_both_set():
    first, second = (
        dict(re.findall(r"^  (\w+) = (.*)$", pieces(name)[0].text, re.M)) for name in ("sieve", "imapsieve")
    )
    shared = (first.keys() & second.keys()) - {"mail_plugins"}  # each for a protocol of its own
    assert shared == {"sieve_plugins", "sieve_global_extensions"}
    assert all(first[name] == second[name] for name in shared)


@pytest.mark.needs("systemd-analyze")
def test_systemd_takes_the_units(home):
    units = [piece.save(home.path / Path(piece.path).name) for piece in pieces("systemd")]
    done = home.run("env", f"XDG_RUNTIME_DIR={home.path}", "systemd-analyze", "--user", "verify", *units, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_service_learns_junk_that_was_seen_and_the_archive(home):
    service = pieces("systemd")[0].text.replace("%h", str(home.path))
    path = re.search(r"^Environment=(PATH=.*)$", service, re.M)[1]
    unseen = sample("spam")[1]
    put(home, "Maildir/.Junk/cur", SPAM, HAM)
    put(home, "Maildir/.Junk/new", unseen)
    put(home, "Maildir/.Archive/cur", HAM)
    for command in re.findall(r"^ExecStart=-?(.*)$", service, re.M):
        home.run("env", path, *command.split())
    assert [home.learned_as(raw) for raw in (SPAM, unseen, HAM)] == [True, None, False]
    assert not (home.model / "journal").exists()  # refitted


def put(home: Home, folder: str, *mails: bytes) -> None:
    path = home.path / folder
    for part in ("cur", "new", "tmp"):
        (path.parent / part).mkdir(parents=True, exist_ok=True)
    for number, raw in enumerate(mails):
        (path / f"{number}.host:2,S").write_bytes(raw)


@pytest.fixture
def notmuch(home):
    """notmuch over a mail store with both hooks, set up as the recipe says."""

    def notmuch(*args: str) -> list[str]:
        return home.run("notmuch", *args).stdout.decode().splitlines()

    (home.path / ".notmuch-config").write_text(
        f"[database]\npath={home.path}/Maildir\n[user]\nprimary_email=me@x.example\n"
    )
    for piece in pieces("notmuch"):
        piece.save(home.path / "Maildir" / piece.path)
    for line in re.findall(r"^# +notmuch (config set .*)$", printed("notmuch"), re.M):
        notmuch(*line.split())
    put(home, "Maildir/cur", *sample("spam"), *sample("ham"))
    return notmuch


@pytest.mark.needs("notmuch")
def test_notmuch_tags_new_mail_by_its_verdict(notmuch):
    notmuch("new")
    assert notmuch("count", "--exclude=false", "tag:spam") == [str(len(sample("spam")))]
    assert notmuch("count", "tag:inbox") == [str(len(sample("ham")))]
    assert notmuch("count", "--exclude=false", "tag:new") == ["0"]


@pytest.mark.needs("notmuch")
def test_notmuch_learns_what_is_tagged_so(notmuch, home):
    notmuch("new")
    for raw, tag in ((SPAM, "+learn-ham"), (HAM, "+learn-spam")):
        notmuch("tag", tag, "--", f"id:{message_from_bytes(raw)['Message-ID'].strip(' <>')}")
    notmuch("new")
    assert (home.learned_as(SPAM), home.learned_as(HAM)) == (False, True)
    assert notmuch("search", "--output=messages", "--exclude=false", "tag:learn-spam or tag:learn-ham") == []
    assert notmuch("count", "--exclude=false", "tag:spam") == [str(len(sample("spam")))]  # one less, one more


@pytest.mark.needs("notmuch")
def test_notmuch_keeps_new_mail_in_the_inbox_when_there_is_no_verdict(notmuch, home):
    home.model.rename(home.path / "elsewhere")
    notmuch("new")
    everything = str(len(sample("spam")) + len(sample("ham")))
    assert notmuch("count", "tag:inbox and tag:new") == [everything]


def mutt(home: Home, keys: str) -> None:
    """Let mutt, on a terminal, do what some keys say."""
    rules = "set folder=~/Mail spoolfile==Inbox delete=yes move=no\nunset confirmcreate\n"
    (home.path / ".muttrc").write_text(rules + pieces("mutt")[0].text)
    environ = {
        "HOME": str(home.path),
        "PATH": f"{home.spamnb.parent}:/usr/bin:/bin",
        "TERM": "xterm",
        "LANG": "C.UTF-8",
    }
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    command = ["mutt", "-n", "-F", home.path / ".muttrc", "-e", f"push {keys}<quit>"]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environ, start_new_session=True) as process:
        limit = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < limit:
            if select.select([ours], [], [], 0.05)[0]:
                os.read(ours, 10_000)
        in_time = process.poll() is not None
        process.kill()
    os.close(ours)
    os.close(its)
    assert in_time, "mutt waits for an answer"


@pytest.mark.needs("mutt")
def test_mutt_teaches_a_message_and_moves_it(home):
    inbox, junk = home.path / "Mail/Inbox", home.path / "Mail/Junk"
    inbox.parent.mkdir()
    separator = b"From a@b  Mon Jan  5 10:00:00 2026\n"
    inbox.write_bytes(separator + SPAM + b"\n" + separator + HAM + b"\n")
    mutt(home, "<tag-pattern>~A<enter><esc>S")
    assert (home.learned_as(SPAM), home.learned_as(HAM)) == (True, True)
    assert junk.read_bytes().count(separator) == 2
    mutt(home, f"<change-folder>=Junk<enter><limit>~A<enter><search>~i{message_id(HAM)}<enter>H")
    assert (home.learned_as(SPAM), home.learned_as(HAM)) == (True, False)
    assert inbox.read_bytes().count(separator) == junk.read_bytes().count(separator) == 1


def message_id(raw: bytes) -> str:
    return re.escape(message_from_bytes(raw)["Message-ID"].strip(" <>"))
