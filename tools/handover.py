"""Moves a client that the fallback has served over to the real server, without a new connection.

In the handshake era the client's own `initialize` is repeated for the real server and its answer kept back; in the
stateless era there is nothing to repeat but open subscriptions. Then the client is told that the lists have changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tools.environment.places import ROOT, python_of

OURS = "modelrig-handover"
"""The id of the handshake that we repeat."""
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
CHANGED = ("notifications/tools/list_changed", "notifications/prompts/list_changed")
WANTED = {"toolsListChanged": CHANGED[0], "promptsListChanged": CHANGED[1]}


class Client:
    """What the client has said so far that a new server must know, and the one way to write to it."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out = out
        self.handshake: Mapping[str, Any] | None = None
        self.listening: dict[str, Mapping[str, Any]] = {}
        self._turn = threading.Lock()

    def send(self, message: Mapping[str, Any]) -> None:
        """One message of ours."""
        self.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    def write(self, line: bytes) -> None:
        """One line, whole. A client that has gone is not an error."""
        with self._turn:
            try:
                self.out.write(line)
                self.out.flush()
            except (OSError, ValueError):
                return

    def note(self, message: Mapping[str, Any]) -> None:
        """Keep what a new server has to be told: the handshake, and which subscriptions are open."""
        method, params = message.get("method"), message.get("params")
        if method == "initialize" and isinstance(params, dict):
            self.handshake = params
        elif method == "subscriptions/listen" and "id" in message:
            self.listening[json.dumps(message["id"])] = message
        elif method == "notifications/cancelled" and isinstance(params, dict):
            self.listening.pop(json.dumps(params.get("requestId")), None)

    def acknowledge(self, message: Mapping[str, Any]) -> None:
        """Open a subscription: its first frame names what is honoured."""
        honoured = {name: True for name in WANTED if _wants(message, name)}
        params = {"notifications": honoured, "_meta": {SUBSCRIPTION: message["id"]}}
        self.send({"jsonrpc": "2.0", "method": ACKNOWLEDGED, "params": params})

    def tell(self) -> None:
        """Say that tools and prompts have changed, in the way that this client's era hears it."""
        if self.handshake is not None:
            for method in CHANGED:
                self.send({"jsonrpc": "2.0", "method": method})
        for message in self.listening.values():
            for name, method in WANTED.items():
                if _wants(message, name):
                    params = {"_meta": {SUBSCRIPTION: message["id"]}}
                    self.send({"jsonrpc": "2.0", "method": method, "params": params})


def _wants(message: Mapping[str, Any], name: str) -> bool:
    params = message.get("params")
    wanted = params.get("notifications") if isinstance(params, dict) else None
    return isinstance(wanted, dict) and wanted.get(name) is True


class Server:
    """The real server as a child; the client's lines go in, its lines come out."""

    def __init__(self, process: subprocess.Popen[bytes], client: Client) -> None:
        self.process, self.client = process, client
        self._reader = threading.Thread(target=self._pump, daemon=True)

    def send(self, line: bytes) -> None:
        """Pass a line of the client on."""
        try:
            self._write(line)
        except OSError:
            os._exit(self.process.wait() or 1)  # the server is gone: the client has to see the end of its stream

    def greet(self) -> bool:
        """Repeat the client's handshake and its subscriptions; False when the server ended instead of answering."""
        try:
            answered = self._greeted()
        except (OSError, ValueError):
            answered = False
        if answered:
            self._reader.start()
        return answered

    def _greeted(self) -> bool:
        if self.client.handshake is not None:
            self._tell({"id": OURS, "method": "initialize", "params": self.client.handshake})
            if not self._until(lambda answer: answer.get("id") == OURS):
                return False
            self._tell({"method": "notifications/initialized"})
        for message in list(self.client.listening.values()):
            self._tell(message)
            if not self._until(lambda answer, asked=message["id"]: _opened(answer, asked)):
                return False
        return self.process.poll() is None

    def end(self) -> int:
        """The client has ended its input: so do we; the server answers what it still owes."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._reader.join()
        return self.process.wait()

    def _tell(self, message: Mapping[str, Any]) -> None:
        self._write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        assert self.process.stdin is not None  # noqa: S101 - it was opened as a pipe
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def _until(self, awaited: Any) -> bool:
        assert self.process.stdout is not None  # noqa: S101 - it was opened as a pipe
        return any(awaited(json.loads(line)) for line in self.process.stdout)

    def _pump(self) -> None:
        assert self.process.stdout is not None  # noqa: S101 - it was opened as a pipe
        for line in self.process.stdout:
            self.client.write(line)
        if self.process.stdin is not None and not self.process.stdin.closed:
            os._exit(self.process.wait())  # the server ended by itself: the client has to see it


def _opened(answer: Mapping[str, Any], asked: object) -> bool:
    """True for the first frame of a subscription that is repeated, and for a refusal of it."""
    return answer.get("method") == ACKNOWLEDGED or answer.get("id") == asked


def start(prefix: Path, arguments: Sequence[str], client: Client) -> Server | None:
    """Start the real server and move the client to it; None when it does not come up."""
    command = [str(python_of(prefix)), str(ROOT / "server.py"), *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "__PYVENV_LAUNCHER__"}
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    except OSError as error:
        print(f"modelrig: the server does not start: {error}", file=sys.stderr)
        return None
    server = Server(process, client)
    if not server.greet():
        process.kill()
        process.wait()
        return None
    client.tell()
    return server
