"""Ports and services that are made when they are first used, once, whichever thread asks first."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from clouds.lazily import Services, later

ROOT = Path(__file__).parents[2]
SDKS = (
    "boto", "awscrt", "azure", "google", "grpc", "msal", "httpx", "requests", "cryptography", "aiohttp", "numpy",
)  # fmt: skip
CONNECTING = f"""
import sys
from pathlib import Path
from clouds import connect
for name in ("aws", "azure"):
    connect(name, Path("x"))
heavy = lambda: [name for name in sys.modules if name.startswith({SDKS})]
before = len(heavy())
import botocore
print(before, len(heavy()) > 0)  # the last: it would see one of them
"""


class Made:
    """Counts how often it was made."""

    count = 0

    def __init__(self) -> None:
        Made.count += 1

    def answer(self) -> int:
        return 42


@pytest.fixture(autouse=True)
def none_made() -> None:
    Made.count = 0


def test_nothing_is_made_before_it_is_used() -> None:
    services: Services = Services({"one": Made})  # type: ignore[dict-item]
    later(Made)
    assert (list(services), len(services), "one" in services, "two" in services) == (["one"], 1, True, False)
    assert Made.count == 0


def test_it_is_made_once_also_by_many_threads() -> None:
    services: Any = Services({"one": Made})  # type: ignore[dict-item]
    port = later(Made)
    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(lambda _: services["one"].answer(), range(8))} == {42}
        assert {*pool.map(lambda _: port.answer(), range(8))} == {42}
    assert Made.count == 2


def test_a_service_that_is_not_there_is_not_made_up() -> None:
    with pytest.raises(KeyError):
        Services({"one": Made})["two"]  # type: ignore[dict-item]


def test_what_cannot_be_made_says_why_each_time() -> None:
    def broken() -> Made:
        raise OSError("no such table")

    port = later(broken)
    for _ in range(2):
        with pytest.raises(OSError, match="no such table"):
            port.answer()


def test_connecting_to_a_cloud_imports_no_sdk() -> None:
    """In one process: of Google Cloud its own tests show it, with what a quota check loads."""
    done = subprocess.run([sys.executable, "-c", CONNECTING], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "True"]
