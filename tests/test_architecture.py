"""Who may import whom, and what a mail filter that is started once per message must not pay for."""

import ast
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import spamnb

ROOT = Path(spamnb.__file__).parent
SAMPLE = ROOT.parent / "sample_mail"

# A module imports from the layers above its own, and from its own layer. A new module wants a place here.
LAYERS = (
    ("", "errors", "selecting", "settings"),  # "" is spamnb itself, which holds the version
    ("charset", "decoding", "disguise", "markup", "original", "message", "scripts", "tokens", "mailbox"),
    ("naive", "measuring", "scorecard"),
    ("cardfile", "headers", "journal", "naming", "notices", "seal", "teaching"),
    ("counting", "sending"),
    ("parallel", "corpus", "gathering"),
    ("models",),
    ("archive", "filtering", "bulk"),
    ("store",),
    ("training", "auditing", "clustering", "inspection", "upkeep"),
    ("protocols", "evaluation", "laboratory", "confusion", "projecting", "curves"),
    ("learning",),
    ("classifying", "passing", "report", "showing", "plotting", "pictures", "library"),
    ("commands",),
    ("cli",),
    ("entry",),
    ("__main__",),
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}
LIGHT = frozenset(name for names in LAYERS[:5] for name in names)
# These call on the heavy half, but only within a function: what they import on being imported is light.
LIGHT_AT_FIRST = LIGHT | {"filtering", "parallel", "store", "learning", "classifying", "passing", "entry"}
THIRD_PARTY = {"click", "joblib", "numpy", "rich", "scipy"}
OPTIONAL = {"matplotlib"}  # spamnb[plot]; plotting.py imports it when it draws

LONGEST_FUNCTION, LONGEST_MODULE = 40, 300
LONG_FUNCTIONS: dict[tuple[str, str], str] = {}  # (module, function): why
LONG_MODULES: dict[str, str] = {}


class Import(NamedTuple):
    """An import statement's target, and where it stands."""

    module: str  # of spamnb, by its name there ("models.rows"); "" for spamnb/__init__.py
    line: int
    target: str  # the full name of what is imported
    at_first: bool = True  # on being imported, not only within a function

    @property
    def place(self) -> str:
        return f"{self.module or '__init__'}:{self.line} imports {self.target}"

    @property
    def ours(self) -> str | None:
        """The module of spamnb that is imported, or None."""
        package, _, rest = self.target.partition(".")
        return rest.partition(".")[0] if package == "spamnb" else None


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of spamnb, parsed."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = ast.parse(path.read_text(encoding="utf-8"))
    return found


@cache
def sources() -> dict[str, str]:
    return {name: file_of(name).read_text(encoding="utf-8") for name in trees()}


