"""Hardware in the zone, provisioning model offered there, one free now: three answers, never one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clouds.errors import CredentialExpired, NoCapacity, NotOffered
from clouds.gcp.api import GcpApi
from clouds.gcp.capacity import GcpCapacity
from clouds.gcp.errors import of_operation
from clouds.gcp.prices import GcpPrices
from clouds.gcp.words import hourly
from clouds.models import Scope
from tests.clouds.gcp.recorded import NOW, Recorded
from tests.clouds.gcp.server import Google

TYPES, ZONES = "compute.machineTypes.aggregatedList", "tpu.projects.locations.acceleratorTypes.list"
RESERVED, FUTURE = "compute.reservations.aggregatedList", "compute.futureReservations.aggregatedList"
CALENDAR, ADVICE = "compute.advice.calendarMode", "compute.advice.capacity"
HISTORY, CARDS = "compute.advice.capacityHistory", "compute.acceleratorTypes.aggregatedList"
DENIED = (403, {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "no"}})


def reader(api: GcpApi, home: Path) -> GcpCapacity:
    return GcpCapacity(api, home, GcpPrices(None, home), now=lambda: NOW)


def listing(google: Google, **zones: list[str]) -> None:
    items = {
        f"zones/{z.replace('_', '-')}": {"machineTypes": [{"name": k} for k in kinds]} for z, kinds in zones.items()
    }
    google.on(TYPES, {"items": items})
    google.on(RESERVED, {"items": {}})
    google.on(FUTURE, {"items": {}})
    google.on(CALENDAR, {})
    google.on(ADVICE, {})
    google.on(HISTORY, {})


@pytest.mark.parametrize(
    ("scenario", "accelerator", "types", "at"),
    [
        (
            "v6e/calendar_mode_and_a_refused_flex_start",
            "v6e",
            (),
            (Scope("europe-west4"), Scope("us-central1-b"), Scope("us-south1")),
        ),
        ("v5e/compute_engine_lists_what_it_refuses", "v5e", ("ct5lp-hightpu-1t",), ()),
        ("l4/one_region_scores_and_one_is_denied", "L4", (), ()),
    ],
)
def test_from_recordings(
    scenario: str, accelerator: str, types: tuple[str, ...], at: tuple[Scope, ...], tmp_path: Path
) -> None:
    recorded = Recorded(f"capacity/{scenario}")
    recorded.check(reader(recorded.api, tmp_path).read(accelerator, types, at))


def test_no_answer_says_that_one_is_available(google: Google, tmp_path: Path) -> None:
    listing(google, us_east5_a=["ct6e-standard-1t"])
    (row,) = reader(google.api(), tmp_path).read(None, ("ct6e-standard-1t",), ()).found
    assert row.answer == "offered"
    assert "available" not in row.evidence


def test_a_list_that_could_not_be_read_is_unknown_and_not_absent(google: Google, tmp_path: Path) -> None:
    listing(google)
    google.on(TYPES, DENIED)
    got = reader(google.api(), tmp_path).read(None, ("ct6e-standard-1t",), (Scope("us-east5"),))
    assert [(row.scope, row.answer) for row in got.found] == [("us-east5", "unknown")]
    assert [row.call for row in got.unread] == [TYPES]


def test_a_place_that_lists_nothing_is_told_from_one_that_does(google: Google, tmp_path: Path) -> None:
    listing(google, us_east5_a=["ct6e-standard-1t"])
    scopes = (Scope("us-east5"), Scope("us-west4"))
    got = reader(google.api(), tmp_path).read(None, ("ct6e-standard-1t",), scopes)
    assert [(row.scope, row.answer) for row in got.found] == [("us-east5-a", "offered"), ("us-west4", "not offered")]


def test_a_refused_provisioning_model_is_remembered_with_its_date(google: Google, tmp_path: Path) -> None:
    listing(google, us_east5_a=["ct6e-standard-1t"])
    capacity = reader(google.api(), tmp_path)
    words = 'FLEX_START provisioning model is not supported for accelerator type "v6e-1" in location "us-east5-a"'
    error = of_operation({"error": {"code": 3, "message": words}}, "creating")
    assert isinstance(error, NotOffered)
    capacity.memory.refused("ct6e-standard-1t", "us-east5-a", "flex-start", error)
    (row,) = capacity.read(None, ("ct6e-standard-1t",), ()).found
    assert "flex-start of ct6e-standard-1t was refused here at 2026-11-29T15:00:00Z (FLEX_START prov" in row.evidence


def test_the_zones_that_a_stockout_named_are_used(google: Google, tmp_path: Path) -> None:
    listing(google, us_central1_a=["g2-standard-4"], us_central1_b=["g2-standard-4"])
    details = {"errorInfo": {"reason": "stockout", "metadatas": {"zonesAvailable": "us-central1-a,us-central1-f"}}}
    inner = {"code": "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", "message": "none", "errorDetails": [details]}
    error = of_operation({"error": {"errors": [inner]}}, "creating")
    assert isinstance(error, NoCapacity)
    capacity = reader(google.api(), tmp_path)
    capacity.memory.refused("g2-standard-4", "us-central1-b", "spot", error)
    evidence = {row.scope: row.evidence for row in capacity.read(None, ("g2-standard-4",), ()).found}
    assert (
        "Google named this zone as having g2-standard-4 at 2026-11-29T15:00:00Z, in a stockout of us-central1-b"
        in evidence["us-central1-a"]
    )
    assert (
        "spot of g2-standard-4 met a stockout here at 2026-11-29T15:00:00Z; Google then named us-central1-a, us"
        in (evidence["us-central1-b"])
    )


def test_advice_is_asked_for_spot_gpus_and_never_for_a_tpu(google: Google, tmp_path: Path) -> None:
    listing(google, us_east5_a=["ct6e-standard-1t", "g2-standard-4"])
    reader(google.api(), tmp_path).read(None, ("ct6e-standard-1t", "g2-standard-4"), ())
    (advice,) = [each for each in google.asked if each.name == ADVICE]
    assert advice.body == {
        "distributionPolicy": {"targetShape": "ANY_SINGLE_ZONE", "zones": [{"zone": "zones/us-east5-a"}]},
        "instanceProperties": {"scheduling": {"provisioningModel": "SPOT"}},
        "instanceFlexibilityPolicy": {"instanceSelections": {"asked": {"machineTypes": ["g2-standard-4"]}}},
        "size": 1,
    }
    assert CALENDAR not in google.operations


def test_a_card_that_any_machine_takes_is_looked_up_among_the_cards(google: Google, tmp_path: Path) -> None:
    listing(google)
    google.on(CARDS, {"items": {"zones/us-central1-b": {"acceleratorTypes": [{"name": "nvidia-tesla-t4"}]}}})
    got = reader(google.api(), tmp_path).read("T4", (), ())
    assert [(row.scope, row.answer, row.evidence) for row in got.found] == [
        ("us-central1-b", "offered", "Compute Engine lists nvidia-tesla-t4")
    ]
    assert {TYPES, ADVICE} & set(google.operations) == set()


def test_calendar_mode_is_asked_where_a_region_was_named(google: Google, tmp_path: Path) -> None:
    listing(google, us_east5_a=["ct6e-standard-4t"])
    reader(google.api(), tmp_path).read(None, ("ct6e-standard-4t",), (Scope("us-east5"),))
    (asked,) = [each for each in google.asked if each.name == CALENDAR]
    spec = asked.body["futureResourcesSpecs"]["asked"]
    assert spec["targetResources"]["aggregateResources"] == {
        "vmFamily": "VM_FAMILY_CLOUD_TPU_LITE_POD_SLICE_CT6E",
        "acceleratorCount": "4",
        "workloadType": "SERVING",
    }
    assert spec["timeRangeSpec"]["startTimeNotEarlierThan"] == "2026-11-30T15:00:00Z"


def test_what_spot_cost_and_how_often_it_was_taken_is_asked_where_a_region_was_named(
    google: Google, tmp_path: Path
) -> None:
    listing(google, us_central1_a=["g2-standard-4", "g2-standard-8"])
    days = {"startTime": "2026-11-20T00:00:00Z", "endTime": "2026-11-28T00:00:00Z"}
    older = {"interval": {"startTime": "2026-10-01T00:00:00Z"}, "listPrice": {"nanos": 1}}
    price = {"interval": days, "listPrice": {"currencyCode": "USD", "nanos": 310000000}}
    taken = {"interval": days, "preemptionRate": 0.04}
    google.on(HISTORY, {"priceHistory": [price, older], "preemptionHistory": [taken]})
    (row,) = reader(google.api(), tmp_path).read("L4", (), (Scope("us-central1"),)).found
    assert "spot g2-standard-4 lists $0.31 an hour since 2026-11-20, 4% were preempted until 2026-11-28" in row.evidence
    google.on(HISTORY, {})
    (row,) = reader(google.api(), tmp_path).read("L4", (), (Scope("us-central1"),)).found
    assert "preempted" not in row.evidence


def test_nothing_that_is_asked_makes_anything(google: Google, tmp_path: Path) -> None:
    from clouds.gcp.policy import reads
    from clouds.readonly import ReadOnly

    listing(google, us_east5_a=["ct6e-standard-1t", "g2-standard-4"])
    google.on(ZONES, {})
    google.on("tpu.projects.locations.list", {})
    reader(google.api(ReadOnly(reads())), tmp_path).read("v6e", ("g2-standard-4",), (Scope("us-east5"),))
    assert {each.name for each in google.asked} <= reads()


def test_what_a_probe_would_cost_is_said_and_no_probe_is_sent(google: Google, tmp_path: Path) -> None:
    listing(google, us_east5_a=["ct6e-standard-1t"])
    notes = reader(google.api(), tmp_path).read(None, ("ct6e-standard-1t",), ()).notes
    assert (
        "$0.0234 for a minute in us-east5-a (spot, 2026-08-10). It is sent only when asked for: deploy_endpoint"
        in notes[-1]
    )
    assert "compute.instances.insert" not in google.operations


@pytest.mark.parametrize(
    ("kind", "words"),
    [("v5litepod-8", "v5e is made by the TPU API alone"), ("v6e-8", "Ask for fewer chips"), ("v6e-1", "only a create")],
)
def test_what_we_advise_comes_with_its_evidence(google: Google, tmp_path: Path, kind: str, words: str) -> None:
    google.on(ZONES, {})
    assert any(
        note.startswith(words) or words in note for note in reader(google.api(), tmp_path).read(None, (kind,), ()).notes
    )


def test_an_ended_credential_is_an_error(google: Google, tmp_path: Path) -> None:
    listing(google)
    expired: Any = (401, {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "expired"}})
    google.on(TYPES, expired)
    with pytest.raises(CredentialExpired):
        reader(google.api(), tmp_path).read(None, ("g2-standard-4",), ())


@pytest.mark.parametrize(("usd", "words"), [(0.6, "$0.60"), (1.35, "$1.35"), (1.4033, "$1.4033"), (0.592665, "$0.5927"),
                                            (12, "$12.00"), (0.607, "$0.607")])  # fmt: skip
def test_a_rate_is_said_in_cents_and_with_the_decimals_that_it_has(usd: float, words: str) -> None:
    assert hourly(usd) == f"{words} an hour"
