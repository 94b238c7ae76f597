"""The model's directory: either the old model or the new one, whole; and nobody else's code is ever run."""

import io
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from spamnb.archive import FIELDS, FORMAT, Saved, pack, write_sealed
from spamnb.errors import BadConfig, DamagedModel, NoModel, SpamnbError, TryLater
from spamnb.filtering import Judge
from spamnb.journal import Lesson, append_lessons
from spamnb.models import Choice, fit
from spamnb.seal import SEAL_BYTES
from spamnb.store import Store
from spamnb.training import new_generation, read_labelled

SAMPLE = Path(__file__).parent.parent / "sample_mail"
CHOICE = Choice("multinomial", 0.5, "binary", np.array([3, 7], np.uint64))


@pytest.fixture(scope="module")
def learned():
    """A small corpus and the scorecard fitted on it."""
    corpus = read_labelled([str(SAMPLE / "judge/ham")], [str(SAMPLE / "judge/spam")], jobs=1).corpus
    return corpus, fit(corpus, CHOICE)


@pytest.fixture
def store(tmp_path: Path, learned) -> Store:
    """A directory that holds a model."""
    return save(Store(tmp_path / "model"), learned)


def save(store: Store, learned) -> Store:
    corpus, card = learned
    with store.locked():
        store.save(Saved(corpus, CHOICE, new_generation()), card)
    return store


def snapshot(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def refusal(store: Store) -> str:
    """How a model is refused; the files stay as they were."""
    before = snapshot(store.path)
    with pytest.raises(SpamnbError) as caught:
        store.load()
    assert isinstance(caught.value, DamagedModel | BadConfig)
    assert snapshot(store.path) == before
    assert "\n" not in str(caught.value)
    assert str(store.model) in str(caught.value)
    return str(caught.value)


# There and back


def test_a_model_comes_back_as_it_was_saved(store, learned):
    corpus, _ = learned
    saved = store.load()
    assert saved.corpus.tokens == corpus.tokens
    assert (saved.corpus.counts != corpus.counts).nnz == 0
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(saved.corpus, name), getattr(corpus, name))
    assert (saved.choice.kind, saved.choice.alpha, saved.choice.counts) == ("multinomial", 0.5, "binary")
    assert list(saved.choice.contacts) == [3, 7]


def test_a_model_that_was_loaded_can_be_saved_and_loaded_again(store, learned):
    saved, (_, card) = store.load(), learned
    with store.locked():
        store.save(saved, card)
    assert store.load().corpus.tokens == saved.corpus.tokens


def test_the_truth_and_its_scorecard_are_of_one_generation(store):
    assert store.load().generation == store.scorecard().generation != ""


def test_every_save_is_a_generation_of_its_own(store, learned):
    first = store.load().generation
    assert save(store, learned).load().generation != first


def test_the_scorecard_rebuilt_from_a_loaded_model_scores_like_the_first(store):
    saved, card = store.load(), store.scorecard()
    again = fit(saved.corpus, saved.choice)
    for mail in (SAMPLE / "ham" / "new").iterdir():
        raw = mail.read_bytes()
        assert Judge(again).judge(raw).score == Judge(card).judge(raw).score
    assert (again.c, again.ham_cutoff) == (card.c, card.ham_cutoff)


def test_a_new_model_has_no_lessons_and_the_journal_of_the_old_one_is_gone(store, learned):
    append_lessons(store.journal, store.load().generation, [Lesson("aa" * 16, True), Lesson("bb" * 16, False)])
    assert store.lessons_at_stake() == 2
    save(store, learned)
    assert store.lessons_at_stake() == 0
    assert not store.journal.exists()


def test_lessons_beside_a_damaged_model_still_count(store):
    append_lessons(store.journal, store.load().generation, [Lesson("aa" * 16, True)])
    os.truncate(store.model, 100)
    assert store.lessons_at_stake() == 1


def test_no_model_is_an_error_that_names_the_directory_and_train(tmp_path):
    with pytest.raises(NoModel, match=rf"{tmp_path}: no model here; 'spamnb train"):
        Store(tmp_path).load()
    with pytest.raises(NoModel, match=rf"{tmp_path}: no model here; 'spamnb train"):
        Store(tmp_path).scorecard()
    assert list(tmp_path.iterdir()) == []


# Who may look


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_words_of_private_mail_are_for_their_owner_alone(tmp_path, learned, umask):
    before = os.umask(umask)
    try:
        store = save(Store(tmp_path / "model"), learned)
    finally:
        os.umask(before)
    assert store.path.stat().st_mode & 0o777 == 0o700
    files = {path.name: path.stat().st_mode & 0o777 for path in store.path.iterdir()}
    assert files == {"model.joblib": 0o600, "scorecard": 0o600, "lock": 0o600}


def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SpamnbError, match=str(tmp_path / "model")), Store(tmp_path / "model").locked():
        pass
    assert not (tmp_path / "elsewhere").exists()


