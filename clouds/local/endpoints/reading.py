"""What is there: every endpoint with its state, from its files and its processes. Reading changes nothing."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clouds.errors import NotFound
from clouds.local import identity, lock, machine, places, processes
from clouds.local.endpoints import logs
from clouds.local.identity import LOCATION, SERVICE
from clouds.local.launch import Launch
from clouds.local.places import Place
from clouds.local.processes import Found
from clouds.models import Endpoint, EndpointRef, EngineFacts, Hardware, Phase, Read, Scope, State, Unread


@dataclass(frozen=True)
class Seen:
    """One endpoint as its files and processes show it at this moment."""

    place: Place
    spec: Mapping[str, Any]
    state: Mapping[str, Any]
    """What its supervisor wrote last; empty when that was for another start, or nothing."""
    supervisor: Found | None
    engines: tuple[Found, ...] = ()
    creating: bool = False
    deleting: bool = False
    damage: str = field(default="")

    @property
    def deployment(self) -> str:
        """The ledger's id, from the file, or from the command line of its process."""
        started = self.supervisor or next(iter(self.engines), None)
        return str(self.spec.get("deployment") or (started.started.deployment if started else ""))

    @property
    def serving(self) -> bool:
        """Whether its supervisor lives and is not about to end: only then are its port and its engine its own."""
        return self.supervisor is not None and self.state.get("state") in {"loading", "ready", "updating"}

    @property
    def launch(self) -> Launch | None:
        """What runs, or what should."""
        value = self.state.get("launch") or self.spec.get("launch")
        return Launch.from_json(value) if value else None


def see(place: Place, found: Sequence[Found] | None = None) -> Seen | None:
    """Look at one endpoint; None when nothing of it is there. `found` are its processes when they were scanned."""
    damage, spec, state = "", None, None
    try:
        spec = places.read(place.spec)
        state = places.read(place.state)
    except ValueError as error:
        damage = str(error)
    supervisor = None
    if state and found is None:
        supervisor = processes.look(state["pid"], state["created"], state["start"])
    if supervisor is None:
        found = processes.scan(place.home, place.name) if found is None else found
        supervisor = next((each for each in found if each.role == "supervisor"), None)
    engines = tuple(each for each in found or () if each.role == "engine")
    if not place.folder.is_dir() and supervisor is None and not engines:
        return None
    if state and supervisor and state["start"] != supervisor.started.start:
        state = None  # of an earlier start
    return Seen(
        place=place,
        spec=spec or {},
        state=state or {},
        supervisor=supervisor,
        engines=engines,
        creating=lock.held(place.guard),
        deleting=lock.held(place.stop),
        damage=damage,
    )


def get(home: Path, ref: EndpointRef) -> Endpoint:
    """One endpoint as it is now. Raises NotFound, with the names that are there."""
    return endpoint(there(home, ref), machine.hardware())


def listing(home: Path, scope: Scope) -> Read[Endpoint]:
    """All endpoints, also those of which only a process is left."""
    if scope.location not in {None, LOCATION}:
        return Read()
    try:
        found = processes.scan(home)
    except Exception as error:  # noqa: BLE001 - whatever the system says, it must not look like "no processes"
        reason = f"{type(error).__name__}: {error}"[:200]
        return Read((), (Unread(call="list processes", scope=LOCATION, reason=reason),))
    names = {place.name for place in places.places(home)} | {each.started.name for each in found}
    shown = machine.hardware() if names else None
    rows = []
    for name in sorted(names):
        seen = see(Place(home, name), [each for each in found if each.started.name == name])
        if seen is not None:
            rows.append(endpoint(seen, shown))
    return Read(tuple(rows))


