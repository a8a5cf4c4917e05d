"""The checks run through the real SDK: one private session whose seam answers from the scenario that a test puts on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clouds.aws.api import AwsApi
from clouds.aws.checks import PACK
from clouds.aws.prices import AwsPrices
from clouds.base import Cloud, Missing
from clouds.models import Identity
from clouds.readonly import ReadOnly
from clouds.replay import Answer, Replay, Request, Scenario, load
from tools.progress import CallProgress
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

ROOT = Path(__file__).resolve().parents[4]
FIXTURES = ROOT / "fixtures" / "aws" / "waste"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ACCOUNT, REGION = "123456789012", "us-east-1"


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


class Account:
    """An account that answers from scenarios, through botocore, behind the read-only guard of the pack."""

    def __init__(self, home: Path) -> None:
        self.stage = Stage()
        self.guard = ReadOnly(PACK.reads)
        self.api = AwsApi(build=_session, taps=(self.guard, self.stage), attempts=1)
        self.cloud = Cloud(
            "aws", Somebody(), {}, Missing(""), Missing(""), AwsPrices(None, home), self.api, waste_pack=lambda: PACK
        )

    def scan(self, check: str, *scenarios: Scenario, now: datetime = NOW, scopes: tuple[str, ...] = ()) -> Scan:
        """One check over its place."""
        self.stage.replay = Replay([*scenarios, load(FIXTURES / "account" / "one_region")])
        world = next(each for each in PACK.checks if each.id == check).kind.once
        places = scopes or (("global",) if world else (REGION,))
        return scan({"aws": self.cloud}, Wanted(scopes=places, checks=(check,)), (), now, CallProgress(), "scan")


def _session() -> Any:
    from botocore.session import Session

    session = Session(include_builtin_handlers=True)
    session.set_credentials("nobody", "nothing")
    session.set_config_variable("region", REGION)
    return session


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
