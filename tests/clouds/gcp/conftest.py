"""No test of this cloud sees the credentials or settings of whoever runs it, or waits for a metadata service.

The guards are hooks and no fixtures: a fixture for all is set up thousands of times.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from clouds.gcp import session
from tests.clouds.gcp.server import Google

NOWHERE = Path(__file__).parent / "nobody"
RESOLVE = socket.getaddrinfo
KEPT = pytest.StashKey[tuple[Any, ...]]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Nobody is signed in, and no name is looked up, before a fixture of the test says otherwise."""
    item.stash[KEPT] = os.environ.get("CLOUDSDK_CONFIG"), session.PRODUCT, socket.getaddrinfo
    os.environ["CLOUDSDK_CONFIG"] = str(NOWHERE)
    session.PRODUCT, socket.getaddrinfo = NOWHERE / "product_name", _guarded  # type: ignore[assignment]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """All as it was, after the fixtures of the test have ended."""
    try:
        return (yield)
    finally:
        before, session.PRODUCT, socket.getaddrinfo = item.stash[KEPT]
        os.environ.pop("CLOUDSDK_CONFIG", None)
        if before is not None:
            os.environ["CLOUDSDK_CONFIG"] = before


def _guarded(host: object, *more: Any, **named: Any) -> Any:
    """Asking for a host's address is a connection too; the guard of all tests sees connections alone."""
    if str(host) not in ("127.0.0.1", "localhost", "::1", "None", ""):
        pytest.fail(f"a test asked for the address of {host}")
    return RESOLVE(host, *more, **named)  # type: ignore[arg-type]


@pytest.fixture
def google() -> Iterator[Google]:
    """A server that speaks for every host of Google's; what its documents do not know fails the test."""
    with Google() as made:
        yield made
