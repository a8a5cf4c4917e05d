"""The streaming timing client: one for every cloud, over whatever `connect` gives.

httptools on a raw asyncio Protocol, on uvloop where that installs: at 64 streams it reads a TTFT of 52 ms where the
truth is 50 and aiohttp reads 64 to 69, for less CPU (docs/measuring.md has the figures and the command).
Nothing is tried again while timing: what fails is counted under its kind.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from clouds.models import Wire
from tools.measure.client.batch import Batch, Limits, batch_of
from tools.measure.client.connection import Connection, Exchange
from tools.measure.client.frames import framer_for
from tools.measure.client.reading import read_reply
from tools.measure.client.request import Address, ChatRequest, Dialect, encode, encode_chat
from tools.measure.client.share import watched
from tools.secrecy import WITHHELD, clean

if TYPE_CHECKING:
    import ssl

    from tools.measure.client.reply import Reply

OPENING = 32
"""Connections that are opened at the same time."""
APART = 50e-6
"""Seconds between two requests that leave "at once". In one burst, 256 of them wait in the server's socket and half of
them read 10 ms more than the engine took; 256 of them 50 us apart are all in flight after 13 ms."""
KEY_LENGTH = 6
"""Characters from which a header's value is looked for in what a server answers."""
AHEAD = 0.25
"""Seconds before a paced request is due at which its connection is made ready."""
IDLE_SECONDS = 2.0
"""A connection that was idle for longer is not trusted to be still open at the other end."""


