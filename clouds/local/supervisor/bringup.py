"""From a started process to the first token: waits, measures each phase, reads what the engine says of itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clouds.local.supervisor.engine import EngineProcess
from clouds.local.supervisor.probe import Probe

TOKEN_SECONDS = 300.0
"""How long the first token may take: a large model on a small machine reads its weights for it."""


@dataclass(frozen=True)
class Passed:
    """One phase is over."""

    engine: EngineProcess
    name: str
    seconds: float


@dataclass(frozen=True)
class Ready:
    """The engine generated a token."""

    engine: EngineProcess
    facts: dict[str, Any] = field(default_factory=dict)
    sha256: str = ""


@dataclass(frozen=True)
class Broken:
    """The engine answers, and generates nothing."""

    engine: EngineProcess
    why: str


News = Passed | Ready | Broken


def digest(path: Path) -> str:
    """The sha256 of a model's file; empty for a folder or one of several parts."""
    if not path.is_file() or "-of-" in path.name:
        return ""
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bring_up(engine: EngineProcess, key: str, tell: Callable[[News], None]) -> None:
    """Start a thread that tells what it sees. It ends by itself when the engine is replaced or ends."""
    threading.Thread(target=_watch, args=(engine, Probe(engine.port, key), tell), daemon=True).start()


def _watch(engine: EngineProcess, probe: Probe, tell: Callable[[News], None]) -> None:
    sums: list[str] = []
    hashing = threading.Thread(target=lambda: sums.append(_sum(Path(engine.launch.model_path))), daemon=True)
    hashing.start()
    for name, statuses in (("engine start", None), ("model load", {200})):
        began = time.monotonic()
        if not _until(engine, probe, statuses):
            return
        tell(Passed(engine, name, time.monotonic() - began))
    began = time.monotonic()
    problem = probe.token(engine.launch.model, timeout=TOKEN_SECONDS)
    if engine.exit_code() is not None or engine.replaced:
        return  # whatever answered, it was not this engine
    if problem:
        tell(Broken(engine, f"it is up and generates nothing: {problem}"))
        return
    tell(Passed(engine, "first token", time.monotonic() - began))
    facts = engine.engine.facts(engine.launch, engine.first, probe.get)
    began = time.monotonic()
    hashing.join()
    if (seconds := time.monotonic() - began) > 0.05:
        tell(Passed(engine, "sha256 of the model", seconds))
    tell(Ready(engine, facts, sums[-1]))


def _sum(path: Path) -> str:
    try:
        return digest(path)
    except OSError:
        return ""


def _until(engine: EngineProcess, probe: Probe, statuses: set[int] | None) -> bool:
    """Ask /health until it answers (with one of `statuses`). False when the engine ended or was replaced."""
    pause = 0.01
    while engine.exit_code() is None and not engine.replaced:
        status = probe.send("GET", "/health").status
        if status and (statuses is None or status in statuses):
            return engine.exit_code() is None
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)
    return False
