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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Nobody is signed in, and no name is looked up."""
    before, product = os.environ.get("CLOUDSDK_CONFIG"), session.PRODUCT
    os.environ["CLOUDSDK_CONFIG"] = str(NOWHERE)
    session.PRODUCT, socket.getaddrinfo = NOWHERE / "product_name", _guarded  # type: ignore[assignment]
    try:
        return (yield)
    finally:
        session.PRODUCT, socket.getaddrinfo = product, RESOLVE
        if before is None:
            del os.environ["CLOUDSDK_CONFIG"]
        else:
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
