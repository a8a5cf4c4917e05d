"""Cost Management asked for what each subscription was billed by service, through the real transport."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clouds.azure.api import AzureApi
from clouds.azure.checks import PACK, policies
from clouds.azure.checks.bill import BILL, COVERED
from clouds.azure.prices import AzurePrices
from clouds.base import Cloud, Missing
from clouds.errors import Unexpected
from clouds.models import Scope
from tests.clouds.azure.checks.stage import NOW, SUBSCRIPTION, Somebody
from tests.clouds.azure.rig import OTHER, TENANT, Network, problem, registered, rig
from tools.context import Clouds
from tools.progress import CallProgress
from tools.waste import bill
from tools.waste.records import BillView
from tools.waste.scan import Wanted, scan

COLUMNS = ("Cost", "CostUSD", "ServiceName", "Currency")
FREE = {"unused-nsg", "unused-subnet", "empty-vnet", "unused-route-table", "empty-availability-set",
        "empty-resource-group", "quiet-resource-group", "empty-ai-services-account", "stale-key-vault-secret",
        "unbounded-log-workspace", "unmanaged-storage-account", "unused-availability-test", "advisor-cost"}  # fmt: skip
"""Checks of what costs nothing itself, of growth, or of what another source names: no service of the bill is theirs."""


def said(*rows: tuple[object, ...], columns: tuple[str, ...] = COLUMNS, link: str | None = None) -> dict[str, Any]:
    """An answer of Cost Management's: positional rows below their columns."""
    named = [{"name": name, "type": "Number" if name.startswith("Cost") else "String"} for name in columns]
    return {"properties": {"nextLink": link, "columns": named, "rows": [list(row) for row in rows]}}


def shown(answers: Mapping[str, Any]) -> tuple[BillView, Network]:
    """What a scan of two subscriptions shows beside its findings; `answers` are those of the bill, by subscription."""
    quiet = {
        f"GET /subscriptions/{each}/providers/Microsoft.Network/ddosProtectionPlans": (200, {"value": []})
        for each in (SUBSCRIPTION, OTHER)
    }
    known = {f"GET /subscriptions/{each}/providers": (200, registered("Microsoft.Network")) for each in answers}
    subscriptions = [{"subscriptionId": each, "tenantId": TENANT, "state": "Enabled"} for each in answers]
    asked = {
        f"POST /subscriptions/{each}/providers/Microsoft.CostManagement/query": answer
        for each, answer in answers.items()
    }
    api, network, _ = rig(
        {
            "GET /tenants": (200, {"value": [{"tenantId": TENANT, "displayName": "Home", "tenantCategory": "Home"}]}),
            "GET /subscriptions": (200, {"value": subscriptions}),
            **quiet, **known, **asked,
        }
    )  # fmt: skip
    cloud = _cloud(api)
    found = scan({"azure": cloud}, Wanted(checks=("ddos-plan-unused",)), (), NOW, CallProgress(), "one")
    clouds = Clouds(("azure",), ("azure",), Path(), lambda _name, _home: cloud)
    view = bill.added(found, clouds, ("azure",), NOW).bill
    assert view is not None
    return view, network


def _cloud(api: AzureApi) -> Cloud:
    prices = AzurePrices(None, Path())
    return Cloud("azure", Somebody(), {}, Missing(""), Missing(""), prices, api, waste_pack=lambda: PACK)


def asked(network: Network) -> list[Any]:
    return [each for each in network.sent if each.path.endswith("/Microsoft.CostManagement/query")]


def test_every_subscription_that_was_looked_at_is_asked_once_and_services_are_added_up() -> None:
    first = said((4.5, 5.0, "Azure DDOS Protection", "EUR"), (9.0, 10.0, "Bandwidth", "EUR"))
    view, network = shown({SUBSCRIPTION: (200, first), OTHER: (200, said((2.5, 2.5, "Bandwidth", "USD")))})
    assert [(each.service, each.usd) for each in view.not_covered] == [("Bandwidth", 12.5)]
    assert (view.usd, view.covered_usd, view.usd_of_query, view.days, view.problem) == (17.5, 5.0, 0.0, 30, "")
    assert sorted(each.path.split("/")[2] for each in asked(network)) == [SUBSCRIPTION, OTHER]


