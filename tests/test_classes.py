"""Classes of the user's naming: trained, judged, taught, moved about and refused, in Python and as a command."""

import json
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from test_cli import Command, Run, one_line

from spamnb.corpus import Corpus
from spamnb.errors import BadData, Usage
from spamnb.filtering import Judge
from spamnb.learning import class_number, learn, lesson_of
from spamnb.mailbox import Mail
from spamnb.message import parse
from spamnb.models import SEVERAL, Choice, fit, generative
from spamnb.models.rows import class_scores
from spamnb.naming import named, offsets_in, ranked
from spamnb.settings import CHECKS, Settings
from spamnb.store import Store
from spamnb.tokens import MEASURES, token_id
from spamnb.training import choice_of, read_classes, train

TEXTS = {
    "work": ["draft for review", "meeting on tuesday", "review the draft", "budget meeting", "tuesday draft budget"],
    "lists": ["digest of the list", "unsubscribe from the list", "patch for the kernel", "kernel digest", "list patch"],
    "spam": ["casino bonus", "cheap pills bonus", "winner of the casino", "cheap cheap winner", "pills for the winner"],
}
CLASSES = tuple(TEXTS)
KINDS = pytest.mark.parametrize("kind", SEVERAL)


def message(text: str) -> bytes:
    return f"From: someone@host.example\nSubject: {text}\n\n{text}\n".encode()


MEETING, PATCH, PILLS = message("budget review on tuesday"), message("kernel patch"), message("cheap casino pills")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """A folder of mail for each class."""
    root = tmp_path_factory.mktemp("mail")
    for name, texts in TEXTS.items():
        (root / name).mkdir()
        for number, text in enumerate(texts):
            (root / name / f"{number}.eml").write_bytes(message(text))
    return {name: [str(root / name)] for name in CLASSES}


@pytest.fixture(scope="module")
def three(folders: dict[str, list[str]]) -> Corpus:
    """The corpus of the three classes."""
    return read_classes(folders, jobs=1).corpus


def scores_of(judge: Judge, raw: bytes) -> list[float]:
    """The score of each class."""
    return judge.card.class_scores(judge.heard_of(judge.tokens_of(parse(raw))))


# Train and judge


def test_a_corpus_has_the_classes_in_the_order_of_their_naming(three):
    assert three.classes == CLASSES
    assert three.messages == (5, 5, 5)
    digests = {lesson_of(message(text), 0, 0).digest: name for name, texts in TEXTS.items() for text in texts}
    found = [three.classes[label] for label in three.labels]
    assert found == [digests[digest.decode()] for digest in three.digests]


@KINDS
def test_the_judge_names_the_class(three, kind):
    judge = Judge(fit(three, Choice(kind)))
    assert [judge.judge(raw).label for raw in (MEETING, PATCH, PILLS)] == ["work", "lists", "spam"]


@KINDS
def test_training_saves_a_model_that_names_the_classes(folders, kind, tmp_path):
    store = Store(tmp_path / "model")
    trained = train(store, folders, Choice(kind), jobs=1)
    assert trained.card.classes == store.scorecard().classes == store.load().corpus.classes == CLASSES
    for raw in (MEETING, PATCH, PILLS):
        assert scores_of(Judge(store.scorecard()), raw) == scores_of(Judge(trained.card), raw)


def test_two_classes_need_not_be_ham_and_spam(folders):
    mail = {name: folders[name] for name in ("lists", "work")}
    judge = Judge(fit(read_classes(mail, jobs=1).corpus, Choice("poisson")))
    assert [judge.judge(raw).label for raw in (MEETING, PATCH)] == ["work", "lists"]


def test_ham_and_spam_the_other_way_round_are_told_apart_all_the_same(folders):
    mail = {"spam": folders["spam"], "ham": folders["work"]}
    judge = Judge(fit(read_classes(mail, jobs=1).corpus, Choice("multinomial")))
    assert [judge.judge(raw).label for raw in (MEETING, PILLS)] == ["ham", "spam"]


def test_a_message_of_several_classes_is_left_out_and_named(folders, tmp_path):
    (tmp_path / "own.eml").write_bytes(PATCH)
    (tmp_path / "copy.eml").write_bytes(message(TEXTS["work"][0]))
    gathered = read_classes({**folders, "more": [str(tmp_path)]}, jobs=1)
    assert gathered.corpus.messages == (4, 5, 5, 1)
    assert sorted(gathered.contradictions) == sorted([f"{tmp_path}/copy.eml", f"{folders['work'][0]}/0.eml"])


