"""What every test shares: a home of its own, a scrubbed environment, and no network beyond this machine.

These are hooks and no fixtures: a fixture for all is set up thousands of times, for what is done once.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import os
import shutil
import socket
import tempfile
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

HERE = Path(__file__).parent
SCRUBBED = ("MODELRIG_", "AWS_", "GOOGLE_", "AZURE_", "OPENAI_", "CLAUDE_", "HF_", "CLOUDSDK_")
KEPT = {"MODELRIG_ALL", "MODELRIG_LIVE", "MODELRIG_WHEELS", "MODELRIG_CLIENTS"}
LOOPBACK = {"127.0.0.1", "::1", "localhost", ""}
CONNECT = socket.socket.connect
COUNT = itertools.count()
MEMORY, ROOM = Path("/dev/shm"), 4 << 30  # noqa: S108 - fresh folders in it
HOMES = pytest.StashKey[Path]()
TYPE = "$report_type"


def pytest_configure(config: pytest.Config) -> None:
    """Temporary files are in memory where there is room for them: what a ledger commits is written through."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(MEMORY).free > ROOM and os.access(MEMORY, os.W_OK):
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_xdist_auto_num_workers() -> int:
    """Tests of processes and of timers wait: half as many workers again as cores kept two cores busy for 96 % of the
    time instead of 85 %, and a run took 56 s instead of 62."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + cores // 2


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What is collected lives to the end: looking for garbage in it was a third of the time that collecting took."""
    gc.disable()
    try:
        if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            _share_compiling(getattr(session.config, "workerinput", {}))
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the whole suite, what is one more of its kind runs with MODELRIG_ALL=1 (`make test-all`)."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS and "MODELRIG_ALL" not in os.environ:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("more")])
        items[:] = [item for item in items if not item.get_closest_marker("more")]


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """No setting and no credential of the person who runs the tests reaches a test, and none reaches a network."""
    root = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    base = session.config.stash[HOMES] = Path(tempfile.mkdtemp(prefix="modelrig-tests-", dir=root))
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
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker reports the call of a test, and what did not pass: of eight thousand tests that go well, the words about
    how each was set up and taken down were a good part of the time of all."""
    if not hasattr(item.config, "workerinput") or item.config.option.durations is not None:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_report_to_serializable(report: pytest.CollectReport | pytest.TestReport) -> dict[str, Any] | None:
    """A test that passed and wrote nothing is four values on its way from a worker."""
    plain = isinstance(report, pytest.TestReport) and report.passed and not hasattr(report, "wasxfail")
    if plain and not (report.sections or report.user_properties):
        return {TYPE: "short", "of": (report.nodeid, report.location, report.when, report.duration)}
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_report_from_serializable(data: dict[str, Any]) -> pytest.TestReport | None:
    if data[TYPE] != "short":
        return None
    nodeid, location, when, duration = data["of"]
    return pytest.TestReport(nodeid, location, {}, "passed", None, when, duration=duration)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """What was never closed is found here, once: pytest looks twice more, at all that is alive."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A data directory for each test; it is made by who uses it."""
    os.environ["MODELRIG_HOME"] = str(item.config.stash[HOMES] / f"home{next(COUNT)}")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _share_compiling(worker: dict[str, Any]) -> None:
    """Workers import the same modules in the same order, so that in a new clone each of them compiled all, just before
    it could have found it done: each begins at another place."""
    number, count = int(worker.get("workerid", "gw0")[2:]), int(worker.get("workercount", 1))
    if number:
        paths = sorted(HERE.rglob("test_*.py"))
        start = len(paths) * number // count
        for path in paths[start:] + paths[:start]:
            with suppress(Exception, pytest.skip.Exception):  # what cannot be imported is told when it is collected
                importlib.import_module(".".join(path.relative_to(HERE.parent).with_suffix("").parts))


def _guarded(self: socket.socket, address: object) -> None:
    """A connection to any address but loopback fails the test at once."""
    if self.family in {socket.AF_INET, socket.AF_INET6}:
        host = address[0] if isinstance(address, tuple) else address
        if str(host) not in LOOPBACK and not str(host).startswith("127."):
            pytest.fail(f"a test reached for {host}")
    CONNECT(self, address)  # type: ignore[arg-type]
