"""Every measurement and every option: named, described, refused when unknown, and in the docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from tools.measure.catalogue import MEASUREMENTS, USUAL, chosen, options_of
from tools.measure.options import Options, parse

DOCS = (Path(__file__).resolve().parents[3] / "docs" / "measurements.md").read_text("utf-8")


def test_the_usual_three_are_measured_when_nothing_is_named() -> None:
    assert chosen(()) == USUAL
    assert [each.name for each in USUAL] == ["decode", "load", "answers"]


def test_named_ones_come_in_the_order_of_a_run() -> None:
    assert [each.name for each in chosen(("toolcalls", "ladder", "decode"))] == ["decode", "ladder", "toolcalls"]
    with pytest.raises(InvalidInput, match="is not a measurement") as caught:
        chosen(("graveyard",))
    assert caught.value.allowed == tuple(each.name for each in MEASUREMENTS)


def test_every_option_is_in_the_docs() -> None:
    assert [name for name in options_of(MEASUREMENTS) if f"`{name}`" not in DOCS] == []


def test_every_measurement_that_is_asked_for_by_name_is_in_the_docs() -> None:
    assert all(f"## {each.name}" in DOCS for each in MEASUREMENTS if each not in USUAL)


def test_an_unknown_option_lists_those_there_are() -> None:
    known = options_of(chosen(("ladder",)))
    with pytest.raises(InvalidInput, match="is not an option here") as caught:
        parse(("ladder.colour=red",), known)
    assert "ladder.limit" in caught.value.allowed
    assert "ladder.at_once (default 1)" in caught.value.fix
    with pytest.raises(InvalidInput, match="there twice"):
        parse(("ladder.limit=1", "ladder.limit=2"), known)
    assert parse((" ladder.limit = 5 ",), known).given == {"ladder.limit": "5"}


def test_numbers_are_read_in_their_order_each_once() -> None:
    options = Options({"a": "8,2,8"})
    assert options.wholes("a", (1,), 1, 9) == (8, 2)
    assert options.wholes("b", (1,), 1, 9) == (1,)
    with pytest.raises(InvalidInput, match="a=8,2,8"):
        options.whole("a", 1, 1, 9)


def test_a_file_is_read_in_the_project_only(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text("{}")
    assert Options({"a": "set.jsonl"}, (tmp_path,)).file("a") == (tmp_path / "set.jsonl").resolve()
    assert Options({}, (tmp_path,)).file("a") is None
    with pytest.raises(InvalidInput, match="outside"):
        Options({"a": "/etc/passwd"}, (tmp_path,)).file("a")
    with pytest.raises(InvalidInput, match="names a file"):
        Options({"a": "set.jsonl"}).file("a")
