"""Mail without labels is sorted into groups, and each group is shown by its words."""

import json
import mailbox
import random
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from spamnb.clustering import heard_tokens, read_unsorted, sort_mail
from spamnb.commands.cluster import cluster, summary
from spamnb.errors import BadData, NoInput, Usage

SAMPLE = Path(__file__).parent.parent / "sample_mail"
TOPICS = {
    "choir": "rehearsal tenor alto soprano concert hymn church sing conductor score voices breath",
    "garden": "tomatoes compost seeds beans watering spade frost greenhouse weeds roses pruning soil",
    "code": "compiler pointer branch commit patch segfault stack overflow thread mutex linker header",
}
COMMON = "the and we you it on this have will can time please thanks today"


def letter(topic, number):
    """A message about a topic, from somebody who writes about everything."""
    chance = random.Random(f"{topic} {number}")
    said = chance.choices(TOPICS[topic].split(), k=12) + chance.choices(COMMON.split(), k=10)
    chance.shuffle(said)
    sender = f"friend{number % 3}@home.example"
    return f"From: {sender}\nTo: me@home.example\nSubject: {said[0]} {topic}\n\n{' '.join(said)} {number}\n"


@pytest.fixture(scope="module")
def maildir(tmp_path_factory):
    """Fifteen letters about each of three topics; the name of a file begins with its topic."""
    folder = tmp_path_factory.mktemp("mail") / "maildir"
    for part in ("cur", "new", "tmp"):
        (folder / part).mkdir(parents=True)
    for topic in TOPICS:
        for number in range(15):
            (folder / "cur" / f"{topic}.{number}:2,S").write_text(letter(topic, number))
    return folder


def sorted_mail(paths, *args, **options):
    return sort_mail(read_unsorted([str(path) for path in paths], jobs=1), *args, **options)


def run(*args):
    """Status and standard output of the command; an error of ours is raised."""
    done = CliRunner().invoke(cluster, [str(arg) for arg in args], standalone_mode=False)
    if done.exception:
        raise done.exception
    return done.return_value, done.output


def topic_of(path):
    return Path(path).name.partition(".")[0]


@pytest.mark.parametrize("method", ["em", "kmeans"])
def test_topics_are_found_and_named_by_their_words(maildir, method):
    found = sorted_mail([maildir], 3, method)
    assert [group.messages for group in found.groups] == [15, 15, 15]
    by_group = {number: {topic_of(path) for path, group in found.members if group == number} for number in (1, 2, 3)}
    assert sorted(map(sorted, by_group.values())) == [["choir"], ["code"], ["garden"]]
    for group in found.groups:
        (topic,) = by_group[group.group]
        own = {*TOPICS[topic].split(), topic}
        assert len(group.words) == 10
        assert {word.removeprefix("subject:") for word in group.words} <= own


@pytest.mark.parametrize("method", ["em", "kmeans"])
def test_the_table_has_a_line_a_group_and_one_about_the_search(maildir, method):
    status, out = run(maildir, "--groups", 3, "--method", method, "--words", 3, "--jobs", 1)
    assert status == 0
    assert "most telling words" in out
    assert [line.split()[0] for line in out.splitlines() if line.rstrip().endswith(" 15")] == ["1", "2", "3"]
    way = "log-likelihood rose from" if method == "em" else "squared distance fell from"
    assert [line for line in out.splitlines() if line.startswith(f"{method}: {way}")]


def test_jsonl_has_an_object_a_group_then_an_object_a_message(maildir):
    status, out = run(maildir, "--groups", 3, "--format", "jsonl", "--words", 4, "--jobs", 1)
    objects = [json.loads(line) for line in out.splitlines()]
    groups, messages = objects[:3], objects[3:]
    assert status == 0
    assert [sorted(group) for group in groups] == [["group", "messages", "words"]] * 3
    assert [len(group["words"]) for group in groups] == [4, 4, 4]
    assert {Path(message["path"]) for message in messages} == set((maildir / "cur").iterdir())
    assert Counter(message["group"] for message in messages) == {group["group"]: group["messages"] for group in groups}


def test_groups_are_numbered_by_size(maildir):
    found = sorted_mail([maildir], 5)
    sizes = [group.messages for group in found.groups]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == 45


def test_messages_of_an_mbox_are_named_by_their_number_and_copies_go_with_the_original(tmp_path):
    box = mailbox.mbox(tmp_path / "box")
    for topic in ("choir", "garden"):
        for number in (1, 2, 3, 1):
            box.add(letter(topic, number))
    box.close()
    found = sorted_mail([tmp_path / "box"], 2)
    assert [name for name, _ in found.members] == [f"{tmp_path / 'box'}#{number}" for number in range(1, 9)]
    groups = [group for _, group in found.members]
    assert len(set(groups[:4])) == len(set(groups[4:])) == 1
    assert groups[0] != groups[4]
    assert [group.messages for group in found.groups] == [4, 4]


