"""JSON schemas as short as they can be without saying less."""

from __future__ import annotations

from typing import Any

from tools.registry import Tool
from tools.result import Asked, Result, Running


def lean(schema: dict[str, Any]) -> dict[str, Any]:
    """Without titles, null arms and defaults that say nothing; definitions that are used once are put in place."""
    definitions = schema.pop("$defs", {})
    text = repr(schema) + repr(definitions)
    once = {name for name in definitions if text.count(f"'#/$defs/{name}'") == 1}
    found: dict[str, Any] = _lean(schema, definitions, once)
    kept = {name: _lean(value, definitions, once) for name, value in definitions.items() if name not in once}
    return {**found, "$defs": kept} if kept else found


def _lean(node: Any, definitions: dict[str, Any], once: set[str], *, names: bool = False) -> Any:
    if isinstance(node, list):
        return [_lean(each, definitions, once) for each in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {name: _lean(value, definitions, once) for name, value in node.items()}
    if (reference := node.get("$ref", "").removeprefix("#/$defs/")) in once:
        inner = {key: value for key, value in definitions[reference].items() if key != "description"}
        node = {**inner, **{key: value for key, value in node.items() if key != "$ref"}}
    if "anyOf" in node:
        arms = [arm for arm in node["anyOf"] if arm != {"type": "null"}]
        node = {key: value for key, value in node.items() if key != "anyOf"} | (
            arms[0] if len(arms) == 1 else {"anyOf": arms}
        )
        if len(arms) == 1 and "$ref" in node:
            return _lean(node, definitions, once)
        if "anyOf" in node and all(set(arm) == {"type"} for arm in node["anyOf"]):
            return {}  # any plain value: strict clients take no list of types, and we say what is wrong ourselves
    if "required" in node and "properties" in node:
        node = node | {"required": _always(node)}
    return {
        key: _lean(value, definitions, once, names=key in {"properties", "$defs"})
        for key, value in node.items()
        if key != "title" and not (key == "default" and value in (None, "", [], {}, False))
    }


def _always(node: dict[str, Any]) -> list[str]:
    """The required fields that are in every answer: one that may be null is left out when it is."""
    may = {name for name, each in node["properties"].items() if {"type": "null"} in each.get("anyOf", ())}
    return [name for name in node["required"] if name not in may]


def output_schema(tool: Tool) -> dict[str, Any]:
    """The schema of everything that tool may answer: its result, a question with its token, or a running reference."""
    from typing import get_type_hints

    model = get_type_hints(tool.run)["return"]
    if not (isinstance(model, type) and issubclass(model, Result)):
        raise TypeError(f"{tool.name} must return a Result")
    schema = model.model_json_schema()
    for name, field in model.model_fields.items():
        if field.exclude:  # never sent
            del schema["properties"][name]
    for applies, extra in ((tool.preview is not None, Asked), (tool.long, Running)):
        if applies:
            for name, value in extra.model_json_schema()["properties"].items():
                schema["properties"].setdefault(name, value)
    # A client may hold an error result, too, against the schema: it has a headline and says what happened in `error`.
    schema["properties"]["error"] = {"type": "object"}
    schema["required"] = ["headline"]
    schema.pop("description", None)
    found: dict[str, Any] = without_prose(lean(schema))
    return {"additionalProperties": False, **found}


def without_prose(node: Any, *, names: bool = False) -> Any:
    """A result's schema without descriptions: field names carry units, and docs/tools.md carries the prose.

    Nor that an inner object has no other fields: the records refuse them, and it was 270 tokens of the list.
    """
    if isinstance(node, list):
        return [without_prose(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: without_prose(value, names=key in {"properties", "$defs"} and not names)
        for key, value in node.items()
        if names or not (key in {"description", "default"} or (key == "additionalProperties" and value is False))
    }
