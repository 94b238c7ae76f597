"""Mail invented from a seed, and corpora: of that mail, read as a user's is, or of words given by hand."""

import os
import random
import shutil
import subprocess

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line does; a process with threads is not forked

import mail_programs
import numpy as np
import pytest
from scipy import sparse

from spamnb.corpus import Corpus
from spamnb.models import KINDS, Choice, fit
from spamnb.tokens import MEASURES, token_id
from spamnb.training import read_labelled

COMMON = "the and of to in we you it is that for with on this have are be not your from will can all time"
HAM = "meeting lunch tuesday draft review garden train ticket invoice thanks mother choir rehearsal school bug"
SPAM = "casino bonus winner pills cheap viagra loan free offer click unsubscribe rolex prize bitcoin urgent"


def invented_mail(ham: int, spam: int, seed: int) -> list[tuple[bool, bytes]]:
    """Messages of both classes that share most of their words; some have HTML, some no sender, some a common one."""
    chance = random.Random(seed)
    return [(label, invented_message(chance, label)) for label in [False] * ham + [True] * spam]


def invented_message(chance: random.Random, label: bool) -> bytes:
    common, own, other = (words.split() for words in ((COMMON, SPAM, HAM) if label else (COMMON, HAM, SPAM)))
    said = chance.choices(common, k=chance.randint(8, 40)) + chance.choices(own, k=4) + chance.choices(other, k=1)
    chance.shuffle(said)
    sender = (
        ""
        if chance.random() < 0.1
        else f"From: Friend <friend{chance.randint(1, 12)}@{'xn' if label else 'home'}.example>\n"
    )
    subject = " ".join(chance.choices(own + common, k=4))
    number = chance.randint(0, 10**9)  # every message has a word that no other has
    html = chance.random() < (0.5 if label else 0.2)
    body = (
        f'<p>{" ".join(said)} <a href="https://{own[number % 15]}.example/{number}">{number}</a>'
        if html
        else f"{' '.join(said)} {number}"
    )
    kind = "text/html" if html else "text/plain"
    return f"{sender}To: me@home.example\nSubject: {subject}\nContent-Type: {kind}\n\n{body}\n".encode()


@pytest.fixture(scope="session")
def mail():
    """Messages to learn from, as (is spam, raw)."""
    return invented_mail(30, 25, seed=1)


@pytest.fixture(scope="session")
def unseen_mail():
    """More messages of the same kind."""
    return invented_mail(20, 20, seed=2)


@pytest.fixture(scope="session")
def gathered_from(tmp_path_factory):
    """Writes (is spam, raw) pairs into two folders, a file each, and reads them as `train` does."""

    def gathered_from(pairs, jobs=1):
        folder = tmp_path_factory.mktemp("mail")
        for name in ("ham", "spam"):
            (folder / name).mkdir()
        for number, (label, raw) in enumerate(pairs):
            (folder / ("spam" if label else "ham") / f"{number:04}.eml").write_bytes(raw)
        return read_labelled([str(folder / "ham")], [str(folder / "spam")], jobs=jobs)

    return gathered_from


@pytest.fixture(scope="session")
def corpus(gathered_from, mail):
    return gathered_from(mail).corpus


@pytest.fixture(scope="session")
def unseen_corpus(gathered_from, unseen_mail):
    return gathered_from(unseen_mail).corpus


@pytest.fixture(scope="session")
def corpus_of_words():
    """A corpus made by hand from (is spam, text, sender) triples; a sender may be left out."""

    def corpus_of_words(*messages):
        dictionary = sorted({word for _, text, *_ in messages for word in text.split()}, key=token_id)
        counts = [[text.split().count(word) for word in dictionary] for _, text, *_ in messages]
        senders = [token_id(sender[0]) if sender else 0 for _, _, *sender in messages]
        return Corpus(
            tokens=dictionary,
            ids=np.array([token_id(word) for word in dictionary], np.uint64),
            counts=sparse.csr_matrix(np.array(counts, np.int32).reshape(len(messages), len(dictionary))),
            labels=np.array([message[0] for message in messages], bool),
            digests=np.array([f"{number:032x}".encode() for number in range(len(messages))], "S32"),
            dates=np.zeros(len(messages), np.int64),
            senders=np.array(senders, np.uint64),
            measures=np.zeros((len(messages), len(MEASURES)), np.float32),
            lessons=np.zeros(len(messages), bool),
        )

    return corpus_of_words


@pytest.fixture(scope="session")
def cards(corpus):
    """A model of each kind, fitted to the invented mail; to be read, not taught."""
    return {kind: fit(corpus, Choice(kind)) for kind in KINDS}


def pytest_configure(config):
    config.addinivalue_line("markers", "needs(*programs): skipped where one is not installed, which fails in CI")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    wanted = [program for mark in item.iter_markers("needs") for program in mark.args]
    missing = [program for program in wanted if not shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")]
    if missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"not installed: {', '.join(missing)}")


@pytest.fixture(scope="session")
def sample_model(tmp_path_factory):
    """A model of the sample mail, to be copied."""
    path = tmp_path_factory.mktemp("sample") / "model"
    mailboxes = [mail_programs.SAMPLE / "ham", mail_programs.SAMPLE / "spam"]
    subprocess.run(
        [mail_programs.BIN / "spamnb", "train", "--model", path, *mailboxes], check=True, capture_output=True
    )
    return path


@pytest.fixture
def home(tmp_path, sample_model):
    """A user's home, for the tests of mail programs."""
    return mail_programs.Home(tmp_path / "home", sample_model)
