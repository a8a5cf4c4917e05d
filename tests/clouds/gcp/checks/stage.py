"""The checks run through the real api: one session whose seam answers from the scenario that a test puts on.

`fixtures/gcp/waste/<check>.scenarios` is JSON and holds every scenario of one check:

    {"origin": {...},
     "scenarios": {"a sentence": {"answers": {"compute.disks.aggregatedList": body, ...},
                                  "metrics": {"compute.googleapis.com/instance/cpu/utilization": [[{labels}, value]]},
                                  "expected": {...}},
                   "another one": {"like": "a sentence", "answers": {what differs}, "expected": {...}}}}

An operation that no scenario answers fails the test. What a check reads of an answer is held against the discovery
document (`reading.py`), as is the answer itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from clouds.base import Cloud, Missing
from clouds.gcp.api import GcpApi
from clouds.gcp.checks import PACK
from clouds.gcp.prices import GcpPrices
from clouds.gcp.session import recorded
from clouds.models import Call, Identity, Scope
from clouds.readonly import ReadOnly
from clouds.replay import Answer, Request
from tests.clouds.gcp.checks.reading import watched
from tools.progress import CallProgress
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

ROOT = Path(__file__).resolve().parents[4]
FIXTURES = ROOT / "fixtures" / "gcp" / "waste"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
PROJECT = "shop-prod"
PROJECTS = {"projects": [{"name": "projects/123456789012", "projectId": PROJECT, "state": "ACTIVE"}]}
SERIES = "monitoring.projects.timeSeries.list"


@dataclass
class Scenario:
    """Answers by operation: a body, an Answer, a function of the request, or a list that is served in turn."""

    answers: Mapping[str, Any]
    metrics: Mapping[str, Any] = field(default_factory=dict)
    expected: Any = None

    def but(self, **changed: Any) -> Scenario:
        """The same with other answers: `but(**{"compute.disks.aggregatedList": answer})`."""
        return Scenario({**self.answers, **changed}, self.metrics, self.expected)

    def measured(self, metrics: Mapping[str, Any]) -> Scenario:
        """The same with other series."""
        return Scenario(self.answers, metrics, self.expected)


@dataclass(frozen=True)
class Known:
    """What a scenario gave, and which operations were asked for it."""

    scan: Scan
    sent: frozenset[str]


class Stage:
    """A tap that answers from whichever scenario is on stage, and remembers what was asked."""

    def __init__(self) -> None:
        self.scenario = Scenario({})
        self.sent: list[Request] = []
        self.served: Counter[str] = Counter()

    def put_on(self, scenario: Scenario) -> None:
        self.scenario, self.sent, self.served = scenario, [], Counter()

    def before(self, request: Request) -> Answer:
        self.sent.append(request)
        found = self._found(request)
        return found if isinstance(found, Answer) else Answer(200, found)

    def _found(self, request: Request) -> Any:
        if request.name == "cloudresourcemanager.projects.search" and request.name not in self.scenario.answers:
            return PROJECTS
        if request.name == SERIES and SERIES not in self.scenario.answers:
            return self._series(request)
        assert request.name in self.scenario.answers, f"{request} has no answer in this scenario"
        found = self.scenario.answers[request.name]
        if isinstance(found, list):
            self.served[request.name] += 1
            found = found[min(self.served[request.name], len(found)) - 1]
        return found(request) if callable(found) else found

    def _series(self, request: Request) -> Any:
        kind, resource = (request.parameters["filter"].split('"')[place] for place in (1, 3))
        assert kind in self.scenario.metrics, f"{kind} is not measured in this scenario"
        grouped = [word.removeprefix("resource.label.") for word in request.parameters["aggregation.groupByFields"]]
        series = []
        for labels, value in self.scenario.metrics[kind]:
            assert set(labels) == set(grouped), f"{kind} is grouped by {grouped}"
            typed = {"int64Value": str(value)} if isinstance(value, int) else {"doubleValue": value}
            series.append(
                {
                    "metric": {"type": kind}, "resource": {"type": resource, "labels": labels}, "metricKind": "GAUGE",
                    "points": [{"interval": {"endTime": request.parameters["interval.endTime"]}, "value": typed}],
                }
            )  # fmt: skip
        return {"timeSeries": series} if series else {}

    def after(self, request: Request, answer: Answer) -> None:
        raise AssertionError(f"{request} reached the network")


class Watching:
    """An api whose answers notice when a field is read that Google's document does not have."""

    def __init__(self, api: GcpApi) -> None:
        self._api, self.at_once = api, api.at_once

    def send(self, call: Call, *, scope: Scope) -> Any:
        return watched(call, self._api.send(call, scope=scope))


