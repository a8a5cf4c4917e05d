"""While the real server cannot run, a client connects all the same, learns why, and is handed over when it can."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.tools.environment.rig import BARE, PATIENCE, Rig
from tools.environment import lock, state
from tools.handover import CHANGED

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Line:
    """A client that writes and reads plain lines."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(ValueError):  # closed under the reader when the test ends
            for line in self.process.stdout or ():
                self._lines.put(line)

    def say(self, method: str, params: Mapping[str, Any] | None = None, **message: Any) -> None:
        assert self.process.stdin is not None
        whole = {"jsonrpc": "2.0", "method": method, "params": params or {}, **message}
        self.process.stdin.write(json.dumps(whole) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(self._lines.get(timeout=PATIENCE))
        return heard

    def ask(self, method: str, params: Mapping[str, Any] | None = None, number: int = 7) -> dict[str, Any]:
        self.say(method, params, id=number)
        heard = self.hear()
        assert heard["id"] == number
        return heard

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


@pytest.mark.parametrize("mode", ["auto", "legacy"] if "MODELRIG_ALL" in os.environ else ["auto"])
def test_an_installation_that_failed_connects_a_client_and_ends_a_shell_and_both_are_told_why(
    rig: Rig, mode: str
) -> None:
    shutil.rmtree(rig.wheels)
    shell = rig.start("call")
    rig.settle(busy=True)  # a second builder would try it all once more when the first has failed
    server = StdioServerParameters(command=BARE, args=["-S", str(rig.root / "server.py")], env=rig.environment)

    async def session() -> None:
        async with Client(server, mode=mode) as client:
            assert client.server_info.name == "modelrig"
            assert [tool.name for tool in (await client.list_tools()).tools] == ["check_setup"]
            assert (await client.list_prompts()).prompts == []
            with anyio.fail_after(PATIENCE):
                found = {"state": "installing"}
                while found["state"] == "installing":  # a slow machine is still trying when the client connects
                    told = await client.call_tool("check_setup", {})
                    assert told.structured_content is not None
                    found = told.structured_content
            assert (told.is_error, found["state"]) == (False, "failed")
            assert found["headline"].startswith("modelrig cannot run yet: a package has no build for this Python")
            assert found["headline"] in told.content[0].text
            assert found["next"].endswith("It is being tried again now: call check_setup once more in a minute.")
            other = await client.call_tool("deploy_endpoint", {"model": "x"})
            assert other.is_error
            assert other.content[0].text.startswith("deploy_endpoint is not there yet. **modelrig ")

    anyio.run(session)
    out, err = shell.communicate(timeout=PATIENCE)
    assert (shell.returncode, out) == (1, "")
    assert "modelrig cannot start: a package has no build for this Python or this machine" in err
    assert "run the same command again" in err


class Install:
    """The last moment of an installation, for as long as a test wants: a builder is at work, no marker is there."""

    def __init__(self, rig: Rig) -> None:
        rig.settings = {"MODELRIG_START_SECONDS": "0"}
        self.rig, self.server = rig, (rig.root / "server.py").read_text()
        self.marker = rig.only("*.ready")
        self.named = self.marker.read_text()
        self.marker.unlink()
        self.lock = lock.take(self.marker.with_suffix(".lock"))
        state.write(
            self.marker.with_suffix(".json"), {"core": {"state": "installing", "step": "unpacking", "since": "x"}}
        )

    def connect(self, **changed: str) -> Line:
        """A client of a server whose code differs from the usual one."""
        (text,) = [self.server.replace(old, new) for old, new in changed.items()] or [self.server]
        (self.rig.root / "server.py").write_text(text)
        return Line(self.rig.start())

    def finish(self) -> None:
        """What a builder does last."""
        state.replace(self.marker, self.named)


@pytest.fixture
def install(built: Rig) -> Iterator[Install]:
    made = Install(built)
    yield made
    (built.root / "server.py").write_text(made.server)
    made.finish()
    assert made.lock is not None
    os.close(made.lock)


def test_a_client_of_the_handshake_era_is_handed_over(install: Install) -> None:
    line = install.connect()
    assert line.ask("initialize", HANDSHAKE)["result"]["serverInfo"]["name"] == "modelrig"
    line.say("notifications/initialized")
    told = line.ask("tools/call", {"name": "check_setup"})["result"]["structuredContent"]
    assert (told["state"], told["headline"]) == ("installing", "modelrig is being installed: unpacking, since x.")
    install.finish()
    assert [line.hear()["method"] for _ in range(2)] == [
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
    ]
    assert line.ask("tools/list")["result"] == {
        "server": "real",
        "asked": "tools/list",
        "protocolVersion": "2025-11-25",
    }
    assert line.end() == 0


def test_a_client_of_the_stateless_era_is_handed_over_through_its_subscription(install: Install) -> None:
    line = install.connect()
    assert line.ask("server/discover", {"_meta": META})["result"]["supportedVersions"] == ["2026-07-28"]
    line.say("subscriptions/listen", {"_meta": META, "notifications": {"toolsListChanged": True}}, id="listen-1")
    stamp = {"io.modelcontextprotocol/subscriptionId": "listen-1"}
    assert line.hear()["params"] == {"notifications": {"toolsListChanged": True}, "_meta": stamp}
    install.finish()
    changed = line.hear()
    assert (changed["method"], changed["params"]) == ("notifications/tools/list_changed", {"_meta": stamp})
    assert line.ask("tools/list", {"_meta": META})["result"]["server"] == "real"
    assert line.end() == 0


LOOP = "for line in sys.stdin:"


def test_a_server_that_ends_on_its_own_ends_the_connection(install: Install) -> None:
    line = install.connect(**{LOOP: "for line in (sys.stdin.readline() for _ in range(3)):"})
    line.ask("initialize", HANDSHAKE)
    install.finish()
    assert {line.hear()["method"] for _ in range(2)} == set(CHANGED)
    line.say("notifications/one_more")  # behind the handshake that is repeated for it: now it has its three lines
    assert line.process.wait(PATIENCE) == 0


def test_a_server_that_does_not_come_up_is_reported_and_not_started_again(install: Install) -> None:
    line = install.connect(**{LOOP: "for line in sys.exit(3):"})
    line.ask("initialize", HANDSHAKE)
    install.finish()
    found = {"state": ""}
    while found["state"] != "failed":
        found = line.ask("tools/call", {"name": "check_setup"})["result"]["structuredContent"]
    assert found["headline"] == "modelrig cannot run yet: the server ended before it answered."
    assert line.end() == 0


def test_what_it_does_not_know_is_an_error_in_words(rig: Rig) -> None:
    rig.environments.write_text("a file in the way")
    line = Line(rig.start())
    unknown = line.ask("completion/complete")["error"]
    assert (unknown["code"], "completion/complete is not there yet" in unknown["message"]) == (-32601, True)
    newer = {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}}
    assert line.ask("tools/list", newer)["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2027-01-01"}
    assert line.ask("initialize", {**HANDSHAKE, "protocolVersion": "1999"})["result"]["protocolVersion"] == "2025-11-25"
    assert line.process.stdin is not None
    line.process.stdin.write("no json\n[1]\n")
    line.process.stdin.flush()
    assert [line.hear()["error"]["code"] for _ in range(2)] == [-32700, -32600]
    assert line.end() == 0
