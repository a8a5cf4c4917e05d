"""A cloud of one endpoint in memory, so that a walk over variants can be watched: what was changed, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clouds.base import Cloud, Ledger, Missing, Progress
from clouds.models import Change, Endpoint, EndpointRef, EngineFacts, Price, Setting, Wire
from tests.tools.measure.truth import Truth
from tools.context import Clouds, Target

REF = EndpointRef("lab", "rig", "here", "one")


@dataclass
class Rig:
    """Implements clouds.base.EndpointService as far as a measurement uses it."""

    truth: Truth
    now: dict[str, Setting] = field(default_factory=lambda: {"context": 2048, "slots": 4})
    model: str = "smol"
    changes: list[Mapping[str, Any]] = field(default_factory=list)
    settings: Mapping[str, str] = field(default_factory=dict)
    price: Price | None = None

    @property
    def state(self) -> str:
        return "failed" if self.now["context"] == 13 else "ready"

    def get(self, ref: EndpointRef) -> Endpoint:
        engine = EngineFacts(engine="rig", model=self.model, settings=dict(self.now))
        return Endpoint(
            ref=str(ref),
            state=self.state,  # type: ignore[arg-type]
            cloud_status=self.state,
            billing=False,
            model=self.model,
            engine=engine,
            price=self.price,
            reason="no memory" if self.state == "failed" else "",
        )

    def connect(self, _ref: EndpointRef) -> Wire:
        return Wire(url=self.truth.url, model=self.model)

    def update(self, ref: EndpointRef, change: Change, _ledger: Ledger, _progress: Progress) -> Endpoint:
        self.changes.append({**(change.settings or {}), **({"model": change.model} if change.model else {})})
        self.now |= dict(change.settings or {})
        self.model = change.model or self.model
        self.truth.itl = 0.0008 if self.now["context"] == 1024 else 0.0002
        return self.get(ref)


def offered(rig: Rig, home: Path) -> tuple[Clouds, Target]:
    """The clouds that have this rig, and the endpoint as a target."""
    no = Missing("a rig")
    cloud = Cloud(name="lab", identity=no, endpoints={"rig": rig}, quotas=no, capacity=no, prices=no, api=no)  # type: ignore[arg-type,dict-item]
    clouds = Clouds((), ("lab",), home, lambda _name, _home: cloud)
    return clouds, Target(str(REF), REF, cloud, rig)  # type: ignore[arg-type]
