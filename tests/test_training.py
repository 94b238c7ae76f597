"""Training reads what it is told to read, once, says what it left out, and never takes a lesson away unasked."""

import gzip
from pathlib import Path

import pytest

from spamnb.errors import BadData, CannotWrite, NoInput, NotAMailbox
from spamnb.gathering import Gathered
from spamnb.journal import Lesson, append_lessons
from spamnb.models import Choice
from spamnb.settings import Settings
from spamnb.store import Store
from spamnb.tokens import token_id
from spamnb.training import choice_of, read_contacts, read_labelled, train

SAMPLE = Path(__file__).parent.parent / "sample_mail"
SEPARATOR = b"From someone@example.org  Mon Jan  5 10:00:00 2026\n"


def mail(subject: str, body: str = "See you at noon.", sender: str = "ann@example.org") -> bytes:
    return f"From: {sender}\nSubject: {subject}\n\n{body}\n".encode()


def write(path: Path, contents: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents)
    return path


def read(ham: Path | list[Path], spam: Path | list[Path]) -> Gathered:
    hams, spams = ([str(path) for path in (paths if isinstance(paths, list) else [paths])] for paths in (ham, spam))
    return read_labelled(hams, spams, jobs=1)


@pytest.fixture
def maildir(tmp_path: Path) -> Path:
    """Three ham, two spam in .Junk, one in .Work, one in .Trash, one flagged as deleted."""
    root = tmp_path / "Maildir"
    for number in range(3):
        write(root / "cur" / f"ham{number}:2,S", mail(f"lunch {number}"))
    for number in range(2):
        write(root / ".Junk" / "cur" / f"junk{number}:2,S", mail(f"pills {number}"))
    write(root / ".Work" / "cur" / "work:2,S", mail("the plan"))
    write(root / ".Trash" / "cur" / "trash:2,S", mail("old news"))
    write(root / "cur" / "deleted:2,ST", mail("gone"))
    return root


# Which folders are read


def test_a_junk_folder_inside_the_maildir_is_spam_and_only_spam(maildir):
    gathered = read(maildir, maildir / ".Junk")
    assert gathered.corpus.messages == (4, 2)
    assert gathered.contradictions == []


def test_a_folder_of_any_name_that_is_named_as_spam_is_not_read_as_ham(maildir):
    write(maildir / ".Offers" / "cur" / "offer:2,S", mail("offer"))
    gathered = read(maildir, maildir / ".Offers")
    assert gathered.corpus.messages == (4, 1)
    assert gathered.contradictions == []


def test_a_ham_folder_inside_a_spam_folder_is_not_read_as_spam(tmp_path):
    write(tmp_path / "all" / "one", mail("pills"))
    write(tmp_path / "all" / "good" / "two", mail("lunch"))
    assert read(tmp_path / "all" / "good", tmp_path / "all").corpus.messages == (1, 1)


