"""What every test shares: a home of its own, a scrubbed environment, and no network beyond this machine.

These are hooks and no fixtures: a fixture for all is set up thousands of times, for what is done once.
"""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import socket
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

SCRUBBED = ("MODELRIG_", "AWS_", "GOOGLE_", "AZURE_", "OPENAI_", "CLAUDE_", "HF_", "CLOUDSDK_")
KEPT = {"MODELRIG_ALL", "MODELRIG_LIVE", "MODELRIG_WHEELS", "MODELRIG_CLIENTS"}
LOOPBACK = {"127.0.0.1", "::1", "localhost", ""}
CONNECT = socket.socket.connect
COUNT = itertools.count()
HOMES = pytest.StashKey[Path]()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected lives to the end: looking for garbage in it was a third of the time that collecting took."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """No setting and no credential of the person who runs the tests reaches a test, and none reaches a network."""
    base = session.config.stash[HOMES] = Path(tempfile.mkdtemp(prefix="modelrig-tests-"))
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(SCRUBBED) and name not in KEPT:
                patch.delenv(name)
        patch.setenv("MODELRIG_HOME", str(base / "home"))
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_CONFIG_FILE", str(base / "no-aws-config"))
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(base / "no-aws-credentials"))
        patch.setenv("AWS_LOGIN_CACHE_DIRECTORY", str(base / "no-aws-login"))
        patch.setattr(socket.socket, "connect", _guarded)
        try:
            return (yield)
        finally:
            shutil.rmtree(base, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A data directory for each test; it is made by who uses it."""
    os.environ["MODELRIG_HOME"] = str(item.config.stash[HOMES] / f"home{next(COUNT)}")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _guarded(self: socket.socket, address: object) -> None:
    """A connection to any address but loopback fails the test at once."""
    if self.family in {socket.AF_INET, socket.AF_INET6}:
        host = address[0] if isinstance(address, tuple) else address
        if str(host) not in LOOPBACK and not str(host).startswith("127."):
            pytest.fail(f"a test reached for {host}")
    CONNECT(self, address)  # type: ignore[arg-type]
