"""The coherent account that a replay answers from first: a whole scan of it and its bill, with nothing missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clouds.azure.api import OWN_READS, AzureApi
from clouds.azure.checks import PACK
from clouds.azure.prices import AzurePrices
from clouds.base import Cloud, Missing
from clouds.readonly import ReadOnly
from clouds.replay import Replay, load
from tests.clouds.azure.checks.stage import NOW, SUBSCRIPTION, Somebody
from tests.clouds.azure.recorded import FIXTURES
from tools.context import Clouds
from tools.progress import CallProgress
from tools.waste import bill
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

ACCOUNT = FIXTURES / "account" / "a_lab_with_forgotten_gpus"


def looked(home: Path) -> tuple[Scan, Replay]:
    """Every check over the account, and its bill."""
    replay = Replay([load(ACCOUNT)])
    api = AzureApi(taps=(ReadOnly(PACK.reads | OWN_READS), replay), attempts=1, recorded=True)
    prices = AzurePrices(None, home)
    cloud = Cloud("azure", Somebody(), {}, Missing(""), Missing(""), prices, api, waste_pack=lambda: PACK)
    found = scan({"azure": cloud}, Wanted(), (), NOW, CallProgress(), "one")
    return bill.added(found, Clouds(("azure",), ("azure",), home, lambda _name, _home: cloud), ("azure",), NOW), replay


def told(found: Scan) -> dict[str, Any]:
    assert found.bill is not None
    return {
        "complete": found.complete,
        "usd_per_month": found.totals.usd_per_month,
        "places": [each.account for each in found.scopes],
        "findings": [[each.check, each.name, each.usd_per_month, each.reason] for each in found.findings],
        "not_applicable": sorted(each.check for each in found.not_applicable),
        "unread": [each.reason for each in (*found.unread, *found.unresolved)],
        "bill": {
            "usd": found.bill.usd,
            "not_covered": {each.service: each.usd for each in found.bill.not_covered},
            "problem": found.bill.problem,
        },
    }


def test_a_scan_of_the_account_reads_all_of_it_and_finds_what_is_forgotten_each_time(tmp_path: Path) -> None:
    for _ in range(2):
        found, replay = looked(tmp_path)
        assert told(found) == load(ACCOUNT).expected
        assert replay.missed == []


def test_everything_in_the_account_is_in_its_one_subscription() -> None:
    rows = [
        row["id"]
        for each in load(ACCOUNT).fixtures
        if isinstance(each.answer.body, dict)
        for row in each.answer.body.get("value", ())
        if isinstance(row, dict) and str(row.get("id", "")).startswith("/subscriptions/")
    ]
    assert {row.split("/")[2] for row in rows} == {SUBSCRIPTION}