# What is refused


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_model_is_refused_as_truncated(store, share):
    os.truncate(store.model, int(share * store.model.stat().st_size))
    assert "truncated" in refusal(store)


@pytest.mark.parametrize("cut", [1, 31, SEAL_BYTES - 1])
def test_a_model_whose_end_is_cut_is_refused(store, cut):
    os.truncate(store.model, store.model.stat().st_size - cut)
    assert "truncated" in refusal(store)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.9, 0.9999])
def test_a_model_with_one_altered_byte_is_refused_as_altered(store, share):
    contents = bytearray(store.model.read_bytes())
    contents[int(share * len(contents))] ^= 1
    store.model.write_bytes(contents)
    assert "altered" in refusal(store)


def test_bytes_behind_the_end_are_refused(store):
    with store.model.open("ab") as file:
        file.write(b"more")
    refusal(store)


def content_of(store: Store) -> dict[str, Any]:
    """What the file holds, as plain arrays."""
    content = pack(store.load())
    counts = tuple(np.array(part) for part in content["counts"])
    return {
        **{name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in content.items()},
        "counts": counts,
    }


def forge(store: Store, content: object) -> None:
    """Put anything at all, with a valid seal, in the model's place."""
    sealed = io.BytesIO()
    write_sealed(sealed, content, "0123456789abcdef")
    store.model.write_bytes(sealed.getvalue())


def test_a_forged_seal_is_a_valid_one(store):
    generation = store.load().generation
    forge(store, content_of(store))
    assert store.load().generation == generation


@pytest.mark.parametrize("number", [0, FORMAT + 1, 99])
def test_a_model_of_another_format_is_refused_with_both_numbers(store, number):
    forge(store, {**content_of(store), "format": number})
    assert f"format {number}, this program reads {FORMAT}" in refusal(store)
    with pytest.raises(BadConfig):
        store.load()


def test_a_damaged_model_and_one_of_another_format_differ_in_kind(store):
    forge(store, {**content_of(store), "ids": content_of(store)["ids"][1:]})
    with pytest.raises(DamagedModel):
        store.load()


class Bomb:
    """Unpickled by a careless reader, it makes a directory."""

    def __init__(self, mark: Path) -> None:
        self.mark = str(mark)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, (self.mark,)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """What a bomb would leave behind."""
    return tmp_path / "bombed"


def object_array(*things: object) -> np.ndarray[Any, Any]:
    array = np.empty(len(things), object)
    array[:] = things
    return array


def test_the_bomb_goes_off_when_the_reader_is_careless(mark):
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists()


def test_the_bomb_in_an_array_goes_off_when_the_reader_is_careless(tmp_path, mark):
    joblib.dump({"ids": object_array(Bomb(mark))}, tmp_path / "array")
    joblib.load(tmp_path / "array")
    assert mark.exists()


def test_a_pickle_without_a_seal_is_refused_unread(store, mark):
    store.model.write_bytes(pickle.dumps(Bomb(mark)) + b"\0" * SEAL_BYTES)
    assert "not a model of spamnb" in refusal(store)
    assert not mark.exists()


def test_a_sealed_pickle_that_names_code_is_refused_by_the_name(store, mark):
    forge(store, Bomb(mark))
    assert "names posix.mkdir, which no model needs" in refusal(store)
    assert not mark.exists()


@pytest.mark.parametrize("field", ["kind", "generation", "labels", "extra"])
def test_a_sealed_model_that_names_code_in_a_field_is_refused(store, mark, field):
    forge(store, {**content_of(store), field: Bomb(mark)})
    assert "names posix.mkdir" in refusal(store)
    assert not mark.exists()


@pytest.mark.parametrize("field", ["ids", "dates", "extra"])
def test_a_bomb_inside_an_array_of_objects_is_refused(store, mark, field):
    forge(store, {**content_of(store), field: object_array(Bomb(mark), 1, 2)})
    refusal(store)
    assert not mark.exists()


def test_an_array_of_objects_is_refused_even_when_they_are_harmless(store):
    content = content_of(store)
    forge(store, {**content, "dates": object_array(*content["dates"].tolist())})
    refusal(store)


@pytest.mark.parametrize("content", [[], {}, {"format": FORMAT}, 3, "model", None])
def test_a_sealed_pickle_of_something_else_is_refused(store, content):
    forge(store, content)
    assert "not a model of spamnb" in refusal(store)


@pytest.mark.parametrize("field", [*FIELDS, "tokens", "counts", "kind", "generation"])
def test_a_model_that_lacks_a_field_is_refused(store, field):
    content = content_of(store)
    del content[field]
    forge(store, content)
    refusal(store)


def test_a_count_matrix_that_points_outside_the_dictionary_is_refused(store):
    content = content_of(store)
    data, indices, indptr = content["counts"]
    beyond = indices.copy()
    beyond[0] = len(content["ids"])
    forge(store, {**content, "counts": (data, beyond, indptr)})
    refusal(store)


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_is_shorter_than_the_matrix_is_refused(store, field):
    content = content_of(store)
    forge(store, {**content, field: content[field][:-1]})
    refusal(store)


