"""What a client is shown, judged over the whole list."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import NAMES, TOOLS, tool
from tools.registry import Effect, Tool
from tools.registry.adapter import SNAPSHOT
from tools.registry.serving import INSTRUCTIONS

ROOT = Path(__file__).resolve().parents[3]
LISTED: list[dict[str, Any]] = json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def tokens(value: Any) -> float:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()) / 4


def shown(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in ("name", "description", "inputSchema")}


def test_the_snapshot_and_the_reference_are_what_the_tools_generate() -> None:
    out = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (out.stdout, out.returncode) == ("", 0)


def test_the_list_is_in_the_order_of_the_tuple_without_twins() -> None:
    names = [tool.name for tool in TOOLS]
    assert [entry["name"] for entry in LISTED] == names
    assert len(set(names)) == len(names) <= 25


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_carries_all_four_hints_and_a_title(tool: Tool) -> None:
    entry = next(entry for entry in LISTED if entry["name"] == tool.name)
    assert set(entry["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert entry["title"] == tool.title
    assert entry["annotations"]["readOnlyHint"] == (tool.effect is Effect.READ)
    assert not (entry["annotations"]["readOnlyHint"] and entry["annotations"]["destructiveHint"])


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_destructive_tool_has_a_preview_and_takes_a_token(tool: Tool) -> None:
    entry = next(entry for entry in LISTED if entry["name"] == tool.name)
    assert (tool.preview is not None) == ("confirm" in entry["inputSchema"]["properties"])
    assert tool.effect is not Effect.DESTRUCTIVE or tool.preview is not None


@pytest.mark.parametrize("entry", LISTED, ids=lambda entry: entry["name"])
def test_schemas_are_plain_objects_that_every_client_takes(entry: dict[str, Any]) -> None:
    for schema in (entry["inputSchema"], entry["outputSchema"]):
        assert schema["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf"} & set(schema)
    assert entry["inputSchema"]["additionalProperties"] is False
    assert len(entry["description"]) < 600


@pytest.mark.parametrize("entry", LISTED, ids=lambda entry: entry["name"])
def test_the_first_line_of_a_description_stands_alone_in_a_list_of_tools(entry: dict[str, Any]) -> None:
    first = entry["description"].splitlines()[0]
    assert first.endswith(".")
    assert len(first) <= 120


def test_the_list_keeps_its_token_budget() -> None:
    sizes = {entry["name"]: tokens(shown(entry)) for entry in LISTED}
    assert max(sizes.values()) <= 350, max(sizes, key=lambda name: sizes[name])
    assert sum(sizes.values()) / len(sizes) <= 200
    assert sum(sizes.values()) <= 5_000
    assert tokens({"tools": LISTED}) <= 12_000


def test_the_instructions_are_short() -> None:
    assert len(INSTRUCTIONS) < 500


def test_every_output_schema_is_a_real_one() -> None:
    import jsonschema

    for entry in LISTED:
        jsonschema.Draft202012Validator.check_schema(entry["outputSchema"])
        assert "headline" in entry["outputSchema"]["required"]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"headline": "x", "not_a_field": 1}, entry["outputSchema"])


def test_each_tool_has_the_name_under_which_it_is_found() -> None:
    assert tuple(each.name for each in TOOLS) == NAMES


def test_asking_for_one_tool_imports_no_other_one() -> None:
    code = (
        "import sys; from tools import tool; tool('list_endpoints'); "
        "print(sorted(set(sys.modules) & {'tools.deploy', 'tools.quota', 'tools.waste.scan', 'tools.measure.job'}))"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)
    assert out.stdout.strip() == "[]"


def test_a_tool_that_is_not_there_is_not_found() -> None:
    with pytest.raises(KeyError):
        tool("delete_everything")
