"""A relay on loopback that speaks Google's frames: one WebSocket a connection, bytes to and from a local port."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass
class Relay:
    """`port` is where it listens. `refuse` answers the upgrade with a status, `close` ends it with a code."""

    token: str = "secret-token"
    refuse: int = 0
    close: int = 0
    to_port: int = 0
    asked: list[dict[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    largest: int = 0
    open: int = 0
    port: int = 0

    def __enter__(self) -> Relay:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(5)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for _ in range(5):
            await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            await self._relay(reader, writer)
        except (EOFError, OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *rest = head.strip().split("\r\n")
        headers = {line.split(": ", 1)[0].lower(): line.split(": ", 1)[1] for line in rest}
        self.headers.append(headers)
        self.asked.append({k: v[0] for k, v in parse_qs(urlsplit(first.split()[1]).query).items()})
        status = self.refuse or (0 if headers.get("authorization") == f"Bearer {self.token}" else 401)
        if status:
            writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 4\r\n\r\nsaid".encode())
            await writer.drain()
            return
        key = base64.b64encode(hashlib.sha1((headers["sec-websocket-key"] + MAGIC).encode()).digest()).decode()  # noqa: S324 - RFC 6455
        writer.write(
            f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {key}\r\nSec-WebSocket-Protocol: relay.tunnel.cloudproxy.app\r\n\r\n".encode()
        )
        if self.close:
            writer.write(_frame(struct.pack(">H", self.close) + b"because", 0x88))
            await writer.drain()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self.to_port)
        writer.write(_frame(b"hello", 0x89))  # a ping, which a client has to bear
        writer.write(_frame(struct.pack(">HI", 1, 3) + b"sid"))
        ways = [asyncio.ensure_future(self._inward(reader, back)), asyncio.ensure_future(_outward(there, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            if ways[1].done():  # say goodbye and let the other side go first: a reset would lose what is on its way
                writer.write(_frame(struct.pack(">H", 1000), 0x88))
                await writer.drain()
                await asyncio.wait(ways[:1], timeout=2)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            back.close()
            with suppress(OSError):
                await back.wait_closed()

    async def _inward(self, reader: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        while True:
            kind, payload = await _read(reader)
            if kind == 8:
                return
            if kind != 2:
                continue
            (tag,) = struct.unpack(">H", payload[:2])
            if tag == 4:
                self.largest = max(self.largest, len(payload) - 6)
                back.write(payload[6:])
                await back.drain()
            elif tag == 7:
                self.acknowledged.append(struct.unpack(">Q", payload[2:])[0])


async def _outward(there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await there.read(16_000):
        writer.write(_frame(struct.pack(">HI", 4, len(data)) + data))
        await writer.drain()


def _frame(payload: bytes, first: int = 0x82) -> bytes:
    size = len(payload)
    head = bytes([first, size]) if size < 126 else bytes([first, 126]) + struct.pack(">H", size)
    return head + payload


async def _read(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    first, second = await reader.readexactly(2)
    size = second & 0x7F
    if size == 126:
        (size,) = struct.unpack(">H", await reader.readexactly(2))
    elif size == 127:
        (size,) = struct.unpack(">Q", await reader.readexactly(8))
    mask = await reader.readexactly(4)
    payload = await reader.readexactly(size)
    return first & 0x0F, bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
