"""What a client is shown, judged over the whole list."""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tools
from tools import NAMES, TOOLS
from tools.registry import Effect
from tools.registry.adapter import SNAPSHOT
from tools.registry.serving import INSTRUCTIONS

ROOT = Path(__file__).resolve().parents[3]
LISTED: list[dict[str, Any]] = json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def tokens(value: Any) -> float:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()) / 4


def shown(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in ("name", "description", "inputSchema")}


def generator() -> ModuleType:
    """docs/generate.py, which is a program and in no package."""
    spec = spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        spec.loader.exec_module(made)
    return made


def test_the_snapshot_and_the_reference_are_what_the_tools_generate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = generator()
    assert (made.main(["--check"]), capsys.readouterr().out) == (0, "")
    entries = iter(LISTED)  # which the tools have just made
    monkeypatch.setattr(made, "listed", lambda _: next(entries))
    monkeypatch.setattr(made, "reference", lambda _: "another")
    monkeypatch.setattr(made, "packs", lambda: ())
    assert made.main(["--check"]) == 1
    assert capsys.readouterr().out == "docs/tools.md is not current: run `make docs` and commit it\n"


def test_the_list_is_in_the_order_of_the_tuple_without_twins() -> None:
    names = [tool.name for tool in TOOLS]
    assert [entry["name"] for entry in LISTED] == names
    assert len(set(names)) == len(names) <= 25


def test_every_tool_carries_all_four_hints_and_a_title() -> None:
    for tool, entry in zip(TOOLS, LISTED, strict=True):
        hints = entry["annotations"]
        assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}, tool.name
        assert entry["title"] == tool.title
        assert hints["readOnlyHint"] == (tool.effect is Effect.READ), tool.name
        assert not (hints["readOnlyHint"] and hints["destructiveHint"]), tool.name


def test_a_destructive_tool_has_a_preview_and_takes_a_token() -> None:
    for tool, entry in zip(TOOLS, LISTED, strict=True):
        assert (tool.preview is not None) == ("confirm" in entry["inputSchema"]["properties"]), tool.name
        assert tool.effect is not Effect.DESTRUCTIVE or tool.preview is not None, tool.name


def test_schemas_are_plain_objects_that_every_client_takes() -> None:
    for entry in LISTED:
        for schema in (entry["inputSchema"], entry["outputSchema"]):
            assert schema["type"] == "object", entry["name"]
            assert not {"anyOf", "oneOf", "allOf"} & set(schema), entry["name"]
        assert entry["inputSchema"]["additionalProperties"] is False, entry["name"]
        assert len(entry["description"]) < 600, entry["name"]


def test_the_first_line_of_a_description_stands_alone_in_a_list_of_tools() -> None:
    for entry in LISTED:
        first = entry["description"].splitlines()[0]
        assert first.endswith("."), entry["name"]
        assert len(first) <= 120, entry["name"]


ENVELOPE = 60
"""Tokens of the longer of both eras' answers around the tools: versions, the server's name, how long it may be kept."""


def test_the_list_keeps_its_token_budget() -> None:
    sizes = {entry["name"]: tokens(shown(entry)) for entry in LISTED}
    assert max(sizes.values()) <= 350, max(sizes, key=lambda name: sizes[name])
    assert sum(sizes.values()) / len(sizes) <= 200
    assert sum(sizes.values()) <= 5_000
    assert tokens({"tools": LISTED}) <= 12_000 - ENVELOPE


def test_the_instructions_are_short() -> None:
    assert len(INSTRUCTIONS) < 500


def test_every_output_schema_is_a_real_one() -> None:
    import jsonschema

    for entry in LISTED:
        jsonschema.Draft202012Validator.check_schema(entry["outputSchema"])
        assert "headline" in entry["outputSchema"]["required"]
        assert not jsonschema.Draft202012Validator(entry["outputSchema"]).is_valid({"headline": "x", "not_a_field": 1})


def test_each_tool_has_the_name_under_which_it_is_found() -> None:
    assert tuple(each.name for each in TOOLS) == NAMES


def test_a_tool_that_is_not_there_is_not_found() -> None:
    with pytest.raises(KeyError):
        tools.tool("delete_everything")
