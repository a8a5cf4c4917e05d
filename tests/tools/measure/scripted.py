"""A small OpenAI-shaped server whose replies are written by a test: text, thinking, tool calls, log-probabilities."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

from clouds.models import Wire
from tools.measure import store
from tools.measure.catalogue import MEASUREMENTS, options_of
from tools.measure.client.connection import Connection
from tools.measure.client.learn import PROBE
from tools.measure.cost import PriceUsed
from tools.measure.job import Job
from tools.measure.measurement import Ask
from tools.measure.options import parse
from tools.measure.profiles import QUICK
from tools.measure.record import Run, Subject
from tools.measure.run import measure
from tools.progress import CallProgress


@dataclass(frozen=True)
class Said:
    """One reply. `status` other than 200 is a refusal with `text` as its message."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    top: tuple[tuple[str, float], ...] = ()
    finish: str = "stop"
    status: int = 200
    tokens: int | None = None
    prompt_tokens: int | None = None


PAUSE = 0.0003
"""Seconds between two chunks, so that a decode rate can be had."""
PATIENCE = 5.0
"""Seconds in which a chunk is waited for until the measuring client has read it."""
LONG = 60
"""Characters from which a reply is sent chunk by chunk."""
Script = Callable[[dict[str, Any]], Said]


class Reads:
    """How often the measuring client has read from a socket.

    On a busy machine all chunks of a reply may lie in the socket before the client's turn comes: it then reads them at
    once, and a reply whose first and last token came together has no decode rate. So each chunk waits for the one
    before it to be read.
    """

    def __init__(self) -> None:
        self.count, self._more = 0, threading.Condition()

    def one_more(self) -> None:
        """A read has ended."""
        with self._more:
            self.count += 1
            self._more.notify_all()

    def after(self, count: int) -> bool:
        """Wait until there are more than `count`; False when the client does not read any more."""
        with self._more:
            return self._more.wait_for(lambda: self.count > count, PATIENCE)


@dataclass
class Scripted:
    """The server, and what it was asked in order, but for the probe that asks whether anybody is there."""

    script: Script
    paths: dict[str, Any] = field(default_factory=dict)
    """What other paths answer: a value as JSON, a function of the body, or text."""
    context: int | None = None
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    reads: Reads = field(default_factory=Reads)

    @property
    def prompts(self) -> list[str]:
        """The last message of every chat request."""
        return [body["messages"][-1]["content"] for body in self.bodies]


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # with the usual five, a sixth connection at once waits for a second

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of a test."""


@contextmanager
def speaking(script: Script, **more: Any) -> Iterator[Scripted]:
    """Serve until the block ends."""
    made = Scripted(script, **more)
    server = _Server(("127.0.0.1", 0), _handler(made))
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    taken = Connection.data_received

    def read(connection: Connection, data: bytes) -> None:
        taken(connection, data)
        made.reads.one_more()

    try:
        with mock.patch.object(Connection, "data_received", read):
            yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(made: Scripted) -> type[BaseHTTPRequestHandler]:  # noqa: C901  one class with a short method each
    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 65536

        def parse_request(self) -> bool:
            """The library reads headers as those of a mail: a third of the time of a request."""
            self.requestline = self.raw_requestline.decode("latin-1")
            self.command, self.path, self.request_version = self.requestline.split()
            lines = iter(lambda: self.rfile.readline().decode("latin-1").strip(), "")
            self.given = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            self.close_connection = self.given.get("connection", "").lower() == "close"
            return True

        def do_GET(self) -> None:
            if self.path.endswith("/models"):
                listed = {"id": "scripted", "owned_by": "vllm"} | (
                    {"max_model_len": made.context} if made.context else {}
                )
                self.send(200, json.dumps({"data": [listed]}).encode())
            else:
                self.other({})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.given["content-length"])))
            if not self.path.endswith("/chat/completions"):
                self.other(body)
                return
            if body["messages"][-1]["content"] == PROBE.prompt:
                said = Said("one two three", tokens=4)
            else:
                made.bodies.append(body)
                said = made.script(body)
            if said.status != 200:
                self.send(said.status, json.dumps({"error": {"message": said.text}}).encode())
                return
            events = list(_events(said))
            self.head(200, sum(map(len, events)), "text/event-stream")
            if len(said.text) > LONG:
                reading = made.reads.count > 0  # another client is not waited for
                for event in events:
                    before = made.reads.count
                    self.wfile.write(event)
                    self.wfile.flush()
                    time.sleep(PAUSE)
                    reading = reading and made.reads.after(before)
            else:
                self.wfile.write(b"".join(events))

        def other(self, body: dict[str, Any]) -> None:
            found = made.paths.get(self.path)
            found = found(body) if callable(found) else found
            if found is None:
                self.send(404, b'{"error": {"message": "not here"}}')
            else:
                self.send(200, found.encode() if isinstance(found, str) else json.dumps(found).encode())

        def send(self, status: int, data: bytes, kind: str = "application/json") -> None:
            self.head(status, len(data), kind)
            self.wfile.write(data)

        def head(self, status: int, length: int, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(length))
            self.end_headers()

        def log_message(self, *args: Any) -> None: ...

    return Answer


def _events(said: Said) -> Iterator[bytes]:
    def event(delta: dict[str, Any], **more: Any) -> bytes:
        return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, **more}]}).encode() + b"\n\n"

    yield event({"role": "assistant", "content": None})
    if said.reasoning:
        yield event({"reasoning_content": said.reasoning})
    pieces = [said.text[start : start + 40] for start in range(0, len(said.text), 40)]
    if said.top:
        first = {"token": said.top[0][0], "logprob": said.top[0][1]}
        top = [{"token": token, "logprob": value} for token, value in said.top]
        yield event({"content": said.text}, logprobs={"content": [{**first, "top_logprobs": top}]})
        pieces = []
    for piece in pieces:
        yield event({"content": piece})
    for index, (name, arguments) in enumerate(said.calls):
        half = len(arguments) // 2
        yield event(
            {
                "tool_calls": [
                    {
                        "index": index,
                        "id": f"c{index}",
                        "type": "function",
                        "function": {"name": name, "arguments": arguments[:half]},
                    }
                ]
            }
        )
        yield event({"tool_calls": [{"index": index, "function": {"arguments": arguments[half:]}}]})
    yield event({}, finish_reason="tool_calls" if said.calls else said.finish)
    usage: dict[str, Any] = {"completion_tokens": said.tokens or max(1, len(said.text.split()) + 5 * len(said.calls))}
    usage["prompt_tokens"] = said.prompt_tokens if said.prompt_tokens is not None else 20
    yield b"data: " + json.dumps({"choices": [], "usage": usage}).encode() + b"\n\ndata: [DONE]\n\n"


def run_of(
    server: Scripted, folder: Path, name: str, *options: str, price: PriceUsed | None = None, **more: Any
) -> Run:
    """One measurement of this server as measure_model runs it, in a file of its own."""
    chosen = tuple(each for each in MEASUREMENTS if each.name == name)
    given = parse(options, options_of(chosen), (folder,))
    ask = Ask(QUICK, "n0", options=given, price=price, **more)
    path = store.claim(folder, "run")
    subject = Subject(ref=server.url, model="")
    todo = Job(Wire(url=server.url), subject, ask, chosen, path, "run", price=price)
    found = measure(todo, CallProgress())
    assert store.read(path) == found
    return found


def value(run: Run, key: str) -> float | None:
    """One figure's value; the figure must be there."""
    figure = run.figure(key)
    assert figure is not None, key
    return figure.value
