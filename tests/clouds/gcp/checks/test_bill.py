"""The one query of the billing export, through the real api."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clouds.base import Cloud
from clouds.errors import InvalidInput, Unexpected
from clouds.gcp.checks import PACK
from clouds.gcp.checks.bill import BILL, COVERED, TABLE
from clouds.models import Scope
from tests.clouds.gcp.checks.stage import DENIED, NOW, PROJECT, Account, Scenario, waste
from tests.clouds.gcp.schemas import wrong, wrong_answer
from tools.context import Clouds
from tools.progress import CallProgress
from tools.waste import bill
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

EXPORT = "finance-prod.billing.gcp_billing_export_v1_0A1B2C"


def cell(*values: str) -> dict[str, Any]:
    return {"f": [{"v": value} for value in values]}


ROWS = {"jobComplete": True, "rows": [cell("Compute Engine", "USD", "812.5"), cell("BigQuery", "USD", "41.25"),
                                      cell("Compute Engine", "EUR", "9.0")]}  # fmt: skip


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TABLE, EXPORT)


def shown(account: Account, answer: Any) -> Scan:
    scenario = waste("disk-unattached").but(**{"bigquery.jobs.query": answer})
    account.stage.put_on(scenario)
    guarded: Cloud = replace(account.cloud, reading=None)
    found = scan({"gcp": guarded}, Wanted(scopes=(PROJECT,), checks=("disk-unattached",)), (), NOW, CallProgress(), "s")
    account.guard.allow |= {"bigquery.jobs.query"}
    try:
        return bill.added(
            found, Clouds(("gcp",), ("gcp",), Path("nowhere"), lambda _name, _home: guarded), ("gcp",), NOW
        )
    finally:
        account.guard.allow -= {"bigquery.jobs.query"}


@pytest.mark.usefixtures("named")
def test_thirty_days_are_asked_by_service_in_the_project_of_the_table() -> None:
    call = BILL.ask(NOW, Scope())
    assert call.parameters["projectId"] == "finance-prod"
    assert "TIMESTAMP('2026-10-30')" in call.parameters["body"]["query"]
    assert f"FROM `{EXPORT}`" in call.parameters["body"]["query"]
    assert wrong("bigquery", "QueryRequest", call.parameters["body"]) == []
    assert wrong_answer("bigquery", "jobs.query", ROWS) == []


@pytest.mark.parametrize("name", ["", "billing", "p.d.t` WHERE 1=1; DROP TABLE x; --", "finance-prod.billing.a b"])
def test_without_a_table_or_with_a_name_that_is_none_nothing_is_asked(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TABLE, name)
    with pytest.raises(InvalidInput, match=TABLE):
        BILL.ask(NOW, Scope())


def test_amounts_in_another_currency_are_not_added_up() -> None:
    assert BILL.lines(ROWS) == {"Compute Engine": 812.5, "BigQuery": 41.25}


def test_a_query_that_is_not_done_is_no_empty_bill() -> None:
    with pytest.raises(Unexpected):
        BILL.lines({"jobComplete": False})


def test_every_check_belongs_to_a_service_of_the_bill() -> None:
    words = {word for each in COVERED.values() for word in each}
    lost = [
        check.id
        for check in PACK.checks
        if check.category != "own" and not any(check.id == word or check.id.startswith(f"{word}-") for word in words)
    ]
    assert lost == []


@pytest.mark.usefixtures("named")
def test_what_no_check_of_the_scan_looks_at_is_shown_beside_it(account: Account) -> None:
    view = shown(account, ROWS).bill
    assert view is not None
    assert (view.usd, view.covered_usd, view.usd_of_query) == (853.75, 812.5, 0.0)
    assert [(each.service, each.usd) for each in view.not_covered] == [("BigQuery", 41.25)]


@pytest.mark.usefixtures("named")
def test_a_bill_that_is_denied_is_named_and_the_scan_stays(account: Account) -> None:
    found = shown(account, DENIED)
    assert found.bill is not None
    assert "IAM_PERMISSION_DENIED" in found.bill.problem or "ermission" in found.bill.problem
    assert len(found.findings) == 1


def test_a_bill_without_a_table_says_which_name_is_missing(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TABLE, raising=False)
    found = shown(account, Scenario({}))
    assert found.bill is not None
    assert TABLE in found.bill.problem
    assert len(found.findings) == 1