def test_a_model_that_cannot_be_opened_is_told_in_one_line(store):
    store.model.unlink()
    store.model.mkdir()
    with pytest.raises(SpamnbError, match=str(store.model)):
        store.load()


# The scorecard, which judges without the rest


@pytest.mark.parametrize("size", [0, 5, 60, -8, -1])
def test_a_truncated_scorecard_is_refused(store, size):
    os.truncate(store.card, size if size >= 0 else store.card.stat().st_size + size)
    with pytest.raises(DamagedModel, match=f"{store.card}: .*'spamnb refit' makes it anew"):
        store.scorecard()


def test_a_scorecard_of_another_format_is_refused_with_both_numbers(store):
    contents = bytearray(store.card.read_bytes())
    contents[len(b"spamnb scorecard\n")] = 99
    store.card.write_bytes(contents)
    with pytest.raises(BadConfig, match="format 99, this program reads"):
        store.scorecard()


def test_a_scorecard_with_an_altered_description_is_refused(store):
    contents = store.card.read_bytes()
    store.card.write_bytes(contents.replace(b'"kind"', b'"kine"'))
    with pytest.raises(DamagedModel, match="altered"):
        store.scorecard()


# Writing that fails


SAVE_WITH_ROOM = """
    import resource, signal, sys
    from spamnb.store import Store
    path, room, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    store = Store(path)
    saved, card = store.load(), store.scorecard()
    card.columns = card.columns * columns
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    with store.locked():
        store.save(saved, card)
"""


def save_with_room(store: Store, room: int, columns: int = 1) -> subprocess.CompletedProcess[str]:
    """Save the model again, in a process that may write no file larger than room."""
    command = [sys.executable, "-c", textwrap.dedent(SAVE_WITH_ROOM), store.path, str(room), str(columns)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("room", [0, 30_000])
def test_a_write_that_fails_leaves_the_old_model_and_no_litter(store, room):
    before = snapshot(store.path)
    assert len(before["model.joblib"]) > room
    done = save_with_room(store, room)
    assert "spamnb.errors.CannotWrite" in done.stderr
    assert f"{store.model}: File too large; the model is as it was" in done.stderr
    assert snapshot(store.path) == before


def test_a_write_that_fails_between_the_two_files_leaves_the_old_model(store):
    before = snapshot(store.path)
    room = len(before["model.joblib"]) + 1_000
    done = save_with_room(store, room, columns=50)
    assert f"{store.card}: File too large; the model is as it was" in done.stderr
    assert snapshot(store.path) == before


def test_a_writer_that_is_killed_leaves_the_old_model(store):
    before = snapshot(store.path)
    dying = f"""
        import os, signal
        from spamnb.store import Store
        store = Store({str(store.path)!r})
        def write(file):
            file.write(b"half a model")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        with store.locked():
            store.replace((store.model, write))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(dying)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    after = snapshot(store.path)
    assert {name: after[name] for name in before} == before


# The lock

HOLDER = """
    import sys
    from spamnb.store import Store
    with Store(sys.argv[1]).locked():
        print("held", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that writes this model, until its input ends."""
    command = [sys.executable, "-c", textwrap.dedent(HOLDER), str(tmp_path / "model")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_writer_gives_up_when_its_patience_ends(tmp_path, holder):
    with pytest.raises(TryLater, match="another spamnb is writing this model"):  # noqa: SIM117
        with Store(tmp_path / "model").locked(patience=0.05):
            pytest.fail("two writers at once")
    assert TryLater.exit_code == 75


def test_a_second_writer_waits_for_the_first(tmp_path, holder):
    waiting = [sys.executable, "-c", textwrap.dedent(HOLDER), str(tmp_path / "model")]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as second:
        assert second.stdin is not None
        assert second.stdout is not None
        second.stdin.close()
        time.sleep(0.5)  # ample for it to come to the lock; were it too short, the next line would still hold
        assert second.poll() is None
        holder.stdin.close()
        assert second.stdout.read() == "held\n"
        assert second.wait() == 0


def test_the_lock_of_a_writer_that_died_is_free(tmp_path, holder):
    holder.kill()
    holder.wait()
    with Store(tmp_path / "model").locked(patience=0):
        assert (tmp_path / "model" / "lock").exists()


def test_readers_take_no_lock(store):
    with store.locked():
        assert store.load().generation == store.scorecard().generation


def test_the_lock_is_never_replaced(store, learned):
    inode = (store.path / "lock").stat().st_ino
    save(store, learned)
    assert (store.path / "lock").stat().st_ino == inode


def test_the_lock_is_free_after_a_failure_inside(store):
    with pytest.raises(KeyError), store.locked():
        raise KeyError
    with store.locked(patience=0):
        assert store.load()
