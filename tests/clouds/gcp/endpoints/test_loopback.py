"""The whole way over a socket: Google's own packages make and end machine and node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints.gce import Gce
from clouds.gcp.endpoints.tpu import Tpu
from clouds.gcp.identity import GcpIdentity
from clouds.gcp.prices import GcpPrices
from clouds.gcp.quotas import GcpQuotas
from clouds.models import DeploymentSpec, EndpointRef
from tests.clouds.gcp import rig as rigs
from tests.clouds.gcp.rig import DIGEST, Heard
from tests.clouds.gcp.server import Asked, Google
from tests.clouds.gcp.simulator import OPERATIONS, Project
from tests.clouds.gcp.simulator.project import Refused
from tools.ledger import Book


@pytest.fixture
def world(tmp_path: Path, engine: int) -> Iterator[tuple[Google, Project, GcpApi, dict[str, Any]]]:
    """The simulated project behind a real server, and what the services are made from."""
    project = rigs.usual()
    with Google() as google:
        for name, handler in OPERATIONS.items():
            google.on(name, _answering(project, handler))
        api = google.api()
        common: dict[str, Any] = {
            "now": project.now, "pause": project.clock.sleep, "digest": lambda _: DIGEST,
            "open_tunnel": lambda _target, _token: (engine, lambda: None),
        }  # fmt: skip
        yield google, project, api, common


def _answering(project: Project, handler: Callable[..., Any]) -> Callable[[Asked], Any]:
    def answer(asked: Asked) -> Any:
        try:
            return handler(project, asked.parameters)
        except Refused as error:
            return error.status, error.body

    return answer


def spec(service: str, zone: str) -> DeploymentSpec:
    return DeploymentSpec("gcp", service, "gemma", "google/gemma-4-E2B-it", location=zone, max_usd_per_hour=4.0)


def sent_by(google: Google, name: str) -> str:
    """What the sender says of itself in the header that Google's packages set."""
    (asked,) = [one for one in google.asked if one.name == name]
    return {key.lower(): value for key, value in asked.headers.items()}.get("x-goog-api-client", "")


def test_a_machine_is_made_and_deleted_by_compute_v1(
    world: tuple[Google, Project, GcpApi, dict[str, Any]], tmp_path: Path
) -> None:
    google, project, api, common = world
    service = Gce(api, GcpIdentity(api), GcpQuotas(api, now=project.now), GcpPrices(None, tmp_path), **common)
    from dataclasses import replace

    with Book(tmp_path, clock=project.now) as book:
        plan = service.plan(spec("gce", "us-east5-a"))
        plan = replace(plan, deployment=book.deployments.begin(plan.spec, plan))
        assert service.create(plan, book, Heard(project)).state == "ready"
        assert service.delete(EndpointRef("gcp", "gce", "us-east5-a", "gemma"), book, Heard(project)).gone
    for name in ("compute.instances.insert", "compute.instances.delete"):
        assert "gapic/" in sent_by(google, name), f"{name} did not go through google-cloud-compute"
    assert project.billing() == []


def test_a_node_is_made_read_and_deleted_by_tpu_v2(
    world: tuple[Google, Project, GcpApi, dict[str, Any]], tmp_path: Path
) -> None:
    google, project, api, common = world
    service = Tpu(api, GcpIdentity(api), GcpQuotas(api, now=project.now), GcpPrices(None, tmp_path), **common)
    from dataclasses import replace

    with Book(tmp_path, clock=project.now) as book:
        plan = service.plan(spec("tpu", "us-west4-a"))
        plan = replace(plan, deployment=book.deployments.begin(plan.spec, plan))
        assert service.create(plan, book, Heard(project)).state == "ready"
        before = len(google.asked)
        service.get(EndpointRef("gcp", "tpu", "us-west4-a", "gemma"))
        read = next(one for one in google.asked[before:] if one.name == "tpu.projects.locations.nodes.get")
        assert "gapic/" in {key.lower(): value for key, value in read.headers.items()}["x-goog-api-client"]
        assert service.delete(EndpointRef("gcp", "tpu", "us-west4-a", "gemma"), book, Heard(project)).gone
    for name in ("tpu.projects.locations.nodes.create", "tpu.projects.locations.nodes.delete"):
        assert "gapic/" in sent_by(google, name), f"{name} did not go through google-cloud-tpu"
    assert project.billing() == []
