"""What one tool takes, for a person at a shell: read from the generated list, so that no tool is imported for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def reference(name: str) -> str:
    """The tool's description and its arguments, a line each. Raises KeyError for a name that is not listed."""
    tool = _listed()[name]
    schema = tool["inputSchema"]
    needed = schema.get("required", ())
    lines = [_line(key, value, needed=key in needed) for key, value in schema["properties"].items()]
    example = " ".join(["server.py", "call", name, *(f"{key}=…" for key in needed)])
    return "\n".join([f"{example}", "", tool["description"], "", *(lines or ["It takes no arguments."])])


def switch(name: str, word: str) -> str:
    """ "deep=true" for the word --deep, where the tool takes that and it is yes or no; else nothing."""
    argument = word[2:].replace("-", "_")
    tool = _listed().get(name) if word.startswith("--") else None
    taken = tool["inputSchema"]["properties"].get(argument, {}) if tool else {}
    return f"{argument}=true" if taken.get("type") == "boolean" else ""


def _listed() -> dict[str, Any]:
    text = (Path(__file__).parent / "tools_list.json").read_text(encoding="utf-8")
    return {each["name"]: each for each in json.loads(text)}


def _line(name: str, schema: Mapping[str, Any], *, needed: bool) -> str:
    """ "  limit          integer from 1 to 50, default 10: rows"."""
    items = schema.get("items", {})
    kind = f"list of {items.get('type', 'any')}, separated by commas" if items else str(schema.get("type", "any"))
    bounds = [f" {word} {schema[key]:,.10g}" for word, key in (("from", "minimum"), ("to", "maximum")) if key in schema]
    enum = [str(each) for each in schema.get("enum", items.get("enum", ())) if each != ""]
    parts = [
        kind + "".join(bounds),
        f"one of {', '.join(enum)}" if enum else "",
        f"default {json.dumps(schema['default'], ensure_ascii=False)}" if "default" in schema else "",
        "needed" if needed else "",
    ]
    words = f": {schema['description']}" if schema.get("description") else ""
    return f"  {name:20} {', '.join(part for part in parts if part)}{words}"