def test_a_class_without_mail_is_refused_by_name(folders, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "copy.eml").write_bytes(message(TEXTS["spam"][0]))
    mail = {"work": [str(tmp_path / "work")], "spam": folders["spam"], "lists": folders["lists"]}
    with pytest.raises(BadData, match="no work to learn from"):
        read_classes(mail, jobs=1)


# Scores


@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.01])
@pytest.mark.parametrize(("kind", "peer"), [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB)])
def test_the_scores_of_all_classes_agree_with_scikit_learn(three, kind, peer, alpha):
    card = fit(three, Choice(kind, alpha))
    theirs = peer(alpha=alpha).fit(three.counts, three.labels)
    unseen = np.zeros((3, len(three.tokens)), int)
    for row, raw in zip(unseen, (MEETING, PATCH, PILLS), strict=True):
        found = Judge(card).tokens_of(parse(raw))
        row[:] = [found[token] for token in three.tokens]
    for scores, counts in (
        (class_scores(card, three), three.counts),
        (np.array([scores_of(Judge(card), raw) for raw in (MEETING, PATCH, PILLS)]), unseen),
    ):
        apart = scores - theirs.predict_joint_log_proba(counts)
        np.testing.assert_allclose(apart, np.broadcast_to(apart[:, :1], apart.shape), rtol=0, atol=1e-9)
        assert np.ptp(apart) < 1e-9  # what all classes have more is the same for all messages, too: log n


@KINDS
def test_the_score_is_the_log_odds_of_the_class_named_against_all_others(three, kind):
    judge = Judge(fit(three, Choice(kind)))
    for raw in (MEETING, PATCH, PILLS):
        scores, verdict = scores_of(judge, raw), judge.judge(raw)
        shares = np.exp(scores - np.logaddexp.reduce(scores))
        assert verdict.of_classes == pytest.approx(dict(zip(CLASSES, shares, strict=True)))
        assert verdict.probability == pytest.approx(verdict.of_classes[verdict.label])
        assert verdict.label == CLASSES[int(np.argmax(scores))]


@pytest.mark.parametrize("lead", [0.0, 1.0, 36.0, 40.0, 700.0, 744.0, 746.0, 1e6])
def test_the_score_grows_with_the_lead_however_large(three, lead):
    card = fit(three, Choice("multinomial"))
    verdict = named(card, [lead, 0.0, -lead - 5000.0], {})
    assert verdict.label == "work"
    assert verdict.score == pytest.approx(lead, abs=1e-12)


def test_of_equal_classes_the_first_is_named(three):
    assert named(fit(three, Choice("multinomial")), [3.0, 3.0, 3.0], {}).label == "work"


@KINDS
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_word_seen_in_one_class_alone_names_it_with_and_without_smoothing(three, kind, alpha):
    verdict = Judge(fit(three, Choice(kind, alpha))).judge(message("casino bonus"))
    assert verdict.label == "spam"
    assert verdict.score < 1e8


# An offset for each class


def test_a_class_must_exceed_its_offset(three):
    card = fit(three, Choice("multinomial"))
    scores = [0.0, -10.0, log(8.0)]  # spam is eight times likelier than work
    assert named(card, scores, {}).label == "spam"
    assert named(card, scores, {"spam": 7.9}).label == "spam"
    assert named(card, scores, {"spam": 8.1}).label == "work"
    assert named(card, scores, {"spam": 8.1, "work": 1.1}).label == "spam"
    assert named(card, scores, {"lists": exp(-20.0)}).label == "lists"
    assert ranked(scores, CLASSES, {"spam": 8.1}) == [0, 2, 1]


def test_an_offset_leaves_the_probabilities_as_they_are(three):
    card = fit(three, Choice("multinomial"))
    free, bound = Judge(card).judge(PILLS), Judge(card, "spam=1e9").judge(PILLS)
    assert (free.label, bound.label != "spam") == ("spam", True)
    assert free.of_classes == bound.of_classes
    assert bound.probability == pytest.approx(bound.of_classes[bound.label])


