"""Against a real Google Cloud project: only with MODELRIG_LIVE=1; nothing is created without MODELRIG_LIVE_SPEND=1 too.

MODELRIG_LIVE=1 GOOGLE_CLOUD_PROJECT=my-project python -m pytest tests/live/test_gcp.py -s
MODELRIG_LIVE=1 MODELRIG_LIVE_RECORD=DIR …  writes every answer, scrubbed, as fixtures into DIR/<test>
MODELRIG_LIVE=1 MODELRIG_LIVE_SPEND=1 …     deploys Gemma 4 E2B on one chip or L4 for an hour at most, then deletes it
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from clouds.base import Cloud
from clouds.errors import CloudError
from clouds.gcp import connect, session
from clouds.gcp.api import GcpApi
from clouds.gcp.capacity import GcpCapacity
from clouds.gcp.identity import GcpIdentity
from clouds.gcp.policy import reads
from clouds.gcp.prices import GcpPrices
from clouds.gcp.quotas import GcpQuotas
from clouds.gcp.refresh import refresh
from clouds.models import Call, DeploymentSpec, EndpointRef, Scope
from clouds.readonly import ReadOnly
from clouds.record import Recorder, Scrubber
from clouds.replay import Tap
from tools.ledger import Book
from tools.progress import CallProgress

OURS = ("GOOGLE_", "CLOUDSDK_", "MODELRIG_LIVE", "MODELRIG_GCP_", "GCE_METADATA_", "GCLOUD_PROJECT")
LIVE = {name: value for name, value in os.environ.items() if name.startswith(OURS)}
"""Taken before the tests' own fixtures scrub the environment."""

if LIVE.get("MODELRIG_LIVE") != "1":
    pytest.skip("MODELRIG_LIVE is not 1: the real Google Cloud project is not asked", allow_module_level=True)

REGIONS = tuple(LIVE.get("MODELRIG_LIVE_REGIONS", "us-central1,us-east5,europe-west4,us-west4").split(","))
SCOPES = tuple(Scope(region) for region in REGIONS)


@pytest.fixture(autouse=True)
def signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's own sign-in, and the network, for these tests alone."""
    monkeypatch.undo()
    for name, value in LIVE.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def api(request: pytest.FixtureRequest) -> Iterator[GcpApi]:
    """An api that can only read; with MODELRIG_LIVE_RECORD it also writes down what Google answers."""
    taps: list[Tap] = [ReadOnly(reads() | {"tpu.projects.locations.nodes.get"})]
    if folder := LIVE.get("MODELRIG_LIVE_RECORD"):
        project = session.build().project
        scrubber = Scrubber({project: session.RECORDED} if project else {})
        today = datetime.now(UTC).date()
        taps.append(Recorder(Path(folder) / request.node.name, source="a real project", on=today, scrubber=scrubber))
    made = GcpApi(taps=taps)
    yield made
    made.close()


def test_who_is_signed_in(api: GcpApi) -> None:
    identity = GcpIdentity(api).read()
    print(identity)
    assert identity.principal
    assert identity.account


@pytest.mark.parametrize("accelerator", ["v5e", "v6e", "L4"])
def test_quota_of_both_pools(api: GcpApi, accelerator: str) -> None:
    read = GcpQuotas(api).read(accelerator, (), SCOPES)
    print(*(f"{each.scope}: {each.name} {each.used} of {each.limit} ({each.code})" for each in read.found), sep="\n")
    print(*read.unread, *read.not_applicable, *read.notes, sep="\n")
    assert read.found
    assert not [each for each in read.unread if "lists no quota" in each.reason], "an id of ours is wrong"


@pytest.mark.parametrize("accelerator", ["v5e", "v6e", "L4"])
def test_three_answers_about_capacity(api: GcpApi, tmp_path: Path, accelerator: str) -> None:
    read = GcpCapacity(api, tmp_path, GcpPrices(None, tmp_path)).read(accelerator, (), SCOPES)
    print(*(f"{each.scope}: {each.answer} ({each.evidence})" for each in read.found), sep="\n")
    print(*read.unread, *read.not_applicable, *read.notes, sep="\n")
    assert read.found


def test_whether_the_tpu_api_takes_every_zone_at_once(api: GcpApi) -> None:
    answer = api.send(Call("tpu", "projects.locations.nodes.list"), scope=Scope())
    print(answer)


def test_the_catalogue_makes_a_whole_table(api: GcpApi, tmp_path: Path) -> None:
    done = refresh(api, tmp_path)
    print(*done.sections, *done.suspect, sep="\n")
    assert GcpPrices(None, tmp_path).price("tpu/v6e/flex-start", "europe-west4") is not None


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return connect(tmp_path)


SPEC = DeploymentSpec(
    cloud="gcp",
    service="gce",
    name="modelrig-live-test",
    model="google/gemma-4-E2B-it",
    max_usd_per_hour=4.0,
    ttl_hours=1.0,
)
HOW = {
    "gce": {"settings": {"market": "spot"}, "location": "us-east5"},
    "tpu": {"settings": {"market": "flex-start"}, "location": "us-west4-a"},
    "run": {"location": "us-central1", "model": LIVE.get("MODELRIG_LIVE_GS_MODEL", "")},
}


def spec(service: str) -> DeploymentSpec:
    """What is deployed on that service; Cloud Run mounts weights from a bucket, which only a person can name."""
    if service == "run" and not HOW["run"]["model"]:
        pytest.skip("MODELRIG_LIVE_GS_MODEL names no gs://bucket/folder with weights")
    return replace(SPEC, service=service, **HOW[service])  # type: ignore[arg-type] # a table of its fields


@pytest.mark.parametrize("service", sorted(HOW))
def test_a_plan_finds_place_quota_and_price(cloud: Cloud, service: str) -> None:
    plan = cloud.endpoints[service].plan(spec(service))
    print(*(f"{step.text}\n    {step.command}" for step in plan.steps), *plan.warnings, *plan.left_out, sep="\n")
    assert plan.price is not None


@pytest.mark.parametrize("service", sorted(HOW))
def test_everything_of_ours_can_be_listed(cloud: Cloud, service: str) -> None:
    found = cloud.endpoints[service].list(scope=Scope())
    print([one.ref for one in found.found], [f"{one.scope}: {one.reason}" for one in found.unread])


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("service", sorted(HOW))
def test_a_deployment_gives_a_token_and_is_gone_again(cloud: Cloud, tmp_path: Path, service: str) -> None:
    if LIVE.get("MODELRIG_LIVE_SPEND") != "1":
        pytest.skip("MODELRIG_LIVE_SPEND is not 1: nothing that bills is created")
    endpoints, book = cloud.endpoints[service], Book(tmp_path)
    plan = endpoints.plan(spec(service))
    plan = replace(plan, deployment=book.deployments.begin(plan.spec, plan))
    progress = CallProgress(lambda message, _done, _total: print(message))
    ref: EndpointRef = plan.ref
    try:
        endpoint = endpoints.create(plan, book, progress)
        ref = EndpointRef.parse(endpoint.ref)
        print(endpoint)
        assert endpoint.state == "ready"
        print(*endpoints.logs(ref, since=timedelta(hours=1), limit=20).lines, sep="\n")
    except CloudError as error:
        pytest.fail(f"{error.kind}: {error} ({error.fix})")
    finally:
        deletion = endpoints.delete(ref, book, progress)
        print(deletion)
        book.close()
    assert deletion.gone
