from __future__ import annotations

from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from tools.settings import Settings


def test_without_any_source_the_defaults_apply_and_say_so(tmp_path: Path) -> None:
    settings = Settings.load({}, tmp_path)
    assert settings["max_usd_per_hour"] == 1.5
    assert settings.values["ttl_hours"].origin == "default"


def test_environment_wins_over_file_and_file_over_plugin(tmp_path: Path) -> None:
    (tmp_path / "modelrig.toml").write_text('[defaults]\nttl_hours = 2\nregions = ["us-east-2", "us-east-1"]\n')
    environment = {"MODELRIG_TTL_HOURS": "3", "MODELRIG_PLUGIN_REGIONS": "eu-west-1", "MODELRIG_PLUGIN_MODEL": "m"}
    settings = Settings.load(environment, tmp_path)
    found = {name: (settings[name], settings.values[name].origin) for name in ("ttl_hours", "regions", "model")}
    assert found == {
        "ttl_hours": (3.0, "environment MODELRIG_TTL_HOURS"),
        "regions": (("us-east-2", "us-east-1"), "modelrig.toml in the project"),
        "model": ("m", "plugin settings"),
    }


def test_a_plugin_setting_left_empty_is_no_setting(tmp_path: Path) -> None:
    environment = {"MODELRIG_PLUGIN_MODEL": "${user_config.model}", "MODELRIG_PLUGIN_REGIONS": ""}
    assert Settings.load(environment, tmp_path).values["model"].origin == "default"


@pytest.mark.parametrize("text", ["-1", "0", "many", "nan", "inf"])
def test_a_ceiling_that_is_no_positive_number_is_refused_with_its_source(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"max_usd_per_hour .environment"):
        Settings.load({"MODELRIG_MAX_USD_PER_HOUR": text}, tmp_path)


def test_a_misspelt_setting_in_the_file_is_refused_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "modelrig.toml").write_text("[defaults]\nttl_hour = 2\n")
    with pytest.raises(InvalidInput, match="Did you mean ttl_hours"):
        Settings.load({}, tmp_path)


def test_a_file_that_is_not_toml_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "modelrig.toml").write_text("[defaults\n")
    with pytest.raises(InvalidInput, match=r"modelrig\.toml"):
        Settings.load({}, tmp_path)


def test_defaults_that_are_no_table_are_refused(tmp_path: Path) -> None:
    (tmp_path / "modelrig.toml").write_text("defaults = 3\n")
    with pytest.raises(InvalidInput, match=r"`modelrig\.toml: defaults`: is not a table"):
        Settings.load({}, tmp_path)


@pytest.mark.parametrize(
    ("text", "words"), [("ttl_hours = 2\n", "stands outside .defaults."), ("[other]\nx = 1\n", "is not known")]
)
def test_what_stands_outside_a_known_table_is_refused_and_not_ignored(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "modelrig.toml").write_text(text)
    with pytest.raises(InvalidInput, match=words):
        Settings.load({}, tmp_path)


@pytest.mark.parametrize(
    ("name", "wrong", "words", "fix"),
    [
        ("ttl_hours", "many", "'many' is not a number above 0 and at most 720", "deployment ends by itself; 4 where"),
        ("ttl_hours", "nan", "'nan' is not a number above 0", "4 where none is given"),
        ("ttl_hours", "721", "'721' is not a number above 0 and at most 720", "4 where none is given"),
        ("max_usd_per_hour", "-1", "'-1' is not a number above 0 and at most 10,000", "1.5 where none is given"),
    ],
)
def test_a_number_that_is_none_or_too_large_is_refused_with_what_is_taken(
    tmp_path: Path, name: str, wrong: str, words: str, fix: str
) -> None:
    (tmp_path / "modelrig.toml").write_text(f'[defaults]\n{name} = "{wrong}"\n')
    with pytest.raises(InvalidInput, match=words) as told:
        Settings.load({}, tmp_path)
    assert fix in told.value.fix


def test_a_folder_that_is_gone_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(InvalidInput, match="the folder that this was started in is gone"):
        Settings.load({})
