"""Every kind of mailbox gives its messages, and says what it left out."""

import bz2
import gzip
import io
import lzma
import mailbox as stdlib_mailbox
import os
import pickle
import re
import socket
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spamnb import mailbox
from spamnb.errors import NoInput, NotAMailbox
from spamnb.mailbox import LeftOut, Mail, Unit, messages, slices, units

SEPARATOR = b"From someone@example.org  Mon Jan  5 10:00:00 2026\n"
HAM = b"Subject: lunch\n\nAt noon?\n"
SPAM = b"Subject: pills\n\nBuy now\n"
COMPRESSORS = pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])


def read(path: Path | str, notes: LeftOut | None = None, exclude: tuple[str, ...] = ()) -> list[Mail]:
    notes = LeftOut() if notes is None else notes
    return [mail for unit in units(str(path), notes, exclude) for mail in messages(unit, notes)]


def names(path: Path, notes: LeftOut | None = None, exclude: tuple[str, ...] = ()) -> list[str]:
    return [mail.name.removeprefix(f"{path}/") for mail in read(path, notes, exclude)]


def raws(path: Path) -> list[bytes]:
    return [mail.raw for mail in read(path)]


def write(path: Path, contents: bytes = HAM) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents)
    return path


def mboxrd(mails: list[bytes], newline: bytes = b"\n") -> bytes:
    quoted = (re.sub(rb"(?m)^(>*From )", rb">\1", mail) for mail in mails)
    return b"".join(SEPARATOR[:-1] + newline + mail + newline for mail in quoted)


# One file


@pytest.mark.parametrize("contents", [HAM, b"", b"\n", b"\n\nhello\n", b"no newline", b"\0\xff\r\n", b"From"])
def test_a_file_that_is_no_mbox_is_one_message_byte_for_byte(tmp_path, contents):
    path = write(tmp_path / "mail.eml", contents)
    [mail] = read(path)
    assert (mail.name, mail.raw) == (str(path), contents)


def test_quoting_is_left_alone_outside_an_mbox(tmp_path):
    assert raws(write(tmp_path / "a", b"Subject: a\n\n>From here\n")) == [b"Subject: a\n\n>From here\n"]


def test_a_file_of_one_message_is_named_by_its_path_alone_without_the_from_line(tmp_path):
    path = write(tmp_path / "0001.abc", SEPARATOR + b"Subject: a\n\n>From here\n>>From there\n")
    [mail] = read(path)
    assert (mail.name, mail.raw) == (str(path), b"Subject: a\n\nFrom here\n>From there\n")


def test_the_messages_of_an_mbox_are_numbered(tmp_path):
    path = write(tmp_path / "box", mboxrd([HAM, SPAM]))
    assert [(mail.name, mail.raw) for mail in read(path)] == [(f"{path}#1", HAM), (f"{path}#2", SPAM)]


def test_an_mbox_written_by_the_standard_library_comes_back(tmp_path):
    path = tmp_path / "box"
    box = stdlib_mailbox.mbox(path)
    for mail in (HAM, SPAM, b"Subject: q\n\nFrom here\n"):
        box.add(mail)
    box.close()
    assert raws(path) == [HAM, SPAM, b"Subject: q\n\nFrom here\n"]


@pytest.mark.parametrize(
    "line",
    [
        b"From a@b.c Mon Jan  5 10:00:00 2026",
        b"From - Mon Jan 05 10:00:00 2026",
        b"From MAILER-DAEMON Mon Jan  5 10:00 2026",
        b"From 1812@xxx Mon Jan 05 10:00:00 +0000 2026",
        b"From a at b.c  Mon Jan  5 10:00:00 CET 2026",
        b'From "a b"@c Mon, 5 Jan 2026 10:00:00 +0100',
        b"From ???@??? Mon Jan 05 10:00:00 2026 remote from x",
    ],
)
def test_separators_of_many_programs_are_known(tmp_path, line):
    assert raws(write(tmp_path / "box", (line + b"\n" + HAM + b"\n") * 2)) == [HAM, HAM]


