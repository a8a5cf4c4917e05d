"""A port on this machine's loopback that leads through the relay to one port of a machine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from clouds.errors import CloudError, Unexpected
from clouds.gcp.endpoints.tunnel import gcloud, relay
from clouds.gcp.endpoints.tunnel.relay import Target
from clouds.gcp.endpoints.tunnel.websocket import Closed, closed

T = TypeVar("T")
READ = 65_536


class Tunnel:
    """On an event loop of its own thread. `close` ends the port and every connection through it."""

    def __init__(self, target: Target, token: Callable[[], str]) -> None:
        self.target, self._token = target, token
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"tunnel {target.instance}", daemon=True)
        self._thread.start()
        self._server: asyncio.Server | None = None
        self._busy: set[asyncio.Task[Any]] = set()

    def open(self) -> int:
        """The local port, once one connection through the relay was seen to work. Raises CloudError."""
        return self._run(self._opened())

    def close(self) -> None:
        """End it; nothing is left on either side."""
        if self._loop.is_closed():
            return
        self._run(self._ended())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _opened(self) -> int:
        probe = await relay.open_session(self.target, self._token)
        await probe.socket.close()
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _ended(self) -> None:
        for _ in range(5):  # asyncio loses a connection whose server closes between its accepting and its beginning
            await asyncio.sleep(0)
        if self._server is not None:
            self._server.close()
        for _ in range(10):  # one that was being opened closes some turns later
            tasks = [*self._busy]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One local connection, both ways, until either side ends."""
        task = asyncio.current_task()
        if task is not None:
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)
        try:
            with suppress(CloudError, OSError, asyncio.CancelledError):
                await self._relayed(reader, writer)
        finally:
            await closed(writer)

    async def _relayed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = await relay.open_session(self.target, self._token)
        ways = [asyncio.ensure_future(_outward(reader, session)), asyncio.ensure_future(_inward(session, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            try:
                await asyncio.gather(*ways, return_exceptions=True)
            finally:  # being cancelled here must not leave the other side open
                await session.socket.close()


async def _outward(reader: asyncio.StreamReader, session: relay.Session) -> None:
    with suppress(OSError):
        while data := await reader.read(READ):
            await session.send(data)


async def _inward(session: relay.Session, writer: asyncio.StreamWriter) -> None:
    with suppress(Closed, EOFError, OSError):
        while True:
            writer.write(await session.receive())
            await writer.drain()


def open_tunnel(target: Target, token: Callable[[], str]) -> tuple[int, Callable[[], None]]:
    """The local port and what closes it. Raises CloudError when the relay or the machine's port does not answer.

    Where the relay answers in a way that this client does not know, gcloud is tried if it is installed.
    """
    tunnel = Tunnel(target, token)
    try:
        return tunnel.open(), tunnel.close
    except Unexpected:
        tunnel.close()
        program = gcloud.installed()
        if not program:
            raise
        return gcloud.open_tunnel(target, program)
    except BaseException:
        tunnel.close()
        raise
