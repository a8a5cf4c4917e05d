"""What every test shares: a home of its own, a scrubbed environment, and no network beyond this machine."""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRUBBED = ("MODELRIG_", "AWS_", "GOOGLE_", "AZURE_", "OPENAI_", "CLAUDE_", "HF_", "CLOUDSDK_")
KEPT = {"MODELRIG_ALL", "MODELRIG_LIVE", "MODELRIG_WHEELS", "MODELRIG_CLIENTS"}
LOOPBACK = {"127.0.0.1", "::1", "localhost", ""}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def scrubbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No setting and no credential of the person who runs the tests reaches a test, and none reaches a network.

    Once for all tests: thousands of them would pay for it one by one.
    """
    base = tmp_path_factory.mktemp("homes")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(SCRUBBED) and name not in KEPT:
                patch.delenv(name)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_CONFIG_FILE", str(base / "no-aws-config"))
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(base / "no-aws-credentials"))
        patch.setattr(socket.socket, "connect", _guarded)
        yield base


@pytest.fixture(autouse=True)
def own_home(scrubbed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data directory for each test; it is made by who uses it."""
    monkeypatch.setenv("MODELRIG_HOME", str(scrubbed / f"home{next(COUNT)}"))


COUNT = itertools.count()
CONNECT = socket.socket.connect


def _guarded(self: socket.socket, address: object) -> None:
    """A connection to any address but loopback fails the test at once."""
    if self.family in {socket.AF_INET, socket.AF_INET6}:
        host = address[0] if isinstance(address, tuple) else address
        if str(host) not in LOOPBACK and not str(host).startswith("127."):
            pytest.fail(f"a test reached for {host}")
    CONNECT(self, address)  # type: ignore[arg-type]
