"""Answers that know Google's document: reading a field which it does not have is an error, not a quiet None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.gcp import methods
from clouds.models import Call
from scripts.gcp_methods import document
from tests.clouds.gcp.schemas import HAND_MADE

ANYWHERE = frozenset({"labels", "resourceLabels", "zone", "region", "items", "warning", "unreachable", "unreachables",
                      "missingZones", "executionErrors", "nextPageToken", "warnings",
                      "failedLocations", "failedLocation"})  # fmt: skip
"""Fields that are looked for in every answer or every row, whether it has them or not."""


class NoSuchField(AssertionError):
    """A check read a field that the document does not have."""


class Watched(dict[str, Any]):
    """A mapping of an answer. `known` None: any key is allowed (labels, metadata)."""

    def __init__(self, value: Mapping[str, Any], known: frozenset[str] | None, where: str) -> None:
        super().__init__(value)
        self._known, self._where = known, where

    def _look(self, key: Any) -> None:
        if self._known is not None and key not in self._known and key not in ANYWHERE:
            raise NoSuchField(f"{self._where} has no {key!r}")

    def get(self, key: Any, default: Any = None) -> Any:
        self._look(key)
        return super().get(key, default)

    def __getitem__(self, key: Any) -> Any:
        self._look(key)
        return super().__getitem__(key)


def watched(call: Call, answer: Any) -> Any:
    """The answer of a call, watching what is read of it."""
    method = methods.method(call)
    if call.service in HAND_MADE or not method.answer:
        return answer
    schemas = document(call.service)["schemas"]
    return _wrapped(schemas, {"$ref": method.answer}, answer, method.answer)


def _wrapped(schemas: Mapping[str, Any], schema: Mapping[str, Any], value: Any, where: str) -> Any:
    if "$ref" in schema:
        where = schema["$ref"]
        schema = schemas[where]
    if isinstance(value, Mapping):
        known, rest = schema.get("properties"), schema.get("additionalProperties", {})
        inner = {
            key: _wrapped(schemas, (known or {}).get(key, rest), each, f"{where}.{key}") for key, each in value.items()
        }
        return Watched(inner, frozenset(known) if known else None, where)
    if isinstance(value, list):
        return [_wrapped(schemas, schema.get("items", {}), each, where) for each in value]
    return value
