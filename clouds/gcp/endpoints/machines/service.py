"""Machines as one way to serve a model: the port that tools speak to, over either of the two APIs."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from clouds.base import IdentityReader, Ledger, PriceBook, Progress, QuotaReader
from clouds.errors import Conflict
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import images, tunnel
from clouds.gcp.endpoints.hardware import find as find_shape
from clouds.gcp.endpoints.machines import create, quota, removal, results, view
from clouds.gcp.endpoints.machines.held import Held
from clouds.gcp.endpoints.machines.plan import Builder, Planner
from clouds.gcp.endpoints.machines.serving import PORT
from clouds.gcp.endpoints.machines.start import Starter
from clouds.gcp.endpoints.machines.update import Changer
from clouds.gcp.endpoints.machines.world import World
from clouds.gcp.endpoints.making import Maker
from clouds.models import (
    Call,
    Change,
    DeletedPart,
    Deletion,
    DeploymentPlan,
    DeploymentSpec,
    Endpoint,
    EndpointRef,
    LogPage,
    Read,
    Scope,
    Wire,
)

QUOTA_LASTS = timedelta(minutes=5)
"""How long a quota that was read is shown: reading it takes several calls, and a wait is looked at often."""
Open = Callable[[tunnel.Target, Callable[[], str]], tuple[int, Callable[[], None]]]


class MachineService(ABC):
    """One machine a deployment. Nothing is read or imported before the first use."""

    reads: tuple[Call, ...] = ()
    writes: tuple[Call, ...] = ()

    def __init__(
        self,
        api: GcpApi,
        identity: IdentityReader,
        quotas: QuotaReader,
        prices: PriceBook,
        world: World,
        builder: Builder,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        pause: Callable[[float], None] = time.sleep,
        open_tunnel: Open = tunnel.open_tunnel,
        digest: Callable[[str], str] = images.digest_of,
    ) -> None:
        """`now` and `pause` are the clock; `open_tunnel` and `digest` lead to the network outside Google's API."""
        self._api, self._quotas, self._prices, self._world = api, quotas, prices, world
        self._now, self._pause, self._open = now, pause, open_tunnel
        self._told: dict[tuple[str, str, str], tuple[datetime, str]] = {}
        self._planner = Planner(api, identity, quotas, prices, builder, digest)

    def plan(self, spec: DeploymentSpec) -> DeploymentPlan:
        """The places in order, every call, the worst price. Raises before anything is created."""
        return self._planner.plan(spec, self._now())

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """Carry it out until a token came, or every place said no. Raises NoCapacity with each place's own words.

        A machine that measures itself is watched until it has deleted itself; its run records are then brought home.
        """
        maker = Maker(self._api, ledger, progress, plan.deployment)
        place = str(plan.spec.settings.get("results", ""))
        ended = results.finished(self._api, ledger, plan, place) if place else None
        run = create.begin(plan, self._world, maker, self._now, self._pause)
        if ended is not None:
            create.undo(run, [*run.zones, "global"])
            return results.brought(self._api, ledger, plan, place, ended)
        zone = create.carry_out(run)
        if place:
            return results.until_done(run, self._api, self._prices, run.ref(zone), place)
        return Starter(run, self._prices, self.connect).until_ready(run.ref(zone))

    def get(self, ref: EndpointRef) -> Endpoint:
        """Raises NotFound. Generates no token."""
        held = self._world.read(ref)
        lines = self._world.lines(held) if held.standing.state == "loading" else ()
        return view.build(ref, held, lines, self._prices, self._world.shapes, self._quota(held))

    def _quota(self, held: Held) -> str:
        """The quota as it is now, for what waits: without it nobody can tell a stockout from a missing permission."""
        shape = find_shape(self._world.shapes, held.type)
        if held.standing.state != "waiting_for_capacity" or shape is None:
            return ""
        key = (held.type, held.zone, held.market)
        told = self._told.get(key)
        if told is None or self._now() - told[0] > QUOTA_LASTS:
            words = quota.of(self._quotas, shape, [held.zone], held.market)[held.zone].words
            told = self._told[key] = (self._now(), words)
        return told[1]

    def list(self, *, scope: Scope) -> Read[Endpoint]:
        """Every machine of ours, dead ones and husks too, wherever the scope does not name a place."""
        read, word = self._world.all(scope), self._world.word
        found = (view.build(one.ref(word), one, None, self._prices, self._world.shapes) for one in read.found)
        return Read(found=tuple(found), unread=read.unread)

    def logs(self, ref: EndpointRef, *, since: timedelta, limit: int) -> LogPage:
        """The newest lines of its console or guest attributes: its phases and its engine. No tunnel is needed."""
        held = self._world.find(ref)
        lines = self._world.lines(held)
        source = f"serial console of {held.name}" if self._world.word == "gce" else f"guest attributes of {held.name}"
        if lines is None:
            return LogPage((), source, None, "it could not be read now; ask again")
        note = "" if lines else "it is empty: the machine has not begun to start"
        if lines and held.created is not None and since < self._now() - held.created:
            note = "these lines carry no time of their own: all that Google keeps are shown, whatever their age"
        return LogPage(lines[-limit:], source, len(lines), note)

    def connect(self, ref: EndpointRef) -> Wire:
        """A tunnel through Google's relay to the model's port; the wire's `close` ends it.

        Raises NotFound, Conflict while it does not run, PermissionMissing, and Unreachable when nothing listens.
        """
        held = self._world.find(ref)
        if held.standing.state != "loading":
            raise Conflict(
                f"connecting to {ref}",
                answered=f"the machine is {held.status}",
                fix="Wait until it runs (get_endpoint).",
            )
        port, close = self._open(self._world.target(held, PORT), self._token)
        serving = held.serving
        return Wire(url=f"http://127.0.0.1:{port}", model=serving.model if serving else "", close=close)

    def _token(self) -> str:
        """A secret: the token alone, for the relay's header."""
        return self._api.fresh_headers().get("Authorization", "").removeprefix("Bearer ")

    def update(self, ref: EndpointRef, change: Change, ledger: Ledger, progress: Progress) -> Endpoint:
        """Another model or flags on the machine that is held; another end where the cloud takes one."""
        changer = Changer(self._world, self._prices, progress, self.connect, self._now)
        changer.check(change)
        if change.ttl_hours is not None:
            self._end(ref, change.ttl_hours, ledger)
        if change.model is not None or change.settings:
            return changer.engine(ref, change)
        return self.get(ref)

    @abstractmethod
    def _end(self, ref: EndpointRef, hours: float, ledger: Ledger) -> None:
        """Move its end. Raises Conflict where Google takes none while it runs."""

    def delete(self, ref: EndpointRef, ledger: Ledger, progress: Progress) -> Deletion:
        """What bills first, then what was made for it; read back until gone, husks too."""
        looking = Maker(self._api, ledger, progress, "")
        calls, deployment = removal.belongings(looking, self._world.parts(ref))
        maker = Maker(self._api, ledger, progress, deployment)
        parts: tuple[DeletedPart, ...] = removal.remove(maker, calls)
        maker.drop(create.AWAITED)
        if not parts:
            parts = (DeletedPart(part=f"machine of {ref}", outcome="was not there"),)
        left = [part for part in parts if part.outcome == "still there"]
        gone = not left and not removal.belongings(looking, self._world.parts(ref))[0]
        return Deletion(ref=ref, parts=parts, gone=gone)