@pytest.mark.parametrize(
    "body",
    [
        b"\nFrom now on all is well.\n",
        b"\nFrom Monday 5 January 2026 we open at 10:00\n",
        b"text\n" + SEPARATOR,
        b"\n From a@b.c Mon Jan  5 10:00:00 2026\n",
        b"\nFrom: a@b.c Mon Jan  5 10:00:00 2026\n",
    ],
)
def test_a_from_line_in_a_body_needs_blank_line_and_date_to_separate(tmp_path, body):
    mail = b"Subject: a\n\n" + body
    assert raws(write(tmp_path / "box", SEPARATOR + mail + b"\n" + SEPARATOR + HAM)) == [mail, HAM]


def test_without_dates_a_header_must_follow_the_separator(tmp_path):
    mail = b"Subject: a\n\nHello\n\nFrom now on\nall is well\n"
    assert raws(write(tmp_path / "box", (b"From a@b.c\n" + mail + b"\n") * 2)) == [mail, mail]
    prose = b"From now on\nall is well\n\nFrom here\nto there\n"
    assert raws(write(tmp_path / "prose", prose)) == [prose]


@pytest.mark.parametrize("ending", [b"", b"\n", b"\n\n"])
def test_one_blank_line_at_the_end_of_a_message_belongs_to_the_mbox(tmp_path, ending):
    kept = HAM + ending[1:]
    assert raws(write(tmp_path / "box", b"\n\r\n" + SEPARATOR + HAM + ending)) == [kept]


def test_a_from_line_alone_is_an_empty_message(tmp_path):
    assert raws(write(tmp_path / "box", SEPARATOR.rstrip())) == [b""]


def test_a_hostile_from_line_is_cheap(tmp_path):
    hostile = b"From " + b"Mon Jan 1 " * 100_000
    mail = HAM + b"\n" + hostile + b"\n"
    assert raws(write(tmp_path / "box", SEPARATOR + mail)) == [mail]


# Round trips


LINES = st.sampled_from(
    [b"", b"\r", b"Subject: a", b"From here", b">From a", b">>From a", b"\xff\0", SEPARATOR[:-1], b">" + SEPARATOR[:-1]]
)
BODIES = st.lists(LINES | st.binary(max_size=20), max_size=8).map(b"\n".join)


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    return tmp_path_factory.mktemp("boxes") / "box"


def ended(mail: bytes, newline: bytes) -> bytes:
    """An mbox cannot tell whether the last line was ended: it always is."""
    return mail + newline if mail and not mail.endswith(b"\n") else mail


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(bodies=st.lists(BODIES, min_size=1, max_size=6))
def test_any_messages_written_as_mboxrd_come_back(box, bodies):
    mails = [ended(body, b"\n") for body in bodies]
    assert raws(write(box, mboxrd(mails))) == mails


@given(bodies=st.lists(BODIES, min_size=1, max_size=6))
@settings(deadline=None)
def test_so_they_do_with_lines_ended_by_crlf(box, bodies):
    mails = [ended(re.sub(rb"\r*\n", b"\r\n", body), b"\r\n") for body in bodies]
    assert raws(write(box, mboxrd(mails, b"\r\n"))) == mails


@given(bodies=st.lists(BODIES, min_size=2, max_size=8), slice_bytes=st.integers(1, 500), block=st.integers(60, 300))
@settings(deadline=None)
def test_slices_joined_are_the_whole_whatever_their_size(box, bodies, slice_bytes, block):
    mails = [ended(body, b"\n") for body in bodies]
    size = write(box, b"\n\n" + mboxrd(mails)).stat().st_size
    notes = LeftOut()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mailbox, "BLOCK", block)
        parts = list(slices(str(box), size, slice_bytes))
        sliced = [(mail.name, mail.raw) for part in parts for mail in messages(part, notes)]
    assert sliced == [(f"{box}#{number}", mail) for number, mail in enumerate(mails, 1)]
    assert sum(part.size for part in parts) == size


def test_a_big_mbox_is_shared_out_in_slices_that_survive_the_way_to_a_worker(tmp_path):
    mails = [b"Subject: %d\n\n%s\n" % (number, b"x" * 50_000) for number in range(120)]
    path = write(tmp_path / "box", mboxrd(mails))
    notes = LeftOut()
    parts = pickle.loads(pickle.dumps(list(units(str(path), notes))))
    assert len(parts) == 3
    assert [(m.name, m.raw) for part in parts for m in messages(part, notes)] == [
        (f"{path}#{number}", mail) for number, mail in enumerate(mails, 1)
    ]


