"""The slow way in: no environment is there yet. Build one, wait for it as long as a client waits, else say why."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tools.environment import lock, places, reasons, state
from tools.environment.places import Place

SECONDS = 20.0
"""How long a start waits for the core under Claude Code, which gives a server 30 s; the server itself needs 2 to 5."""
SHORT_SECONDS = 4.0
"""Under any other client: Codex gives 10 s, `gemini mcp list` 5 (read 2026-11-29). Then the fallback takes the call."""
if TYPE_CHECKING:
    StartAgain = Callable[[Path, Sequence[str]], None]


def start(arguments: Sequence[str], start_again: StartAgain, *, hopeless: bool) -> None:
    """Start again in an environment, built when it is not there; serve the reason where that is not possible.

    `hopeless`: this process was started in such an environment and still has no packages; another start would not help.
    """
    place = places.current(os.environ)
    serving = places.serves(arguments)
    found: reasons.Problem | None = reasons.not_entered(sys.prefix) if hopeless else None
    prefix = None if hopeless else place.ready()
    if not hopeless and prefix is None:
        found = begin(place) or wait(place, _patience() if serving else float("inf"), quiet=not serving)
        prefix = place.ready()
    if prefix is not None:
        start_again(prefix, arguments)
        found = reasons.not_entered(str(prefix))
    if serving:
        from tools import fallback

        raise SystemExit(fallback.serve(place, found, arguments))
    found = found or problem(place)
    fix = found.fix.replace(reasons.AGAIN, "run the same command again")
    print(f"modelrig cannot start: {found.reason}. {fix}", file=sys.stderr)
    raise SystemExit(1)


def _patience() -> float:
    try:
        return float(os.environ.get("MODELRIG_START_SECONDS", ""))
    except ValueError:
        return SECONDS if os.environ.get("CLAUDECODE") else SHORT_SECONDS


def begin(place: Place) -> reasons.Problem | None:
    """Have a builder at work, ours or another's; a problem when the folder itself cannot be used."""
    try:
        place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.replace(place.folder / f".{os.getpid()}", "")
        (place.folder / f".{os.getpid()}").unlink()
    except OSError as error:
        return reasons.unwritable(str(place.folder), error)
    if not lock.held(place.lock):
        spawn(place)
    return None


def spawn(place: Place) -> None:
    """Start a builder; returns when it, or another before it, has the lock."""
    command = [sys.executable, "-m", "tools.environment.build", str(place.folder), place.key]
    with os.fdopen(os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
        ends = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS
            subprocess.Popen(command, cwd=places.ROOT, creationflags=flags, **ends)
            until = time.monotonic() + 5
            while not lock.held(place.lock) and time.monotonic() < until:
                time.sleep(0.05)
            return
        subprocess.run(command, cwd=places.ROOT, check=False, **ends)  # type: ignore[call-overload]  # it forks, the parent ends


def wait(place: Place, limit: float, *, quiet: bool) -> reasons.Problem | None:
    """Until the core is there (None), the builder gave up (why), or `limit` seconds have passed (None)."""
    until = time.monotonic() + limit
    shown = ""
    while time.monotonic() < until:
        if place.ready():
            return None
        if not lock.held(place.lock):
            return None if place.ready() else problem(place)
        step = str(state.read(place.state).get("core", {}).get("step", ""))
        if step != shown and not (quiet and not sys.stderr.isatty()):
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
