"""The calls that roles are generated from are those that are sent, no more and no fewer."""

from __future__ import annotations

from clouds.gcp import methods
from clouds.models import Change, EndpointRef
from clouds.readonly import reads
from tests.clouds.gcp.rig import Rig


def changes(rig: Rig) -> set[str]:
    """What was sent that changes something, less the asking for a token's worth."""
    found = set()
    for one in rig.seam.sent:
        service, _, operation = one.name.partition(".")
        if not methods.table(service)[operation].reads:
            found.add(one.name)
    return found


def test_what_changes_something_is_declared_by_each_service(rig: Rig) -> None:
    rig.deploy("gce")
    gce = EndpointRef("gcp", "gce", "us-east5-a", "gemma")
    rig.gce.update(gce, Change(settings={"max_model_len": 4096}), rig.book, rig.heard)
    rig.gce.delete(gce, rig.book, rig.heard)
    assert changes(rig) == {str(call) for call in rig.gce.writes}

    rig.seam.sent.clear()
    tpu = EndpointRef("gcp", "tpu", "us-west4-a", "gemma")
    for settings in ({}, {"market": "flex-start"}, {"queued": True}):
        rig.deploy("tpu", settings=settings)
        if not settings:
            rig.tpu.update(tpu, Change(ttl_hours=8), rig.book, rig.heard)
        rig.tpu.delete(tpu, rig.book, rig.heard)
        for row in rig.book.deployments.live():
            rig.book.deployments.ended(row.id, "for the next")
    written = {str(call) for call in rig.tpu.writes}
    assert changes(rig) <= written
    assert written - changes(rig) <= {"tpu.projects.locations.queuedResources.delete"}

    rig.seam.sent.clear()
    rig.deploy("run")
    run = EndpointRef("gcp", "run", "us-central1", "gemma")
    rig.run.update(run, Change(ttl_hours=8), rig.book, rig.heard)
    rig.run.delete(run, rig.book, rig.heard)
    written = {str(call) for call in rig.run.writes}
    assert changes(rig) <= written
    assert written - changes(rig) == {"iamcredentials.projects.serviceAccounts.generateIdToken"}


def test_planning_sends_only_what_is_declared_to_read(rig: Rig) -> None:
    rig.project.buckets["b"] = "US"
    for service in ("gce", "tpu", "run"):
        rig.seam.sent.clear()
        chosen = rig.service(service)
        plan = chosen.plan(rig.spec(service, model="gs://demo-bucket/gemma-4-E2B-it"))
        assert plan.steps
        assert changes(rig) == set(), service
        from clouds.gcp.identity import READS as WHO
        from clouds.gcp.quotas import READS as QUOTA

        allowed = reads(chosen.reads) | reads(WHO) | reads(QUOTA)  # type: ignore[attr-defined]
        assert set(rig.seam.operations()) <= allowed, service
