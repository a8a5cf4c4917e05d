"""No test of this cloud sees the sign-in of whoever runs it, starts the real `az`, or leaves this machine.

The guards are hooks and no fixtures: a fixture for all is set up thousands of times.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

LOCAL = ("127.0.0.1", "::1", "localhost")
PROXIES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
NOWHERE = str(Path(__file__).parent / "nobody")
CONNECT, RESOLVE = socket.socket.connect, socket.getaddrinfo
KEPT = pytest.StashKey[tuple[Any, ...]]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Nobody is signed in, and nothing is reached, before a fixture of the test says otherwise."""
    names = [each for each in os.environ if each.startswith(("AZURE_", "IDENTITY_", "MSI_")) or each in PROXIES]
    kept = {each: os.environ.pop(each) for each in names}
    item.stash[KEPT] = kept, socket.socket.connect, socket.getaddrinfo
    os.environ["AZURE_CONFIG_DIR"] = NOWHERE
    socket.socket.connect, socket.getaddrinfo = _connect, _resolve  # type: ignore[method-assign, assignment]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """All as it was, after the fixtures of the test have ended."""
    try:
        return (yield)
    finally:
        kept, socket.socket.connect, socket.getaddrinfo = item.stash[KEPT]  # type: ignore[method-assign]
        os.environ.pop("AZURE_CONFIG_DIR", None)
        os.environ.update(kept)


def _connect(self: socket.socket, address: Any) -> None:
    if self.family != getattr(socket, "AF_UNIX", None) and str(address[0]) not in LOCAL:
        raise AssertionError(f"a test tried to reach {address[0]}")
    CONNECT(self, address)


def _resolve(host: Any, *more: Any, **named: Any) -> Any:
    if str(host) not in LOCAL:
        raise AssertionError(f"a test tried to reach {host}")
    return RESOLVE(host, *more, **named)
