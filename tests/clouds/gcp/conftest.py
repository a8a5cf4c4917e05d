"""No test of this cloud sees the credentials or settings of whoever runs it, or waits for a metadata service."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clouds.gcp import session
from tests.clouds.gcp.server import Google


@pytest.fixture(autouse=True)
def _nobody_is_signed_in(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    nowhere: Path = tmp_path_factory.getbasetemp() / "nobody"
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(nowhere))
    monkeypatch.setattr(session, "PRODUCT", nowhere / "product_name")


@pytest.fixture(autouse=True)
def _no_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for a host's address is a connection too; the guard of all tests sees connections alone."""
    real = socket.getaddrinfo

    def guarded(host: object, *more: Any, **named: Any) -> Any:
        if str(host) not in ("127.0.0.1", "localhost", "::1", "None", ""):
            pytest.fail(f"a test asked for the address of {host}")
        return real(host, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", guarded)


@pytest.fixture
def google() -> Iterator[Google]:
    """A server that speaks for every host of Google's; what its documents do not know fails the test."""
    with Google() as made:
        yield made