@pytest.mark.parametrize(
    ("threshold", "reason"),
    [(9.0, "give --threshold NAME=C"), ("junk=9", "no class 'junk'; there are work, lists, spam"),
     ("spam=2,ham=3", "no class 'ham'")],
)  # fmt: skip
def test_an_offset_for_what_is_no_class_is_refused(three, threshold, reason):
    with pytest.raises(Usage, match=reason):
        offsets_in(fit(three, Choice("multinomial")), threshold)


def test_offsets_of_classes_are_refused_where_there_are_ham_and_spam_alone(cards):
    with pytest.raises(Usage, match="ham and spam alone"):
        offsets_in(cards["multinomial"], "spam=9")
    assert offsets_in(cards["multinomial"], 9.0) == offsets_in(cards["multinomial"], None) == {}


@pytest.mark.parametrize("text", ["spam=", "spam=0", "spam=-1", "=3", "spam=nan", "spam=2,", "spam=2,work", "spam=inf"])
def test_an_offset_that_is_no_number_above_0_is_refused(text):
    with pytest.raises(ValueError, match="must be a number above 0"):
        CHECKS["threshold"](text)


# Which models


@pytest.mark.parametrize("kind", ["corrected", "logistic", "gaussian", "neighbours", "em"])
def test_models_of_ham_and_spam_are_refused(kind):
    with pytest.raises(Usage, match=f"--kind {kind} tells ham from spam; --class goes with multinomial, bernoulli"):
        choice_of(Settings(kind=kind), several=True)


# Learn and forget


@KINDS
def test_a_message_learned_as_a_class_makes_the_model_of_a_training_with_it_and_forgotten_the_one_before(
    folders, kind, tmp_path
):
    store = Store(tmp_path / "model")
    train(store, folders, Choice(kind), jobs=1)
    before = [scores_of(Judge(store.scorecard()), raw) for raw in (MEETING, PATCH, PILLS)]
    (tmp_path / "new.eml").write_bytes(MEETING)
    more = {name: [*paths, str(tmp_path / "new.eml")] if name == "lists" else paths for name, paths in folders.items()}
    trained = fit(read_classes(more, jobs=1).corpus, Choice(kind))
    learn(store, [Mail("", MEETING)], class_number(store, "lists"))
    assert store.scorecard().messages == (5, 6, 5)
    for raw in (MEETING, PATCH, PILLS):
        assert scores_of(Judge(store.scorecard()), raw) == scores_of(Judge(trained), raw)
    learn(store, [Mail("", MEETING)], class_number(store, "work"))
    assert store.scorecard().messages == (6, 5, 5)
    learn(store, [Mail("", MEETING)], None)
    assert [scores_of(Judge(store.scorecard()), raw) for raw in (MEETING, PATCH, PILLS)] == before


@KINDS
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_class_that_has_lost_all_its_messages_leaves_the_judge_unsure(folders, kind, alpha, tmp_path):
    store = Store(tmp_path / "model")
    train(store, folders, Choice(kind, alpha), jobs=1)
    learn(store, [Mail("", message(text)) for text in TEXTS["lists"]], None)
    verdict = Judge(store.scorecard()).judge(PILLS)
    assert (verdict.label, verdict.reason) == ("unsure", "only 0 lists learned")


def test_there_is_no_learning_into_a_class_that_the_model_lacks(folders, tmp_path):
    store = Store(tmp_path / "model")
    train(store, folders, Choice("multinomial"), jobs=1)
    with pytest.raises(Usage, match="no class 'ham'; there are work, lists, spam"):
        class_number(store, "ham")


# Twenty classes


def many(classes: int, documents: int, seed: int) -> Corpus:
    """Documents of 15 words, 5 of them from the 10 of their class and the others from 100 that all classes share."""
    chance = np.random.default_rng(seed)
    words = 10 * classes + 100
    labels = np.repeat(np.arange(classes), documents)
    own = 10 * labels[:, None] + chance.integers(0, 10, (len(labels), 5))
    shared = 10 * classes + chance.integers(0, 100, (len(labels), 10))
    columns = np.hstack([own, shared]).ravel()
    rows = np.repeat(np.arange(len(labels)), 15)
    counts = sparse.coo_matrix((np.ones(len(rows), np.int32), (rows, columns)), (len(labels), words)).tocsr()
    names = [f"word{number}" for number in range(words)]
    order = np.argsort([token_id(name) for name in names])
    return Corpus(
        tokens=[names[place] for place in order],
        ids=np.array([token_id(names[place]) for place in order], np.uint64),
        counts=counts[:, order].sorted_indices(),
        labels=labels.astype(np.int8),
        digests=np.array([f"{number:032x}".encode() for number in range(len(labels))], "S32"),
        dates=np.zeros(len(labels), np.int64),
        senders=np.zeros(len(labels), np.uint64),
        measures=np.zeros((len(labels), len(MEASURES)), np.float32),
        lessons=np.zeros(len(labels), bool),
        classes=tuple(f"class{number}" for number in range(classes)),
    )


