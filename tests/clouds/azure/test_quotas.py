from __future__ import annotations

from typing import Any

import pytest

from clouds.azure import sizes
from clouds.azure.places import DEFAULT, location_of
from clouds.azure.quotas import AzureQuotas, what
from clouds.azure.skus import Skus, sku
from clouds.errors import CredentialExpired, InvalidInput, NotOffered, NotSignedIn
from clouds.models import Scope
from tests.clouds.azure.recorded import Recorded
from tests.clouds.azure.rig import SUBSCRIPTION, problem, registered, rig

A100 = "Standard_NC24ads_A100_v4"


def scopes(*locations: str) -> list[Scope]:
    return [Scope(location, SUBSCRIPTION) for location in locations]


def test_every_pool_is_read_where_it_is_kept() -> None:
    scenario = Recorded("quotas/a100/every_pool_has_its_own_row")
    scenario.check(AzureQuotas(scenario.api).read("A100-80GB", (), scopes("eastus")))


def test_a_serverless_quota_that_nobody_shows_is_unknown_beside_a_dedicated_one_of_zero() -> None:
    scenario = Recorded("quotas/a100/no_environment_so_serverless_is_unknown_and_not_zero")
    scenario.check(AzureQuotas(scenario.api).read("A100-80GB", (), scopes("eastus")))


def test_a_subscription_with_nothing_registered_has_no_quota_and_that_is_no_failure() -> None:
    scenario = Recorded("quotas/t4/nothing_is_registered")
    read = AzureQuotas(scenario.api).read("T4", (), scopes("eastus"))
    scenario.check(read)
    assert read.complete


def test_a_location_that_is_denied_is_unread_and_the_other_is_read() -> None:
    scenario = Recorded("quotas/a100/one_location_denied")
    read = AzureQuotas(scenario.api).read(None, (A100,), scopes("eastus", "westus3"))
    scenario.check(read)
    assert not read.complete


def test_foundry_counts_throughput_units_and_tokens() -> None:
    scenario = Recorded("quotas/foundry/throughput_and_tokens_a_minute")
    scenario.check(AzureQuotas(scenario.api).read(None, ("ptu", "foundry:gpt-5-mini"), scopes("eastus")))


def test_without_a_place_the_regions_of_the_price_table_are_looked_at_and_that_is_said() -> None:
    base = f"GET /subscriptions/{SUBSCRIPTION}/providers/Microsoft"
    here = {f"{base}.Compute/skus": (200, {"value": []}), PROVIDERS: (200, registered("Microsoft.Compute"))}
    api, network, _ = rig(here, signed_in=({"id": SUBSCRIPTION, "tenantId": "t", "isDefault": True},))
    read = AzureQuotas(api).read(None, (A100,), ())
    assert [quota.scope for quota in read.found] == list(DEFAULT)
    assert {quota.offered for quota in read.found} == {False}
    assert read.notes == (f"azure: looked at {', '.join(DEFAULT)}; name other locations to see them.",)
    assert network.paths.count(f"{base}.Compute/skus") == len(DEFAULT)


PROVIDERS = f"GET /subscriptions/{SUBSCRIPTION}/providers"


@pytest.mark.parametrize(
    ("code", "kind"), [("InvalidAuthenticationToken", NotSignedIn), ("ExpiredAuthenticationToken", CredentialExpired)]
)
def test_a_sign_in_that_works_nowhere_is_one_error_and_not_a_list_of_unread(code: str, kind: type[Exception]) -> None:
    skus = f"GET /subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/skus"
    api, _, _ = rig({skus: (401, problem(code, "no"))})
    with pytest.raises(kind):
        AzureQuotas(api).read(None, (A100,), scopes("eastus", "westus3"))


