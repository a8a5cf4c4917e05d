"""The checks run through the real SDK: one private session whose seam answers from the scenario that a test puts on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from clouds.aws.api import AwsApi
from clouds.aws.checks import PACK
from clouds.aws.prices import AwsPrices
from clouds.base import Cloud, Missing
from clouds.models import Identity
from clouds.readonly import ReadOnly
from clouds.replay import Answer, Replay, Request, Scenario, load
from tests.clouds.aws.recorded import build
from tools.cleanup.rereading import Sought, reread
from tools.progress import CallProgress
from tools.waste.records import Finding, Scan
from tools.waste.scan import Wanted, scan
from tools.waste.state import Wasted

ROOT = Path(__file__).resolve().parents[4]
FIXTURES = ROOT / "fixtures" / "aws" / "waste"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ACCOUNT, REGION = "123456789012", "us-east-1"
CHECKS = {check.id: check for check in PACK.checks}
scenario = cache(load)
"""A folder of fixtures, read once."""


@cache
def waste_scenario(check: str) -> Path:
    """The first folder in which a check finds something that costs money, else anything."""
    found: dict[Path, float] = {}
    for path in sorted((FIXTURES / check).iterdir()):
        if path.name != "two_pages_the_first_one_empty":
            findings = json.loads((path / "expected.json").read_text("utf-8"))["findings"]
            if findings:
                found[path] = findings[0].get("usd_per_month", 0.0)
    assert found, f"{check} has no scenario in which it finds anything"
    return next((path for path, usd in found.items() if usd), next(iter(found)))


def waste(check: str) -> Scenario:
    """What is recorded there."""
    return scenario(waste_scenario(check))


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
        return Identity(principal=f"arn:aws:iam::{ACCOUNT}:user/ana", account=ACCOUNT, kind="IAM user", renews="")


class Prompt(AwsApi):
    """A scan starts no threads to wait for these answers: they are there."""

    at_once = True


class Account:
    """An account that answers from scenarios, through botocore, behind the read-only guard of the pack."""

    def __init__(self, home: Path) -> None:
        self.stage = Stage()
        self._found: dict[str, Finding] = {}
        self._again: dict[str, Wasted] = {}
        self.guard = ReadOnly(PACK.reads)
        self.api = Prompt(build=build, taps=(self.guard, self.stage), attempts=1)
        self.cloud = Cloud(
            "aws", Somebody(), {}, Missing(""), Missing(""), AwsPrices(None, home), self.api, waste_pack=lambda: PACK
        )

    def play(self, *scenarios: Scenario) -> None:
        """Put these on stage, with the account's one region."""
        self.stage.replay = Replay([*scenarios, scenario(FIXTURES / "account" / "one_region")])

    def found(self, check: str) -> Finding:
        """The first thing that a check finds where it finds something, scanned once."""
        if check not in self._found:
            self._found[check] = self.scan(check, waste(check)).findings[0]
        return self._found[check]

    def found_again(self, check: str) -> Wasted:
        """The same thing read again, as a cleanup does, once."""
        if check not in self._again:
            found = self.found(check)
            sought = Sought("aws", check, found.location, found.resource)
            self.play(waste(check))
            again = reread([sought], lambda _: self.cloud, NOW, CallProgress())[sought].wasted
            assert again is not None
            self._again[check] = again
        return self._again[check]

    def scan(self, check: str, *scenarios: Scenario, now: datetime = NOW, scopes: tuple[str, ...] = ()) -> Scan:
        """One check over its place."""
        self.play(*scenarios)
        world = CHECKS[check].kind.once
        places = scopes or (("global",) if world else (REGION,))
        return scan({"aws": self.cloud}, Wanted(scopes=places, checks=(check,)), (), now, CallProgress(), "scan")


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
