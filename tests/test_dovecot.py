"""The sieve and imapsieve recipes, as printed and both at once, in a Dovecot of our own on loopback."""

import imaplib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from mail_programs import LIMIT, Home, pieces, sample, without_our_headers

pytestmark = pytest.mark.needs("dovecot", "sievec")

ROOT = os.geteuid() == 0
# Dovecot refuses to touch mail as root, and who is not root may be unable to reach the Python that root has installed.
# So root runs it as nobody, with the one privilege of passing by file permissions.
READ_ALL = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
AS_USER = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *READ_ALL] if ROOT else []
USER = "nobody" if ROOT else pwd.getpwuid(os.geteuid()).pw_name
# The recipes' paths, which are the system's, have a place below the server's own directory.
SYSTEM_PATHS = ("/etc/dovecot/", "/usr/local/lib/dovecot-spamnb", "/etc/cron.hourly/", "/home/*")
CONF = """
base_dir = {root}/run
log_path = {root}/log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
mail_location = maildir:~/Maildir
first_valid_uid = 1
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
passdb {{
  driver = static
  args = password=secret
}}
userdb {{
  driver = static
  args = home={root}/home/%u
}}
namespace inbox {{
  inbox = yes
}}
!include {root}/etc/dovecot/conf.d/*.conf
"""


class Dovecot:
    """A server with a home for each user that a test names."""

    def __init__(self, root: Path, model: Path) -> None:
        self.root, self.model, self.port = root, model, free_port()
        for piece in pieces("sieve") + pieces("imapsieve"):
            piece._replace(text=self.moved(piece.text)).save(Path(self.moved(piece.path)))
        user = pwd.getpwnam(USER)
        group = "nogroup" if ROOT else str(user.pw_gid)
        self.conf = root / "dovecot.conf"
        self.conf.write_text(CONF.format(root=root, user=USER, group=group, port=self.port))
        for script in (root / "etc/dovecot/sieve").iterdir():
            subprocess.run(["sievec", "-c", self.conf, script], check=True)
        (root / "run").mkdir()
        self.give_away(root)
        self.process = subprocess.Popen([*AS_USER, shutil.which("dovecot", path="/usr/sbin"), "-F", "-c", self.conf])

    def moved(self, text: str) -> str:
        for path in SYSTEM_PATHS:
            text = text.replace(path, f"{self.root}{path}")
        return text

    def give_away(self, path: Path) -> None:
        if ROOT:
            subprocess.run(["chown", "-hR", "nobody:nogroup", path], check=True)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(LIMIT)

    def home(self, user: str) -> Home:
        home = Home(self.root / "home" / user, self.model)
        self.give_away(home.path)
        return home

    def deliver(self, user: str, raw: bytes) -> None:
        lda = [*AS_USER, "/usr/lib/dovecot/dovecot-lda", "-c", self.conf, "-d", user]
        subprocess.run(lda, input=raw, check=True, timeout=LIMIT)

    def log(self) -> str:
        return (self.root / "log").read_text()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Reader:
    """A mail reader: what its user does with messages."""

    def __init__(self, port: int, user: str) -> None:
        self.imap = connected(port)
        self.ask("login", user, "secret")
        for name in ("Junk", "Trash", "Archive", "Papierkorb", "Junk.2026"):
            self.ask("create", name)

    def ask(self, name: str, *args: str) -> list[bytes]:
        answer, data = getattr(self.imap, name)(*args)
        assert answer == "OK", data
        return data

    def put(self, folder: str, raw: bytes) -> None:
        answer, data = self.imap.append(folder, None, None, raw)
        assert answer == "OK", data

    def move(self, source: str, target: str, how: str = "MOVE") -> None:
        """All messages of a folder."""
        self.ask("select", source)
        answer, data = self.imap.uid(how, "1:*", target)
        assert answer == "OK", data


def connected(port: int) -> imaplib.IMAP4:
    imaplib.Commands["MOVE"] = ("SELECTED",)
    limit = time.monotonic() + 10
    while True:
        try:
            return imaplib.IMAP4("127.0.0.1", port, timeout=LIMIT)
        except OSError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.05)


@pytest.fixture(scope="module")
def dovecot(sample_model) -> Iterator[Dovecot]:
    """Not below pytest's directory: no other user may look into that, and Dovecot asks without our privilege."""
    with tempfile.TemporaryDirectory(prefix="spamnb-") as root:
        dovecot = Dovecot(Path(root), sample_model)
        try:
            connected(dovecot.port).logout()
            yield dovecot
        finally:
            dovecot.stop()


