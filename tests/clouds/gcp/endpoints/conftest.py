"""A simulated project with everything an endpoint needs, and an engine on loopback."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from tests.clouds.gcp import rig as rigs
from tests.clouds.gcp.rig import Rig


class Engine(BaseHTTPRequestHandler):
    """Answers every chat request with one word."""

    asked: ClassVar[list[dict[str, object]]] = []
    authorized: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.authorized.append(self.headers.get("Authorization", ""))
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
    """The port of an engine on loopback; tunnels and services lead to it."""
    server = HTTPServer(("127.0.0.1", 0), Engine)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture
def rig(tmp_path: Path, engine: int) -> Iterator[Rig]:
    """One of each machine free. The ledger is in memory where there is such a place: each commit is written through."""
    memory = Path("/dev/shm")  # noqa: S108 - a fresh folder in it
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as home:
        made = rigs.rig(Path(home), engine_port=engine)
        yield made
        made.book.close()