def test_the_envelope_is_heard_when_asked_for(maildir):
    words = [word for group in sorted_mail([maildir], 3, words=1000).groups for word in group.words]
    assert not [word for word in words if word.startswith(("from:", "to:", "header:", "size:"))]
    envelope = sorted_mail([maildir], 3, words=1000, envelope=True)
    assert [word for group in envelope.groups for word in group.words if word.startswith("from:friend")]


def test_who_sent_a_message_changes_nothing_unless_asked_for(maildir, tmp_path):
    for number, path in enumerate(sorted((maildir / "cur").iterdir())):
        other = path.read_text().replace("friend", f"stranger{number % 2}.of.a.far.country.")
        (tmp_path / path.name).write_text("X-Mailer: another\n" * (number % 2) + other)
    mail, other = (read_unsorted([str(folder)], jobs=1).corpus for folder in (maildir, tmp_path))
    heard = [{one.tokens[column] for column in heard_tokens(one, False)} for one in (mail, other)]
    assert heard[0] == heard[1]
    assert "mailer:another" in {other.tokens[column] for column in heard_tokens(other, True)}


def test_the_order_of_mailboxes_does_not_matter(maildir, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "choir.99").write_text(letter("choir", 99))
    paths = [str(maildir), str(tmp_path / "more")]
    one, other = (sorted_mail(order, 3) for order in (paths, paths[::-1]))
    assert dict(one.members) == dict(other.members)
    assert one.groups == other.groups


@pytest.mark.parametrize("method", ["em", "kmeans"])
def test_the_sample_mail_is_sorted(method):
    status, out = run(SAMPLE, "--groups", 4, "--method", method, "--format", "jsonl", "--jobs", 1)
    objects = [json.loads(line) for line in out.splitlines()]
    groups = [one for one in objects if "words" in one]
    assert status == 0
    assert 2 <= len(groups) <= 4
    assert all(group["words"] for group in groups)
    assert sum(group["messages"] for group in groups) == len(objects) - len(groups)


def test_two_different_messages_make_two_groups(tmp_path):
    for topic in ("choir", "garden"):
        (tmp_path / topic).write_text(letter(topic, 1))
    found = sorted_mail([tmp_path], 2)
    assert sorted(group for _, group in found.members) == [1, 2]


@pytest.mark.parametrize("method", ["em", "kmeans"])
def test_messages_without_a_word_are_one_group(tmp_path, method):
    for number in range(3):
        (tmp_path / str(number)).write_text(f"From: friend{number}@home.example\n\n")
    (tmp_path / "choir").write_text(letter("choir", 1))
    found = sorted_mail([tmp_path], 2, method)
    assert [group for _, group in found.members] == [1, 1, 1, 2]  # the names in order: 0, 1, 2, choir
    assert found.groups[0].words == []


# What cannot be


def test_more_groups_than_messages_are_refused_with_the_way_out(maildir):
    with pytest.raises(Usage, match=r"--groups 46: there are 45 different messages; ask for 45 or fewer"):
        run(maildir, "--groups", 46, "--jobs", 1)


def test_copies_are_not_different_messages(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).write_text(letter("choir", 1))
    with pytest.raises(Usage, match="there is 1 message"):
        sorted_mail([tmp_path], 2)


def test_a_mailbox_without_a_message_is_refused(tmp_path):
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(BadData, match="no message to sort; name a mailbox"):
        sorted_mail([tmp_path / "empty"], 1)


def test_a_path_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(NoInput, match="nowhere"):
        run(tmp_path / "nowhere", "--groups", 2)


def test_what_could_not_be_read_is_told_and_the_rest_is_sorted(maildir, tmp_path):
    (tmp_path / "damaged.gz").write_bytes(b"\x1f\x8b\x08 nothing that could be unpacked")
    status, out = run(maildir, tmp_path / "damaged.gz", "--groups", 3, "--format", "jsonl", "--jobs", 1)
    assert status == BadData.exit_code
    assert sum("path" in line for line in out.splitlines()) >= 45


def test_the_search_in_a_line():
    assert summary([-12.0, -10.5], "em") == "em: log-likelihood rose from -12.00 to -10.50 in 2 steps"
    assert summary([3.0], "kmeans") == "kmeans: squared distance is 3.00 in 1 step"
