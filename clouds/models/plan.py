"""Deployments: what is asked for, the plan of calls, changes and deletions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from clouds.models.basic import Call, EndpointRef, Record, Reversal, Setting
from clouds.models.endpoint import EngineFacts, Hardware, Price


@dataclass(frozen=True)
class DeploymentSpec:
    """What was asked for, already validated. Two specs that are equal deploy the same thing."""

    cloud: str
    service: str
    name: str
    model: str
    location: str | None = None
    regions: tuple[str, ...] = ()
    accelerator: str | None = None
    instance_types: tuple[str, ...] = ()
    max_usd_per_hour: float = 1.5
    ttl_hours: float = 4.0
    settings: Mapping[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True)
class Hourly:
    """An hour of one machine of a service, in one place, by a table on disk."""

    service: str
    machine: str
    location: str
    price: Price


@dataclass(frozen=True)
class PlanStep:
    """One call of a plan. `text` is for a person, `command` is the cloud's own CLI rendered from `call`.

    `location` is where the call is sent; empty: where the plan's ref is.
    """

    text: str
    call: Call
    command: str = ""
    creates: bool = False
    reversal: Reversal = "can be undone"
    until: str = ""
    location: str = ""


@dataclass(frozen=True)
class DeploymentPlan:
    """What a deployment will do, cost and need; made without side effects.

    `deployment` is the ledger's id, set (dataclasses.replace) once the deployment is written down.
    """

    spec: DeploymentSpec
    ref: EndpointRef
    steps: tuple[PlanStep, ...]
    price: Price | None = None
    worst_usd_per_hour: float | None = None
    hardware: Hardware | None = None
    engine: EngineFacts | None = None
    expected_seconds: float | None = None
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    deployment: str = ""
    ends: str = ""
    """How it ends where the cloud does not end it `ttl_hours` after it was asked for."""


@dataclass(frozen=True)
class Change:
    """What `update` may change on the machine that is held. None leaves a thing as it is."""

    ttl_hours: float | None = None
    model: str | None = None
    settings: Mapping[str, Setting] | None = None


class DeletedPart(Record):
    """One resource of a deletion and how it ended."""

    part: str
    outcome: Literal["deleted", "was not there", "still there", "kept"]
    detail: str = ""


@dataclass(frozen=True)
class Deletion:
    """What was deleted and read back. `gone` is True only when reading found nothing left that bills."""

    ref: EndpointRef
    parts: tuple[DeletedPart, ...]
    gone: bool
    note: str = ""
