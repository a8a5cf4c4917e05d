"""The figures of the article of 2026-09-24 come out of scenarios written to its findings and the bundled rates."""

from __future__ import annotations

import json

import pytest

from clouds.azure.checks import CHECKS, disks, words
from clouds.azure.prices import BUNDLED
from clouds.pricetable import rows_of
from clouds.replay import load
from tests.clouds.azure.checks.stage import FIXTURES, Account

FIGURES = (
    ("unused-public-ip/a_static_standard_address", {"old-ip (lab)": 3.65}),
    ("idle-nat-gateway/no_subnet", {"egress-old (lab)": 32.85}),
    ("idle-load-balancer/an_empty_pool_and_one_rule", {"api-lb (lab)": 18.25}),
    ("idle-load-balancer/an_empty_pool_and_an_address", {"api-lb (lab)": 21.90}),
    ("aks-idle-cluster/no_node_on_standard", {"scaled-to-zero (lab)": 73.00}),
    ("idle-dedicated-host/no_machine_on_a_dsv3_type3", {"host-idle (lab)": 3084.25}),
    ("unattached-disk/a_65_gib_and_a_128_gib_premium_disk", {"p10-65 (lab)": 19.71, "p10-128 (lab)": 19.71}),
    ("unattached-disk/a_4_gib_standard_disk_bills_as_32", {"s4 (lab)": 1.54}),
    ("unattached-disk/a_zone_redundant_premium_disk", {"zrs (lab)": 29.57}),
    ("idle-provisioned-deployment/fifteen_ptu_without_a_request", {"ptu/ptu-idle (lab)": 21900.00}),
    ("empty-container-apps-environment/a_dedicated_profile_and_no_app", {"empty-dedicated (lab)": 297.81}),
    ("idle-container-app/half_a_cpu_always_on", {"idle (lab)": 11.83}),
    ("orphaned-nic/no_machine_and_a_public_address", {"old (lab)": 3.65}),
    ("idle-app-service-plan/two_windows_instances_and_no_app", {"prod (lab)": 459.90}),
    ("unused-capacity-reservation/none_of_its_slots_is_used", {"d2 (lab)": 140.16}),
)


@pytest.mark.parametrize(("path", "figures"), FIGURES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_figure_of_the_article_comes_out(path: str, figures: dict[str, float], account: Account) -> None:
    result = account.scan(path.split("/", maxsplit=1)[0], load(FIXTURES / path))
    assert {each.name: each.usd_per_month for each in result.findings} == figures
    assert all(line.as_of for each in result.findings for line in each.meters)


def test_a_gpu_app_at_one_replica_is_priced_as_a_gpu_and_not_at_the_idle_rate(account: Account) -> None:
    scenario = load(FIXTURES / "gpu-container-app-warm" / "an_a100_app_at_min_replicas_1")
    found = account.scan("gpu-container-app-warm", scenario).findings[0]
    assert {line.key: line.quantity for line in found.meters} == {
        "container-apps/gpu-a100": 1,
        "container-apps/active-vcpu": 24,
        "container-apps/active-memory": 220,
    }
    assert found.usd_per_month == 4638.42
    assert account.scan("idle-container-app", scenario).findings == ()


def test_the_quiet_group_is_99_8_percent_one_registry(account: Account) -> None:
    scenario = load(FIXTURES / "quiet-resource-group" / "a_registry_is_99_8_percent_of_it")
    found = account.scan("quiet-resource-group", scenario).findings[0]
    assert found.evidence["USD in 30 days"] == 5.088
    assert found.evidence["dearest"] == "researchmeshacr"
    assert found.evidence["dearest %"] == 99.8
    assert found.reason.startswith("$5.09 in 30 days, researchmeshacr is 99.8% of it")


@pytest.mark.parametrize("name", ["v2 (lab)", "ultra (lab)"])
def test_premium_v2_and_ultra_say_that_iops_and_throughput_bill_on_top(name: str, account: Account) -> None:
    path = FIXTURES / "unattached-disk" / "premium_v2_and_ultra_bill_performance_on_top"
    found = next(each for each in account.scan("unattached-disk", load(path)).findings if each.name == name)
    assert "bill on top of its GiB" in found.reason
    assert found.bound == "at least"
    assert [line.key.partition("/")[0] for line in found.meters[1:]] == ["disk-iops", "disk-throughput"]
    assert [line.usd_per_month for line in found.meters[1:]] == [None, None]


@pytest.mark.parametrize(
    ("sku", "gib", "rung"),
    [
        ("Premium_LRS", 1, "P1-LRS"), ("Premium_LRS", 64, "P6-LRS"), ("Premium_LRS", 65, "P10-LRS"),
        ("Premium_ZRS", 128, "P10-ZRS"), ("Premium_LRS", 129, "P15-LRS"), ("StandardSSD_LRS", 4, "E1-LRS"),
        ("Standard_LRS", 4, "S4-LRS"), ("Standard_LRS", 32, "S4-LRS"), ("Standard_LRS", 33, "S6-LRS"),
        ("Premium_LRS", 32767, "P80-LRS"),
    ],
)  # fmt: skip
def test_a_disk_bills_at_the_rung_that_its_size_falls_into(sku: str, gib: int, rung: str) -> None:
    assert disks.tier(sku, gib) == rung


def test_a_machine_size_is_spelt_as_the_price_table_spells_it() -> None:
    sizes = {row.key.split("/")[1] for row in rows_of(BUNDLED) if row.key.startswith("vm/")}
    wrong = {name: words.size(name.upper()) for name in sizes if words.size(name.upper()) != name}
    assert wrong == {}


def test_every_meter_of_the_dear_scenarios_is_in_the_bundled_table() -> None:
    unpriced = {
        path.parent.parent.name
        for path in FIXTURES.rglob("expected.json")
        for each in json.loads(path.read_text("utf-8")).get("findings", ())
        if each["billing"] == "unpriced" and each["check"] in {check.id for check in CHECKS}
    }
    assert {
        "idle-provisioned-deployment", "gpu-container-app-warm", "idle-ml-endpoint", "idle-ml-compute",
        "stopped-not-deallocated-vm", "unused-capacity-reservation", "idle-dedicated-host",
    } & unpriced == set()  # fmt: skip
