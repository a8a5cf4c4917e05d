"""Specs and plans as rows, and how two specs differ. pydantic and the records are imported when a row is read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tools.ledger.values import clip, decode

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from clouds.models import DeploymentPlan, DeploymentSpec


def read_spec(text: str) -> DeploymentSpec:
    """The spec of a row. A field that a later version dropped is left out."""
    from clouds.models import DeploymentSpec

    known = {each.name for each in dataclasses.fields(DeploymentSpec)}
    stored: dict[str, Any] = decode(text)
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items() if name in known
    }
    return DeploymentSpec(**values)


def read_plan(text: str) -> DeploymentPlan:
    """The plan of a row."""
    return _plans().validate_json(text)


@lru_cache(maxsize=1)
def _plans() -> TypeAdapter[DeploymentPlan]:
    from pydantic import TypeAdapter

    from clouds.models import DeploymentPlan

    return TypeAdapter(DeploymentPlan)


def differences(there: DeploymentSpec, asked: DeploymentSpec) -> tuple[str, ...]:
    """Each setting that differs: "context: 2048 there, 4096 asked". Empty when both deploy the same."""
    old, new = _flat(there), _flat(asked)
    names = [*old, *(name for name in new if name not in old)]
    return tuple(
        f"{clip(name, 60)}: {_word(old.get(name))} there, {_word(new.get(name))} asked"
        for name in names
        if old.get(name) != new.get(name)
    )


def _flat(spec: DeploymentSpec) -> Mapping[str, Any]:
    plain = {each.name: getattr(spec, each.name) for each in dataclasses.fields(spec) if each.name != "settings"}
    return {**plain, **dict(sorted(spec.settings.items()))}


def _word(value: Any) -> str:
    if value is None or value in ((), ""):
        return "not given"
    if isinstance(value, tuple):
        return ", ".join(map(_word, value))
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    return clip(text if text.isprintable() else ascii(text), 100)