class ModelClient:
    """Sends chat requests over one wire. Use it as an async context manager inside one event loop."""

    def __init__(self, wire: Wire, limits: Limits | None = None) -> None:
        self.wire, self.limits = wire, limits or Limits()
        self.address, self.dialect, self.model = Address.of(wire), Dialect.of(wire), wire.model
        self._framer = framer_for(wire)
        self._fresh = wire.fresh_connection
        self._idle: list[Connection] = []
        self._every: WeakSet[Connection] = WeakSet()
        self._open: set[Exchange] = set()
        self._of: dict[Exchange, Connection] = {}
        self._tls: ssl.SSLContext | None = None
        self._watchdog: asyncio.Task[None] | None = None

    async def __aenter__(self) -> ModelClient:
        if self.address.secure:
            import ssl

            self._tls = ssl.create_default_context()
        self._watchdog = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()
            await asyncio.gather(self._watchdog, return_exceptions=True)
        # A cancelled caller may hold connections that it has not used yet, or be in the middle of opening some.
        for connection in tuple(self._every):
            connection.abort()
        # One turn of the loop lets the transports close their sockets.
        await asyncio.sleep(0)

    async def together(self, requests: Sequence[ChatRequest]) -> Batch:
        """Send all at once and wait for every one. Connections are opened before any clock starts, and are new: an
        engine may close a used one without saying so, which would be read as its failure."""
        ready = [encode_chat(self.wire, self.address, self.dialect, each, self.model) for each in requests]
        self._drop_idle()
        connections = await self._connections(len(requests))
        async with watched() as share:
            exchanges = []
            begun = perf_counter()
            for position, (connection, data) in enumerate(zip(connections, ready, strict=True)):
                exchanges.append(self._send(connection, data))
                # The write leaves with the next turn of the loop: so each stamp is the stamp of its own request.
                await asyncio.sleep(0)
                await _until(begun + (position + 1) * APART)
            await asyncio.gather(*(exchange.done for exchange in exchanges))
        pairs = zip(exchanges, requests, strict=True)
        return batch_of([self._read(exchange, request) for exchange, request in pairs], share)

    async def in_flight(self, requests: Sequence[ChatRequest], streams: int, *, read_later: bool = False) -> Batch:
        """Send all, `streams` at a time, each stream taking the next request when its last one ended.

        Each reply is read as soon as it has ended, so that thousands are never kept raw. That takes a millisecond or
        two from the others' stamps: for sets of questions, not for latencies, unless all are read at the end
        (`read_later`).
        """
        # A signature is good for some minutes only: where the wire signs, a request is made when it is its turn.
        signed = self.wire.sign is not None
        ready = [] if signed else [self._encoded(each) for each in requests]
        replies: list[Reply | None] = [None] * len(requests)
        raw: list[tuple[int, Exchange]] = []
        waiting = iter(enumerate(requests))
        self._idle += [
            each for each in await self._connections(min(streams, len(requests))) if isinstance(each, Connection)
        ]

        async def stream() -> None:
            for position, request in waiting:
                data = self._encoded(request) if signed else ready[position]
                exchange = await self._exchange(data)
                if read_later:
                    raw.append((position, exchange))
                else:
                    replies[position] = self._read(exchange, request)

        async with watched() as share:
            await asyncio.gather(*(stream() for _ in range(min(streams, len(requests)))))
        for position, exchange in raw:
            replies[position] = self._read(exchange, requests[position])
        return batch_of([each for each in replies if each is not None], share)

    async def paced(self, requests: Sequence[ChatRequest], offsets: Sequence[float], most: int) -> Batch:
        """Send each request its offset (seconds) after the start, whatever has come back by then: an open loop.

        Each reply carries when it was due. With `most` in flight a request waits for a place, and that wait counts: a
        client that asks less while the server is slow would hide how slow it is.
        """
        ready = [self._encoded(each) for each in requests] if self.wire.sign is None else None
        replies: list[Reply | None] = [None] * len(requests)
        places = asyncio.Semaphore(most)
        start = perf_counter() + AHEAD

        async def one(position: int) -> None:
            request, due = requests[position], start + offsets[position]
            await asyncio.sleep(due - AHEAD - perf_counter())
            # Whoever will have to wait for a place opens no connection yet: a long queue would be as many sockets.
            connection = None if places.locked() else (await self._connections(1))[0]
            data = ready[position] if ready is not None else self._encoded(request)
            await asyncio.sleep(due - perf_counter())
            async with places:
                lost = isinstance(connection, Connection) and connection.closed
                exchange = await self._exchange(data, None if lost else connection)
            replies[position] = replace(self._read(exchange, request), due=due)

        async with watched() as share:
            await asyncio.gather(*(one(position) for position in range(len(requests))))
        return batch_of([each for each in replies if each is not None], share)

    def _encoded(self, request: ChatRequest) -> bytes:
        return encode_chat(self.wire, self.address, self.dialect, request, self.model)

    async def one(self, request: ChatRequest) -> Reply:
        """A single request by itself."""
        return (await self.together([request])).replies[0]

    async def get(self, path: str) -> tuple[int, bytes]:
        """A small GET at the same address: (status, body); status 0 when nothing answered."""
        exchange = await self._exchange(encode(self.wire, self.address, "GET", path, b""))
        return exchange.status if exchange.failure is None else 0, b"".join(piece for _, piece in exchange.pieces)

    async def post(self, path: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        """A small JSON request beside the chat ones (a tokenizer): (status, body); status 0 when nothing answered."""
        data = json.dumps(body, separators=(",", ":")).encode()
        exchange = await self._exchange(encode(self.wire, self.address, "POST", path, data))
        return exchange.status if exchange.failure is None else 0, b"".join(piece for _, piece in exchange.pieces)

    async def _exchange(self, data: bytes, connection: Connection | tuple[str, str] | None = None) -> Exchange:
        exchange = self._send(connection or (await self._connections(1))[0], data)
        await exchange.done
        if exchange.reused and exchange.failure and not exchange.status:
            # The other end had closed an idle connection: no reply ever began, so this is not a try again.
            self._fresh = True
            exchange = self._send((await self._connections(1))[0], data)
            await exchange.done
        return exchange

    def _send(self, connection: Connection | tuple[str, str], data: bytes) -> Exchange:
        exchange = Exchange(asyncio.get_running_loop().create_future())
        if isinstance(connection, Connection):
            self._open.add(exchange)
            self._of[exchange] = connection
            exchange.done.add_done_callback(lambda _: self._release(exchange))
            connection.send(data, exchange)
        else:
            exchange.sent = perf_counter()
            exchange.finish(connection, exchange.sent)
        return exchange

    def _release(self, exchange: Exchange) -> None:
        self._open.discard(exchange)
        connection = self._of.pop(exchange)
        if self._fresh or connection.closed or exchange.failure:
            connection.abort()
        else:
            self._idle.append(connection)

    def _drop_idle(self) -> None:
        while self._idle:
            self._idle.pop().abort()

    async def _connections(self, count: int) -> list[Connection | tuple[str, str]]:
        """`count` open connections; where one cannot be opened, the failure that its request will have."""
        found: list[Connection | tuple[str, str]] = []
        while self._idle and len(found) < count:
            connection = self._idle.pop()
            if connection.closed or perf_counter() - connection.idle_since > IDLE_SECONDS:
                connection.abort()
            else:
                found.append(connection)
        gate = asyncio.Semaphore(OPENING)
        return found + await asyncio.gather(*(self._connect(gate) for _ in range(count - len(found))))

    def _made(self) -> Connection:
        connection = Connection()
        self._every.add(connection)
        return connection

    async def _connect(self, gate: asyncio.Semaphore) -> Connection | tuple[str, str]:
        loop = asyncio.get_running_loop()
        try:
            async with gate, asyncio.timeout(self.limits.connect):
                _, connection = await loop.create_connection(
                    self._made, self.address.host, self.address.port, ssl=self._tls
                )
        except TimeoutError:
            return "timeout", f"no connection within {self.limits.connect:g} s"
        except OSError as error:
            return "refused", f"{type(error).__name__}: {error.strerror or 'no connection'}"
        return connection

    async def _watch(self) -> None:
        """End what waits too long: one look four times a second at everything in flight."""
        limits = self.limits
        while True:
            await asyncio.sleep(min(0.25, limits.gap / 4, limits.first / 4))
            now = perf_counter()
            for exchange in tuple(self._open):
                if not exchange.pieces and now - exchange.sent > limits.first:
                    self._give_up(exchange, "timeout", f"nothing arrived within {limits.first:g} s", now)
                elif exchange.pieces and now - exchange.last > limits.gap:
                    self._give_up(exchange, "stalled", f"nothing arrived for {limits.gap:g} s", now)
                elif now - exchange.sent > limits.whole:
                    self._give_up(exchange, "timeout", f"not finished within {limits.whole:g} s", now)

    def _give_up(self, exchange: Exchange, kind: str, detail: str, now: float) -> None:
        connection = self._of.get(exchange)
        exchange.finish((kind, detail), now)
        if connection is not None:
            connection.abort()

    def _read(self, exchange: Exchange, request: ChatRequest) -> Reply:
        reply = self._without_keys(read_reply(exchange, request, self._framer))
        exchange.pieces = []
        return reply

    def _without_keys(self, reply: Reply) -> Reply:
        """A server may quote our key in its refusal: what a header holds does not get into a record."""
        detail = clean(reply.detail)
        for value in self.wire.headers.values():
            for word in (value, value.rsplit(" ", 1)[-1]):
                detail = detail.replace(word, WITHHELD) if len(word) >= KEY_LENGTH else detail
        return reply if detail == reply.detail else replace(reply, detail=detail)


async def _until(moment: float) -> None:
    """Turn the loop until then: its timers are too coarse for microseconds."""
    while perf_counter() < moment:  # noqa: ASYNC110 - a moment in time is no event that somebody sets
        await asyncio.sleep(0)


async def closed(wire: Wire) -> None:
    """End the wire's tunnel, if it has one."""
    if wire.close is not None:
        with suppress(OSError):
            await asyncio.to_thread(wire.close)
