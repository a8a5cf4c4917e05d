"""Checks a call against botocore's model before anything is sent.

botocore itself checks required members, types and minima only (read in 1.44.8, 2026-11-29): a start-up time-out of
4,000 s, a sixth pool or an instance type that does not exist would be refused by AWS after other calls were made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from clouds.aws.session import models
from clouds.errors import InvalidInput
from clouds.models import Call

if TYPE_CHECKING:
    from botocore.model import OperationModel, Shape


def check(call: Call, fields: dict[str, str] | None = None) -> None:
    """Raises InvalidInput for what AWS would refuse. `fields` maps a member's name to the argument that set it."""
    problem = next(problems(call), None)
    if problem is None:
        return
    member, text = problem
    last = member.rsplit(".", 1)[-1]
    raise InvalidInput(
        (fields or {}).get(last, member), f"{text} ({call}.{member})", fix="Change that value; AWS would refuse it."
    )


def problems(call: Call) -> Iterator[tuple[str, str]]:
    """Each violation: the member's path and what is wrong with it."""
    from botocore.validate import ParamValidator

    model = operation(call)
    if model.input_shape is None:
        return
    report = ParamValidator().validate(dict(call.parameters), model.input_shape)
    if report.has_errors():
        yield "", report.generate_report().replace("\n", "; ")[:400]
        return
    yield from _walk(model.input_shape, dict(call.parameters), "")


@cache
def _service(name: str) -> Any:
    from botocore.model import ServiceModel

    return ServiceModel(models().load_service_model(name, "service-2"), name)


def operation(call: Call) -> OperationModel:
    """Botocore's model of a call. Raises KeyError-like errors of botocore for an operation that does not exist."""
    model: OperationModel = _service(call.service).operation_model(call.operation)
    return model


def allowed(service: str, shape: str) -> tuple[str, ...]:
    """The values of an enum, for example the instance types of `ProductionVariantInstanceType`."""
    return tuple(_service(service).shape_for(shape).enum)


def bounds(service: str, shape: str) -> tuple[int | None, int | None]:
    """Minimum and maximum of a shape."""
    metadata = _service(service).shape_for(shape).metadata
    return metadata.get("min"), metadata.get("max")


def _walk(shape: Any, value: Any, path: str) -> Iterator[tuple[str, str]]:
    kind = shape.type_name
    if kind == "structure":
        for name, item in value.items():
            yield from _walk(shape.members[name], item, f"{path}.{name}" if path else name)
    elif kind == "list":
        yield from _length(shape, value, path, "items")
        for index, item in enumerate(value):
            yield from _walk(shape.member, item, f"{path}[{index}]")
    elif kind == "map":
        yield from _length(shape, value, path, "entries")
        for name, item in value.items():
            yield from _walk(shape.key, name, f"{path}.{name}")
            yield from _walk(shape.value, item, f"{path}.{name}")
    elif kind == "string":
        yield from _length(shape, value, path, "characters")
        yield from _text(shape, value, path)
    elif kind in {"integer", "long", "float", "double"}:
        most = shape.metadata.get("max")
        if most is not None and value > most:
            yield path, f"{value} is more than {most}"


def _length(shape: Shape, value: Any, path: str, unit: str) -> Iterator[tuple[str, str]]:
    most = shape.metadata.get("max")
    if most is not None and len(value) > most:
        yield path, f"has {len(value)} {unit}, AWS takes {most}"


def _text(shape: Shape, value: str, path: str) -> Iterator[tuple[str, str]]:
    known = getattr(shape, "enum", [])
    if known and value not in known:
        few = ", ".join(known[:12]) + (f" and {len(known) - 12} more" if len(known) > 12 else "")
        yield path, f"{value[:80]!r} is none of {few}"
    pattern = shape.metadata.get("pattern")
    if pattern and not _matches(pattern, value):
        yield path, f"{value[:80]!r} does not match {pattern}"


def _matches(pattern: str, value: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is None or compiled.fullmatch(value) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """None for the few patterns in Java's dialect: AWS judges those."""
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error:
        return None
