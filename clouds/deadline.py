"""One end for a whole HTTP exchange: a socket's own timeout starts again with every byte that drips in."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urllib.request import BaseHandler


class Deadline:
    """Used with `with`; cuts every connection that its handlers made when `seconds` are over."""

    def __init__(self, seconds: float) -> None:
        self._sockets: list[socket.socket] = []
        self._over = threading.Event()
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    @property
    def over(self) -> bool:
        """True once the time is up: what was read then may be cut off."""
        return self._over.is_set()

    def handlers(self) -> tuple[BaseHandler, ...]:
        """For `urllib.request.build_opener`, in place of its own two."""
        from http.client import HTTPConnection, HTTPSConnection
        from urllib.request import HTTPHandler, HTTPSHandler

        deadline = self

        class Http(HTTPHandler):
            def http_open(self, req: Any) -> Any:
                return self.do_open(deadline._kept(HTTPConnection), req)

        class Https(HTTPSHandler):
            def https_open(self, req: Any) -> Any:
                return self.do_open(deadline._kept(HTTPSConnection), req)

        return Http(), Https()

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_details: object) -> None:
        self._timer.cancel()

    def _kept(self, kind: Any) -> Callable[..., Any]:
        class Kept(kind):  # type: ignore[misc] # one of two classes of the standard library
            def connect(connection) -> None:  # noqa: N805 - `self` is the deadline here
                super().connect()
                self._sockets.append(connection.sock)
                if self.over:
                    self._cut()

        return Kept

    def _cut(self) -> None:
        self._over.set()
        for each in self._sockets:
            with suppress(OSError):
                # not the SSL socket's own shutdown: that takes its state away under the reader
                socket.socket.shutdown(each, socket.SHUT_RDWR)
