"""A minimal MCP server for the time in which the real one cannot run: the client connects and a person learns why.

It speaks both eras over stdio with the standard library alone, offers `check_setup` and nothing else, and hands over to
the real server, on the same connection, as soon as that one can start.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

from tools import environment, handover
from tools.environment import lock, reasons, start, state
from tools.environment.places import Place

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
LISTEN = "subscriptions/listen"
POLL_SECONDS = 0.2
INSTRUCTIONS = "modelrig is not installed completely yet: check_setup says how far it is or what is wrong."
LISTS = {"prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}
TOOL = {
    "name": "check_setup",
    "title": "Check setup",
    "description": "Why modelrig cannot run yet, how far its installation is, and what to do. Tries again when called.",
    "inputSchema": {"type": "object", "properties": {}},
    "outputSchema": {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("headline", "state", "detail", "next", "log")},
        "required": ["headline", "state", "next"],
    },
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True},
}


def serve(place: Place, problem: reasons.Problem | None, arguments: Sequence[str]) -> int:
    """Serve stdin and stdout until end of input; returns the exit status. `problem` is None while it is installing."""
    return Fallback(place, problem, arguments, sys.stdin.buffer, sys.stdout.buffer).run()


class Fallback:
    """One connection. Lines of the client are answered here, or by the real server once it has taken over."""

    def __init__(
        self,
        place: Place,
        problem: reasons.Problem | None,
        arguments: Sequence[str],
        lines: IO[bytes],
        out: IO[bytes],
    ) -> None:
        self.place, self.problem, self.arguments, self.lines = place, problem, arguments, lines
        self.client = handover.Client(out)
        self.server: handover.Server | None = None
        self._turn = threading.RLock()
        self._over = threading.Event()

    def run(self) -> int:
        """Answer until the client ends its input."""
        threading.Thread(target=self._watch, daemon=True).start()
        for line in self.lines:
            with self._turn:
                if self.server is not None:
                    self.server.send(line)
                else:
                    self._answer(line)
        self._over.set()
        return self.server.end() if self.server is not None else 0

    def _watch(self) -> None:
        """Hand over as soon as the core is there."""
        while self._open() and not self._over.wait(POLL_SECONDS):
            prefix = self.place.ready()
            if prefix is None:
                continue
            with self._turn:
                self.server = handover.start(prefix, self.arguments, self.client)
            if self.server is not None:
                return
            self.problem = reasons.Problem("server", "the server ended before it answered", "Its words are on stderr.")

    def _open(self) -> bool:
        """False where trying again cannot help."""
        return self.problem is None or self.problem.kind not in {"server", "environment"}

    def _answer(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self.client.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "not JSON"}})
            return
        if not isinstance(message, dict):
            self.client.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "not a request"}})
            return
        method, params = message.get("method"), message.get("params")
        self.client.note(message)
        if "id" not in message or method is None or method == LISTEN:
            if method == LISTEN:
                self.client.acknowledge(message)
            return
        params = params if isinstance(params, dict) else {}
        answer = self._result(str(method), params)
        self.client.send({"jsonrpc": "2.0", "id": message["id"], **answer})

    def _result(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        meta = params.get("_meta")
        era = meta.get(META + "protocolVersion") if isinstance(meta, dict) else None
        if era is not None and era != MODERN:
            data = {"supported": [MODERN], "requested": str(era)[:40]}
            return {"error": {"code": -32022, "message": "Unsupported protocol version", "data": data}}
        result = self._known(method, params)
        if result is None:
            return {"error": {"code": -32601, "message": f"{method[:80]} is not there yet: {self._headline()}"}}
        if era is not None:
            listed = {"ttlMs": 0, "cacheScope": "private"} if method.endswith(("/list", "/discover")) else {}
            result = {**result, **listed, "resultType": "complete", "_meta": {META + "serverInfo": _identity()}}
        return {"result": result}

    def _known(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        changing = {"listChanged": True}
        about = {"capabilities": {"tools": changing, "prompts": changing}, "instructions": INSTRUCTIONS}
        if method == "initialize":
            asked = params.get("protocolVersion")
            version = asked if asked in HANDSHAKE else HANDSHAKE[0]
            return {**about, "protocolVersion": version, "serverInfo": _identity()}
        if method == "server/discover":
            return {**about, "supportedVersions": [MODERN]}
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": [TOOL]}
        if method in LISTS:
            return {LISTS[method]: []}
        return self._call(params) if method == "tools/call" else None

    def _call(self, params: Mapping[str, Any]) -> dict[str, Any]:
        asked = str(params.get("name"))
        found = self._setup()
        wrong = asked != TOOL["name"]
        text = f"**{found['headline']}** {found['next']}"
        if wrong:
            text = f"{asked[:60]} is not there yet. {text}"
        elif "log" in found:
            text += f"\nWhat the installers printed: {found['log']}"
        return {"content": [{"type": "text", "text": text}], "structuredContent": found, "isError": wrong}

    def _setup(self) -> dict[str, Any]:
        """Where the installation is. One that failed is tried again: what was wrong may have been mended."""
        log = {"log": str(self.place.log)} if self.place.log.exists() and self.place.log.stat().st_size else {}
        if self._open() and self.place.ready():
            found = ("starting", "modelrig is installed; its server is starting", "", "Call again.")
        elif self._open() and lock.held(self.place.lock):
            core = state.read(self.place.state).get("core", {})
            step, since = str(core.get("step", "starting")), core.get("since", state.now())
            waits = "Nothing to do: the other tools appear when it is done."
            found = ("installing", f"modelrig is being installed: {step}, since {since}", step, waits)
        else:
            found = self._failed()
        named = dict(zip(("state", "headline", "detail", "next"), found))  # noqa: B905 - strict is not in Python 3.8
        return {**named, "headline": f"{named['headline']}.", **log}

    def _failed(self) -> tuple[str, str, str, str]:
        """The reason, and another try where that can help."""
        known = start.problem(self.place) if self._open() and self.place.state.exists() else self.problem
        why = known or reasons.interrupted("")
        then = why.fix
        if self._open():
            refused = start.begin(self.place)
            if refused is None:
                then += " It is being tried again now: call check_setup once more in a minute."
            self.problem = refused or why
        return "failed", f"modelrig cannot run yet: {why.reason}", why.reason, then

    def _headline(self) -> str:
        return str(self.problem.reason) if self.problem else "modelrig is being installed"


def _identity() -> dict[str, str]:
    return {"name": "modelrig", "title": "modelrig", "version": environment.version()}