def test_an_accelerator_is_its_sizes_and_its_profiles() -> None:
    wanted = what("A100-80GB", ())
    assert wanted.machines == (A100,)
    assert [each.profile for each in wanted.profiles] == ["Consumption-GPU-NC24-A100", "NC24-A100"]
    assert what("2xA100-80GB", ()).machines == ("Standard_NC48ads_A100_v4",)
    assert what(None, ("consumption-gpu-nc8as-t4",)).profiles[0].serverless


@pytest.mark.parametrize(
    ("accelerator", "types", "problem_"),
    [
        (None, ("ml.g6.xlarge",), "is not a size of Azure"),
        (None, (), "neither an accelerator nor a type"),
        ("A100", (), "Did you mean A100-80GB or A100-40GB"),
        ("3xT4", (), "no size carries 3 T4"),
        ("nonsense", (), "is not known on Azure"),
    ],
)
def test_what_azure_does_not_have_is_refused_in_our_words(
    accelerator: str | None, types: tuple[str, ...], problem_: str
) -> None:
    with pytest.raises(InvalidInput, match=problem_):
        what(accelerator, types)


def test_another_clouds_accelerator_is_not_offered() -> None:
    with pytest.raises(NotOffered, match="L4 on Azure"):
        what("L4", ())


def test_an_accelerator_has_several_spellings() -> None:
    assert sizes.asked("A10G") == ("A10", 1)
    assert sizes.asked("nvidia-t4") == ("T4", 1)
    assert sizes.asked("H200:8") == ("H200", 8)


@pytest.mark.parametrize(("text", "name"), [("East US", "eastus"), ("swedencentral", "swedencentral")])
def test_a_location_is_read_in_both_spellings(text: str, name: str) -> None:
    assert location_of(text) == name


@pytest.mark.parametrize("text", ["us-east-2", "", "east/us", "x"])
def test_what_is_no_location_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        location_of(text)


def row(*restrictions: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": A100,
        "family": "F",
        "locationInfo": [{"location": "EastUS", "zones": ["1", "2"]}],
        "restrictions": list(restrictions),
    }


def restriction(kind: str, zones: list[str], location: str = "eastus") -> dict[str, Any]:
    info = {"locations": [location], "zones": zones}
    return {"type": kind, "values": [location], "restrictionInfo": info, "reasonCode": "NotAvailableForSubscription"}


@pytest.mark.parametrize(
    ("restrictions", "zones", "refused", "restricted"),
    [
        ((), ("1", "2"), {}, ""),
        ((restriction("Zone", ["1"]),), ("2",), {"1": "NotAvailableForSubscription"}, ""),
        (
            (restriction("Zone", ["1", "2"]),),
            (),
            {"1": "NotAvailableForSubscription", "2": "NotAvailableForSubscription"},
            "NotAvailableForSubscription",
        ),
        ((restriction("Location", []),), ("1", "2"), {}, "NotAvailableForSubscription"),
        ((restriction("Location", [], "westus"),), ("1", "2"), {}, ""),
    ],
)
def test_a_restriction_of_zones_leaves_the_others_and_one_of_the_location_leaves_none(
    restrictions: tuple[dict[str, Any], ...], zones: tuple[str, ...], refused: dict[str, str], restricted: str
) -> None:
    found = sku(row(*restrictions), "eastus")
    assert (found.zones, found.refused, found.restricted) == (zones, refused, restricted)


def test_a_list_of_sizes_is_read_once_an_hour() -> None:
    skus = f"GET /subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/skus"
    api, network, clock = rig({skus: (200, {"value": [{"name": A100, "resourceType": "virtualMachines"}]})})
    sizes_ = Skus(api)
    for later in (0, 3600, 1):
        clock.now += later
        assert set(sizes_.at(scopes("eastus")[0])) == {A100.lower()}
    assert len(network.sent) == 2


def test_what_a_list_does_not_say_is_not_known() -> None:
    found = sku({"name": A100}, "eastus")
    assert (found.spot, found.reservable, found.gpus, found.family) == (None, None, None, "")