def there(home: Path, ref: EndpointRef) -> Seen:
    """The endpoint of this ref. Raises NotFound, with the names that are there."""
    seen = see(Place(home, ref.name)) if ref.location == LOCATION else None
    if seen is None:
        names = [place.name for place in places.places(home)]
        close = difflib.get_close_matches(ref.name, names, 1)
        hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(names[:10]) or 'none'}."
        raise NotFound(
            f"looking for {ref}", answered="no endpoint of that name is on this machine", fix=hint, sent=False
        )
    return seen


def endpoint(seen: Seen, hardware: Hardware | None) -> Endpoint:
    """The record of what was seen."""
    state, status, reason = judge(seen)
    launch = seen.launch
    port = seen.state.get("port") if seen.supervisor else None
    return Endpoint(
        ref=str(EndpointRef("local", SERVICE, LOCATION, seen.place.name)),
        state=state,
        cloud_status=status,
        billing=False,
        model=launch.model if launch else "",
        reason=reason,
        url=f"http://127.0.0.1:{port}/v1" if port else "",
        created=str(seen.spec.get("created", "")),
        expires=expires(seen),
        deployment=seen.deployment,
        account=identity.host(),
        engine=_engine(seen, launch),
        hardware=hardware,
        phases=tuple(Phase(name=each["name"], seconds=each["seconds"]) for each in seen.state.get("phases", ())),
        key_file=str(seen.place.key) if seen.place.key.exists() else "",
    )


def judge(seen: Seen) -> tuple[State, str, str]:
    """State, the state in this machine's own words, and the reason where one is needed."""
    said: State | None = seen.state.get("state")
    if seen.supervisor is not None:
        status = f"process {seen.supervisor.pid} is running"
        if seen.damage:
            return "unknown", status, seen.damage
        if not seen.spec:
            return "unknown", status, "its files are gone and its process is not: delete it"
        if seen.deleting:
            return "deleting", status, ""
        return said or "creating", status, str(seen.state.get("reason", ""))
    if seen.creating and said not in {"stopped", "failed"}:
        return ("deleting" if seen.deleting else "creating"), "no process yet", ""
    if seen.damage:
        return "unknown", "no process", f"{seen.damage}: delete it"
    if said in {"stopped", "failed"}:
        return said, "no process", str(seen.state.get("reason", "")) + _orphans(seen)
    if not said:
        return (
            "failed",
            "no process",
            "its creation was interrupted before a process was there: deploy it again or delete it" + _orphans(seen),
        )
    return "failed", "no process", _vanished(seen) + _orphans(seen)


def _vanished(seen: Seen) -> str:
    import psutil

    pid, began = seen.state["pid"], seen.state["created"]
    booted = psutil.boot_time()
    if booted > began + 1:
        how = f"the machine was started again at {datetime.fromtimestamp(booted, UTC).isoformat(timespec='seconds')}"
    else:
        how = "it was killed, or the system ran out of memory"
    last = logs.last(seen.place)
    return f"its process {pid} is gone without a word: {how}" + (f"; its log ends with {last!r}" if last else "")


def _orphans(seen: Seen) -> str:
    if not seen.engines:
        return ""
    return f"; its engine still runs (process {', '.join(str(each.pid) for each in seen.engines)}): delete it"


def expires(seen: Seen) -> str:
    """When it ends, as its deadline file says now."""
    try:
        value = (places.read(seen.place.deadline) or {}).get("expires")
    except ValueError:
        value = None
    return str(value or seen.spec.get("expires", ""))


def _engine(seen: Seen, launch: Launch | None) -> EngineFacts | None:
    """What the engine said of itself once it was ready; before that only what it was started with."""
    if launch is None:
        return None
    said = {name: value for name, value in (seen.state.get("facts") or {}).items() if value is not None and value != ""}
    own = said.pop("settings", {})
    facts: dict[str, Any] = {
        "version": launch.version,
        "model_sha256": seen.state.get("sha256", ""),
        "context_tokens": launch.context,
        "slots": launch.slots,
        "threads": launch.threads,
        **said,
    }
    return EngineFacts(engine=launch.engine, model=launch.model, settings={**own, **launch.labels()}, **facts)
