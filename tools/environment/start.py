"""The slow way in: no environment is there yet. Build one, wait for it as long as a client waits, else say why."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.environment import lock, places, reasons, state
from tools.environment.places import Place

SECONDS = 24.0
"""How long a start waits for the core: a client gives a server 30 s, and the server itself needs up to 2."""
StartAgain = Callable[[Path, Sequence[str]], None]


def start(arguments: Sequence[str], tried: str, start_again: StartAgain) -> None:
    """Start again in an environment, built when it is not there; serve the reason where that is not possible."""
    place = places.current(os.environ)
    serving = places.serves(arguments)
    problem: reasons.Problem | None = None
    prefix = place.ready()
    if prefix is None or str(prefix) == tried:
        problem = begin(place)
        limit = float(os.environ.get("MODELRIG_START_SECONDS") or SECONDS) if serving else float("inf")
        problem = problem or wait(place, limit, quiet=not serving and not sys.stderr.isatty())
        prefix = place.ready()
    if prefix is not None and str(prefix) != tried:
        start_again(prefix, arguments)
    if not serving:
        problem = problem or reasons.Problem("unknown", "the environment does not start", reasons.AGAIN)
        print(f"modelrig cannot start: {problem.reason}. {problem.fix}", file=sys.stderr)
        raise SystemExit(1)
    from tools import fallback

    raise SystemExit(fallback.serve(place, problem, arguments))


def begin(place: Place) -> reasons.Problem | None:
    """Have a builder at work, ours or another's; a problem when the folder itself cannot be used."""
    try:
        place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.replace(place.folder / f".{os.getpid()}", "")
        (place.folder / f".{os.getpid()}").unlink()
    except OSError as error:
        return reasons.unwritable(str(place.folder), error)
    spawn(place)
    return None


def spawn(place: Place) -> None:
    """Start a builder; returns when it, or another before it, has the lock."""
    command = [sys.executable, "-m", "tools.environment.build", str(place.folder), place.key]
    with place.log.open("ab") as log:
        options: dict[str, object] = {"cwd": str(places.ROOT), "stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS
            subprocess.Popen(command, creationflags=flags, **options)  # type: ignore[call-overload]
            until = time.monotonic() + 5
            while not lock.held(place.lock) and time.monotonic() < until:
                time.sleep(0.05)
            return
        subprocess.run(command, check=False, **options)  # type: ignore[call-overload]  # it forks, the parent ends


def wait(place: Place, limit: float, *, quiet: bool) -> reasons.Problem | None:
    """Until the core is there (None), the builder gave up (why), or `limit` seconds have passed (None)."""
    until = time.monotonic() + limit
    shown = ""
    while time.monotonic() < until:
        if place.marker.exists():
            return None
        if not lock.held(place.lock):
            return None if place.marker.exists() else problem(place)
        step = str(state.read(place.state).get("core", {}).get("step", ""))
        if step != shown and not quiet:
            print(f"modelrig, first start: {step}", file=sys.stderr, flush=True)
            shown = step
        time.sleep(0.05)
    return None


def problem(place: Place) -> reasons.Problem:
    """Why no builder is at work and no core is there."""
    core = state.read(place.state).get("core", {})
    if core.get("state") == "failed":
        return reasons.Problem("failed", str(core.get("reason")), str(core.get("fix")))
    return reasons.interrupted(str(core.get("step", "")))