def test_a_folder_is_left_out_by_whatever_path_it_is_named(maildir, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(maildir / ".Junk")
    for spam in (Path("Maildir/.Junk/"), Path("Maildir/../Maildir/.Junk"), Path("link")):
        assert read(Path("Maildir"), spam).corpus.messages == (4, 2)


def test_the_trash_and_what_is_flagged_as_deleted_are_left_out_and_counted(maildir):
    left_out = read(maildir, maildir / ".Junk").left_out
    assert left_out.counts == {"in .Trash": 1, "flagged as deleted or draft": 1}
    assert left_out.unreadable == []


def test_the_trash_is_read_when_it_is_named(maildir):
    assert read([maildir, maildir / ".Trash"], maildir / ".Junk").corpus.messages == (5, 2)


def test_several_mailboxes_of_a_class_of_different_kinds_are_read_as_one(maildir, tmp_path):
    mbox = write(tmp_path / "junk.mbox.gz", gzip.compress(SEPARATOR + mail("a") + b"\n" + SEPARATOR + mail("b")))
    single = write(tmp_path / "c.eml", mail("c"))
    assert read(maildir, [maildir / ".Junk", mbox, single]).corpus.messages == (4, 5)


# What is learned


def test_a_message_that_is_there_twice_is_learned_once(tmp_path):
    for name in ("a", "b", "c"):
        write(tmp_path / "ham" / name, mail("lunch"))
    write(tmp_path / "spam" / "d", mail("pills"))
    gathered = read(tmp_path / "ham", tmp_path / "spam")
    assert gathered.corpus.messages == (1, 1)
    assert gathered.duplicates == 2


def test_a_message_of_both_classes_is_left_out_and_named(tmp_path):
    write(tmp_path / "ham" / "a", mail("lunch"))
    both = [write(tmp_path / folder / "both", mail("which?")) for folder in ("ham", "spam")]
    write(tmp_path / "spam" / "b", mail("pills"))
    gathered = read(tmp_path / "ham", tmp_path / "spam")
    assert gathered.corpus.messages == (1, 1)
    assert sorted(gathered.contradictions) == sorted(map(str, both))


def test_more_workers_make_the_same_corpus():
    hams, spams = [str(SAMPLE / "judge/ham")], [str(SAMPLE / "judge/spam")]
    one, two = (read_labelled(hams, spams, jobs=jobs).corpus for jobs in (1, 2))
    assert one.tokens == two.tokens
    assert (one.counts != two.counts).nnz == 0
    assert list(one.digests) == list(two.digests)
    assert list(one.labels) == list(two.labels)


def test_progress_ends_when_all_the_mail_is_read(maildir):
    told: list[tuple[int, int]] = []
    read_labelled(
        [str(maildir)], [str(maildir / ".Junk")], jobs=1, progress=lambda done, total: told.append((done, total))
    )
    done, total = told[-1]
    assert done == total > 0
    assert told == sorted(told)


# What cannot be trained on


def test_two_classes_of_the_same_mail_leave_nothing_to_learn_from(tmp_path):
    box = write(tmp_path / "box.mbox", SEPARATOR + mail("a") + b"\n" + SEPARATOR + mail("b"))
    with pytest.raises(BadData, match=rf"{box}: no ham to learn from \(all its messages are in the other class too\)"):
        read(box, box)


def test_a_class_whose_mail_is_all_left_out_is_empty(tmp_path):
    write(tmp_path / "box" / "cur" / "gone:2,T", mail("gone"))
    write(tmp_path / "spam" / "a", mail("pills"))
    with pytest.raises(BadData, match=f"{tmp_path / 'box'}: no ham to learn from"):
        read(tmp_path / "box", tmp_path / "spam")


@pytest.mark.parametrize(("kind", "error"), [("missing", NoInput), ("empty", NotAMailbox)])
def test_a_failed_training_makes_no_model(tmp_path, maildir, kind, error):
    (tmp_path / "empty").mkdir()
    with pytest.raises(error, match=str(tmp_path / kind)):
        train(Store(tmp_path / "model"), {"ham": [str(maildir)], "spam": [str(tmp_path / kind)]}, Choice(), jobs=1)
    assert not (tmp_path / "model").exists()


# A model that has learned since


@pytest.fixture
def taught(tmp_path: Path, maildir: Path) -> Store:
    """A model with two lessons learned after its training."""
    store = Store(tmp_path / "model")
    train(store, {"ham": [str(maildir)], "spam": [str(maildir / ".Junk")]}, Choice("multinomial"), jobs=1)
    append_lessons(store.journal, store.load().generation, [Lesson("aa" * 16, True), Lesson("bb" * 16, False)])
    return store


def test_training_over_lessons_wants_to_be_told(taught, maildir):
    before = {path.name: path.read_bytes() for path in taught.path.iterdir()}
    with pytest.raises(CannotWrite, match=f"{taught.path}: 2 lessons .*--replace"):
        train(taught, {"ham": [str(maildir)], "spam": [str(maildir / ".Junk")]}, Choice("corrected"), jobs=1)
    assert {path.name: path.read_bytes() for path in taught.path.iterdir()} == before


def test_training_over_lessons_goes_on_when_it_is_told(taught, maildir):
    before = taught.load().generation
    train(
        taught, {"ham": [str(maildir)], "spam": [str(maildir / ".Junk")]}, Choice("multinomial"), overwrite=True, jobs=1
    )
    assert taught.load().generation != before
    assert taught.lessons_at_stake() == 0


def test_training_over_a_model_without_lessons_needs_no_leave(taught, maildir):
    taught.journal.unlink()
    before = taught.load().generation
    train(taught, {"ham": [str(maildir)], "spam": [str(maildir / ".Junk")]}, Choice("multinomial"), jobs=1)
    assert taught.load().generation != before


# Contacts

ANN, BOB = "ann@example.org", "bob.b@mail.example.com"


@pytest.mark.parametrize(
    "text",
    [
        f"{ANN}\n{BOB}\n",
        f'Name,E-mail\r\nAnn,{ANN}\r\n"B, Bob",{BOB.upper()}\r\n',
        f"BEGIN:VCARD\nFN:Ann\nEMAIL;TYPE=home:{ANN}\nEND:VCARD\nBEGIN:VCARD\nEMAIL:{BOB}\nEND:VCARD\n",
        f'alias ann Ann A. <{ANN}>\nalias bob "Bob" <{BOB}>\n',
        f"To: Ann <{ANN}>, Bob <{BOB}>\n\nHello {ANN}.\n",
        f"{ANN};{BOB}",
        f"# friends\n\n{ANN},\t{BOB}.\n",
    ],
    ids=["list", "csv", "vcard", "mutt", "mail", "semicolons", "sentence"],
)
def test_addresses_are_found_in_a_file_of_any_kind(tmp_path, text):
    found = read_contacts(str(write(tmp_path / "contacts", text.encode())))
    assert found.tolist() == sorted([token_id(ANN), token_id(BOB)])


def test_a_contacts_file_of_any_bytes_is_read(tmp_path):
    found = read_contacts(str(write(tmp_path / "contacts", b"\xff\xfe\0 " + ANN.encode() + b" \x80\n")))
    assert found.tolist() == [token_id(ANN)]


def test_a_contacts_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(NoInput, match=f"{tmp_path / 'none'}: No such file"):
        choice_of(Settings(contacts=str(tmp_path / "none")))


def test_the_model_knows_a_contact_as_sender(tmp_path, maildir):
    contacts = write(tmp_path / "contacts", b"Carol <carol@example.net>\n")
    choice = choice_of(Settings(kind="multinomial", contacts=str(contacts)))
    store = Store(tmp_path / "model")
    train(store, {"ham": [str(maildir)], "spam": [str(maildir / ".Junk")]}, choice, jobs=1)
    assert store.scorecard().is_contact(token_id("carol@example.net"))
    assert not store.scorecard().is_contact(token_id("dave@example.net"))
