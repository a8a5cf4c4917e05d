"""What an engine is started with: decided by the plan, carried in spec.json, read by the supervisor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self


@dataclass(frozen=True)
class Launch:
    """One engine on one model. `context` is tokens a slot; `port` 0 means that a free one is chosen."""

    engine: str
    program: str
    model: str
    """The name that clients use."""
    model_path: str
    context: int
    slots: int
    threads: int
    port: int = 0
    flags: tuple[str, ...] = ()
    version: str = ""
    random: bool = False
    """The weights are random numbers: for tests of everything but the answers."""

    def labels(self) -> dict[str, str]:
        """What every figure has to carry besides the settings: extra flags, and that the weights are random."""
        found = {"flags": " ".join(self.flags)} if self.flags else {}
        return found | ({"weights": "random, made here"} if self.random else {})

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "flags": list(self.flags)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """From JSON that `to_json` wrote; what is not known is left out."""
        known = {field.name for field in fields(cls)}
        taken = {name: each for name, each in value.items() if name in known}
        return cls(**{**taken, "flags": tuple(taken.get("flags", ()))})
