"""Ports: the small Protocols through which tools talk to a cloud, and the Cloud record that holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from clouds.errors import CloudError
from clouds.models import (
    Call,
    Capacity,
    Change,
    Deletion,
    DeploymentPlan,
    DeploymentSpec,
    Endpoint,
    EndpointRef,
    Hourly,
    Identity,
    LogPage,
    Price,
    Quota,
    Read,
    Scope,
    Wire,
)

if TYPE_CHECKING:
    from clouds.models.waste_pack import WastePack


@dataclass(frozen=True)
class Missing:
    """An absent port, and why. The type checker makes every tool word this case."""

    why: str


@dataclass(frozen=True)
class Step:
    """One row of the ledger: a call that was intended, and how it ended."""

    id: int
    deployment: str
    call: Call
    state: str
    at: str
    result: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


class Ledger(Protocol):
    """The memory of what we created. A row is committed before the call that creates, and after it."""

    @property
    def home(self) -> Path:
        """The data directory; a cloud keeps its own files under `home / <cloud>`."""

    def intent(self, deployment: str, call: Call) -> int:
        """Commit that this call is about to be sent; returns the step's id."""

    def done(self, step: int, result: Mapping[str, Any] | None = None) -> None:
        """Commit that the call succeeded, with what is needed to find its resource again (never a secret)."""

    def failed(self, step: int, error: str) -> None:
        """Commit that the call was refused and nothing was made."""

    def undone(self, step: int) -> None:
        """Commit that what this step made is gone again."""

    def steps(self, deployment: str) -> Sequence[Step]:
        """All steps of a deployment, oldest first."""

    def remember(self, deployment: str, facts: Mapping[str, Any]) -> None:
        """Merge facts of a deployment (placed type, phases, when it was first ready)."""

    def facts(self, deployment: str) -> Mapping[str, Any]:
        """What was remembered; empty for an unknown deployment."""


class Progress(Protocol):
    """How long work says where it is, waits, and hears that it should stop."""

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """Say where we are. Raises Cancelled when we were asked to stop."""

    def check(self) -> None:
        """Raises Cancelled when we were asked to stop."""

    def sleep(self, seconds: float) -> None:
        """Wait; raises Cancelled as soon as we are asked to stop."""


class Api(Protocol):
    """Sends one Call below which the real SDK runs. Pages are joined; an SDK error never gets through."""

    def send(self, call: Call, *, scope: Scope) -> Any:
        """The answer's body. Raises CloudError."""


class IdentityReader(Protocol):
    """Who we are in this cloud."""

    def read(self) -> Identity:
        """Raises NotSignedIn or CredentialExpired with the one thing to do."""


class EndpointService(Protocol):
    """One way to serve a model in one cloud ("sagemaker", "tpu", "llama")."""

    @property
    def settings(self) -> Mapping[str, str]:
        """Every setting that `plan` takes: its name, and a line that says type, unit and default."""

    def plan(self, spec: DeploymentSpec) -> DeploymentPlan:
        """No side effects: calls, price, quota and limits checked. Raises InvalidInput before anything is sent."""

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """Carry the plan out: an intent before each creating call. Finishes or undoes what an earlier try left."""

    def get(self, ref: EndpointRef) -> Endpoint:
        """Raises NotFound. Never generates a token: polling must wake nothing."""

    def list(self, *, scope: Scope) -> Read[Endpoint]:
        """Everything of ours in that scope, also what the ledger does not know."""

    def logs(self, ref: EndpointRef, *, since: timedelta, limit: int) -> LogPage:
        """The newest `limit` lines."""

    def connect(self, ref: EndpointRef) -> Wire:
        """How to send a request to it. Raises NotFound when it is gone; it need not be ready."""

    def update(self, ref: EndpointRef, change: Change, ledger: Ledger, progress: Progress) -> Endpoint:
        """Another end, model or settings on what is held. Raises Conflict where that needs a second machine."""

    def delete(self, ref: EndpointRef, ledger: Ledger, progress: Progress) -> Deletion:
        """Children in order, read back until gone. Deleting what is not there is a success that says so."""


class QuotaReader(Protocol):
    """Permission to ask."""

    def read(self, accelerator: str | None, types: Sequence[str], scopes: Sequence[Scope]) -> Read[Quota]:
        """One answer per type and scope; a scope that could not be read is in `unread`."""


class CapacityReader(Protocol):
    """Whether there is one, as far as anybody says."""

    def read(self, accelerator: str | None, types: Sequence[str], scopes: Sequence[Scope]) -> Read[Capacity]:
        """One answer per accelerator and scope."""


class PriceBook(Protocol):
    """Rates with date and source."""

    def price(self, key: str, location: str) -> Price | None:
        """None is unknown and is never shown as $0."""


@dataclass(frozen=True)
class Cloud:
    """One cloud as a record of ports. An absent port says why."""

    name: str
    identity: IdentityReader
    endpoints: Mapping[str, EndpointService]
    quotas: QuotaReader | Missing
    capacity: CapacityReader | Missing
    prices: PriceBook | Missing
    api: Api | Missing
    waste_pack: Callable[[], WastePack] | Missing = Missing("modelrig has no waste checks for this cloud")
    """Makes the checks: dozens of modules, which are imported when somebody first asks for them."""
    reading: Callable[[frozenset[str]], Api] | None = None
    """The same api behind the read-only guard on the wire, for a list of `service.Operation`."""
    signed_out: Callable[[], CloudError | None] = lambda: None
    """What to say when plainly nothing on this machine could sign in: told without an SDK and without a network."""
    hourly: Callable[[str, int], Sequence[Hourly]] = lambda _accelerator, _count: ()
    """What an hour of so many of an accelerator costs, one row a service that has it: from tables, nothing is sent."""

    @cached_property
    def waste(self) -> WastePack | Missing:
        """The checks of this cloud."""
        return self.waste_pack if isinstance(self.waste_pack, Missing) else self.waste_pack()
