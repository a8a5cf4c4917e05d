"""One machine of ours as the cloud shows it, whichever of the two APIs made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from clouds.errors import NotFound
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.machines.serving import Serving
from clouds.models import EndpointRef, State

SERVING, SERVE = "modelrig-serving", "modelrig-serve"
"""Metadata: what it serves with, as JSON; and the program that runs the container."""
PREFIX = "modelrig-"


@dataclass(frozen=True)
class Standing:
    """Our word, whether it bills (None: nobody knows), and why."""

    state: State
    billing: bool | None
    reason: str = ""


@dataclass(frozen=True)
class Held:
    """`standing` is what the cloud's own state means; where it is `loading` the machine runs and the engine decides.

    `dead`: it does not come back and stands in the way of a new one of its name. `queued` and `node` name the parts of
    the TPU API that exist. `ends` is when the cloud itself ends it, where the cloud says so.
    """

    name: str
    zone: str
    project: str
    status: str
    standing: Standing
    type: str = ""
    market: str = "on-demand"
    labels: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    created: datetime | None = None
    ends: datetime | None = None
    dead: bool = False
    node: str = ""
    queued: str = ""

    @property
    def deployment(self) -> str:
        """The ledger's id; empty for what is not ours."""
        return self.labels.get(tags.DEPLOYMENT, "")

    @property
    def serving(self) -> Serving | None:
        """What it was told to serve; None when its metadata does not say."""
        try:
            return Serving.read(self.metadata.get(SERVING, ""))
        except ValueError:
            return None

    def ref(self, service: str) -> EndpointRef:
        """Its ref; a foreign name stays as it is."""
        return EndpointRef("gcp", service, self.zone, self.name.removeprefix(PREFIX))


def label(name: str) -> str:
    """`modelrig-gemma`: the name of the machine and of all that belongs to it."""
    return f"{PREFIX}{name}"


def missing(ref: EndpointRef) -> NotFound:
    """There is none of that name."""
    return NotFound(
        f"looking for {ref}", answered="there is no such machine of modelrig's",
        fix="list_endpoints shows what there is.",
    )  # fmt: skip