@pytest.mark.parametrize("begin", [b"", SEPARATOR], ids=["bare", "with a From line"])
def test_a_big_single_message_stays_whole(tmp_path, begin):
    mail = b"Subject: big\n\n" + b"x" * 5_000_000 + b"\n"
    path = write(tmp_path / "mail", begin + mail)
    assert [(found.name, found.raw) for found in read(path)] == [(str(path), mail)]


# Compressed


@COMPRESSORS
def test_compression_is_seen_by_looking_not_by_name(tmp_path, compress):
    assert raws(write(tmp_path / "plain-name", compress(HAM))) == [HAM]
    path = write(tmp_path / "box.eml", compress(mboxrd([HAM, SPAM])))
    assert [(mail.name, mail.raw) for mail in read(path)] == [(f"{path}#1", HAM), (f"{path}#2", SPAM)]


def test_gzip_members_are_read_one_after_the_other_however_small(tmp_path):
    whole = mboxrd([HAM, SPAM])
    members = b"".join(gzip.compress(whole[at : at + 7]) for at in range(0, len(whole), 7))
    assert raws(write(tmp_path / "box.gz", members)) == [HAM, SPAM]


@COMPRESSORS
def test_the_messages_before_the_damage_are_read_and_the_damage_is_told(tmp_path, compress):
    mails = [b"Subject: %d\n\n%s\n" % (number, os.urandom(3000).hex().encode()) for number in range(600)]
    damaged = compress(mboxrd(mails))
    path = write(tmp_path / "box", damaged[: len(damaged) * 9 // 10])
    notes = LeftOut()
    found = [mail.raw for mail in read(path, notes)]
    assert 0 < len(found) < 600
    assert found == mails[: len(found)]
    assert [where for where, _ in notes.unreadable] == [str(path)]


def test_a_damaged_compressed_message_is_unreadable(tmp_path):
    notes = LeftOut()
    path = write(tmp_path / "a.gz", gzip.compress(HAM)[:-12])
    assert read(path, notes) == []
    assert notes.unreadable[0][0] == str(path)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress])  # bz2 takes 4 s to compress this
def test_a_big_mbox_is_streamed_plain_or_compressed(tmp_path, compress):
    message = b"Subject: a\n\n" + os.urandom(5000).hex().encode() + b"\n"
    path = write(tmp_path / "box", compress(mboxrd([message]) * 3000))
    notes = LeftOut()
    tracemalloc.start()
    count = sum(len(mail.raw) == len(message) for unit in units(str(path), notes) for mail in messages(unit, notes))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 3000
    assert peak < 15_000_000 < 3000 * len(message) / 2  # of which xz alone takes 8 MB for its dictionary


# Standard input


def standard_input(monkeypatch, contents: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(contents)))


@pytest.mark.parametrize("encode", [bytes, gzip.compress])
def test_standard_input_may_be_anything_a_file_may_be(monkeypatch, encode):
    standard_input(monkeypatch, encode(HAM))
    assert [(mail.name, mail.raw) for mail in read("-")] == [("-", HAM)]
    standard_input(monkeypatch, encode(mboxrd([HAM, SPAM])))
    assert [(mail.name, mail.raw) for mail in read("-")] == [("-#1", HAM), ("-#2", SPAM)]


# Maildirs


def maildir(path: Path, mails: int = 1) -> Path:
    box = stdlib_mailbox.Maildir(path)
    for _ in range(mails):
        box.add(HAM)
    box.close()
    return path


def test_a_maildir_is_read_with_its_subfolders_but_not_its_tmp(tmp_path):
    root = maildir(tmp_path / "Maildir", 0)
    for name in ("cur/1:2,S", "new/2", "new/.hidden", "tmp/3", ".Work/cur/4:2,", ".Work.Old/new/5", "Team/cur/6"):
        write(root / name)
    write(root / "dovecot-uidlist")
    write(root / ".notmuch/xapian")
    expected = [".Work/cur/4:2,", ".Work.Old/new/5", "Team/cur/6", "cur/1:2,S", "new/2"]
    assert names(root) == expected


