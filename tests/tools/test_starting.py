"""An endpoint that still loads is waited for, within the seconds of the call, or said to load still."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from clouds.base import Cloud, Missing
from clouds.errors import Conflict, Unexpected
from clouds.models import Endpoint, EndpointRef, Wire
from tools import starting
from tools.context import Target
from tools.ledger import Book
from tools.progress import CallProgress
from tools.query import Answered, check_health, query_model
from tools.settings import Settings

REF = EndpointRef("lab", "engine", "here", "one")
ANSWERS = {"Continue": "6", "Complete": "Paris", "Repeat": "banana"}


@dataclass
class Engine:
    """A service whose engine is loading for so many looks at it, and answers 503 until it is ready."""

    looks: int
    ends: str = "ready"
    port: int = 0
    asked: int = 0
    state: str = "loading"
    quiet: bool = False
    """It becomes ready by itself, after the first request."""
    messages: list[str] = field(default_factory=list)

    def get(self, ref: EndpointRef) -> Endpoint:
        self.looks -= 1
        if self.looks < 0:
            self.state = self.ends
        return Endpoint(
            ref=str(ref),
            state=self.state,
            cloud_status=self.state,
            billing=False,
            reason="out of memory" if self.state == "failed" else "",
        )

    def connect(self, ref: EndpointRef) -> Wire:
        if self.state == "creating":
            raise Conflict(f"connecting to {ref}", answered="it is creating", fix="Wait.", sent=False)
        return Wire(url=f"http://127.0.0.1:{self.port}")

    def answer(self, prompt: str) -> tuple[int, dict[str, Any]]:
        self.asked += 1
        if self.state != "ready":
            self.state = "ready" if self.quiet else self.state
            return 503, {"error": {"message": "Loading model"}}
        text = ANSWERS.get(prompt.split(maxsplit=1)[0], "hello")
        message = {"message": {"content": text}, "finish_reason": "stop"}
        return 200, {"model": "m", "choices": [message], "usage": {"completion_tokens": 1}}


@contextmanager
def running(engine: Engine) -> Iterator[Target]:
    """Serve the engine, and give it as a target."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, said = engine.answer(body["messages"][-1]["content"])
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    engine.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    no = Missing("one engine")
    service: Any = engine
    cloud = Cloud(name="lab", identity=no, endpoints={"engine": service}, quotas=no, capacity=no, prices=no, api=no)  # type: ignore[arg-type]
    try:
        yield Target(str(REF), REF, cloud, service)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "LOOK_SECONDS", 0.01)


def query(engine: Engine, tmp_path: Path, **given: Any) -> Answered:
    with running(engine) as target:
        progress = CallProgress(lambda message, *_: engine.messages.append(message))
        return query_model(target, "Hello", Settings.load({}, tmp_path), progress, **given)


@pytest.mark.parametrize("state", ["loading", "creating"])
def test_a_question_to_an_engine_that_loads_is_answered_once_it_is_ready(tmp_path: Path, state: str) -> None:
    engine = Engine(looks=3, state=state)
    assert query(engine, tmp_path).text_of_model == "hello"
    assert engine.messages[0] == f"{REF} is {state}, waited 0 s"
    assert len(engine.messages) == 3
    assert engine.asked == (2 if state == "loading" else 1)


def test_an_engine_that_answers_is_not_looked_at(tmp_path: Path) -> None:
    engine = Engine(looks=0, state="ready")
    query(engine, tmp_path)
    assert engine.looks == 0


def test_the_seconds_that_are_left_are_those_of_the_call() -> None:
    given: list[float] = []
    starting.answered(Target("http://127.0.0.1:9"), given.append, 40.0, CallProgress())
    assert given == [40.0]  # and not 39.99998, which an error would tell


def test_an_engine_that_became_ready_between_request_and_look_is_asked_once_more(tmp_path: Path) -> None:
    engine = Engine(looks=0, quiet=True)
    assert query(engine, tmp_path).text_of_model == "hello"
    assert (engine.asked, engine.messages) == (2, [])


def test_what_loads_longer_than_the_call_may_take_says_so_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Conflict) as caught:
        query(Engine(looks=10_000), tmp_path, timeout_seconds=0.05)
    assert caught.value.answered.startswith("it is still loading after ")
    assert caught.value.fix == f'Call `get_endpoint("{REF}")` until it says ready, then ask again.'


def test_a_start_that_fails_meanwhile_says_why(tmp_path: Path) -> None:
    with pytest.raises(Unexpected, match="failed: out of memory"):
        query(Engine(looks=2, ends="failed"), tmp_path)


def test_a_ready_endpoint_that_refuses_is_not_waited_for(tmp_path: Path) -> None:
    class Broken(Engine):
        def answer(self, prompt: str) -> tuple[int, dict[str, Any]]:
            self.asked += 1
            return 500, {"error": {"message": "broken"}}

    engine = Broken(looks=0, state="ready")
    with pytest.raises(Unexpected, match="broken"):
        query(engine, tmp_path)
    assert engine.asked == 1


def test_a_health_check_waits_too_and_is_no_verdict_on_what_still_loads(tmp_path: Path) -> None:
    with Book(tmp_path / "home") as book:
        settings = Settings.load({}, tmp_path)
        with running(Engine(looks=3)) as target:
            assert check_health(target, settings, book, CallProgress()).healthy
        with running(Engine(looks=10_000)) as target, pytest.raises(Conflict, match="still loading"):
            check_health(target, settings, book, CallProgress(), timeout_seconds=0.05)


def test_a_measurement_waits_until_its_endpoint_is_ready() -> None:
    engine = Engine(looks=2)
    with running(engine) as target:
        endpoint = starting.ready(target, 5.0, CallProgress(lambda message, *_: engine.messages.append(message)))
    assert endpoint is not None
    assert (endpoint.state, len(engine.messages)) == ("ready", 2)
    assert starting.ready(Target("http://127.0.0.1:9"), 5.0, CallProgress()) is None
