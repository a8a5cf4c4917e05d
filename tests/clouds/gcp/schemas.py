"""Holds a value against a schema of Google's discovery documents: a misspelt field or an invented enum is found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clouds.gcp.methods import Method, table
from scripts.gcp_methods import document

HAND_MADE = frozenset({"cloudquotas"})
"""Services without a discovery document: nothing to hold a body against (methods/overlay.json says why)."""

GOOD: set[int] = set()
"""What was held against its schema before and was known: the simulators say the same thousands of times."""


def wrong(service: str, schema: str, value: Any) -> list[str]:
    """What in a body its schema does not know, as paths; empty when all is known."""
    if service in HAND_MADE or not schema:
        return []
    spelt = hash((service, schema, repr(value)))
    if spelt in GOOD:
        return []
    found = list(_wrong(document(service)["schemas"], {"$ref": schema}, value, schema))
    if not found:
        GOOD.add(spelt)
    return found


def wrong_answer(service: str, operation: str, body: Any) -> list[str]:
    """The same for the answer of an operation, such as a fixture's body."""
    method: Method = table(service)[operation]
    return wrong(service, method.answer, body)


def _wrong(schemas: Mapping[str, Any], schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    if "$ref" in schema:
        schema = schemas[schema["$ref"]]
    kind = schema.get("type")
    if value is None or kind == "any":
        return
    if kind == "object" and isinstance(value, Mapping):
        yield from _object(schemas, schema, value, where)
    elif kind == "array" and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _wrong(schemas, schema["items"], item, f"{where}[{index}]")
    elif kind in ("object", "array"):
        yield f"{where} is {type(value).__name__}, not {kind}"
    else:
        yield from _scalar(schema, value, where)


def _object(
    schemas: Mapping[str, Any], schema: Mapping[str, Any], value: Mapping[str, Any], where: str
) -> Iterator[str]:
    known, rest = schema.get("properties", {}), schema.get("additionalProperties")
    for key, item in value.items():
        if key in known:
            yield from _wrong(schemas, known[key], item, f"{where}.{key}")
        elif rest is not None:
            yield from _wrong(schemas, rest, item, f"{where}[{key}]")
        elif known or key != "@type":
            yield f"{where}.{key} is not in the document"


def _scalar(schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    kind, known = schema.get("type"), schema.get("enum")
    if known and isinstance(value, str) and value not in known:
        yield f"{where} is {value!r}, not one of {', '.join(known)}"
    elif kind == "string":
        numbers = schema.get("format") in ("int64", "uint64", "fixed64")
        if not (isinstance(value, str) or (isinstance(value, int) and (numbers or known))):
            yield f"{where} is {value!r}, not a text"
        elif numbers and not re.fullmatch(r"-?\d+", str(value)):
            yield f"{where} is {value!r}, not a number"
    elif kind == "boolean" and not isinstance(value, bool):
        yield f"{where} is {value!r}, not true or false"
    elif kind in ("integer", "number") and (isinstance(value, bool) or not isinstance(value, int | float)):
        yield f"{where} is {value!r}, not a number"