def test_cur_alone_makes_a_maildir(tmp_path):
    write(tmp_path / "cur/1")
    write(tmp_path / "tmp/2")
    assert names(tmp_path) == ["cur/1"]


def test_trash_junk_and_drafts_in_a_maildir_are_left_out_and_counted(tmp_path):
    root = maildir(tmp_path / "Maildir")
    for name, mails in {".Trash": 1, ".Junk": 3, ".INBOX.Deleted Messages": 1, ".Trash.2024": 1, ".Bin": 0}.items():
        maildir(root / name, mails)
    write(root / ".Trash/cur/1:2,ST")
    notes = LeftOut()
    assert len(read(root, notes)) == 1
    assert notes.counts == {"in .Trash": 2, "in .Junk": 3, "in .INBOX.Deleted Messages": 1, "in .Trash.2024": 1}


def test_whoever_names_the_trash_gets_the_trash_and_what_is_in_it(tmp_path):
    trash = maildir(maildir(tmp_path / "Maildir") / ".Trash")
    maildir(trash / ".Spam")
    assert len(read(trash)) == 2


def test_outside_a_maildir_a_folder_may_have_any_name(tmp_path):
    write(tmp_path / "spam/1")
    write(tmp_path / "ham/1")
    assert names(tmp_path) == ["ham/1", "spam/1"]


def test_messages_flagged_as_deleted_or_draft_are_left_out(tmp_path):
    for flags in ("S", "ST", "D", "RS"):
        write(tmp_path / f"cur/1.T.D:2,{flags}")
    notes = LeftOut()
    assert names(tmp_path / "cur", notes) == ["1.T.D:2,RS", "1.T.D:2,S"]
    assert notes.counts == {"flagged as deleted or draft": 2}


def test_files_beside_cur_and_new_are_told(tmp_path):
    write(tmp_path / "new/1")
    write(tmp_path / "a.eml")
    notes = LeftOut()
    assert names(tmp_path, notes) == ["new/1"]
    assert notes.counts == {"beside the cur and new of a maildir": 1}


@pytest.mark.parametrize("spelling", ["{root}/.Lists", "{root}/./cur/../.Lists/", "{root}/../link"])
def test_what_is_named_for_the_other_class_is_not_read_for_this_one(tmp_path, spelling):
    root = maildir(tmp_path / "Maildir")
    maildir(root / ".Lists", 5)
    (tmp_path / "link").symlink_to(root / ".Lists")
    notes = LeftOut()
    assert len(read(root, notes, exclude=(spelling.format(root=root), "not there"))) == 1
    assert notes.counts == {}


def test_a_file_can_be_named_for_the_other_class(tmp_path):
    write(tmp_path / "Inbox")
    junk = write(tmp_path / "Junk")
    assert names(tmp_path, exclude=(str(junk),)) == ["Inbox"]


# Other folders


def test_a_thunderbird_folder_just_works(tmp_path):
    write(tmp_path / "Inbox", mboxrd([HAM, SPAM]))
    write(tmp_path / "Inbox.msf", b"// <!-- <mdb:mork:z v=1.4/> -->")
    write(tmp_path / "Inbox.sbd/Work", mboxrd([HAM]))
    write(tmp_path / "msgFilterRules.dat", b"version=9")
    assert names(tmp_path) == ["Inbox#1", "Inbox#2", "Inbox.sbd/Work"]


def test_an_mh_folder_just_works(tmp_path):
    box = stdlib_mailbox.MH(tmp_path / "mh")
    box.add(HAM)
    box.add_folder("sub").add(SPAM)
    write(tmp_path / "mh/,2")
    assert names(tmp_path / "mh") == ["1", "sub/1"]


def test_names_are_the_argument_joined_with_the_entry(tmp_path, monkeypatch):
    write(tmp_path / "real/a")
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    assert [read(path)[0].name for path in ("link", "real/", ".", "real/../link/a")] == [
        "link/a",
        "real/a",
        "./real/a",
        "real/../link/a",
    ]


def test_names_that_are_no_text_are_read_too(tmp_path):
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))).write_bytes(HAM)
    assert raws(tmp_path) == [HAM]


