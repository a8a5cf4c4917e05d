"""How requests leave: proxies of the machine, and a pace of its own for each project."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from clouds.errors import Unreachable
from clouds.gcp import pace, wire
from clouds.gcp.api import GcpApi
from clouds.gcp.session import recorded
from clouds.models import Call, Scope
from tests.clouds.gcp.server import Google

NODES = Call("tpu", "projects.locations.nodes.list")


@pytest.fixture
def relay() -> Iterator[tuple[str, list[str]]]:
    """A proxy that only hears where it should connect, and refuses."""
    heard: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            heard.append(self.path)
            self.send_error(403)

        def log_message(self, *_: Any) -> None:
            """Nothing on the terminal."""

    server = HTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", heard
    server.shutdown()
    server.server_close()
    thread.join(5)


def test_the_proxy_of_the_machine_is_used(monkeypatch: pytest.MonkeyPatch, relay: tuple[str, list[str]]) -> None:
    address, heard = relay
    monkeypatch.setenv("HTTPS_PROXY", address)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    api = GcpApi(build=recorded, attempts=1)
    with pytest.raises(Unreachable):
        api.send(NODES, scope=Scope())
    api.close()
    assert heard == ["tpu.googleapis.com:443"]


def test_a_machine_may_say_that_googles_hosts_need_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "googleapis.com")
    assert wire.proxy() is None
    monkeypatch.setenv("no_proxy", "example.com")
    assert wire.proxy() == "http://127.0.0.1:9"


def test_a_test_server_is_reached_without_a_proxy(monkeypatch: pytest.MonkeyPatch, google: Google) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    google.on(str(NODES), {})
    assert google.api().send(NODES, scope=Scope()) == {}


def test_no_more_than_its_slots_are_asked_at_once_and_another_project_has_its_own(google: Google) -> None:
    from concurrent.futures import ThreadPoolExecutor

    running, most, lock = {"a": 0, "b": 0}, {"a": 0, "b": 0, "all": 0}, threading.Lock()
    gate = threading.Event()

    def answer(asked: Any) -> Any:
        project = asked.parameters["parent"].split("/")[1]
        with lock:
            running[project] += 1
            most[project] = max(most[project], running[project])
            most["all"] = max(most["all"], sum(running.values()))
            if sum(running.values()) == 2 * pace.AT_ONCE:
                gate.set()
        gate.wait(5)
        with lock:
            running[project] -= 1
        return {}

    google.on(str(NODES), answer)
    api = google.api()
    many = 2 * pace.AT_ONCE + 8
    with ThreadPoolExecutor(many) as pool:
        list(pool.map(lambda n: api.send(NODES, scope=Scope(account="ab"[n % 2])), range(many)))
    assert most == {"a": pace.AT_ONCE, "b": pace.AT_ONCE, "all": 2 * pace.AT_ONCE}


def test_who_is_slowed_down_waits_it_out_once() -> None:
    now, slept = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    gate = pace.Pace(clock=lambda: now[0], sleep=sleep)
    gate.slow_down(3.0)
    gate.slow_down(1.0)
    with gate.turn():
        pass
    with gate.turn():
        pass
    assert slept == [3.0]
