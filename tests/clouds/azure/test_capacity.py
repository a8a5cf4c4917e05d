from __future__ import annotations

from datetime import UTC, datetime

import pytest

from clouds.azure.capacity import AzureCapacity
from clouds.azure.vmsizes import SOURCE, endpoint_sizes
from clouds.errors import NotSignedIn
from clouds.models import Scope
from tests.clouds.azure.recorded import NOW, Recorded
from tests.clouds.azure.rig import SUBSCRIPTION, problem, rig

A100 = "Standard_NC24ads_A100_v4"
MADE_UP = "available"


def scopes(*locations: str) -> list[Scope]:
    return [Scope(location, SUBSCRIPTION) for location in locations]


def capacity(scenario: Recorded) -> AzureCapacity:
    return AzureCapacity(scenario.api, now=lambda: NOW)


def test_what_is_offered_is_said_with_its_zones_scores_and_endpoints() -> None:
    scenario = Recorded("capacity/a100/offered_with_spot_scores_by_zone")
    scenario.check(capacity(scenario).read("A100-80GB", (), scopes("eastus")))


def test_restricted_and_not_offered_are_two_answers_and_a_missing_score_is_unread() -> None:
    scenario = Recorded("capacity/a100/restricted_in_one_place_one_zone_left_in_another_not_offered_in_a_third")
    read = capacity(scenario).read(None, (A100,), scopes("eastus", "eastus2", "uksouth"))
    scenario.check(read)
    assert [each.answer for each in read.found] == ["restricted", "offered", "not offered"]
    assert not read.complete


def test_where_the_sizes_cannot_be_read_the_answer_is_unknown_whatever_a_score_says() -> None:
    scenario = Recorded("capacity/a100/the_list_of_sizes_is_denied")
    scenario.check(capacity(scenario).read(None, (A100,), scopes("eastus")))


def test_foundry_says_how_much_of_a_model_it_would_deploy() -> None:
    scenario = Recorded("capacity/foundry/how_much_of_a_model")
    scenario.check(capacity(scenario).read(None, ("foundry:gpt-5-mini",), scopes("eastus")))


def test_no_answer_ever_says_that_one_is_free() -> None:
    for name in ("offered_with_spot_scores_by_zone", "the_list_of_sizes_is_denied"):
        scenario = Recorded(f"capacity/a100/{name}")
        read = capacity(scenario).read(None, (A100,), scopes("eastus"))
        assert [each for each in read.found if MADE_UP in each.answer] == []


def test_a_sign_in_that_works_nowhere_is_one_error() -> None:
    base = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft"
    denied = (401, problem("InvalidAuthenticationToken", "no"))
    api, _, _ = rig(
        {
            f"GET {base}.Compute/skus": denied,
            f"GET {base}.MachineLearningServices/locations/eastus/vmSizes": denied,
            f"POST {base}.Compute/locations/eastus/placementScores/spot/generate": denied,
        }
    )
    with pytest.raises(NotSignedIn):
        AzureCapacity(api).read(None, (A100,), scopes("eastus"))


def test_scores_are_asked_for_eight_locations_and_five_sizes_at_a_time() -> None:
    base = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft"
    places = [f"place{n}" for n in "abcdefghij"]
    empty = (200, {"value": [{"name": "x", "resourceType": "disks"}]})
    scores = {f"POST {base}.Compute/locations/{place}/placementScores/spot/generate": (200, {}) for place in places}
    sizes = {f"GET {base}.MachineLearningServices/locations/{place}/vmSizes": empty for place in places}
    api, network, _ = rig({f"GET {base}.Compute/skus": empty, **scores, **sizes})
    kinds = tuple(f"Standard_X{n}" for n in range(6))
    AzureCapacity(api).read(None, kinds, scopes(*places))
    asked = [(len(s.body["desiredLocations"]), len(s.body["desiredSizes"])) for s in network.sent if s.body]
    assert sorted(asked) == [(2, 1), (2, 5), (8, 1), (8, 5)]


def test_azure_ml_estimates_prices_for_linux_in_dollars_and_says_what_endpoints_take() -> None:
    scenario = Recorded("capacity/a100/offered_with_spot_scores_by_zone")
    found = endpoint_sizes(scenario.api, Scope("eastus", SUBSCRIPTION))[A100.lower()]
    now = datetime(2026, 11, 29, tzinfo=UTC)
    price, spot = found.price(now), found.price(now, low_priority=True)
    assert price is not None
    assert spot is not None
    assert (price.amount, price.basis, price.as_of, price.source) == (
        3.673,
        "on demand, estimated",
        "2026-11-29",
        SOURCE,
    )
    assert (spot.amount, spot.basis, found.endpoints) == (0.735, "low priority, estimated", True)


@pytest.mark.parametrize(
    "prices",
    [
        {"billingCurrency": "EUR", "unitOfMeasure": "OneHour", "values": [{"osType": "Linux", "retailPrice": 1}]},
        {"billingCurrency": "USD", "unitOfMeasure": "OneDay", "values": [{"osType": "Linux", "retailPrice": 1}]},
        {
            "billingCurrency": "USD",
            "unitOfMeasure": "OneHour",
            "values": [{"osType": "Linux", "vmTier": "Standard", "retailPrice": 0}],
        },
        {
            "billingCurrency": "USD",
            "unitOfMeasure": "OneHour",
            "values": [{"osType": "Windows", "vmTier": "Standard", "retailPrice": 9}],
        },
        {},
    ],
)
def test_an_estimate_in_another_currency_for_another_system_or_of_zero_is_unknown(prices: dict[str, object]) -> None:
    where = f"GET /subscriptions/{SUBSCRIPTION}/providers/Microsoft.MachineLearningServices/locations/eastus/vmSizes"
    api, _, _ = rig({where: (200, {"value": [{"name": A100, "estimatedVMPrices": prices}]})})
    found = endpoint_sizes(api, Scope("eastus", SUBSCRIPTION))[A100.lower()]
    assert found.price(datetime(2026, 11, 29, tzinfo=UTC)) is None


def test_a_failure_in_one_question_leaves_the_answers_of_the_others() -> None:
    base = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft"
    api, _, _ = rig(
        {
            f"GET {base}.Compute/skus": (200, {"value": [{"name": A100, "resourceType": "virtualMachines"}]}),
            f"GET {base}.MachineLearningServices/locations/eastus/vmSizes": (500, None),
            f"POST {base}.Compute/locations/eastus/placementScores/spot/generate": (
                403,
                problem("AuthorizationFailed"),
            ),
        },
        attempts=1,
    )
    read = AzureCapacity(api).read(None, (A100,), scopes("eastus"))
    assert [each.answer for each in read.found] == ["offered"]
    assert [each.call for each in read.unread] == [
        "Microsoft.Compute/locations/placementScores/spot.generate",
        "Microsoft.MachineLearningServices/locations/vmSizes.list",
    ]
