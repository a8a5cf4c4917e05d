"""Starts one supervisor and waits until it has claimed its name."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from clouds.base import Progress
from clouds.errors import Unexpected
from clouds.local import places, processes
from clouds.local.endpoints import logs
from clouds.local.places import Place
from clouds.local.processes import Started

CLAIM_SECONDS = 20.0
LOOK_SECONDS = 0.5
"""Between two looks at all processes, for one that ended without a word."""
GRACE = 8.0
"""Seconds from asking to forcing; the supervisor gives its engine 5 of them."""
KEPT = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TMPDIR",
    "TZ",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "SYSTEMROOT",
)
KEPT_STARTS = (
    "LC_",
    "PYTHON",
    "XDG_",
    "CUDA_",
    "NVIDIA_",
    "HIP_",
    "ROCR_",
    "GGML_",
    "OMP_",
    "KMP_",
    "HF_",
    "COVERAGE_",
)
"""What an engine may need of the environment. The rest stays here: it holds keys of clouds, and variables such as
LLAMA_ARG_HOST that would change what an engine does."""


def environment() -> dict[str, str]:
    """The environment of a supervisor and its engine."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_STARTS)}
    kept["PYTHONPATH"] = os.pathsep.join(part for part in (str(processes.ROOT), kept.get("PYTHONPATH", "")) if part)
    return kept


def start(place: Place, started: Started, progress: Progress) -> dict[str, Any]:
    """Start it in a session of its own, so that it outlives us, and return its first state.

    Raises Unexpected when it does not claim the name in CLAIM_SECONDS; nothing of it is left then.
    """
    with place.log.open("ab") as log:
        os.fchmod(log.fileno(), 0o600)
        first = subprocess.Popen(
            processes.command(started),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment(),
            cwd=place.folder,
            start_new_session=True,
        )
    # the one we start forks and ends at once, so that no child of ours remains to be buried
    ends = time.monotonic() + CLAIM_SECONDS
    try:
        code = first.wait(CLAIM_SECONDS)
        looked = time.monotonic()
        while code == 0:
            if state := _claimed(place, started):
                return state
            if time.monotonic() - looked > LOOK_SECONDS:
                if time.monotonic() > ends or not _lives(place, started):
                    break
                looked = time.monotonic()
            progress.sleep(0.01)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if first.poll() is None:
            first.kill()
            first.wait()
    if state := _claimed(place, started):
        return state
    stop(place, started)
    raise Unexpected(
        f"starting the process of {place.name}",
        answered=logs.last(place) or f"it did not claim its name in {CLAIM_SECONDS:g} s",
        fix="Try again; check_setup shows whether the environment is complete.",
    )


def _claimed(place: Place, started: Started) -> dict[str, Any] | None:
    """Its first state that says what it started, or how it ended."""
    state: Mapping[str, Any] | None = places.read(place.state)
    if not state or state.get("start") != started.start:
        return None
    return dict(state) if "port" in state or state["state"] in {"failed", "stopped"} else None


def _lives(place: Place, started: Started) -> bool:
    return any(each.started == started for each in processes.scan(place.home, place.name))


def stop(place: Place, started: Started | None = None) -> tuple[int, ...]:
    """End the processes of an endpoint (of one start only, when given): asked, then forced. Returns what is left."""
    for hard in (False, True):
        # twice: what was being born while we looked is seen the second time
        for _ in range(2):
            found = [each for each in processes.scan(place.home, place.name) if started in {None, each.started}]
            if not found:
                return ()
            first = [each for each in found if each.role == "supervisor"]
            processes.end(found if hard or not first else first, hard=hard)
            processes.gone(found, 5.0 if hard else GRACE)
    return tuple(each.pid for each in processes.scan(place.home, place.name) if started in {None, each.started})
