"""An audit finds what was learned as what it is not."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from spamnb.auditing import audit
from spamnb.errors import BadData
from spamnb.models import Choice, fit, fitting
from spamnb.models.fitting import held_out_scores, trustworthy
from spamnb.training import read_labelled


def trusted_of(corpus):
    return trustworthy(corpus, Choice(), 3, held_out_scores(corpus, Choice(), 3))


def flipped(corpus, rows):
    """The corpus with the classes of some messages turned round."""
    labels = corpus.labels.copy()
    labels[rows] = ~labels[rows]
    return dataclasses.replace(corpus, labels=labels)


@pytest.mark.parametrize("kind", ["corrected", "multinomial"])
def test_a_message_of_the_wrong_class_is_listed_first(corpus, kind):
    row = int(np.flatnonzero(corpus.labels)[0])
    doubts = audit(flipped(corpus, [row]), Choice(kind), 5)
    assert doubts[0].digest == corpus.digests[row].decode()
    assert doubts[0].label == "ham"
    assert doubts[0].probability > 0.5


def test_the_surest_contradiction_comes_first_and_none_that_is_unlikely(corpus):
    rows = [int(np.flatnonzero(corpus.labels)[0]), int(np.flatnonzero(~corpus.labels)[0])]
    doubts = audit(flipped(corpus, rows), Choice(), 50)
    wrong = [d.probability if d.label == "ham" else 1 - d.probability for d in doubts]
    assert wrong == sorted(wrong, reverse=True)
    assert min(wrong) > 0.5


def test_a_model_of_one_message_a_class_cannot_be_audited(corpus):
    rows = [int(np.flatnonzero(corpus.labels == label)[0]) for label in (False, True)]
    with pytest.raises(BadData, match="two messages of each class"):
        audit(corpus.take(np.array(sorted(rows))), Choice(), 5)


@pytest.fixture(scope="module")
def sample():
    """The sample mail, which is more than a few messages."""
    mail = Path(__file__).parent.parent / "sample_mail"
    return read_labelled([str(mail / "ham")], [str(mail / "spam")], jobs=1).corpus


@pytest.fixture
def doubting(monkeypatch):
    """Even the sample mail is enough to doubt some of it."""
    monkeypatch.setattr(fitting, "FEWEST_TO_DOUBT", 100)


@pytest.mark.usefixtures("doubting")
def test_what_the_user_taught_is_never_doubted(sample):
    rows = [int(row) for label in (False, True) for row in np.flatnonzero(sample.labels == label)[:3]]
    lessons = np.isin(np.arange(len(sample.labels)), rows)
    trusted, _ = trusted_of(dataclasses.replace(flipped(sample, rows), lessons=lessons))
    assert set(sample.digests[rows].tolist()) <= set(trusted.digests.tolist())


@pytest.mark.usefixtures("doubting")
def test_label_errors_are_left_out_of_the_fit_but_not_forgotten(sample):
    rows = [int(row) for label in (False, True) for row in np.flatnonzero(sample.labels == label)[:3]]
    noisy = flipped(sample, rows)
    trusted, held_out = trusted_of(noisy)
    gone = set(noisy.digests.tolist()) - set(trusted.digests.tolist())
    assert len(gone & set(noisy.digests[rows].tolist())) >= 4
    assert len(gone) <= len(rows) + len(sample.labels) // 20
    assert len(held_out) == len(trusted.labels)
    card = fit(noisy, Choice())
    assert len(card.tables["digests"]) == len(sample.labels)
    assert card.messages == noisy.messages


def test_in_a_small_model_odd_is_not_wrong(sample):
    noisy = flipped(sample, [0, 1, 2, 3])
    assert trusted_of(noisy)[0] is noisy