def test_thirty_whole_days_until_yesterday_are_asked_by_service() -> None:
    call = BILL.ask(NOW, Scope(None, SUBSCRIPTION))
    assert call.parameters["parent"] == f"/subscriptions/{SUBSCRIPTION}"
    body = call.parameters["body"]
    assert body["timePeriod"] == {"from": "2026-10-30T00:00:00Z", "to": "2026-11-28T23:59:59Z"}
    assert body["dataset"]["grouping"] == [{"type": "Dimension", "name": "ServiceName"}]


def test_asking_costs_nothing_and_says_that_it_is_throttled() -> None:
    clouds = Clouds(("azure",), ("azure",), Path(), lambda _name, _home: _cloud(rig({})[0]))
    assert bill.cost_words(clouds, ("azure",)) == "azure $0 a query of a subscription (throttled)"


def test_all_pages_of_a_bill_are_read() -> None:
    path = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.CostManagement/query"
    link = f"https://management.azure.com{path}?api-version=2025-03-01&$skiptoken=two"
    pages = [(200, said((1.0, 1.0, "Bandwidth", "USD"), link=link)), (200, said((2.0, 2.0, "Bandwidth", "USD")))]
    view, _ = shown({SUBSCRIPTION: pages})
    assert view.usd == 3.0


def test_a_subscription_that_was_billed_nothing_is_no_problem() -> None:
    view, _ = shown({SUBSCRIPTION: (204, None)})
    assert (view.usd, view.problem) == (0.0, "")


def test_a_subscription_whose_bill_is_denied_is_named_and_the_others_count() -> None:
    denied = (403, problem("AuthorizationFailed", "no"))
    view, _ = shown({SUBSCRIPTION: denied, OTHER: (200, said((1.0, 1.0, "Bandwidth", "USD")))})
    assert view.usd == 1.0
    assert view.problem == f"azure: {SUBSCRIPTION}: permission missing: AuthorizationFailed: no"


def test_after_a_refusal_for_asking_too_often_the_rest_is_not_asked_and_that_is_said() -> None:
    storm = (429, problem("429", "Too many requests. Please retry."), {"Retry-After": "3600"})
    view, network = shown({SUBSCRIPTION: storm, OTHER: (200, said((1.0, 1.0, "Bandwidth", "USD")))})
    assert view.problem.endswith("azure: 1 more were not asked; repeat the scan in some minutes")
    assert len(asked(network)) == 1


def test_another_currency_without_dollars_is_refused_and_never_added_up() -> None:
    columns = ("Cost", "ServiceName", "Currency")
    assert BILL.lines(said((3.0, "Storage", "USD"), columns=columns)) == {"Storage": 3.0}
    with pytest.raises(Unexpected, match="the bill is in EUR"):
        BILL.lines(said((3.0, "Storage", "EUR"), columns=columns))


def test_columns_that_were_not_asked_for_are_no_empty_bill() -> None:
    with pytest.raises(Unexpected, match="the columns cost, currency"):
        BILL.lines(said((3.0, "USD"), columns=("Cost", "Currency")))


def test_every_check_of_what_costs_belongs_to_a_service_of_the_bill() -> None:
    words = {word for each in COVERED.values() for word in each}
    lost = {
        check.id
        for check in PACK.checks
        if check.category != "own" and not any(check.id == word or check.id.startswith(f"{word}-") for word in words)
    }
    assert lost == FREE


def test_every_word_of_the_table_is_that_of_a_check() -> None:
    ids = [check.id for check in PACK.checks]
    words = {word for each in COVERED.values() for word in each}
    assert [word for word in words if not any(each == word or each.startswith(f"{word}-") for each in ids)] == []


def test_the_scanner_s_role_may_ask() -> None:
    assert BILL.permission in policies()["scanner"]["Actions"]
