"""The machine that measures: what it is, and whether it was steady while it measured."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from time import perf_counter

from tools.measure.record import ClientInfo, HostCheck

LOOPS = 5
WORK = 40_000
"""One calibration is a few milliseconds of plain arithmetic; five of them are taken."""
SLOWER = 1.25
"""The same work taking a quarter longer afterwards (or before) is done by another machine."""
STEAL_PERCENT = 2.0
LOADED = 0.75
"""Load average a core before the run, when the endpoint is idle."""


def calibrate() -> tuple[float, ...]:
    """Milliseconds that the same piece of work takes, five times after one that warms up."""
    found: list[float] = []
    for _ in range(LOOPS + 1):
        begun = perf_counter()
        total = 0
        for number in range(WORK):
            total += number * number & 1023
        found.append(round(1e3 * (perf_counter() - begun), 3))
    return tuple(found[1:])


def load_average() -> float | None:
    """Processes that wanted a core in the last minute; None where the platform has no such figure."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


class Steal:
    """Time that the hypervisor gave to others, between two looks."""

    def __init__(self) -> None:
        self._first = _cpu_times()

    def percent(self) -> float | None:
        """Share of all CPU time since this was made; None where the platform does not say."""
        first, now = self._first, _cpu_times()
        if first is None or now is None or now[1] <= first[1]:
            return None
        return round(100 * (now[0] - first[0]) / (now[1] - first[1]), 2)


def _cpu_times() -> tuple[float, float] | None:
    import psutil

    times = psutil.cpu_times()
    stolen = getattr(times, "steal", None)
    return None if stolen is None else (float(stolen), float(sum(times)))


@cache
def client_info(loop: str) -> ClientInfo:
    """Host, processor and versions; no user name and no path."""
    versions = {}
    for package in ("modelrig", "httptools", "uvloop"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return ClientInfo(
        host=platform.platform(terse=True),
        cpu=_processor(),
        cores=os.cpu_count() or 1,
        python=".".join(map(str, sys.version_info[:3])),
        versions=versions,
        loop=loop,
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - a device file
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return (names[0] if names else platform.processor() or platform.machine())[:80]


def why_noisy(check: HostCheck, cores: int) -> str:
    """In words, what was unsteady; empty when nothing was."""
    reasons = []
    before, after = check.calibration_ms_before, check.calibration_ms_after
    if before and after and _apart(before, after) > SLOWER:
        reasons.append(f"the same work took {median(before):.1f} ms before and {median(after):.1f} ms after")
    if check.steal_percent is not None and check.steal_percent > STEAL_PERCENT:
        reasons.append(f"{check.steal_percent:.1f} % of its CPU time went to other machines")
    if check.load_before is not None and check.load_before > LOADED * cores:
        reasons.append(f"its load was {check.load_before:.1f} on {cores} cores before the run began")
    return "; ".join(reasons)


def _apart(before: Sequence[float], after: Sequence[float]) -> float:
    first, second = median(before), median(after)
    return max(first, second) / min(first, second)
