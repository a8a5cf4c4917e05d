"""Permission to ask: two pools, opposite defaults, what dead queued resources hold, and what nobody could read."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.errors import CredentialExpired, InvalidInput, NotOffered
from clouds.gcp.quotas import GcpQuotas, what
from clouds.models import Quota, Read, Scope
from tests.clouds.gcp.recorded import NOW, Recorded
from tests.clouds.gcp.server import Google

LIST = "cloudquotas.projects.locations.services.quotaInfos.list"
ONE = "cloudquotas.projects.locations.services.quotaInfos.get"
NODES, QUEUED = "tpu.projects.locations.nodes.list", "tpu-v2alpha1.projects.locations.queuedResources.list"
LOCATIONS = "tpu.projects.locations.list"
DENIED = (403, {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "Permission 'x.y.list' denied"}})
NOT_FOUND = (404, {"error": {"code": 404, "status": "NOT_FOUND", "message": "no such quota"}})
V5E = (
    "TPUV5sLitepodPerProjectPerZoneForTPUAPI",
    "TPUV5sLitepodPerProjectPerRegionForTPUAPI",
    "TPUV5sPreemptibleLitepodPerProjectPerZoneForTPUAPI",
    "TPUV5sPreemptibleLitepodPerProjectPerRegionForTPUAPI",
)


def read(google: Google, *types: str, accelerator: str | None = None, at: str | None = None) -> Read[Quota]:
    scopes = (Scope(at),) if at else ()
    return GcpQuotas(google.api(), now=lambda: NOW).read(accelerator, types, scopes)


def row(quota: str, place: str, value: int) -> dict[str, Any]:
    where = "zone" if place[-2] == "-" else "region"
    return {"quotaId": quota, "dimensionsInfos": [{"dimensions": {where: place}, "details": {"value": str(value)}}]}


@pytest.mark.parametrize(
    ("scenario", "accelerator", "at"),
    [
        ("v6e/dead_queued_resources_hold_half_of_a_pool", "v6e", ()),
        ("v5e/the_zone_has_and_the_region_has_none", "v5e", (Scope("us-west4-a"),)),
        ("v5e/the_tpu_api_is_not_enabled", "v5e", (Scope("us-west4-a"),)),
        ("l4/memory_of_cloud_run_blocks_its_gpu", "L4", (Scope("us-central1"),)),
    ],
)
def test_from_recordings(scenario: str, accelerator: str, at: tuple[Scope, ...]) -> None:
    recorded = Recorded(f"quotas/{scenario}")
    recorded.check(GcpQuotas(recorded.api, now=lambda: NOW).read(accelerator, (), at))


def test_a_region_that_is_absent_has_1536_in_one_list_and_0_in_the_other(google: Google) -> None:
    google.on(ONE, lambda asked: {"quotaId": asked.parameters["name"].rsplit("/", 1)[-1]})
    google.on("compute.regions.list", {"items": [{"name": "us-east5"}, {"name": "us-south1"}]})
    google.on("compute.instances.aggregatedList", {})
    found = read(google, "ct6e-standard-1t").found
    assert {(each.code, each.scope): each.limit for each in found} == {
        ("TPUS-PER-TPU-FAMILY-per-project-region", "us-east5"): 0.0,
        ("TPUS-PER-TPU-FAMILY-per-project-region", "us-south1"): 0.0,
        ("PREEMPTIBLE-TPU-V6E-per-project-region", "us-east5"): 1536.0,
        ("PREEMPTIBLE-TPU-V6E-per-project-region", "us-south1"): 1536.0,
    }


def test_an_id_that_google_does_not_list_is_unread_and_not_zero(google: Google) -> None:
    google.on(LIST, {"quotaInfos": [row(V5E[0], "us-west4-a", 4)]})
    google.on(NODES, {})
    google.on(QUEUED, {})
    got = read(google, "v5litepod-1")
    assert [(each.code, each.limit) for each in got.found] == [(V5E[0], 4.0)]
    assert [each.reason.split(" of ")[0] for each in got.unread] == [
        f"Google lists no quota {name}" for name in V5E[1:]
    ]
    assert not got.complete


@pytest.mark.parametrize(
    ("quota", "answers"),
    [
        ("TPUV6ELitepodPerProjectPerZoneForTPUAPI", {LIST: {"quotaInfos": [row(V5E[0], "us-west4-a", 4)]}}),
        ("NvidiaL4GpuAllocPerProjectPerRegion", {LIST: {"quotaInfos": []}}),
        ("PREEMPTIBLE-TPU-V9-per-project-region", {ONE: NOT_FOUND}),
        ("NVIDIA_L5_GPUS", {"compute.regions.list": {"items": [{"name": "us-east1", "quotas": []}]}}),
    ],
)
def test_an_unknown_quota_id_of_the_person_is_an_error(google: Google, quota: str, answers: dict[str, Any]) -> None:
    for name, answer in answers.items():
        google.on(name, answer)
    with pytest.raises(InvalidInput, match=f"Google lists no quota {quota}"):
        read(google, quota)


def test_a_quota_can_be_asked_for_by_its_id(google: Google) -> None:
    google.on(LIST, {"quotaInfos": [row(V5E[0], "us-west4-a", 4)]})
    google.on(NODES, {"nodes": [{"name": "projects/p/locations/us-west4-a/nodes/n", "acceleratorType": "v5litepod-1"}]})
    google.on(QUEUED, {})
    (quota,) = read(google, V5E[0]).found
    assert (quota.limit, quota.used, quota.scope) == (4.0, 1.0, "us-west4-a")


def test_the_serving_pool_of_v5e_is_shown_beside_the_others(google: Google) -> None:
    serving = row("TPUV5sLitepodServingPerProjectPerZoneForTPUAPI", "us-west4-a", 128)
    metric = {"metric": "tpu.googleapis.com/tpu-v5s-litepod-serving"}
    google.on(LIST, {"quotaInfos": [*(row(name, "us-west4-a", 4) for name in V5E), {**serving, **metric}]})
    google.on(NODES, {})
    google.on(QUEUED, {})
    quota = read(google, "v5litepod-1").found[-1]
    assert (quota.name, quota.limit, quota.used) == ("v5e for serving in the TPU API, on demand, by zone", 128.0, None)


def test_a_quota_that_may_not_be_read_is_unread_and_said_once(google: Google) -> None:
    google.on(LIST, DENIED)
    google.on(NODES, {})
    google.on(QUEUED, {})
    got = read(google, "v5litepod-1")
    assert got.found == ()
    assert [(each.call, each.reason) for each in got.unread] == [
        (LIST, "PERMISSION_DENIED: Permission 'x.y.list' denied")
    ]


def test_what_is_used_is_unknown_where_it_could_not_be_counted(google: Google) -> None:
    google.on(LIST, {"quotaInfos": [row(name, "us-west4-a", 4) for name in V5E]})
    google.on(NODES, DENIED)
    google.on(QUEUED, {})
    got = read(google, "v5litepod-1")
    assert {each.used for each in got.found} == {None}
    assert [each.call for each in got.unread] == [NODES]


def test_zone_by_zone_where_google_takes_no_wildcard(google: Google) -> None:
    refused = (400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "location - is not supported"}})

    def nodes(asked: Any) -> Any:
        zone = asked.parameters["parent"].rsplit("/", 1)[-1]
        if zone == "-":
            return refused
        return {"nodes": [{"name": f"projects/p/locations/{zone}/nodes/n", "acceleratorType": "v5litepod-4"}]}

    google.on(LIST, {"quotaInfos": [row(name, "us-west4-a", 8) for name in V5E]})
    google.on(NODES, nodes)
    google.on(QUEUED, {})
    google.on(LOCATIONS, {"locations": [{"locationId": "us-west4-a"}, {"locationId": "us-west4-b"}]})
    assert [each.used for each in read(google, "v5litepod-1").found] == [4.0, 4.0, 0.0, 0.0]


def test_a_general_limit_gives_way_to_a_place_of_its_own(google: Google) -> None:
    general = {"details": {"value": "2"}, "applicableLocations": ["us-west4-a", "us-west4-b"]}
    info = row(V5E[0], "us-west4-a", 16)
    google.on(LIST, {"quotaInfos": [{**info, "dimensionsInfos": [*info["dimensionsInfos"], general]}]})
    google.on(NODES, {})
    google.on(QUEUED, {})
    found = read(google, V5E[0]).found
    assert {each.scope: each.limit for each in found} == {"us-west4-a": 16.0, "us-west4-b": 2.0}


def test_a_quota_without_a_limit_is_told_from_an_unknown_one(google: Google) -> None:
    google.on(LIST, {"quotaInfos": [row(V5E[0], "us-west4-a", -1)]})
    google.on(NODES, {})
    google.on(QUEUED, {})
    (quota,) = read(google, V5E[0]).found
    assert (quota.name, quota.limit) == ("v5e in the TPU API, on demand, by zone (no limit)", None)


def test_a_zone_that_was_asked_for_shows_its_region_and_no_other_place(google: Google) -> None:
    google.on(
        LIST, {"quotaInfos": [row(V5E[0], "us-west4-a", 1), row(V5E[1], "us-west4", 2), row(V5E[2], "us-west1-c", 3)]}
    )
    google.on(NODES, {})
    google.on(QUEUED, {})
    assert [each.scope for each in read(google, "v5litepod-1", at="us-west4-a").found] == ["us-west4-a", "us-west4"]


def test_an_ended_credential_is_an_error_and_not_an_unread_place(google: Google) -> None:
    expired = (401, {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "expired"}})
    for name in (LIST, NODES, QUEUED):
        google.on(name, expired)
    with pytest.raises(CredentialExpired):
        read(google, "v5litepod-1")


def test_each_world_of_a_chip_is_asked_for_its_own_types() -> None:
    tpu, _ = what(None, ("v6e-4",))
    gce, _ = what(None, ("ct6e-standard-4t",))
    both, _ = what("v6e", ())
    assert {pool.service for pool in tpu} == {"tpu.googleapis.com"}
    assert {pool.service for pool in gce} == {"compute.googleapis.com"}
    assert {pool.words for pool in both} == {pool.words for pool in (*tpu, *gce)}


@pytest.mark.parametrize(
    ("accelerator", "types", "kind"),
    [
        (None, (), InvalidInput),
        ("v7", (), InvalidInput),
        ("A10G", (), NotOffered),
        (None, ("g6.xlarge",), InvalidInput),
        (None, ("n2-standard-4",), InvalidInput),
        (None, ("ct5lp-hightpu-1t",), NotOffered),
    ],
)
def test_what_is_no_accelerator_or_type_here_is_refused(
    accelerator: str | None, types: tuple[str, ...], kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        what(accelerator, types)


@pytest.mark.parametrize("place", ["us-east-2", "nowhere", "", "US-EAST5", "us-east5/../x"])
def test_a_name_that_is_no_place_of_googles_is_refused(google: Google, place: str) -> None:
    with pytest.raises(InvalidInput, match="region"):
        GcpQuotas(google.api()).read("v5e", (), (Scope(place or "-"),))
