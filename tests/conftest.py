"""What every test shares: a home of its own, a scrubbed environment, and no network beyond this machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

SCRUBBED = ("MODELRIG_", "AWS_", "GOOGLE_", "AZURE_", "OPENAI_", "CLAUDE_", "HF_", "CLOUDSDK_")
LOOPBACK = {"127.0.0.1", "::1", "localhost", ""}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting and no credential of the person who runs the tests reaches a test."""
    for name in list(os.environ):
        if name.startswith(SCRUBBED) and name not in {"MODELRIG_LIVE", "MODELRIG_WHEELS", "MODELRIG_CLIENTS"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("MODELRIG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-aws-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-aws-credentials"))


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to any address but loopback fails the test at once."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if self.family in {socket.AF_INET, socket.AF_INET6}:
            host = address[0] if isinstance(address, tuple) else address
            if str(host) not in LOOPBACK and not str(host).startswith("127."):
                pytest.fail(f"a test reached for {host}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)