@pytest.fixture
def user(users=count(1)) -> str:  # noqa: B008
    """Somebody new for each test."""
    return f"user{next(users)}"


@pytest.fixture
def home(dovecot, user) -> Home:
    return dovecot.home(user)


@pytest.fixture
def reader(dovecot, user, home) -> Iterator[Reader]:
    reader = Reader(dovecot.port, user)
    yield reader
    reader.imap.logout()
    complaints = [line for line in dovecot.log().splitlines() if f"({user})" in line and "Error" in line]
    assert complaints == []


SPAM, HAM = sample("spam")[0], sample("ham")[0]


def test_at_delivery_spam_goes_to_junk_and_ham_to_the_inbox(dovecot, user, home):
    for raw in sample("spam") + sample("ham"):
        dovecot.deliver(user, raw)
    for folder, label in (("Maildir/.Junk", "spam"), ("Maildir", "ham")):
        assert sorted(map(without_our_headers, home.folder(folder))) == sorted(sample(label))


@pytest.mark.parametrize("accident", ["no model", "damaged model", "no spamnb"])
def test_an_accident_delivers_the_message_unchanged(dovecot, user, home, accident):
    if accident == "no model":
        home.model.rename(home.path / "elsewhere")
    elif accident == "damaged model":
        home.damage_the_model()
    else:
        home.spamnb.unlink()
    dovecot.deliver(user, SPAM)
    assert home.folder("Maildir") == [SPAM]


def test_a_move_into_junk_teaches_spam_and_a_move_back_ham(reader, home):
    reader.put("INBOX", SPAM)
    assert home.learned_as(SPAM) is None
    reader.move("INBOX", "Junk")
    assert home.learned_as(SPAM) is True
    reader.move("Junk", "INBOX")
    assert home.learned_as(SPAM) is False
    assert home.folder("Maildir") == [SPAM]


def test_a_copy_teaches_as_a_move_does(reader, home):
    reader.put("INBOX", SPAM)
    reader.move("INBOX", "Junk", how="COPY")
    assert home.learned_as(SPAM) is True


def test_what_the_filter_delivered_is_known_by_what_was_sent(dovecot, user, reader, home):
    dovecot.deliver(user, SPAM)
    reader.move("Junk", "Archive")
    assert home.learned_as(SPAM) is False


@pytest.mark.parametrize("target", ["Trash", "Papierkorb", "Junk.2026"])
def test_emptying_or_sorting_junk_teaches_nothing(reader, home, target):
    reader.put("Junk", HAM)
    reader.move("Junk", target)
    assert home.learned_as(HAM) is None
    reader.put("INBOX", SPAM)
    reader.move("INBOX", "Junk")
    reader.move("Junk", target)
    assert home.learned_as(SPAM) is True


def test_other_moves_teach_nothing(reader, home):
    reader.put("INBOX", SPAM)
    reader.move("INBOX", "Archive")
    reader.move("Archive", "Trash")
    assert home.learned_as(SPAM) is None


def test_the_first_lesson_makes_a_model(reader, home):
    home.model.rename(home.path / "elsewhere")
    reader.put("INBOX", SPAM)
    reader.move("INBOX", "Junk")
    assert home.learned_as(SPAM) is True


def test_a_folder_full_is_learned_at_once(reader, home):
    for raw in sample("spam"):
        reader.put("INBOX", raw)
    reader.move("INBOX", "Junk")
    assert [home.learned_as(raw) for raw in sample("spam")] == [True] * len(sample("spam"))


@pytest.mark.skipif(not ROOT, reason="the script changes users, which root alone may")
def test_the_hourly_script_folds_lessons_in_as_the_owner_of_the_home(dovecot, reader, home):
    reader.put("INBOX", SPAM)
    reader.move("INBOX", "Junk")
    journal = home.model / "journal"
    assert journal.stat().st_size > 0
    script = dovecot.root / "etc/cron.hourly/spamnb-refit"
    script.write_text(script.read_text().replace("--clear-groups", " ".join(["--clear-groups", *READ_ALL])))
    done = home.run(script)
    assert done.stderr == b""
    assert not journal.exists() or journal.stat().st_size == 0
    assert home.learned_as(SPAM) is True
    assert (home.model / "model.joblib").owner() == "nobody"