def file_of(module: str) -> Path:
    path = ROOT.joinpath(*module.split(".")) if module else ROOT
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def is_typing_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def nodes(tree: ast.AST, at_first: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Everything below a node but what only a type checker sees, and whether it runs on import."""
    for child in ast.iter_child_nodes(tree):
        if not is_typing_only(child):
            yield child, at_first
            yield from nodes(child, at_first and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


def imports() -> Iterator[Import]:
    """Every import that can run, at the top of a module or within a function."""
    for module, tree in trees().items():
        for node, at_first in nodes(tree):
            if isinstance(node, ast.Import):
                yield from (Import(module, node.lineno, alias.name, at_first) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = absolute(module, node)
                for alias in node.names:
                    below = f"{base}.{alias.name}"
                    is_module = base.startswith("spamnb") and below.removeprefix("spamnb.") in trees()
                    yield Import(module, node.lineno, below if is_module else base, at_first)


def absolute(module: str, node: ast.ImportFrom) -> str:
    """The full name of a module that may be given by dots."""
    if not node.level:
        return node.module or ""
    package = ["spamnb", *filter(None, module.split("."))]
    if file_of(module).name != "__init__.py":
        package.pop()
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, *filter(None, [node.module])])


def room(module: str) -> str:
    """models.rows stands in the room models."""
    return module.partition(".")[0]


def test_the_walk_sees_imports_at_the_top_and_within_functions_and_by_dots():
    seen = {(found.module, found.target, found.at_first) for found in imports()}
    assert ("archive", "spamnb.corpus", True) in seen
    assert ("models.rows", "spamnb.scorecard", True) in seen
    assert ("models", "spamnb.models.rows", True) in seen
    assert ("commands.train", "spamnb.report", False) in seen  # from .. import report, inside a function
    assert ("parallel", "joblib", False) in seen
    assert not any((module, target) == ("scorecard", "typing") for module, target, _ in seen)  # for the type checker


def test_every_module_has_a_place_in_the_layers():
    assert {room(module) for module in trees()} == set(LAYER)


def within() -> Iterator[Import]:
    """All imports but the package's own door: spamnb.train and its like are fetched from the library when used."""
    return (found for found in imports() if (found.module, found.ours, found.at_first) != ("", "library", False))


def test_imports_go_down_the_layers():
    wrong = [
        found.place for found in within() if found.ours is not None and LAYER[found.ours] > LAYER[room(found.module)]
    ]
    assert wrong == []


def test_modules_import_each_other_in_no_circle():
    below = {name: {found.ours for found in within() if room(found.module) == name} - {None, name} for name in LAYER}
    while below:
        free = {name for name, needed in below.items() if not needed & below.keys()}
        assert free, f"a circle among {sorted(below)}"
        below = {name: needed for name, needed in below.items() if name not in free}


def is_foreign(found: Import) -> bool:
    return found.ours is None and found.target.partition(".")[0] not in sys.stdlib_module_names


def test_what_judges_imports_the_standard_library_alone():
    light = [found for found in within() if room(found.module) in LIGHT]
    assert [found.place for found in light if is_foreign(found) or found.ours not in {None, *LIGHT}] == []


def test_what_may_be_heavy_later_is_light_at_first():
    light = [found for found in imports() if room(found.module) in LIGHT_AT_FIRST and found.at_first]
    assert [found.place for found in light if is_foreign(found) or found.ours not in {None, *LIGHT_AT_FIRST}] == []


def test_no_package_is_imported_that_the_project_does_not_declare():
    assert {found.target.partition(".")[0] for found in imports() if is_foreign(found)} == THIRD_PARTY | OPTIONAL


def test_only_report_imports_rich():
    assert {found.module for found in imports() if room(found.target) == "rich"} == {"report"}


def test_only_the_command_line_imports_click():
    assert {room(found.module) for found in imports() if room(found.target) == "click"} == {"cli", "commands"}


def test_nobody_imports_the_command_line_but_the_entry():
    front = {found.module for found in imports() if found.ours in ("cli", "commands", "entry")}
    assert {room(module) for module in front} - {"commands"} == {"entry", "__main__"}


COMMAND_LINE = {"entry", "cli", "commands"}
SPEAKERS = COMMAND_LINE | {"notices", "classifying", "passing", "report"}
SURROUNDINGS = {
    ("sys", "argv"), ("os", "environ"), ("os", "getenv"), ("os", "isatty"), ("os", "get_terminal_size"),
    ("shutil", "get_terminal_size"),
}  # fmt: skip
SPEECH = {("sys", "stdout"), ("sys", "stderr"), ("builtins", "print"), ("builtins", "input")}


def taken(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names of modules' attributes, and functions called by a bare name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield "builtins", node.func.id


def test_only_the_command_line_reads_its_arguments_the_environment_and_the_terminal():
    found = {name: set(taken(tree)) & SURROUNDINGS for name, tree in trees().items()}
    assert found["entry"] == {("sys", "argv"), ("os", "environ")}
    assert {name: what for name, what in found.items() if what and room(name) not in COMMAND_LINE} == {}


def test_only_those_whose_duty_it_is_speak_to_the_user():
    found = {name: set(taken(tree)) & SPEECH for name, tree in trees().items()}
    assert ("sys", "stderr") in found["notices"]
    assert {name: what for name, what in found.items() if what and room(name) not in SPEAKERS} == {}


def writes(tree: ast.AST) -> Iterator[str]:
    """Where a module opens a file to write it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("O_CREAT", "write_bytes", "write_text"):
            yield f"{node.attr} in line {node.lineno}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
            modes = [str(value.value) for value in given if isinstance(value, ast.Constant)]
            if any(set(mode) & set("wax+") for mode in modes):
                yield f"open in line {node.lineno}"


def test_only_store_and_its_journal_write_files():
    found = {name: set(writes(tree)) for name, tree in trees().items()}
    assert found.pop("store")
    assert found.pop("journal")
    assert {name: places for name, places in found.items() if places} == {}


def test_no_module_is_named_for_nothing():
    names = {part for module in trees() for part in module.split(".")}
    assert not names & {"utils", "util", "helpers", "helper", "common", "misc", "tools"}


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def test_a_function_over_forty_lines_has_a_reason():
    long = {
        (module, node.name): lines_of(node)
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > LONGEST_FUNCTION
    }
    assert {name: long.get(name) for name in long.keys() ^ LONG_FUNCTIONS} == {}


def test_a_module_over_three_hundred_lines_has_a_reason():
    long = {module: text.count("\n") for module, text in sources().items() if text.count("\n") > LONGEST_MODULE}
    assert {name: long.get(name) for name in long.keys() ^ LONG_MODULES} == {}


def test_every_module_says_what_it_is_for():
    assert [name for name, tree in trees().items() if not ast.get_docstring(tree)] == []


# What runs


def first(label: str) -> Path:
    return min((SAMPLE / "judge" / label).iterdir())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of few messages."""
    path = tmp_path_factory.mktemp("architecture") / "model"
    training, models, store = (importlib.import_module(f"spamnb.{name}") for name in ("training", "models", "store"))
    ham, spam = (str(SAMPLE / "judge" / label) for label in ("ham", "spam"))
    training.train(store.Store(path), {"ham": [ham], "spam": [spam]}, models.Choice("multinomial"), jobs=1)
    return path


MODULES_AFTER = """
import sys
from spamnb.entry import dispatch
dispatch(sys.argv[1], sys.argv[2:])
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def modules_after(model: Path, *args: str | Path, stdin: bytes = b"") -> set[str]:
    """Which packages a command has imported when it is done."""
    command = [sys.executable, "-c", MODULES_AFTER, *args, "--model", model]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SPAMNB_")}
    done = subprocess.run(command, input=stdin, capture_output=True, check=True, env={**environ, "HOME": str(model)})
    assert done.stdout
    return set(done.stderr.decode().split())


HEAVY = THIRD_PARTY | {"email", "asyncio", "multiprocessing", "logging", "pathlib", "tomllib"}


@pytest.mark.parametrize("args", [["classify"], ["filter"], ["classify", first("ham")]], ids=lambda args: len(args))
def test_one_message_is_judged_without_the_heavy_packages(model, args):
    at_start = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, check=True
    )
    found = modules_after(model, *args, stdin=first("ham").read_bytes())
    assert (found - set(at_start.stdout.decode().split())) & HEAVY == set()


def test_a_folder_of_few_messages_is_judged_without_the_heavy_packages(model):
    assert modules_after(model, "classify", SAMPLE / "judge") & (THIRD_PARTY - {"click"}) == set()


def test_the_check_for_heavy_packages_sees_them_when_they_are_there(model):
    assert modules_after(model, "inspect") >= THIRD_PARTY
