"""Who judges whom: nobody his own judge, nobody judged twice, nobody by the future."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from spamnb.errors import BadData, Usage
from spamnb.protocols import PROTOCOLS, dated, filled, order_of_time, planned

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def day(number):
    return int((BEGIN + timedelta(days=number)).timestamp())


@pytest.fixture
def in_time(corpus):
    """The invented mail, a message a day, in an order that is not that of the rows."""
    days = np.random.default_rng(3).permutation(len(corpus.labels))
    return replace(corpus, dates=np.array([day(int(number)) for number in days], np.int64))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_message_is_judged_twice_or_by_a_model_that_knows_it(in_time, protocol):
    judged = np.zeros(len(in_time.labels), int)
    plan = planned(in_time, protocol)
    splits = list(plan.splits)
    assert len(splits) == plan.number
    for train, test in splits:
        judged[test] += 1
        assert not set(train.digests) & set(in_time.digests[test])
        assert train.digests.tolist() == sorted(train.digests.tolist())
    assert judged.max() == 1
    assert judged.all() == (protocol in ("folds", "loo"))


def test_left_out_one_by_one_each_is_judged_by_all_others(in_time):
    for train, test in planned(in_time, "loo").splits:
        assert len(train.labels) == len(in_time.labels) - 1
        assert np.sum(test) == 1


@pytest.mark.parametrize("protocol", ["half", "online"])
def test_no_message_is_judged_by_the_future(in_time, protocol):
    for train, test in planned(in_time, protocol).splits:
        assert train.dates.max() < in_time.dates[test].min()


def test_the_later_half_is_judged_by_the_earlier(in_time):
    [(train, test)] = planned(in_time, "half").splits
    middle = len(in_time.dates) // 2
    assert sorted(train.dates.tolist()) == [day(number) for number in range(middle)]
    assert sorted(in_time.dates[test].tolist()) == [day(number) for number in range(middle, len(in_time.dates))]


def test_online_every_message_is_judged_once_two_of_each_class_are_known(in_time):
    order = np.argsort(in_time.dates)
    spam = (in_time.labels == 1)[order]
    begin = next(n for n in range(len(spam)) if spam[:n].sum() >= 2 and (~spam[:n]).sum() >= 2)
    blocks = [(len(train.labels), len(test)) for train, test in planned(in_time, "online").splits]
    assert blocks[0][0] == begin
    assert sum(size for _, size in blocks) == len(spam) - begin
    assert all(size == max(1, known // 20) for known, size in blocks[:-1])


def test_mail_without_an_order_of_time_is_refused_with_the_way_out(corpus):
    same = np.full(len(corpus.labels), day(0), np.int64)
    mostly = same + np.where(np.arange(len(same)) < len(same) // 2 - 1, np.arange(len(same)), 0)
    for dates in (same, mostly):
        with pytest.raises(BadData, match="spamnb evaluate HAM SPAM"):
            order_of_time(replace(corpus, dates=dates))


@pytest.mark.parametrize("protocol", ["half", "online"])
def test_a_class_that_comes_too_late_cannot_be_judged(corpus, protocol):
    dates = np.argsort(np.argsort(corpus.labels == 1, kind="stable"))  # all ham before all spam
    with pytest.raises(BadData, match="too little mail"):
        planned(replace(corpus, dates=dates.astype(np.int64)), protocol)


def test_a_message_alone_in_its_class_cannot_be_left_out(corpus_of_words):
    with pytest.raises(BadData, match="2 messages of each class; there are 1"):
        planned(corpus_of_words((False, "tea"), (False, "milk"), (True, "pills")), "loo")


# Dates from the mail itself


def write(folder, number, header):
    folder.mkdir(exist_ok=True)
    (folder / f"{number:02}.eml").write_bytes(f"{header}Subject: {folder.name} {number}\n\n{number}\n".encode())


def date_line(number):
    return f"Date: {(BEGIN + timedelta(days=number)):%a, %d %b %Y %H:%M:%S} +0000\n"


@pytest.fixture
def mailboxes(tmp_path):
    for number in range(4):
        write(tmp_path / "ham", number, date_line(2 * number) if number != 2 else "Date: at tea time\n")
        write(tmp_path / "spam", number, date_line(2 * number + 1) if number else "")
    return [str(tmp_path / "ham")], [str(tmp_path / "spam")]


def test_mail_that_is_named_is_dated_by_its_headers_and_where_they_fail_by_its_neighbours(mailboxes):
    from spamnb.training import read_labelled

    corpus = dated(read_labelled(*mailboxes, jobs=1).corpus, mailboxes, jobs=1)
    spam = corpus.labels == 1
    assert sorted(corpus.dates[~spam].tolist()) == [day(0), day(2), day(2), day(6)]  # the third has that of the second
    assert sorted(corpus.dates[spam].tolist()) == [day(3), day(3), day(5), day(7)]  # the first has that of the next


def test_dates_are_filled_from_the_one_before_or_at_the_start_from_the_one_after():
    assert filled([None, None, 5, None, 3, None]) == [5, 5, 5, 5, 3, 3]


def test_mail_without_any_date_is_refused(tmp_path, corpus):
    write(tmp_path / "ham", 1, "")
    write(tmp_path / "spam", 1, date_line(1))
    with pytest.raises(BadData, match=r"ham: no message has a date; --protocol folds"):
        dated(corpus, ([str(tmp_path / "ham")], [str(tmp_path / "spam")]))


def test_standard_input_cannot_be_read_twice(corpus):
    with pytest.raises(Usage, match="standard input"):
        dated(corpus, (["-"], ["spam"]))
