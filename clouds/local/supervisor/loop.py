"""The supervisor's loop: one engine, its end in time, its replacement, and a state file that tells the truth."""

from __future__ import annotations

import os
import queue
import select
import signal
import time
import traceback
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from clouds.local import places
from clouds.local.launch import Launch
from clouds.local.places import Place
from clouds.local.processes import Started, created
from clouds.local.supervisor.bringup import Broken, News, Passed, Ready, bring_up
from clouds.local.supervisor.engine import EngineProcess
from clouds.local.supervisor.journal import Journal, stamp

TICK = 0.5
"""Seconds between two looks at the deadline and the files; signals are heard at once."""
BIND_WORDS = ("bind", "address already in use", "address in use")


class Supervisor:
    """Owns the engine of one endpoint from its start to its end."""

    def __init__(self, place: Place, started: Started) -> None:
        self._place, self._started = place, started
        self._key = places.read_key(place.key)
        self._journal = Journal(place.log, [self._key])
        self._unsaved = False
        spec = places.read(place.spec) or {}
        self._launch = Launch.from_json(spec["launch"])
        self._good: Launch | None = None
        self._engine: EngineProcess | None = None
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._asked_to_end = False
        self._tries = 0
        self._trouble = ""
        self._deadline_file: tuple[int, float] | None = None
        self._deadline = _moment(spec.get("expires"))
        self._state: dict[str, Any] = {
            "deployment": started.deployment,
            "start": started.start,
            "pid": os.getpid(),
            "created": created(os.getpid()),
            "state": "creating",
            "change": "",
            "started": stamp(),
        }

    def run(self) -> int:
        """Serve until the end that was set, a signal, or the engine's own end. Never leaves an engine behind."""
        wake = self._listen()
        try:
            self._save()
            self._begin(self._launch)
            while self._turn():
                if self._unsaved:
                    self._save()
                select.select([wake], [], [], self._pause())
                _drain(wake)
        except Exception as error:  # noqa: BLE001 - whatever it is, the state file must say so
            self._journal.write("supervisor", traceback.format_exc().strip().replace("\n", " / "))
            self._end("failed", f"the supervisor failed: {type(error).__name__}: {error}")
            return 1
        finally:
            if self._engine is not None:
                self._engine.stop()
            self._journal.close()
        return 0

    def _listen(self) -> int:
        """Hear signals through a pipe, so that waiting ends at once."""
        wake, self._poke_end = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self._poke_end, False)
        signal.set_wakeup_fd(self._poke_end, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1):
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGTERM, self._on_term)
        return wake

    def _on_term(self, *_: object) -> None:
        self._asked_to_end = True

    def _poke(self) -> None:
        try:
            os.write(self._poke_end, b"x")
        except BlockingIOError:
            return  # full: it wakes anyway

    def _tell(self, news: News) -> None:
        self._news.put(news)
        self._poke()

    def _pause(self) -> float:
        left = TICK if self._deadline is None else (self._deadline - datetime.now(UTC)).total_seconds()
        return max(0.0, min(TICK, left))

    def _turn(self) -> bool:
        """Look at everything once. False when it is over."""
        self._read_deadline()
        if self._asked_to_end or not self._place.spec.exists():
            return self._end("stopped", "it was asked to end", ended="asked")
        if self._deadline is not None and datetime.now(UTC) >= self._deadline:
            return self._end("stopped", "its time to live was over", ended="time to live")
        if (change := self._pending()) is not None:
            self._accept(change)
        while not self._news.empty():
            news = self._news.get()
            if news.engine is self._engine and not self._arrived(news):
                return False
        if self._engine is not None and self._engine.exit_code() is not None:
            return self._recover(self._engine.why())
        return True

    def _read_deadline(self) -> None:
        try:
            found = self._place.deadline.stat()
            mark = (found.st_ino, found.st_mtime)
            if mark == self._deadline_file:
                return
            value = _moment((places.read(self._place.deadline) or {}).get("expires"))
        except (OSError, ValueError):
            return  # damaged or just being replaced: what was known stays in force
        self._deadline_file = mark
        if value is not None and value != self._deadline:
            self._deadline = value
            self._journal.write("supervisor", f"ends at {value.isoformat()}")

    def _pending(self) -> dict[str, Any] | None:
        try:
            return places.read(self._place.change)
        except ValueError:
            self._place.change.unlink(missing_ok=True)
            return None

    def _accept(self, change: dict[str, Any]) -> None:
        """Move to another launch. What runs now is what we go back to when the new one does not come up."""
        self._launch = Launch.from_json(change["launch"])
        if self._engine is not None and self._launch.port == 0:
            # the URL stays unless another port was asked for
            self._launch = replace(self._launch, port=self._engine.port)
        self._trouble = ""
        # times and facts of what ran before are not those of what is coming
        self._state |= {"state": "updating", "change": change["id"], "reason": "", "phases": [], "facts": {}}
        self._save()
        self._place.change.unlink(missing_ok=True)
        self._tries = 0
        self._begin(self._launch)

    def _begin(self, launch: Launch) -> None:
        """Start an engine in place of the one there is."""
        if self._engine is not None:
            self._engine.replaced = True
            self._engine.stop()
        began = time.monotonic()
        engine = self._engine = EngineProcess(launch, self._place, self._key, self._journal)
        self._journal.write("supervisor", "starts " + " ".join(engine.command))
        self._tries += 1
        engine.start(self._started, self._poke)
        self._state |= {
            "launch": launch.to_json(),
            "port": engine.port,
            "command": engine.command,
            "engine_pid": engine.pid,
            "phases": [],
            "facts": {},
            "engine_started": stamp(),
        }
        if self._state["state"] != "updating":
            self._state["state"] = "loading"
        self._save()
        bring_up(engine, self._key, self._tell)
        self._journal.write("supervisor", f"engine process {engine.pid} after {time.monotonic() - began:.3f} s")

    def _arrived(self, news: News) -> bool:
        """Take in what the bring-up saw. False when that ends the endpoint."""
        if isinstance(news, Broken):
            news.engine.stop()
            return self._recover(news.why)
        if isinstance(news, Passed):
            self._state["phases"].append({"name": news.name, "seconds": round(news.seconds, 4)})
            self._journal.write("supervisor", f"{news.name}: {news.seconds:.3f} s")
        if isinstance(news, Ready):
            self._good = replace(news.engine.launch, port=news.engine.port)
            self._state |= {"state": "ready", "ready": stamp(), "facts": news.facts, "sha256": news.sha256}
            self._state["reason"] = f"{self._trouble}; what ran before runs again" if self._trouble else ""
            self._journal.write("supervisor", "ready: it generated a token")
        self._save()
        return True

    def _recover(self, why: str) -> bool:
        """The engine is gone: another port, or what ran before, or the end. False when it is the end."""
        engine = self._engine
        self._journal.write("supervisor", f"engine lost: {why}")
        chose = engine is not None and engine.launch.port == 0 and self._state["state"] != "ready"
        if chose and self._tries < 3 and any(word in why.lower() for word in BIND_WORDS):
            self._begin(self._launch)  # somebody took the port between our look and the engine's
            return True
        if self._state["state"] == "updating" and self._good is not None and not self._trouble:
            self._trouble = f"{self._launch.model} did not come up: {why}"
            self._launch = self._good
            self._begin(self._good)
            return True
        return self._end("failed", f"{self._trouble}; then {why}" if self._trouble else why)

    def _end(self, state: str, reason: str, *, ended: str = "") -> bool:
        """Stop the engine and write down why. Always False: the loop is over."""
        if ended and self._state["state"] != "stopping":
            self._state |= {"state": "stopping", "reason": reason}
            self._save()
        if self._engine is not None:
            self._engine.stop()
        self._state |= {"state": state, "reason": reason, "ended": ended, "ended_at": stamp()}
        self._journal.write("supervisor", f"{state}: {reason}")
        self._save()
        return False

    def _save(self) -> None:
        try:
            places.write(self._place.state, self._state)
        except FileNotFoundError:
            self._asked_to_end = True  # the folder was removed: there is nothing left to serve
        except OSError as error:  # a full disk is no reason to stop serving: written when it can be
            if not self._unsaved:
                self._journal.write("supervisor", f"its state could not be written: {error.strerror}")
            self._unsaved = True
        else:
            self._unsaved = False


def _moment(text: Any) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) and text else None


def _drain(wake: int) -> None:
    try:
        while os.read(wake, 4096):
            continue
    except BlockingIOError:
        return
