"""How long a waste scan of many Google Cloud projects takes, without a network: its answers come after a fixed delay.

    python benchmarks/gcp_scan.py              40 projects, with the bar it is held to; exit 1 where it is missed
    python benchmarks/gcp_scan.py --quick      8 projects

Method: the whole pack over the projects, each answering every read with the resources of the scenarios in
fixtures/gcp/waste after 50 ms; services that are asked by location have 12 of them. The bar is 1.5 times the longest
chain under the limits: what comes first (projects, organizations, inventory), then the longest of a check's reads one
after the other, of the requests to one service in one place, and of all requests by the workers there are. Twice: with
an inventory of the organization, which names two sorts in two projects, and without one. CPU is that of the whole
process less what making the answers took.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from clouds.base import Cloud, Missing  # noqa: E402 - the root is put on the path first
from clouds.errors import PermissionMissing  # noqa: E402
from clouds.gcp.checks import CHECKS, PACK  # noqa: E402
from clouds.gcp.checks.words import part  # noqa: E402
from clouds.models import Call, Identity, Scope  # noqa: E402
from clouds.models.waste import Listing  # noqa: E402
from tools.progress import CallProgress  # noqa: E402
from tools.waste.scan import Wanted, scan  # noqa: E402
from tools.waste.traffic import WORKERS  # noqa: E402

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DELAY = 0.05
BAR = 1.5
LOCATIONS = tuple(f"us-place{number}" for number in range(1, 13))
PROJECT = "cloudresourcemanager.googleapis.com/Project"


class Somebody:
    """Who is signed in."""

    def read(self) -> Identity:
        """The identity of every scan here."""
        return Identity(principal="bench", account="project-01", kind="user", renews="")


class Canned:
    """One resource for every read, after a delay; counts what is asked of which service in which place."""

    def __init__(self, projects: tuple[str, ...], *, inventory: bool) -> None:
        self.projects, self.inventory = projects, inventory
        self.answers: dict[str, str] = {}
        for path in sorted((ROOT / "fixtures" / "gcp" / "waste").glob("*.scenarios")):
            first = next(iter(json.loads(path.read_text("utf-8"))["scenarios"].values()))
            for operation, body in first["answers"].items():
                self.answers.setdefault(operation, json.dumps(body))
        self.sent: Counter[str] = Counter()
        self.by_place: Counter[tuple[str, str]] = Counter()
        self.cpu = 0.0
        self.lock = Lock()

    def send(self, call: Call, *, scope: Scope) -> Any:
        """One answer, after the delay."""
        with self.lock:
            self.sent[f"{call} {scope} {json.dumps(dict(call.parameters), sort_keys=True)}"] += 1
            self.by_place[call.service, str(scope)] += 1
        time.sleep(DELAY)
        begun = time.thread_time()
        try:
            return self._answer(call, scope)
        finally:
            with self.lock:
                self.cpu += time.thread_time() - begun

    def _answer(self, call: Call, scope: Scope) -> Any:
        numbered = {name: f"projects/{number}" for number, name in enumerate(self.projects, 1)}
        if str(call) == "cloudresourcemanager.projects.search":
            return {"projects": [{"name": number, "projectId": name} for name, number in numbered.items()]}
        if str(call) == "cloudresourcemanager.organizations.search":
            return {"organizations": [{"name": "organizations/1"}]}
        if str(call) == PACK.inventory.operation if PACK.inventory else False:
            if not self.inventory:
                raise PermissionMissing(str(call), answered="no", code="Denied", fix="")
            rows = [{"assetType": PROJECT, "project": number, "location": "global"} for number in numbered.values()]
            for number in list(numbered.values())[:2]:
                rows += [{"assetType": sort, "project": number, "location": LOCATIONS[0]}
                         for sort in ("compute.googleapis.com/Disk", "aiplatform.googleapis.com/Endpoint")]  # fmt: skip
            return {"results": rows}
        if call.operation == "projects.locations.list":
            return {"locations": [{"locationId": place} for place in LOCATIONS]}
        if str(call) == "monitoring.projects.timeSeries.list":
            return {}
        text = self.answers.get(str(call), "{}").replace("shop-prod", scope.account or "")
        place = scope.location or part(call.parameters.get("parent"), "locations")
        return json.loads(text.replace("us-central1", place) if place not in ("", "-") else text)


def longest(canned: Canned) -> float:
    """The least time that the requests can take: the fullest queue, or the deepest chain of reads."""
    deepest = 0
    for check in CHECKS:
        for read in check.all_reads:
            depth, each = 1, read
            while not isinstance(each, Listing):
                each, depth = each.of, depth + 1
            deepest = max(deepest, depth)
    before = 1 + (2 if PACK.inventory is not None else 0)
    fullest = max(math.ceil(count / PACK.in_flight) for count in canned.by_place.values())
    return DELAY * (before + max(deepest, fullest, canned.sent.total() / WORKERS))


def run(projects: int, *, inventory: bool) -> tuple[str, bool]:
    """One scan; its line, and whether it kept to the bar."""
    names = tuple(f"project-{number:02d}" for number in range(1, projects + 1))
    canned = Canned(names, inventory=inventory)
    cloud = Cloud("gcp", Somebody(), {}, Missing(""), Missing(""), Missing(""), canned, waste_pack=lambda: PACK)
    cpu = resource.getrusage(resource.RUSAGE_SELF)
    begun = time.perf_counter()
    found = scan({"gcp": cloud}, Wanted(), (), NOW, CallProgress(), "bench")
    took = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime - canned.cpu
    least = longest(canned)
    twice = sum(count > 1 for count in canned.sent.values())
    line = (
        f"{projects} projects, {'with' if inventory else 'without'} an inventory: {canned.sent.total():,} requests in "
        f"{took:.2f} s, longest chain {least:.2f} s, {took / least:.2f} of it (bar {BAR}); {spent:.1f} s CPU; "
        f"{found.coverage.pairs_judged:,} pairs, {len(found.findings):,} findings, {twice} sent twice"
    )
    return line, took <= BAR * least and not twice


def main(arguments: list[str]) -> int:
    """Run both; 1 where a bar is missed."""
    projects = 8 if "--quick" in arguments else 40
    run(1, inventory=True)  # what is imported once is not timed
    done = [run(projects, inventory=inventory) for inventory in (True, False)]
    print("\n".join(line for line, _ in done))
    return 0 if all(kept for _, kept in done) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
