"""A scan looks into every tenant that the sign-in reaches; one that is broken stops nothing and is not called clean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clouds.azure.api import OWN_READS
from clouds.azure.checks import PACK
from clouds.azure.identity import AzureIdentity
from clouds.azure.prices import AzurePrices
from clouds.base import Cloud, Missing
from clouds.readonly import ReadOnly
from tests.clouds.azure.checks.stage import NOW
from tests.clouds.azure.rig import OTHER, SUBSCRIPTION, registered, rig
from tests.clouds.azure.test_tenants import HOME, TENANTS, WORK, TwoIdentities, subscription
from tools.progress import CallProgress
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan


def disk(account: str) -> dict[str, Any]:
    where = f"/subscriptions/{account}/resourceGroups/lab/providers/Microsoft.Compute/disks/d"
    about = {"diskState": "Unattached", "diskSizeGB": 128, "timeCreated": "2026-06-01T08:00:00Z"}
    return {"id": where, "name": "d", "location": "eastus", "sku": {"name": "Premium_LRS"}, "properties": about}


def scanned(broken: str, home: Path) -> tuple[Scan, list[str]]:
    answers: dict[str, Any] = {"GET /tenants": (200, TENANTS)}
    lists = {WORK: subscription(SUBSCRIPTION, "work"), HOME: subscription(OTHER, "home")}
    answers["GET /subscriptions"] = [(200, {"value": [row]}) for tenant, row in lists.items() if tenant != broken]
    for account in (SUBSCRIPTION, OTHER):
        head = f"GET /subscriptions/{account}"
        answers[f"{head}/providers/Microsoft.Compute/disks"] = (200, {"value": [disk(account)]})
        answers[f"{head}/providers/Microsoft.Authorization/locks"] = (200, {"value": []})
        answers[f"{head}/resourceGroups"] = (200, {"value": []})
        answers[f"{head}/providers"] = (200, registered("Microsoft.Compute", "Microsoft.Authorization"))
    api, network, _ = rig(answers, credential=TwoIdentities(broken), taps=(ReadOnly(PACK.reads | OWN_READS),))
    prices = AzurePrices(None, home)
    cloud = Cloud("azure", AzureIdentity(api), {}, Missing(""), Missing(""), prices, api, waste_pack=lambda: PACK)
    result = scan({"azure": cloud}, Wanted(checks=("unattached-disk",)), (), NOW, CallProgress(), "scan")
    return result, network.paths


def test_the_subscriptions_of_both_tenants_are_looked_into(tmp_path: Path) -> None:
    result, _ = scanned("", tmp_path)
    assert sorted(each.account for each in result.findings) == [SUBSCRIPTION, OTHER]
    assert result.totals.usd_per_month == 39.42
    assert result.complete


def test_a_broken_tenant_does_not_stop_the_other_and_makes_the_scan_incomplete(tmp_path: Path) -> None:
    result, paths = scanned(HOME, tmp_path)
    assert [each.account for each in result.findings] == [SUBSCRIPTION]
    assert not result.complete
    assert {each.location: each.ended for each in result.scopes}[SUBSCRIPTION] == "done"
    assert HOME in {each.location for each in result.scopes if each.ended != "done"}
    assert "AADSTS50076" in str([gap.reason for gap in result.unread])
    assert [path for path in paths if HOME in path] == []