@KINDS
def test_twenty_classes_of_a_thousand_documents_are_told_apart(kind):
    card, unseen = fit(many(20, 1000, seed=1), Choice(kind)), many(20, 25, seed=2)
    assert card.messages == (1000,) * 20
    assert (class_scores(card, unseen).argmax(axis=1) == unseen.labels).mean() > 0.99
    judge = Judge(card)
    row = unseen.counts[137].toarray()[0]
    found = {token: int(count) for token, count in zip(unseen.tokens, row, strict=True) if count}
    assert judge.verdict_on(found, ()).label == "class5"


@pytest.mark.parametrize(("kind", "levels"), [("multinomial", 1), ("bernoulli", 1), ("categorical", 3), ("poisson", 1)])
@pytest.mark.parametrize("classes", [5, 10, 20])
def test_the_work_grows_with_the_classes_and_no_faster(kind, levels, classes, monkeypatch):
    """Each count of each document is looked at once; a weight for each class, level and word; each heard once."""
    corpus, looked_at = many(classes, 50, seed=3), []
    count = generative.class_counts
    monkeypatch.setattr(generative, "class_counts", lambda rows: looked_at.append(rows.nnz) or count(rows))
    card = fit(corpus, Choice(kind))
    assert sum(looked_at) == corpus.counts.nnz
    assert sum(len(column.weights) for column in card.columns) == classes * levels * len(corpus.tokens)
    heard = Judge(card).heard_of(dict.fromkeys(corpus.tokens[:7], 1))
    assert sum(len(opinions) for _, opinions in heard) == 7 * classes * levels


# The command


@pytest.fixture(scope="module")
def spamnb(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("home"))


def class_options(folders: dict[str, list[str]]) -> list[str]:
    return [word for name, (path,) in folders.items() for word in ("--class", f"{name}={path}")]


