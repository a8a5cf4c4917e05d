"""One engine process: started, read, ended. Its output goes through us, so that every line has a time and a bound."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from clouds.local import tether
from clouds.local.engines import ENGINES
from clouds.local.launch import Launch
from clouds.local.places import Place
from clouds.local.processes import MARK, Started, mark
from clouds.local.supervisor.journal import Journal

KEPT = 6_000
"""Lines of the start that are kept for the engine's facts."""


def free_port() -> int:
    """A port on 127.0.0.1 that nobody listens on now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class EngineProcess:
    """One run of an engine. Start it from the main thread: it is tied to the thread that starts it."""

    def __init__(self, launch: Launch, place: Place, key: str, journal: Journal) -> None:
        self.launch, self.engine = launch, ENGINES[launch.engine]
        self.port = launch.port or free_port()
        self.command = self.engine.command(launch, self.port, place.key)
        self.first: list[str] = []
        self.last: deque[str] = deque(maxlen=200)
        self.replaced = False
        self._place, self._key, self._journal = place, key, journal
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """Its process id once it was started."""
        return self._process.pid if self._process else None

    def start(self, started: Started, ended: Callable[[], None]) -> None:
        """Start it in a process group of its own. `ended` is called when its output ends."""
        own = self.launch.program == sys.executable
        tied = self.command if own else [sys.executable, str(Path(tether.__file__)), str(os.getpid()), *self.command]
        variables = {**os.environ, **self.engine.environment(self.launch, self._key), MARK: mark(started)}
        self._process = subprocess.Popen(
            tied,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=variables,
            cwd=self._place.folder,
            process_group=0,
        )
        self._reader = threading.Thread(target=self._read, args=(ended,), daemon=True)
        self._reader.start()

    def _read(self, ended: Callable[[], None]) -> None:
        assert self._process is not None  # noqa: S101 - start() set it before this thread began
        assert self._process.stdout is not None  # noqa: S101 - it was opened as a pipe
        with self._process.stdout as output:
            for raw in output:
                line = self._journal.clean(raw.decode("utf-8", "replace").rstrip())
                self._journal.write("engine", line)
                if len(self.first) < KEPT:
                    self.first.append(line)
                self.last.append(line)
        ended()

    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll() if self._process else None

    def why(self) -> str:
        """Why it ended: its own words first, then how the system saw it end."""
        code = self.exit_code()
        if self._reader is not None:
            self._reader.join(timeout=2)
        ending = "it ended" if code is None else f"its process ended with code {code}"
        if code is not None and code < 0:
            ending = f"its process was ended by {signal.Signals(-code).name}"
            if code == -signal.SIGKILL:
                ending += " (the system does that when memory runs out)"
        said = self.engine.reason([*self.first, *self.last]) or (self.last[-1] if self.last else "it printed nothing")
        return f"{said[:400]} ({ending})"

    def stop(self, grace: float = 5.0) -> None:
        """End it and everything it started: asked first, then forced after `grace` seconds."""
        if self._process is None:
            return
        self._send(signal.SIGTERM)
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self._journal.write("supervisor", f"the engine did not end in {grace:g} s and is killed")
        self._send(signal.SIGKILL)
        self._process.wait()
        if self._reader is not None:
            self._reader.join(timeout=2)

    def _send(self, number: signal.Signals) -> None:
        try:
            if self._process is not None:
                os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # all of the group are gone (macOS says "not permitted" for a group of zombies)
