"""A simulated project with the real services, the real ledger and a clock that only moves when somebody waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from clouds.base import EndpointService
from clouds.errors import Cancelled
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import tunnel
from clouds.gcp.endpoints.gce import Gce
from clouds.gcp.endpoints.run import CloudRun
from clouds.gcp.endpoints.run.idtoken import Made
from clouds.gcp.endpoints.tpu import Tpu
from clouds.gcp.identity import GcpIdentity
from clouds.gcp.prices import GcpPrices
from clouds.gcp.quotas import GcpQuotas
from clouds.gcp.session import Session, Source
from clouds.models import DeploymentPlan, DeploymentSpec, Endpoint
from tests import ledgers
from tests.clouds.gcp.simulator import NAME, Project, Seam, boot
from tools.ledger import Book

DIGEST = "sha256:" + "ab" * 32


@cache
def shared() -> tuple[Seam, GcpApi]:
    """One seam and one api for every test: making its client and Google's own takes most of the time."""
    seam = Seam(Project())
    session = Session(Source("recorded"), NAME, "the test", "us-central1")
    return seam, GcpApi(build=lambda: session, taps=(seam,), attempts=1, sleep=seam.wait)


@dataclass
class Heard:
    """A progress on the simulated clock. `stop_when` sees each message and may ask to stop."""

    project: Project
    said: list[str] = field(default_factory=list)
    stop_when: Callable[[str], bool] = lambda _: False
    stopped: bool = False

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        self.said.append(message)
        self.stopped = self.stopped or self.stop_when(message)
        self.check()

    def check(self) -> None:
        if self.stopped:
            raise Cancelled

    def sleep(self, seconds: float) -> None:
        self.check()
        self.project.clock.sleep(seconds)


@dataclass
class Rig:
    """All that a test of an endpoint service needs."""

    project: Project
    seam: Seam
    api: GcpApi
    book: Book
    heard: Heard
    gce: Gce
    tpu: Tpu
    run: CloudRun
    engine_port: int
    tunnels: list[str] = field(default_factory=list)

    def service(self, name: str) -> EndpointService:
        found: EndpointService = {"gce": self.gce, "tpu": self.tpu, "run": self.run}[name]  # type: ignore[assignment]
        return found

    def spec(self, service: str = "gce", **changes: Any) -> DeploymentSpec:
        """Gemma 4 E2B on one v6e of Compute Engine, one v5e of the TPU API, or one L4 of Cloud Run."""
        zone = {"gce": "us-east5-a", "tpu": "us-west4-a", "run": "us-central1"}[service]
        base = DeploymentSpec(
            cloud="gcp", service=service, name="gemma", model="google/gemma-4-E2B-it", location=zone,
            max_usd_per_hour=4.0,
        )  # fmt: skip
        return replace(base, **changes)

    def begin(self, plan: DeploymentPlan) -> DeploymentPlan:
        """Write a plan down, as deploying does."""
        return replace(plan, deployment=self.book.deployments.begin(plan.spec, plan))

    def deploy(self, service: str = "gce", **changes: Any) -> Endpoint:
        """Plan, write down and carry out."""
        chosen = self.service(service)
        return chosen.create(self.begin(chosen.plan(self.spec(service, **changes))), self.book, self.heard)

    def until(self, clock_time: str) -> None:
        """Let time pass until `19:02` of the simulated day."""
        there = datetime.fromisoformat(f"{self.project.now():%Y-%m-%d}T{clock_time}:00+00:00")
        self.project.clock.sleep((there - self.project.now()).total_seconds())

    def steps(self) -> list[str]:
        """The ledger's rows of all deployments, as `operation state`."""
        found = [step for row in self.book.deployments.live() for step in self.book.steps(row.id)]
        return [f"{step.call.operation.rsplit('locations.', 1)[-1]} {step.state}" for step in found]


def usual() -> Project:
    """One of each free, where the articles had them."""
    project = Project()
    project.boot = boot.QUICK
    for zone, kinds in {
        "us-west4-a": ("v5litepod-1", "v5litepod-4"),
        "us-east5-a": ("v6e-1", "v6e-4", "ct6e-standard-1t", "ct6e-standard-4t"),
        "us-east5-b": ("v6e-1", "ct6e-standard-1t"),
        "us-central1-a": ("g2-standard-4", "g2-standard-8", "v5litepod-1"),
    }.items():
        for kind in kinds:
            for market in ("", "spot:", "flex:"):
                project.capacity[f"{market}{kind}@{zone}"] = 1
    return project


def rig(home: Path, project: Project | None = None, *, engine_port: int = 9) -> Rig:
    """The real services over a fresh project."""
    made = project or usual()
    made.uri = f"http://127.0.0.1:{engine_port}"
    seam, api = shared()
    seam.start(made)
    prices, quotas, identity = GcpPrices(None, home), GcpQuotas(api, now=made.now), GcpIdentity(api)
    tunnels: list[str] = []

    def open_tunnel(target: tunnel.Target, token: Callable[[], str]) -> tuple[int, Callable[[], None]]:
        tunnels.append(f"open {target}")
        return engine_port, lambda: tunnels.append(f"close {target}")

    def tokens(_: GcpApi, audience: str, account: str) -> Made:
        return Made("a.b.c", f"the test's, for {audience}{account}")

    common: dict[str, Any] = {"now": made.now, "pause": made.clock.sleep, "digest": lambda _: DIGEST}
    ports = (api, identity, quotas, prices)
    return Rig(
        made,
        seam,
        api,
        Book(ledgers.lay(home), clock=made.now),
        Heard(made),
        Gce(*ports, open_tunnel=open_tunnel, **common),
        Tpu(*ports, open_tunnel=open_tunnel, **common),
        CloudRun(*ports, tokens=tokens, **common),
        engine_port,
        tunnels,
    )
