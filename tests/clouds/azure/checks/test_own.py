"""Our own deployments that outlived their end: priced by what they are, booked once, gone only where that is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.azure.checks import own
from clouds.models import Scope
from clouds.replay import Answer, Fixture
from tests.clouds.azure.checks.stage import FIXTURES, SUBSCRIPTION, Account, loaded
from tests.clouds.azure.checks.test_unknown import changed, denied
from tools.waste.explaining import next_step
from tools.waste.scan import Wanted

OURS = FIXTURES / "own-expired"
WARM = FIXTURES / "gpu-container-app-warm" / "an_a100_app_at_min_replicas_1"
LOOKS = [
    ("it_should_have_ended", "Microsoft.App/containerApps.get"),
    ("it_should_have_ended", "Microsoft.App/managedEnvironments.get"),
    ("an_ml_endpoint_without_a_deployment", "Microsoft.MachineLearningServices/workspaces/onlineEndpoints.get"),
]


@pytest.mark.parametrize(("name", "operation"), LOOKS)
def test_what_nobody_may_look_at_stays_found_without_a_price(name: str, operation: str, account: Account) -> None:
    result = account.scan("own-expired", changed(loaded(OURS / name), operation, denied))
    assert [(each.billing, each.usd_per_month, each.removable) for each in result.findings] == [
        ("unpriced", None, False)
    ]
    assert not result.complete
    assert operation in {gap.call for gap in result.unread}


def test_what_azure_names_without_its_properties_has_no_price_and_is_not_free(account: Account) -> None:
    def bare(each: Fixture) -> Fixture:
        return replace(each, answer=Answer(200, {**each.answer.body, "properties": None}))

    scenario = changed(loaded(OURS / "it_should_have_ended"), "Microsoft.App/containerApps.get", bare)
    assert [each.billing for each in account.scan("own-expired", scenario).findings] == ["unpriced"]


def test_an_app_of_ours_that_is_kept_warm_too_is_one_finding_at_the_same_price(account: Account) -> None:
    (warm,) = account.scan("gpu-container-app-warm", loaded(WARM)).findings

    def shouted(each: Fixture) -> Fixture:
        """ARM's index may spell the group of a resource in capitals."""
        rows = [{**row, "id": row["id"].replace("/lab/", "/LAB/")} for row in each.answer.body["value"]]
        return replace(each, answer=Answer(200, {"value": rows}))

    def asked(each: Fixture) -> Fixture:
        parameters = {"id": str((each.parameters or {})["id"]).replace("/lab/", "/LAB/")}
        return replace(each, parameters=parameters)

    mine = changed(loaded(OURS / "it_should_have_ended"), "Microsoft.Resources/resources.list", shouted)
    mine = changed(mine, "Microsoft.App/containerApps.get", asked)
    wanted = Wanted(scopes=(SUBSCRIPTION,), checks=("own-expired", "gpu-container-app-warm"))
    (one,) = account.look(wanted, mine, loaded(WARM), account.base).findings
    assert (one.check, one.also, one.usd_per_month) == ("own-expired", ("gpu-container-app-warm",), warm.usd_per_month)
    assert not one.removable


def test_a_deployment_of_ours_is_priced_with_its_endpoint_alone(account: Account) -> None:
    result = account.known(OURS / "an_ml_endpoint_with_its_deployment").scan
    endpoint, below = result.findings
    assert endpoint.usd_per_month == result.totals.usd_per_month
    assert (below.billing, below.usd_per_month, below.booked_with) == ("booked elsewhere", 0.0, endpoint.resource)


@pytest.mark.parametrize(
    ("resource", "ref"),
    [
        ("Microsoft.App/containerApps/gemma", "azure:containerapps:eastus:gemma"),
        ("Microsoft.App/managedEnvironments/gemma-eastus", "azure:containerapps:eastus:gemma"),
        ("Microsoft.App/managedEnvironments/somebodys", ""),
        ("Microsoft.MachineLearningServices/workspaces/w/onlineEndpoints/gemma", "azure:ml:eastus:gemma"),
        ("Microsoft.MachineLearningServices/workspaces/w/onlineEndpoints/gemma/deployments/b", "azure:ml:eastus:gemma"),
        ("Microsoft.Compute/disks/data", ""),
    ],
)
def test_what_delete_endpoint_knows_it_by_is_told_where_it_can_be(resource: str, ref: str) -> None:
    parts = resource.split("/")
    row: Any = {
        "id": f"/subscriptions/{SUBSCRIPTION}/resourceGroups/lab/providers/{resource}",
        "type": "/".join((parts[0], *parts[1::2])),
        "location": "East US",
    }
    assert own.ref(row, Scope()) == ref


def test_the_next_step_of_an_explanation_is_to_delete_the_endpoint(account: Account) -> None:
    (one,) = account.known(OURS / "it_should_have_ended").scan.findings
    assert next_step(one, "scan") == 'delete_endpoint("azure:containerapps:eastus:gemma").'
    assert next_step(replace(one, evidence={}), "scan") == ""
    assert next_step(replace(one, category="classic"), "scan") == ""