class Somebody:
    """Who is signed in; the identity reader has tests of its own."""

    def read(self) -> Identity:
        return Identity(principal="ana@example.com", account=PROJECT, kind="user", renews="")


class Account:
    """Projects that answer from scenarios, through the real api, behind the read-only guard of the pack."""

    def __init__(self, home: Path) -> None:
        self.stage = Stage()
        self.guard = ReadOnly(PACK.reads)
        self.api = GcpApi(build=recorded, taps=(self.guard, self.stage), attempts=1)
        self._known: dict[tuple[str, str], Known] = {}
        self.cloud = Cloud(
            "gcp", Somebody(), {}, Missing(""), Missing(""), GcpPrices(None, home), Watching(self.api),
            waste_pack=lambda: PACK,
        )  # fmt: skip

    def scan(
        self, check: str, scenario: Scenario, *, now: datetime = NOW, scopes: tuple[str, ...] = (PROJECT,)
    ) -> Scan:
        """One check over one project."""
        self.stage.put_on(scenario)
        return scan({"gcp": self.cloud}, Wanted(scopes=scopes, checks=(check,)), (), now, CallProgress(), "scan")

    def known(self, check: str, name: str = "") -> Known:
        """What a scenario of the check gives as it is, the first where none is named; scanned once for all tests."""
        name = name or next(iter(scenarios(check)))
        if (check, name) not in self._known:
            result = self.scan(check, scenarios(check)[name])
            self._known[check, name] = Known(result, frozenset(request.name for request in self.stage.sent))
        return self._known[check, name]


@cache
def scenarios(check: str) -> Mapping[str, Scenario]:
    """Every scenario of a check, in the order of the file: the first one is waste."""
    content = json.loads((FIXTURES / f"{check}.scenarios").read_text("utf-8"))
    found: dict[str, Scenario] = {}
    for name, each in content["scenarios"].items():
        base = found[each["like"]] if "like" in each else Scenario({})
        found[name] = Scenario(
            {**base.answers, **each.get("answers", {})}, {**base.metrics, **each.get("metrics", {})}, each["expected"]
        )
    return found


def waste(check: str) -> Scenario:
    """The scenario in which a check finds waste."""
    return next(iter(scenarios(check).values()))


def error(status: int, word: str, message: str, reason: str, **facts: str) -> Answer:
    """An error as Google's APIs answer it."""
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com",
            "metadata": facts}  # fmt: skip
    return Answer(status, {"error": {"code": status, "message": message, "status": word, "details": [info]}})


DENIED = error(403, "PERMISSION_DENIED", "Permission denied on resource project shop-prod.", "IAM_PERMISSION_DENIED")
OFF = error(
    403, "PERMISSION_DENIED", "The API has not been used in project shop-prod before or it is disabled.",
    "SERVICE_DISABLED", service="some.googleapis.com", consumer="projects/shop-prod",
)  # fmt: skip


def seen(result: Scan) -> dict[str, Any]:
    """What a scenario is expected to give: everything that does not depend on the day or the machine."""
    found = []
    for each in result.findings:
        one: dict[str, Any] = {
            "name": each.name, "resource": each.resource, "location": each.location, "reason": each.reason,
            "billing": each.billing, "usd_per_month": each.usd_per_month, "bound": each.bound,
            "meters": [[line.key, line.quantity, line.unit, line.usd_per_unit] for line in each.meters],
            "stays": each.stays, "holds": list(each.holds), "owner": each.owner, "evidence": dict(each.evidence),
        }  # fmt: skip
        found.append({key: value for key, value in one.items() if value not in ([], {}, "", "exact")})
    gaps = {
        word: [[each.call, each.reason, each.resources] for each in getattr(result, word)]
        for word in ("unread", "unresolved", "too_new", "managed", "not_applicable")
        if getattr(result, word)
    }
    return {"complete": result.complete, "findings": found, **gaps}
