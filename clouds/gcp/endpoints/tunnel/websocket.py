"""As much of a WebSocket client (RFC 6455) as the relay needs: binary messages, ping, close. Standard library alone.

Google's pinned packages hold no WebSocket client, and one for this one use would be a package of its own.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import ssl
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
MOST = 1 << 20
"""Bytes of one message that are taken."""
BINARY, CLOSE, PING, PONG = 0x2, 0x8, 0x9, 0xA


class HandshakeRefused(Exception):
    """The server answered the upgrade with something else: `status` and a bounded part of its words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"HTTP {status} {words}")
        self.status, self.words = status, words


class Closed(Exception):
    """The other side closed; `code` and `reason` are its own."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"closed with {code} {reason}".strip())
        self.code, self.reason = code, reason


@dataclass
class WebSocket:
    """One open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, payload: bytes, kind: int = BINARY) -> None:
        """One whole message, masked as a client has to."""
        mask = os.urandom(4)
        size = len(payload)
        head = bytes([0x80 | kind])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        self.writer.write(head + mask + _masked(payload, mask))
        await self.writer.drain()

    async def receive(self) -> bytes:
        """The next message. Raises Closed, and EOFError when the connection just ends."""
        whole = b""
        while True:
            first, second = await self._read(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", await self._read(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", await self._read(8))
            if size + len(whole) > MOST:
                raise Closed(1009, "a message longer than this client takes")
            mask = await self._read(4) if second & 0x80 else b""
            payload = await self._read(size)
            payload = _masked(payload, mask) if mask else payload
            kind = first & 0x0F
            if kind == CLOSE:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
                raise Closed(code, payload[2:].decode("utf-8", "replace")[:200])
            if kind == PING:
                await self.send(payload, PONG)
            elif kind != PONG:
                whole += payload
                if first & 0x80:
                    return whole

    async def _read(self, size: int) -> bytes:
        try:
            return await self.reader.readexactly(size)
        except asyncio.IncompleteReadError as error:
            raise EOFError("the connection ended") from error

    async def close(self) -> None:
        """Say goodbye and end the connection."""
        try:
            with suppress(OSError, RuntimeError):
                await self.send(struct.pack(">H", 1000), CLOSE)
        finally:
            await closed(self.writer)


async def closed(writer: asyncio.StreamWriter) -> None:
    """Close a connection and wait until its socket is."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


def _masked(payload: bytes, mask: bytes) -> bytes:
    if not payload:
        return b""
    size = len(payload)
    key = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
    return (int.from_bytes(payload, "big") ^ key).to_bytes(size, "big")


async def connect(url: str, headers: Mapping[str, str], protocol: str, seconds: float) -> WebSocket:
    """Open `ws://` or `wss://`. Raises HandshakeRefused, OSError and TimeoutError."""
    async with asyncio.timeout(seconds):
        return await _connected(url, headers, protocol)


async def _connected(url: str, headers: Mapping[str, str], protocol: str) -> WebSocket:
    parts = urlsplit(url)
    secure = parts.scheme == "wss"
    context = ssl.create_default_context() if secure else None
    host = parts.hostname or ""
    reader, writer = await asyncio.open_connection(host, parts.port or (443 if secure else 80), ssl=context)
    key = base64.b64encode(os.urandom(16)).decode()
    lines = {
        "Host": parts.netloc, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key,
        "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": protocol, **headers,
    }  # fmt: skip
    request = f"GET {parts.path}?{parts.query} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items())
    refused: HandshakeRefused | None = None
    try:
        writer.write(f"{request}\r\n".encode())
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status = int(head.split(" ", 2)[1]) if head.startswith("HTTP/") else 0
        want = base64.b64encode(hashlib.sha1((key + _MAGIC).encode(), usedforsecurity=False).digest()).decode()
        if status != 101 or want not in head:
            refused = HandshakeRefused(status, " ".join((await _rest(reader)).split())[:200])
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        refused = HandshakeRefused(0, "no HTTP answer")
    except BaseException:
        writer.close()
        raise
    if refused is not None:
        await closed(writer)
        raise refused
    return WebSocket(reader, writer)


async def _rest(reader: asyncio.StreamReader) -> str:
    try:
        async with asyncio.timeout(1.0):
            return (await reader.read(1000)).decode("utf-8", "replace")
    except (TimeoutError, OSError):
        return ""
