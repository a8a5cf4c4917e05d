"""Against a real Azure sign-in: only with MODELRIG_LIVE=1. Nothing is created, changed or registered here.

MODELRIG_LIVE=1 python -m pytest tests/live/test_azure.py -s
MODELRIG_AZURE_SUBSCRIPTION=ID and MODELRIG_LIVE_LOCATION=swedencentral say where to look
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clouds.azure import versions
from clouds.azure.api import AzureApi
from clouds.azure.capacity import AzureCapacity
from clouds.azure.errors import RETIRED
from clouds.azure.identity import AzureIdentity
from clouds.azure.prices import AzurePrices
from clouds.azure.quotas import AzureQuotas
from clouds.errors import CloudError
from clouds.models import Call, Scope
from tests.clouds.azure.asking import asking

NAMES = ("AZURE_", "MODELRIG_LIVE", "MODELRIG_AZURE", "IDENTITY_", "MSI_")
LIVE = {name: value for name, value in os.environ.items() if name.startswith(NAMES)}
"""Taken before the tests' own fixtures scrub the environment."""

if LIVE.get("MODELRIG_LIVE") != "1":
    pytest.skip("MODELRIG_LIVE is not 1: the real Azure subscription is not asked", allow_module_level=True)

LOCATION = LIVE.get("MODELRIG_LIVE_LOCATION", "eastus")


@pytest.fixture(autouse=True)
def signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's own sign-in, and the network, for these tests alone."""
    monkeypatch.undo()
    for name, value in LIVE.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def azure() -> AzureApi:
    return AzureApi()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", sorted(row.type for row in versions.rows().values()))
def test_every_pinned_version_is_one_that_azure_takes(kind: str, azure: AzureApi) -> None:
    scope = Scope(LOCATION, azure.directory.default())
    call = asking(versions.row(kind), scope)
    if call is None:
        pytest.skip("a query with a body: the tests of its own parts ask it")
    answered = ""
    try:
        next(iter(azure.pages(call, scope=scope)), None)
    except CloudError as error:
        print(f"{call}: {error.kind} {error.code}")
        answered = error.code
    assert answered not in RETIRED, f"{kind} {versions.row(kind).version}"


def test_resource_graph_and_the_bill_take_their_versions(azure: AzureApi) -> None:
    account = azure.directory.default()
    body = {"subscriptions": [account], "query": "resources | project id | limit 1"}
    azure.send(Call("Microsoft.ResourceGraph/resources", "query", {"body": body}), scope=Scope(account=account))
    bill = {
        "type": "ActualCost",
        "timeframe": "MonthToDate",
        "dataset": {"granularity": "None", "aggregation": {"totalCost": {"name": "Cost", "function": "Sum"}}},
    }
    ask = Call("Microsoft.CostManagement/query", "query", {"parent": f"/subscriptions/{account}", "body": bill})
    answered = ""
    try:
        azure.send(ask, scope=Scope(account=account))
    except CloudError as error:
        print(f"cost management: {error.kind} {error.code}")
        answered = error.code
    assert answered not in RETIRED


def test_a_version_that_was_never_there_is_an_error_and_not_an_empty_answer(
    azure: AzureApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up = versions.Row("Microsoft.App/containerApps", "1999-01-01", "subscription", "", "2026-11-29")
    monkeypatch.setattr("clouds.azure.paths.versions.row", lambda _kind: made_up)
    with pytest.raises(CloudError) as told:
        azure.send(Call("Microsoft.App/containerApps", "list"), scope=Scope(account=azure.directory.default()))
    print(told.value.code)
    assert told.value.code in RETIRED


def test_every_tenant_of_the_sign_in_is_named(azure: AzureApi) -> None:
    identity = AzureIdentity(azure).read()
    print(identity.model_dump_json(indent=1))
    assert identity.principal
    assert "eyJ" not in identity.model_dump_json()


@pytest.mark.timeout(180)
def test_quotas_and_capacity_of_one_location_are_read(azure: AzureApi) -> None:
    where = [Scope(LOCATION, azure.directory.default())]
    for accelerator in ("T4", "A100-80GB"):
        quotas = AzureQuotas(azure).read(accelerator, (), where)
        print(*quotas.found, *quotas.unread, *quotas.not_applicable, sep="\n")
        capacity = AzureCapacity(azure).read(accelerator, (), where)
        print(*capacity.found, *capacity.unread, *capacity.not_applicable, sep="\n")
        assert quotas.found or quotas.not_applicable or quotas.unread


def test_the_public_price_list_answers_for_what_we_serve_on(azure: AzureApi, tmp_path: Path) -> None:
    prices = AzurePrices(azure, tmp_path, now=lambda: datetime.now(UTC))
    for key in (
        "vm/Standard_NC24ads_A100_v4/on-demand",
        "container-apps/gpu-a100",
        "container-apps/gpu-t4",
        "container-apps/active-vcpu",
        "container-apps/active-memory",
        "nat-gateway/standard",
        "disk/P10-LRS",
    ):
        print(key, prices.live(key, LOCATION))
