"""Azure's own published examples (their nextLinks are made up, and cut) through our readers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clouds.azure.capacity import AzureCapacity
from clouds.azure.capacity_reads import Score, models, profile_types, scores
from clouds.azure.quotas import AzureQuotas
from clouds.azure.skus import Sku, Skus
from clouds.azure.vmsizes import endpoint_sizes
from clouds.models import Call, Scope
from tests.clouds.azure.rig import SUBSCRIPTION, Answer, rig

EXAMPLES = Path(__file__).parents[4] / "shared" / "recordings" / "azure-rest-api-examples"
BASE = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft"
HERE = Scope("westus", SUBSCRIPTION)


def example(name: str) -> Any:
    if not EXAMPLES.is_dir():
        pytest.skip("the published examples are not beside this checkout")
    read = json.loads((EXAMPLES / f"{name}.json").read_text("utf-8"))
    body = read.get("200", read)
    return {key: value for key, value in body.items() if key != "nextLink"}


def over(answers: dict[str, str]) -> Any:
    found: dict[str, Answer | list[Answer]] = {address: (200, example(name)) for address, name in answers.items()}
    return rig(found)[0]


def test_the_sizes_of_a_location() -> None:
    api = over({f"GET {BASE}.Compute/skus": "compute_resource_skus_region"})
    assert Skus(api).at(HERE) == {
        "standard_a0": Sku("Standard_A0", "standardA0_A7Family", ("1", "2"), spot=False, vcpus=1)
    }


def test_the_sizes_of_azure_ml_and_their_prices() -> None:
    where = f"GET {BASE}.MachineLearningServices/locations/westus/vmSizes"
    found = endpoint_sizes(over({where: "ml_vm_sizes_list"}), HERE)
    now = datetime(2026, 11, 29, tzinfo=UTC)
    prices = {
        name: [price.amount if (price := size.price(now, low_priority=low)) else None for low in (False, True)]
        for name, size in found.items()
    }
    assert prices == {"standard_ds1_v2": [0.07, 0.01], "standard_ds2_v2": [0.15, 0.03]}
    assert [name for name, size in found.items() if size.endpoints] == ["standard_ds2_v2"]


def test_the_spot_placement_scores() -> None:
    where = f"POST {BASE}.Compute/locations/westus/placementScores/spot/generate"
    found = scores(over({where: "compute_spot_placement_scores"}), [HERE], ["Standard_D2_v2"])
    assert found == {
        ("eastus", "standard_d2_v2"): (Score("1", "High", True),),
        ("eastus2", "standard_d2_v2"): (Score("1", "DataNotFoundOrStale", True),),
    }


def test_the_workload_profiles_of_container_apps() -> None:
    where = f"GET {BASE}.App/locations/westus/availableManagedEnvironmentsWorkloadProfileTypes"
    assert profile_types(over({where: "app_available_workload_profiles"}), HERE) == {"d4", "nc48-a100", "consumption"}


def test_a_dedicated_gpu_profile_that_the_example_names_is_offered() -> None:
    where = f"GET {BASE}.App/locations/westus/availableManagedEnvironmentsWorkloadProfileTypes"
    read = AzureCapacity(over({where: "app_available_workload_profiles"})).read(None, ("NC48-A100",), [HERE])
    assert [each.answer for each in read.found] == ["offered"]


def test_the_usages_of_foundry() -> None:
    where = f"GET {BASE}.CognitiveServices/locations/westus/usages"
    read = AzureQuotas(over({where: "cog_usages"})).read(None, ("foundry",), [HERE])
    assert [(each.name, each.limit, each.used, each.unit) for each in read.found] == [
        ("Foundry: Cognitive Services total account limit", 200.0, 3.0, "accounts")
    ]


def test_how_much_of_a_model_foundry_would_deploy() -> None:
    offered = {"value": [{"model": {"format": "OpenAI", "name": "ada", "version": "1"}}]}
    base = f"GET {BASE}.CognitiveServices/locations/westus"
    api, _, _ = rig(
        {f"{base}/models": (200, offered), f"{base}/modelCapacities": (200, example("cog_location_model_capacities"))}
    )
    assert models(api, HERE, ["ada", "none"]) == {"ada": ("1 Standard: 300",), "none": ()}


def test_the_tenants_and_a_subscription_that_others_manage() -> None:
    api = over({"GET /tenants": "tenants_list", "GET /subscriptions": "subscriptions_list"})
    tenants = api.directory.tenants()
    assert [(each.name, each.category, len(each.subscriptions)) for each in tenants] == [
        ("Test_Test_aad50", "ManagedBy", 1),
        ("Contoso Corp.", "Home", 0),
        ("TEST_TEST_RDV", "ProjectedBy", 0),
    ]
    assert tenants[0].subscriptions[0].managed_by == ("8f70baf1-1f6e-46a2-a1ff-238dac1ebfb7",)


def test_a_page_of_resource_graph_has_a_next_one() -> None:
    first = example("resourcegraph_next_page")
    last = {key: value for key, value in first.items() if key != "$skipToken"}
    api, network, _ = rig({"POST /providers/Microsoft.ResourceGraph/resources": [(200, first), (200, last)]})
    answer = api.send(Call("Microsoft.ResourceGraph/resources", "query", {"body": {"query": "x"}}), scope=Scope())
    assert answer["data"] == [*first["data"], *first["data"]]
    assert network.sent[1].body == {"query": "x", "options": {"$skipToken": first["$skipToken"]}}
