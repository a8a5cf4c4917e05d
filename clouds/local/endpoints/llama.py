"""The service `llama`: one model on this machine, served by an engine that a process of its own looks after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from clouds.base import Ledger, Progress
from clouds.errors import Conflict
from clouds.local import places, settings
from clouds.local.endpoints import creating, deleting, logs, planning, reading, updating
from clouds.local.engines import ENGINES
from clouds.models import (
    Change,
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


def _now() -> datetime:
    return datetime.now(UTC)


class Llama:
    """The EndpointService of the local cloud. Every call reads files and processes anew: it keeps nothing."""

    def __init__(self, home: Path, now: Callable[[], datetime] = _now) -> None:
        """`home` is the data directory; `now` is what deadlines are counted from."""
        self._home, self._now = home.absolute(), now

    @property
    def settings(self) -> Mapping[str, str]:
        """What `plan` takes."""
        return settings.HELP

    def plan(self, spec: DeploymentSpec) -> DeploymentPlan:
        """Check everything; start and write nothing. Raises InvalidInput, NotInstalled, NoCapacity, Conflict (port)."""
        return planning.plan(self._home, spec)

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """Start it, or adopt what this deployment started before. Returns while the engine still loads."""
        return creating.create(self._home, plan, ledger, progress, self._now)

    def get(self, ref: EndpointRef) -> Endpoint:
        """Its state now. Raises NotFound."""
        return reading.get(self._home, ref)

    def list(self, *, scope: Scope) -> Read[Endpoint]:
        """All of ours on this machine, found by files and by processes."""
        return reading.listing(self._home, scope)

    def logs(self, ref: EndpointRef, *, since: timedelta, limit: int) -> LogPage:
        """The newest lines of supervisor and engine. Raises NotFound."""
        return logs.page(reading.there(self._home, ref).place, since=since, limit=limit, now=self._now())

    def connect(self, ref: EndpointRef) -> Wire:
        """Its URL and key. Raises NotFound, and Conflict when it does not run: its port may be somebody else's now."""
        seen = reading.there(self._home, ref)
        port, launch = seen.state.get("port"), seen.launch
        if not seen.serving or port is None or launch is None:
            state, _, reason = reading.judge(seen)
            raise Conflict(
                f"connecting to {ref}",
                answered=f"it is {state}{f': {reason}' if reason else ''}",
                fix="Wait until it has a port: get_endpoint."
                if state == "creating"
                else "Deploy it again, or delete it.",
                sent=False,
            )
        engine = ENGINES[launch.engine]
        return Wire(
            url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {places.read_key(seen.place.key)}"},
            model=launch.model,
            fresh_connection=engine.fresh_connection,
            accepts=engine.accepts,
        )

    def update(self, ref: EndpointRef, change: Change, ledger: Ledger, progress: Progress) -> Endpoint:
        """Move its end (counted from now), or replace its engine; the process and its URL stay."""
        return updating.update(self._home, ref, change, ledger, progress, self._now)

    def delete(self, ref: EndpointRef, ledger: Ledger, progress: Progress) -> Deletion:
        """End it and read back. What is not there is a success that says so."""
        return deleting.delete(self._home, ref, ledger, progress)
