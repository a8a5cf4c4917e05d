"""Ports and services that are made when they are first used, once, whichever thread asks first."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from clouds.lazily import Services, later

ROOT = Path(__file__).parents[2]
QUOTAS = ROOT / "fixtures" / "gcp" / "quotas" / "v6e" / "dead_queued_resources_hold_half_of_a_pool"
CONNECTING = """
import json, os, sys
from datetime import UTC, datetime
from pathlib import Path
from clouds import connect
from clouds.models import Call, Scope
from clouds.readonly import Forbidden
from clouds.replay import VARIABLE
heavy = ("boto", "awscrt", "azure", "google", "grpc", "msal", "httpx", "requests", "cryptography", "aiohttp", "numpy")
sdks = ("google.cloud.compute_v1", "google.cloud.tpu_v2", "grpc", "requests", "googleapiclient", "boto")
loaded = lambda names: sorted({name.split(".")[0] for name in sys.modules if name.startswith(names)})
home = Path(sys.argv[1])
made = [connect(name, home) for name in ("aws", "azure", "gcp")]
assert all(cloud.waste.reads for cloud in made)  # the checks of a scan
first = loaded(heavy)
os.environ[VARIABLE] = sys.argv[2]
gcp = connect("gcp", home)
first += loaded(heavy)
gcp.quotas._now = lambda: datetime(2026, 11, 29, 15, tzinfo=UTC)
rows = len(gcp.quotas.read("v6e", (), ()).found)
try:
    gcp.reading(frozenset()).send(Call("compute", "instances.delete", {"instance": "x"}), scope=Scope("us-east5-a"))
except Forbidden:
    rows += 1
then = loaded(sdks)
import botocore, googleapiclient
print(json.dumps([first, rows, then, loaded(sdks)]))
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


def test_connecting_loads_nothing_heavy_and_a_quota_check_or_a_refused_write_no_sdk(tmp_path: Path) -> None:
    program = [sys.executable, "-c", CONNECTING, str(tmp_path), str(QUOTAS)]
    ran = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == [[], 12, [], ["botocore", "googleapiclient"]]  # the last: it would see one of them
