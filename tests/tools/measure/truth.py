"""A small OpenAI-shaped server whose timing is known and whose faults are chosen per request. Loopback, in a thread.

Token k of a reply is due at arrival + ttft + k * itl, so that a client's figures can be told from the truth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tools.measure.loop import loop_factory

Fault = Callable[[int, dict[str, Any]], str]


@dataclass
class Truth:
    """How the server behaves, and what it saw. `fault(n, body)` names the fault of the n-th chat request, or ""."""

    ttft: float = 0.004
    itl: float = 0.0005
    fault: Fault = lambda _n, _body: ""
    answer: Callable[[str], list[str]] | None = None
    """Pieces of the reply to a prompt; None: as many tokens as were asked for."""
    per_chunk: int = 1
    """Tokens that one chunk carries."""
    delta: str = "content"
    """Which field of the delta the tokens are in; the answer itself follows where it is another."""
    rejects: tuple[str, ...] = ()
    """Fields that are refused by name with a 400."""
    limit: str = "max_tokens"
    cached: int = 0
    pause: Callable[[float], float] = lambda due: due
    """When what is due then really leaves: a server that stands still for a while, for everybody."""
    slots: int = 0
    """Replies that are written at the same time; others wait their turn. 0: any number."""
    keep_alive: bool = True
    """False: closes after each streamed reply without having said so, as llama.cpp does."""
    writes: Callable[[bytes], list[bytes]] = lambda data: [data]
    """How the bytes of one event are cut before they are sent."""
    key: str = ""
    stall: float = 0.35
    """Seconds of the pause of a reply with that fault."""
    models: dict[str, Any] = field(default_factory=lambda: {"id": "truth", "owned_by": "nobody"})
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    connections: int = 0
    together: int = 0
    most_together: int = 0
    places: asyncio.Semaphore | None = None
    late: list[float] = field(default_factory=list)
    """Seconds by which each write left after it was due."""

    def report(self) -> dict[str, Any]:
        """What GET /truth answers."""
        late = sorted(self.late) or [0.0]
        return {"late_ms": {"p50": 1e3 * late[len(late) // 2], "p99": 1e3 * late[int(0.99 * (len(late) - 1))]}}


@contextmanager
def serving(truth: Truth, port: int = 0) -> Iterator[Truth]:
    """Run it until the block ends."""
    started, loop = threading.Event(), loop_factory()()
    stop = asyncio.Event()

    async def main() -> None:
        tasks: set[asyncio.Task[None]] = set()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            truth.connections += 1
            try:
                if not stop.is_set():
                    await _connection(truth, reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                pass
            except RuntimeError:  # what uvloop says of a transport that its client has closed
                if not writer.is_closing():
                    raise
            finally:
                tasks.discard(task)
                writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", port, backlog=2048)
        truth.places = asyncio.Semaphore(truth.slots or 100_000)
        truth.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        started.set()
        await stop.wait()
        server.close()
        await asyncio.sleep(0.005)  # a connection that was just being accepted begins, sees the end and closes
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(main())
        loop.run_until_complete(asyncio.sleep(0.005))
        while asyncio.all_tasks(loop):
            loop.run_until_complete(asyncio.sleep(0.005))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(5)
    try:
        yield truth
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(5)


async def _connection(truth: Truth, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        arrived = time.perf_counter()
        lines = head.lower().split("\r\n")
        length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)
        body = json.loads(await reader.readexactly(length) or b"{}")
        if head.startswith("GET"):
            truth.late = [] if head.startswith("GET /reset") else truth.late
            told = truth.report() if head.startswith("GET /truth") else {"object": "list", "data": [truth.models]}
            writer.write(_plain(200, told))
            continue
        truth.heads.append(head)
        truth.bodies.append(body)
        truth.together += 1
        truth.most_together = max(truth.most_together, truth.together)
        assert truth.places is not None
        try:
            async with truth.places:
                if not await _reply(truth, writer, head, body, time.perf_counter() if truth.slots else arrived):
                    return
        finally:
            truth.together -= 1


def _plain(status: int, body: Any, extra: str = "") -> bytes:
    data = json.dumps(body).encode()
    return f"HTTP/1.1 {status} X\r\n{extra}content-length: {len(data)}\r\n\r\n".encode() + data


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _event(payload: dict[str, Any]) -> bytes:
    """With what every chunk of the protocol has: some clients take none without it."""
    whole = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "truth", **payload}
    return b"data: " + json.dumps(whole).encode() + b"\n\n"


@lru_cache(maxsize=1024)
def _delta(name: str, text: str) -> bytes:
    """Made once: at 256 streams the server must not be what is measured."""
    value = [{"index": 0, "function": {"arguments": text}}] if name == "tool_calls" else text
    return _event({"choices": [{"index": 0, "delta": {name: value}}]})


TOLD = b'data: {"error": {"message": "out of memory"}}\n\n'


def _refusal(truth: Truth, head: str, body: dict[str, Any], fault: str) -> bytes | None:
    if truth.key and f"authorization: bearer {truth.key}\r\n".lower() not in head.lower():
        given = next((line for line in head.split("\r\n") if line.lower().startswith("authorization")), "nothing")
        return _plain(401, {"error": {"message": f"wrong key: {given}"}})
    named = next((name for name in truth.rejects if name in body), "")
    if named or truth.limit not in body:
        return _plain(400, {"error": {"message": f"Unsupported: {named or f'use {truth.limit}'}"}})
    return _plain(int(fault), {"error": {"message": "no"}}, "retry-after: 7\r\n") if fault.isdigit() else None


async def _reply(truth: Truth, writer: asyncio.StreamWriter, head: str, body: dict[str, Any], arrived: float) -> bool:
    """Answer one request; False closes the connection."""
    fault = truth.fault(len(truth.bodies), body)
    if refusal := _refusal(truth, head, body, fault):
        writer.write(refusal)
        return True
    if fault == "silent":
        await asyncio.sleep(30)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    count = body[truth.limit] // (2 if fault == "short" else 1)
    pieces = truth.answer(body["messages"][-1]["content"])[:count] if truth.answer else ["tok "] * count
    ttft, shift = truth.ttft * (8 if fault == "slow" else 1), 0.0
    for position in range(0, len(pieces), truth.per_chunk):
        if position == len(pieces) // 2 // truth.per_chunk * truth.per_chunk > 0:
            if fault == "cut":
                return False
            writer.write({"junk": _chunk(b"data: {not json\n\n"), "told": _chunk(TOLD)}.get(fault, b""))
            shift = {"stall": truth.stall, "hang": 30.0}.get(fault, 0.0)
        due = truth.pause(arrived + ttft + truth.itl * position + shift)
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        truth.late.append(time.perf_counter() - due)
        await _write(truth, writer, "".join(pieces[position : position + truth.per_chunk]), position < len(pieces) // 2)
    reason = "length" if truth.answer is None or len(pieces) == count else "stop"
    writer.write(_chunk(_event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})))
    if fault != "nousage" and body.get("stream_options"):
        cached = {"cached_tokens": truth.cached}
        usage = {"prompt_tokens": 20, "completion_tokens": len(pieces), "prompt_tokens_details": cached}
        writer.write(_chunk(_event({"choices": [], "usage": usage})))
    writer.write(_chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")
    return truth.keep_alive


async def _write(truth: Truth, writer: asyncio.StreamWriter, text: str, first_half: bool) -> None:
    """One chunk, cut as the truth says; in the first half it may be in another field than the answer's."""
    for data in truth.writes(_delta(truth.delta if first_half else "content", text)):
        writer.write(_chunk(data))
        await asyncio.sleep(0)


def main() -> None:
    """A process of its own: what a benchmark measures against."""
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--ttft-ms", type=float, default=50)
    options.add_argument("--itl-ms", type=float, default=10)
    asked = options.parse_args()
    with serving(Truth(ttft=asked.ttft_ms / 1e3, itl=asked.itl_ms / 1e3), asked.port):
        threading.Event().wait()


if __name__ == "__main__":
    main()
