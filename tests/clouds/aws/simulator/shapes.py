"""Checks both sides of a simulated call against botocore's models, so that the simulator cannot drift from the API.

botocore's own validator knows names, types, required members and minima; enums, maxima and patterns are walked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from botocore.model import OperationModel, Shape
from botocore.validate import ParamValidator

_SOUND: set[int] = set()
"""What was found to be sound: most answers come many times, and to write one down takes a tenth of walking it."""


def wrong_output(model: OperationModel, result: dict[str, Any]) -> list[str]:
    """What is wrong with an answer; empty when the real API could have sent it."""
    if model.output_shape is None:
        return [f"{model.name} has no output, got {sorted(result)}"] if result else []
    seen = hash((model.service_model.service_name, model.name, "output", repr(result)))
    if seen in _SOUND:
        return []
    report = ParamValidator().validate(result, model.output_shape)
    found = [report.generate_report()] if report.has_errors() else []
    found += constraints(model.output_shape, result, model.name)
    if not found:
        _SOUND.add(seen)
    return found


def wrong_input(model: OperationModel, params: dict[str, Any]) -> list[str]:
    """What the service would refuse although botocore sends it, in the service's own style."""
    if model.input_shape is None:
        return []
    seen = hash((model.service_model.service_name, model.name, "input", repr(params)))
    found = [] if seen in _SOUND else list(constraints(model.input_shape, params, ""))
    if not found:
        _SOUND.add(seen)
    return found


def constraints(shape: Shape, value: Any, path: str) -> Iterator[str]:  # noqa: C901 - one case a type
    """Violations of enum, maximum and pattern, one sentence each."""
    match shape.type_name:
        case "structure":
            for key, item in value.items():
                if key in shape.members and item is not None:
                    yield from constraints(shape.members[key], item, _lower(path, key))
        case "list":
            yield from _longest(shape, len(value), path, value)
            for index, item in enumerate(value, 1):
                yield from constraints(shape.member, item, f"{path}.{index}.member")
        case "map":
            yield from _longest(shape, len(value), path, value)
            for key, item in value.items():
                yield from constraints(shape.value, item, f"{path}.{key}")
        case "string":
            yield from _longest(shape, len(value), path, value)
            allowed, pattern = getattr(shape, "enum", []), shape.metadata.get("pattern")
            if allowed and value not in allowed:
                yield _fails(value, path, f"Member must satisfy enum value set: [{', '.join(allowed)}]")
            if pattern and not _matches(pattern, value):
                yield _fails(value, path, f"Member must satisfy regular expression pattern: {pattern}")
        case "integer" | "long" | "float" | "double":
            most = shape.metadata.get("max")
            if most is not None and value > most:
                yield _fails(value, path, f"Member must have value less than or equal to {most}")


def _longest(shape: Shape, length: int, path: str, value: Any) -> Iterator[str]:
    most = shape.metadata.get("max")
    if most is not None and length > most:
        yield _fails(value, path, f"Member must have length less than or equal to {most}")


def _matches(pattern: str, value: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is None or compiled.fullmatch(value) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Kept here: there are more of them than `re` keeps. None for the few in Java's dialect."""
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error:
        return None


def _lower(path: str, key: str) -> str:
    name = key[:1].lower() + key[1:]
    return f"{path}.{name}" if path else name


def _fails(value: Any, path: str, rule: str) -> str:
    return f"Value '{str(value)[:200]}' at '{path}' failed to satisfy constraint: {rule}"