def test_links_to_files_are_followed_and_links_to_folders_are_told(tmp_path):
    write(tmp_path / "elsewhere/a")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").symlink_to("../elsewhere/a")
    (folder / "loop").symlink_to(".")
    (folder / "broken").symlink_to("nowhere")
    notes = LeftOut()
    assert names(folder, notes) == ["a"]
    assert notes.counts == {"links to folders": 1}
    assert notes.unreadable == [(f"{folder}/broken", "No such file or directory")]


def test_pipes_in_a_folder_are_passed_over_and_told(tmp_path):
    write(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    notes = LeftOut()
    assert names(tmp_path, notes) == ["a"]
    assert notes.counts == {"pipes, sockets and devices": 1}


@pytest.mark.parametrize(
    "header",
    [
        b"Subject: DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA",
        b"From: Mail System Internal Data <MAILER-DAEMON@host>",
    ],
)
def test_folder_internal_data_is_not_mail(tmp_path, header):
    notes = LeftOut()
    path = write(tmp_path / "box", mboxrd([b"Date: x\n" + header + b"\n\nThis text is part of\n", HAM]))
    assert [(mail.name, mail.raw) for mail in read(path, notes)] == [(f"{path}#2", HAM)]
    assert notes.counts == {"folder internal data": 1}


def test_mail_about_folder_internal_data_is_mail(tmp_path):
    about = b"Subject: help\n\nSubject: DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA\n"
    assert raws(write(tmp_path / "a", about)) == [about]


# What cannot be read


def test_a_file_that_vanished_is_unreadable_not_an_error(tmp_path):
    notes = LeftOut()
    assert list(messages(Unit(str(tmp_path / "gone"), 10), notes)) == []
    assert notes.unreadable == [(str(tmp_path / "gone"), "No such file or directory")]


def test_a_file_without_permission_is_unreadable_not_an_error(tmp_path, monkeypatch):
    write(tmp_path / "a")
    forbid(monkeypatch, write(tmp_path / "b"))
    notes = LeftOut()
    assert names(tmp_path, notes) == ["a"]
    assert notes.unreadable == [(str(tmp_path / "b"), "Permission denied")]


def forbid(monkeypatch, path: Path) -> None:
    """Refuse one file, as the system would if the tests were not run by root."""

    def guarded(really_open):
        def opening(name, *args, **options):
            if name == str(path):
                raise PermissionError(13, "Permission denied", name)
            return really_open(name, *args, **options)

        return opening

    monkeypatch.setattr(mailbox, "open", guarded(open), raising=False)
    monkeypatch.setattr(os, "open", guarded(os.open))


def test_notes_of_workers_add_up():
    notes, other = LeftOut(), LeftOut()
    notes.count("in Trash", 2)
    other.count("in Trash", 3)
    other.cannot_read("a", OSError("damaged"))
    notes.merge(pickle.loads(pickle.dumps(other)))
    assert (notes.counts, notes.unreadable) == ({"in Trash": 5}, [("a", "damaged")])


@pytest.mark.parametrize("name", ["missing", "file/below", "nul\0", "broken"])
def test_a_path_that_is_not_there_is_no_input(tmp_path, name):
    write(tmp_path / "file")
    (tmp_path / "broken").symlink_to("nowhere")
    with pytest.raises(NoInput, match=f"(?s)^{re.escape(f'{tmp_path}/{name}')}: .*; name mail"):
        read(f"{tmp_path}/{name}")


def test_a_path_without_permission_is_no_input(tmp_path, monkeypatch):
    path = write(tmp_path / "a")
    forbid(monkeypatch, path)
    with pytest.raises(NoInput, match="a: permission denied; "):
        read(path)


def test_folders_without_mail_pipes_sockets_and_devices_are_no_mailboxes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    write(Path("empty/below/.hidden"))
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for path in ("empty", "pipe", "socket", "/dev/null"):
            with pytest.raises(NotAMailbox, match=f"^{path}: .*; "):
                read(path)


def test_a_folder_all_of_which_was_left_out_is_told_by_the_notes_alone(tmp_path):
    write(tmp_path / "cur/1:2,T")
    notes = LeftOut()
    assert read(tmp_path, notes) == []
    assert notes.total() == 1
