"""What the user sets holds in the order of how near it stands: defaults < config file < environment < options."""

from pathlib import Path
from typing import Any

import pytest

from spamnb.errors import BadConfig, SpamnbError, Usage
from spamnb.settings import Settings, load_settings


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def settled(config: Path, text: str = "", environ: dict[str, str] | None = None, **options: Any) -> Settings:
    config.write_text(text)
    return load_settings({"SPAMNB_CONFIG": str(config), **(environ or {})}, options)


def complaint(config: Path, text: str = "", environ: dict[str, str] | None = None, **options: Any) -> SpamnbError:
    with pytest.raises(SpamnbError) as caught:
        settled(config, text, environ, **options)
    assert "\n" not in str(caught.value)
    return caught.value


# Where a setting comes from


def test_without_any_say_the_defaults_hold():
    settings = load_settings({"HOME": "/home/ann"}, {})
    assert settings == Settings(model="/home/ann/.local/share/spamnb/default", kind="corrected")


def test_the_model_lies_where_xdg_says():
    environ = {"HOME": "/home/ann", "XDG_DATA_HOME": "/data"}
    assert load_settings(environ, {}).model == "/data/spamnb/default"


def test_the_config_file_lies_where_xdg_says(tmp_path):
    (tmp_path / "spamnb").mkdir()
    (tmp_path / "spamnb" / "config.toml").write_text("alpha = 2\n")
    assert load_settings({"HOME": "/nowhere", "XDG_CONFIG_HOME": str(tmp_path)}, {}).alpha == 2


def test_the_config_file_lies_in_the_home_when_xdg_is_silent(tmp_path):
    (tmp_path / ".config" / "spamnb").mkdir(parents=True)
    (tmp_path / ".config" / "spamnb" / "config.toml").write_text('kind = "multinomial"\n')
    assert load_settings({"HOME": str(tmp_path)}, {}).kind == "multinomial"


@pytest.mark.parametrize(
    ("name", "in_file", "in_environ", "as_option", "values"),
    [
        ("kind", '"multinomial"', "corrected", "multinomial", ("multinomial", "corrected", "multinomial")),
        ("model", '"/file"', "/environ", "/option", ("/file", "/environ", "/option")),
        ("alpha", "0.5", "0.25", "2", (0.5, 0.25, 2.0)),
        ("counts", '"raw"', "binary", "raw", ("raw", "binary", "raw")),
        ("threshold", "9", "99", "1e3", (9.0, 99.0, 1000.0)),
        ("jobs", "2", "3", "4", (2, 3, 4)),
        ("contacts", '"/file"', "/environ", "/option", ("/file", "/environ", "/option")),
    ],
)
def test_an_option_beats_the_environment_beats_the_config_file(config, name, in_file, in_environ, as_option, values):
    text, environ = f"{name} = {in_file}\n", {f"SPAMNB_{name.upper()}": in_environ}
    found = (
        settled(config, text, **{name: None}),  # an option that was not given is None
        settled(config, text, environ),
        settled(config, text, environ, **{name: as_option}),
    )
    assert tuple(getattr(settings, name) for settings in found) == values


def test_an_empty_variable_of_the_environment_says_nothing(config):
    assert settled(config, "alpha = 3\n", {"SPAMNB_ALPHA": ""}).alpha == 3


def test_a_path_may_begin_at_home(config, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    assert settled(config, 'model = "~/mail/model"\n').model == "/home/ann/mail/model"


# Values that cannot be

WRONG = [
    ("alpha", "-1", "from 0 on"),
    ("alpha", "nan", "from 0 on"),
    ("alpha", "inf", "from 0 on"),
    ("alpha", "best", "from 0 on, auto or empirical"),
    ("select", "chi2", "chi2:N"),
    ("select", "chi2:0", "chi2:N"),
    ("measures", "perhaps", "yes or no"),
    ("neighbours", "0", "whole number"),
    ("threshold", "spam=0", "above 0"),
    ("threshold", "=3", "NAME=C"),
    ("alpha", "much", "number"),
    ("threshold", "0", "above 0"),
    ("threshold", "-9", "above 0"),
    ("threshold", "nan", "above 0"),
    ("jobs", "0", "whole number from 1 on"),
    ("jobs", "-1", "whole number from 1 on"),
    *(("jobs", text, "whole number from 1 on") for text in ("1.5", "inf", "nan", "all")),
    ("kind", "weibull", "corrected, multinomial"),
    ("counts", "tfidf", "raw, binary"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), WRONG)
def test_a_wrong_option_is_named_with_its_value_and_what_is_allowed(config, name, value, allowed):
    error = complaint(config, **{name: value})
    assert isinstance(error, Usage)
    assert str(error).startswith(f"--{name}: {value!r} must be")
    assert allowed in str(error)


@pytest.mark.parametrize(("name", "value", "allowed"), WRONG)
def test_a_wrong_variable_is_named_with_its_value_and_what_is_allowed(config, name, value, allowed):
    error = complaint(config, environ={f"SPAMNB_{name.upper()}": value})
    assert isinstance(error, BadConfig)
    assert str(error).startswith(f"SPAMNB_{name.upper()}: {value!r} must be")
    assert allowed in str(error)


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("alpha = -1", "from 0 on"),
        ('alpha = "much"', "number"),
        ("alpha = [1]", "number"),
        ("threshold = nan", "above 0"),
        ("jobs = 1.5", "whole number from 1 on"),
        ('kind = "weibull"', "corrected, multinomial"),
        ("model = 3", "path"),
        ('model = ""', "path"),
        ("contacts = false", "path"),
    ],
)
def test_a_wrong_line_of_the_config_file_is_named_with_the_file(config, line, allowed):
    error = complaint(config, line + "\n")
    assert isinstance(error, BadConfig)
    assert str(error).startswith(f"{config}: {line.split()[0]}: ")
    assert allowed in str(error)


def test_a_wrong_value_is_told_even_when_a_nearer_one_would_win(config):
    assert f"{config}: alpha" in str(complaint(config, "alpha = -1\n", alpha="1"))


def test_an_unknown_key_is_named_with_the_ones_there_are(config):
    error = complaint(config, 'modell = "/x"\n')
    assert isinstance(error, BadConfig)
    assert str(error).startswith(f"{config}: modell: no such setting")
    assert "model, kind, alpha, counts, threshold, jobs, contacts" in str(error)


def test_a_config_file_that_is_no_toml_is_named_with_the_line(config):
    error = complaint(config, "alpha = 1\nkind = multinomial\n")
    assert isinstance(error, BadConfig)
    assert str(error).startswith(f"{config}: ")
    assert "line 2" in str(error)


def test_a_config_file_that_is_no_text_is_an_error_of_the_config(config):
    config.write_bytes(b"\xff\xfe\0")
    with pytest.raises(BadConfig, match=str(config)):
        load_settings({"SPAMNB_CONFIG": str(config)}, {})


def test_a_config_file_that_was_named_must_be_there(tmp_path):
    missing = tmp_path / "missing.toml"
    with pytest.raises(BadConfig, match=f"{missing}: No such file"):
        load_settings({"SPAMNB_CONFIG": str(missing)}, {})


def test_a_config_file_that_was_not_named_need_not_be_there(tmp_path):
    assert load_settings({"HOME": str(tmp_path)}, {}).kind == "corrected"
