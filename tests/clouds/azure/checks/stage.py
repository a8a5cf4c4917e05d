"""The checks run through the real transport: its seam answers from the scenario that a test puts on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from clouds.azure.api import OWN_READS, AzureApi
from clouds.azure.checks import PACK
from clouds.azure.prices import AzurePrices
from clouds.base import Cloud, Missing
from clouds.models import Identity
from clouds.readonly import ReadOnly
from clouds.replay import Answer, Replay, Request, Scenario, load
from tools.progress import CallProgress
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

ROOT = Path(__file__).resolve().parents[4]
FIXTURES = ROOT / "fixtures" / "azure" / "waste"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
LEARNT = frozenset({"providers", "subscriptions", "tenants"})
"""What the api reads of its own accord and believes for a while."""
SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"


@cache
def loaded(path: Path) -> Scenario:
    """A scenario, read once."""
    return load(path)


@cache
def waste_scenario(check: str) -> Path:
    """The one in which a check finds one thing, if possible one that can be removed."""
    paths = sorted((FIXTURES / check).iterdir())
    found = [(path, json.loads((path / "expected.json").read_text("utf-8"))["findings"]) for path in paths]
    for path, findings in sorted(found, key=lambda item: not any(each["removable"] for each in item[1])):
        if len(findings) == 1:
            return path
    raise AssertionError(f"{check} has no scenario in which it finds anything")


@dataclass(frozen=True)
class Known:
    """What a scenario gave, and the requests that it has no answer for."""

    scan: Scan
    missed: tuple[str, ...]


class Stage:
    """A tap that asks whichever replay is on stage."""

    def __init__(self) -> None:
        self.replay = Replay([])

    def before(self, request: Request) -> Answer | None:
        return self.replay.before(request)

    def after(self, request: Request, answer: Answer) -> None:
        raise AssertionError(f"{request} reached the network")


class Somebody:
    """Who is signed in; the identity reader has tests of its own."""

    def read(self) -> Identity:
        return Identity(principal="ana@example.com", account=SUBSCRIPTION, kind="work account", renews="")


class Account:
    """A subscription that answers from scenarios, through the transport, behind the read-only guard of the pack."""

    def __init__(self, home: Path) -> None:
        self.stage = Stage()
        self.guard = ReadOnly(PACK.reads | OWN_READS)
        self.base: Scenario = load(FIXTURES / "account" / "one_subscription")
        self._scans = count(1)
        self._at = 0.0
        self._plain = False
        """Whether the last scan saw what every subscription here has registered, and no more of that than the next."""
        self._known: dict[Path, Known] = {}
        self.api = AzureApi(taps=(self.guard, self.stage), attempts=1, recorded=True, clock=lambda: self._at)
        prices = AzurePrices(None, home)
        self.cloud = Cloud("azure", Somebody(), {}, Missing(""), Missing(""), prices, self.api, waste_pack=lambda: PACK)

    def scan(self, check: str, *scenarios: Scenario, now: datetime = NOW, base: Scenario | None = None) -> Scan:
        """One check over the subscription."""
        return self.look(Wanted(scopes=(SUBSCRIPTION,), checks=(check,)), *scenarios, base or self.base, now=now)

    def known(self, path: Path) -> Known:
        """What a scenario gives as it is; scanned once for all tests."""
        if path not in self._known:
            result = self.scan(path.parent.name, loaded(path))
            self._known[path] = Known(result, tuple(str(each) for each in self.stage.replay.missed))
        return self._known[path]

    def look(self, wanted: Wanted, *scenarios: Scenario, now: datetime = NOW) -> Scan:
        """Any scan; what an earlier one learnt of providers and tenants is forgotten where it may differ."""
        self.stage.replay = Replay(scenarios)
        own = [each for each in scenarios if each is not self.base]
        plain = len(own) < len(scenarios) and not any(one.service in LEARNT for each in own for one in each.fixtures)
        if not (plain and self._plain):
            self._at = next(self._scans) * 3600.0
        self._plain = plain
        if not wanted.scopes:
            self.api.directory.tenants(again=True)  # as the identity reader does, before a scan
        return scan({"azure": self.cloud}, wanted, (), now, CallProgress(), "scan")


def seen(result: Scan) -> Mapping[str, Any]:
    """What a scenario is expected to give: everything that does not depend on the day or the machine."""
    from tools.waste.records import adapter

    whole = json.loads(adapter().dump_json(result))
    drop = {"id", "fingerprint", "account", "cloud", "age_days", "category", "title"}
    findings = [{key: value for key, value in each.items() if key not in drop and value not in ([], {}, "", None)}
                for each in whole["findings"]]  # fmt: skip
    for finding in findings:
        for meter in finding.get("meters", ()):
            meter.pop("source")
            meter.pop("as_of")
    gaps = {
        word: [
            {key: each[key] for key in ("call", "reason", "resources", "named") if each[key]} for each in whole[word]
        ]
        for word in ("unread", "unresolved", "too_new", "managed", "not_applicable")
        if whole[word]
    }
    return {
        "complete": whole["complete"],
        "usd_per_month": whole["totals"]["usd_per_month"],
        "findings": findings,
        **gaps,
        "requests": whole["effort"]["by_operation"],
    }
