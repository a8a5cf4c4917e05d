"""A simulated account with everything an endpoint needs, and an engine on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest

from tests.clouds.aws import rig as rigs
from tests.clouds.aws.rig import FakeMachine, Rig
from tests.clouds.aws.standing import standing


class Engine(BaseHTTPRequestHandler):
    """Answers every chat request with one word."""

    asked: ClassVar[list[dict[str, object]]] = []

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        choice = {"message": {"content": "ok"}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": {"completion_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="session")
def engine() -> Iterator[int]:
    """The port of an engine on loopback; machines that are not really there forward to it."""
    server = HTTPServer(("127.0.0.1", 0), Engine)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    FakeMachine.engine_port = server.server_port
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture
def rig(tmp_path: Path, engine: int) -> Iterator[Rig]:
    """One L4 of each kind free and allowed in each of three regions."""
    with made(tmp_path) as ready:
        yield ready


@pytest.fixture
def deployed(tmp_path: Path, engine: int) -> Iterator[Rig]:
    """The same after `rig.deploy()`."""
    kept = standing("sagemaker")
    with made(tmp_path) as ready:
        yield kept.put(ready)


@pytest.fixture
def rented(tmp_path: Path, engine: int) -> Iterator[Rig]:
    """The same after `rig.deploy_machine()`."""
    kept = standing("ec2")
    with made(tmp_path) as ready:
        yield kept.put(ready)


@pytest.fixture
def machine(rented: Rig) -> Rig:
    """`rented`, under the name that some tests give to something else."""
    return rented


@pytest.fixture
def wired(tmp_path: Path, engine: int) -> Iterator[Rig]:
    """The same; every answer goes through bytes and the SDK's parser."""
    with made(tmp_path, brief=False) as ready:
        yield ready


@contextmanager
def made(path: Path, **how: Any) -> Iterator[Rig]:
    """A rig; its ledger is in memory where there is such a place: every commit is written through."""
    memory = Path("/dev/shm")  # noqa: S108 - a fresh folder in it
    with TemporaryDirectory(dir=memory if memory.is_dir() else path) as home:
        ready = rigs.rig(Path(home), **how)
        yield ready
        ready.book.close()