@pytest.fixture(scope="module")
def training(spamnb: Command, folders, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A model of three classes, and what the command said; tests only read it."""
    path = tmp_path_factory.mktemp("classes") / "model"
    return path, spamnb("train", *class_options(folders), "--model", path)


@pytest.fixture(scope="module")
def model(training: tuple[Path, Run]) -> Path:
    return training[0]


@pytest.fixture
def own_model(spamnb: Command, folders, tmp_path: Path) -> Path:
    assert spamnb("train", *class_options(folders), "--model", tmp_path / "model").code == 0
    return tmp_path / "model"


def test_train_tells_how_many_messages_of_each_class_it_learned(training):
    path, run = training
    assert (run.code, run.err) == (0, "")
    lines = [line.split() for line in run.out.splitlines()]
    assert all([name, "5"] in lines for name in CLASSES)
    assert f"model: {path} (multinomial), the likeliest class is named" in run.out


def test_classify_names_the_class_for_people(spamnb, model):
    for raw, name in ((MEETING, "work"), (PATCH, "lists"), (PILLS, "spam")):
        run = spamnb("classify", "--model", model, stdin=raw)
        label, probability, path = run.out.split()
        assert (run.code, label, path) == (0, name, "-")
        assert 0.5 < float(probability) <= 1.0


def test_classify_gives_machines_the_probability_of_every_class(spamnb, model):
    (row,) = spamnb("classify", "--model", model, "--format", "jsonl", stdin=PATCH).rows
    assert row["label"] == "lists"
    assert tuple(row["classes"]) == CLASSES
    assert sum(row["classes"].values()) == pytest.approx(1.0)
    assert row["probability"] == pytest.approx(row["classes"]["lists"])
    assert row["score"] == pytest.approx(log(row["probability"] / (1 - row["probability"])))


@pytest.mark.parametrize(("raw", "code"), [(PILLS, 0), (MEETING, 1), (PATCH, 1)])
def test_the_exit_code_is_that_of_spam_for_the_class_spam_alone(spamnb, model, raw, code):
    assert spamnb("classify", "--exit-code", "--model", model, stdin=raw).code == code


def test_classify_bounds_a_class_by_an_offset(spamnb, model):
    run = spamnb("classify", "--threshold", "spam=1e12", "--model", model, stdin=PILLS)
    assert (run.code, run.out.split()[0] in ("work", "lists")) == (0, True)


@pytest.mark.parametrize(
    ("threshold", "reason"),
    [("9", "give --threshold NAME=C"), ("junk=9", "no class 'junk'"), ("spam=x", "must be a number above 0")],
)
def test_classify_refuses_an_offset_for_what_is_no_class(spamnb, model, threshold, reason):
    run = spamnb("classify", "--threshold", threshold, "--model", model, stdin=PILLS)
    assert run.code == Usage.exit_code
    assert reason in one_line(run)


@pytest.mark.parametrize(("raw", "name"), [(MEETING, "work"), (PATCH, "lists"), (PILLS, "spam")])
def test_explain_adds_up_and_counts_the_class_against_the_others(spamnb, model, raw, name):
    (row,) = spamnb("explain", "--model", model, "--format", "jsonl", stdin=raw).rows
    assert row["label"] == name
    assert row["every_message"] + sum(clue["adds"] for clue in row["clues"]) == pytest.approx(row["score"], abs=1e-9)
    clue = next(clue for clue in row["clues"] if clue["word"] == parse(raw).texts[0].split()[0])
    assert (clue["in_class"] > 0, clue["elsewhere"], clue["adds"] > 0) == (True, 0, True)


def test_explain_shows_people_the_class_against_the_others(spamnb, model):
    run = spamnb("explain", "--model", model, stdin=PILLS)
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("-: spam, score ")
    assert "others with it" in run.out
    assert "spam with it" in run.out


def test_inspect_shows_messages_and_strongest_words_of_each_class(spamnb, model):
    run = spamnb("inspect", "--model", model)
    assert "5 work, 5 lists, 5 spam" in run.out
    for name in CLASSES:
        assert f"strongest words for {name}" in run.out
    (row,) = spamnb("inspect", "--model", model, "--format", "jsonl").rows
    assert "winner" in [word["token"] for word in row["spam_words"]]
    assert "draft" in [word["token"] for word in row["work_words"]]
    assert "list" in [word["token"] for word in row["lists_words"]]


def test_learn_and_forget_take_a_class_by_its_name(spamnb, own_model):
    def messages() -> str:
        (row,) = spamnb("inspect", "--model", own_model, "--format", "jsonl").rows
        return row["messages"]

    run = spamnb("learn", "--class", "lists", "--model", own_model, stdin=MEETING)
    assert (run.code, run.err) == (0, "spamnb: learned 1 as lists, moved 0 from another class, knew 0\n")
    assert messages() == "5 work, 6 lists, 5 spam"
    run = spamnb("learn", "--spam", "--model", own_model, stdin=MEETING)
    assert run.err == "spamnb: learned 0 as spam, moved 1 from another class, knew 0\n"
    assert messages() == "5 work, 5 lists, 6 spam"
    run = spamnb("forget", "--model", own_model, stdin=MEETING)
    assert (run.code, run.err) == (0, "spamnb: forgot 1\n")
    assert messages() == "5 work, 5 lists, 5 spam"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--class", "junk"], "no class 'junk'; there are work, lists, spam"),
        (["--ham"], "no class 'ham'; there are work, lists, spam"),
        (["--class", "work", "--spam"], "say what the messages are"),
    ],
)
def test_learn_refuses_what_is_no_class_of_the_model(spamnb, model, options, reason):
    run = spamnb("learn", *options, "--model", model, stdin=MEETING)
    assert run.code == Usage.exit_code
    assert reason in one_line(run)


def test_an_export_becomes_the_same_model_elsewhere(spamnb, model, tmp_path):
    exported = spamnb("export", "--model", model)
    assert json.loads(exported.out.splitlines()[0])["classes"] == list(CLASSES)
    run = spamnb("import", "--model", tmp_path / "copy", stdin=exported.out.encode())
    assert (run.code, run.err) == (0, "spamnb: took in 15 messages and the totals of 0 words\n")
    assert spamnb("export", "--model", tmp_path / "copy").out == exported.out
    for raw in (MEETING, PATCH, PILLS):
        here, there = (
            spamnb("classify", "--format", "jsonl", "--model", path, stdin=raw).rows
            for path in (model, tmp_path / "copy")
        )
        assert here == there


def test_models_of_other_classes_are_not_merged(spamnb, own_model, folders, tmp_path):
    other = tmp_path / "other"
    assert spamnb("train", *class_options(folders)[:4], "--model", other).code == 0
    run = spamnb("merge", other, "--model", own_model)
    assert run.code == BadData.exit_code
    assert "has the classes work, lists, spam, the other work, lists; they cannot become one" in one_line(run)


def test_models_of_the_same_classes_are_merged(spamnb, own_model, model):
    assert spamnb("learn", "--class", "work", "--model", own_model, stdin=MEETING).code == 0
    run = spamnb("merge", model, "--model", own_model)
    assert (run.code, run.err) == (0, "spamnb: took in 0 messages\n")
    (row,) = spamnb("inspect", "--model", own_model, "--format", "jsonl").rows
    assert row["messages"] == "6 work, 5 lists, 5 spam"


def test_audit_is_of_ham_and_spam(spamnb, model):
    run = spamnb("audit", "--model", model)
    assert run.code == BadData.exit_code
    assert "an audit is of ham and spam" in one_line(run)


@pytest.mark.parametrize(
    ("raw", "name", "status"), [(PILLS, "spam", "Yes"), (MEETING, "work", "No"), (PATCH, "lists", "No")]
)
def test_filter_writes_the_class_and_flags_the_class_spam_alone(spamnb, model, raw, name, status):
    run = spamnb("filter", "--model", model, stdin=raw)
    assert (run.code, run.err) == (0, "")
    assert f"X-Spamnb: {name}, score=" in run.out
    assert f"X-Spam-Status: {status}, " in run.out
    assert ("X-Spam-Flag: YES\n" in run.out) is (name == "spam")
    assert ("X-Spam-Level: " in run.out) is (name == "spam")
    assert run.out.endswith(raw.decode())


def test_the_model_does_not_teach_itself_classes(spamnb, own_model):
    run = spamnb("classify", "--learn", "--model", own_model, stdin=PILLS)
    assert run.code == Usage.exit_code
    assert "spamnb learn --class NAME" in run.err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--class", "work"], "'work': give NAME=PATH"),
        (["--class", "=DIR"], "'=DIR': give NAME=PATH"),
        (["--class", "work="], "'work=': give NAME=PATH"),
        (["--class", "my work=DIR"], "'my work=DIR': give NAME=PATH"),
        (["--class", "unsure=DIR"], "not 'unsure'"),
        (["--class", "work=DIR"], "there is only 'work=DIR'; name two classes or more"),
        (["--class", "work=DIR", "--class", "work=OTHER"], "name two classes or more"),
        (["--class", "work=DIR", "--class", "spam=DIR", "--kind", "corrected"], "--kind corrected tells ham from spam"),
        (["--class", "work=DIR", "--class", "spam=DIR", "--kind", "em"], "--kind em tells ham from spam"),
        (["--class", "work=DIR", "--class", "spam=DIR", "--measures"], "--measures tell ham from spam"),
        (["--class", "work=DIR", "--class", "spam=DIR", "--ham", "DIR"], "--class names all mail"),
        (["HAM", "SPAM", "--class", "work=DIR", "--class", "spam=DIR"], "--class names all mail"),
    ],
)
def test_train_refuses_classes_that_cannot_be(spamnb, tmp_path, options, reason):
    run = spamnb("train", *options, "--model", tmp_path / "model")
    assert run.code == Usage.exit_code
    assert reason in one_line(run)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("kind", ["bernoulli", "categorical", "poisson"])
def test_train_takes_the_other_kinds_that_tell_classes_apart(spamnb, folders, kind, tmp_path):
    assert spamnb("train", *class_options(folders), "--kind", kind, "--model", tmp_path / "model").code == 0
    assert spamnb("classify", "--model", tmp_path / "model", stdin=PATCH).out.startswith("lists ")
