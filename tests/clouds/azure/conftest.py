"""No test of this cloud sees the sign-in of whoever runs it, starts the real `az`, or leaves this machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

LOCAL = ("127.0.0.1", "::1", "localhost")


@pytest.fixture(autouse=True)
def _nobody_is_signed_in(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in [name for name in os.environ if name.startswith(("AZURE_", "MODELRIG_", "IDENTITY_", "MSI_"))]:
        monkeypatch.delenv(name)
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    nowhere: Path = tmp_path_factory.getbasetemp() / "nobody"
    monkeypatch.setenv("AZURE_CONFIG_DIR", str(nowhere))


@pytest.fixture(autouse=True)
def _only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def local(self: socket.socket, address: Any) -> None:
        if self.family != getattr(socket, "AF_UNIX", None) and str(address[0]) not in LOCAL:
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    resolve = socket.getaddrinfo

    def known(host: Any, *more: Any, **named: Any) -> Any:
        if str(host) not in LOCAL:
            raise AssertionError(f"a test tried to reach {host}")
        return resolve(host, *more, **named)

    monkeypatch.setattr(socket.socket, "connect", local)
    monkeypatch.setattr(socket, "getaddrinfo", known)
