"""One HTTP/1.1 connection that stamps what arrives and leaves reading it for later.

The hot path of every timing: a read from the socket is stamped first, then cut into body pieces by httptools, which are
kept as they came. No JSON, no text and no allocation beyond one pair per piece happens while replies are arriving.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

LARGEST = 256 * 1024 * 1024
"""Bytes of one reply: a stream without an end would fill the memory long before it is given up."""


class Exchange:
    """One request and what came back, as raw stamps and bytes. Times are `perf_counter` seconds."""

    __slots__ = ("done", "ended", "failure", "headers", "last", "pieces", "reused", "sent", "size", "status")

    def __init__(self, done: asyncio.Future[None]) -> None:
        self.done = done
        self.sent = self.last = self.ended = 0.0
        self.status = self.size = 0
        self.headers: dict[str, str] = {}
        self.pieces: list[tuple[float, bytes]] = []
        self.failure: tuple[str, str] | None = None
        self.reused = False

    def finish(self, failure: tuple[str, str] | None, at: float) -> None:
        """End it once; `failure` is (kind, detail)."""
        if not self.done.done():
            self.failure, self.ended = failure, at
            self.done.set_result(None)


class Connection(asyncio.Protocol):
    """Sends one request at a time; callbacks named `on_*` are httptools' own."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._parser: Any = None
        self._exchange: Exchange | None = None
        self._now = 0.0
        self._framed = False
        self.used = False
        self.idle_since = 0.0
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is open."""
        self._transport = transport  # type: ignore[assignment]  # asyncio types the callback wider than it is
        self.idle_since = perf_counter()

    def send(self, request: bytes, exchange: Exchange) -> None:
        """Write one request; its clock starts here."""
        import httptools

        self._parser, self._exchange, self._framed = httptools.HttpResponseParser(self), exchange, False
        exchange.reused, self.used = self.used, True
        exchange.sent = exchange.last = perf_counter()
        if self._transport is None or self.closed:
            exchange.finish(("cut", "the connection was closed before the request was sent"), exchange.sent)
            return
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Stamp, then cut into pieces."""
        now = self._now = perf_counter()
        exchange = self._exchange
        if exchange is None:
            self.abort()
            return
        exchange.last = now
        exchange.size += len(data)
        if exchange.size > LARGEST:
            self._finish(("malformed", f"a reply of more than {LARGEST:,} bytes"))
            self.abort()
            return
        try:
            self._parser.feed_data(data)
        except Exception as error:  # noqa: BLE001 - whatever the parser says, it is a reply that cannot be read
            self._finish(("malformed", f"not HTTP: {type(error).__name__}"))
            self.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; bodies with neither of two of them last until the connection closes."""
        key = name.lower().decode("latin-1")
        self._framed |= key in {"content-length", "transfer-encoding"}
        if self._exchange is not None:
            self._exchange.headers[key] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The status is known."""
        if self._exchange is not None:
            self._exchange.status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        """Keep a piece with the stamp of the read that brought it."""
        if self._exchange is not None:
            self._exchange.pieces.append((self._now, body))

    def on_message_complete(self) -> None:
        """The reply is whole; the connection may be used again unless the server said otherwise."""
        if 100 <= self._parser.get_status_code() < 200:  # an interim answer: the reply follows it
            self._framed = False
            if self._exchange is not None:
                self._exchange.status = 0
            return
        if not self._parser.should_keep_alive():
            self.closed = True
        self._finish(None)

    def eof_received(self) -> bool:
        """The server stopped sending: let the transport close."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The end of a body without a length, or a cut."""
        self.closed = True
        self._now = perf_counter()
        exchange = self._exchange
        if exchange is None:
            return
        if exchange.status and not self._framed and exc is None:
            self._finish(None)
        else:
            what = f"{type(exc).__name__} " if exc else ""
            self._finish(("cut", f"{what}the connection closed before the reply ended".strip()))

    def abort(self) -> None:
        """Close at once."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    def _finish(self, failure: tuple[str, str] | None) -> None:
        exchange, self._exchange = self._exchange, None
        self.idle_since = self._now
        if exchange is not None:
            exchange.finish(failure, self._now)
