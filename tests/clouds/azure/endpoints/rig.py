"""A simulated subscription with the real services, the real ledger and a clock that moves only when somebody waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clouds.azure.api import AzureApi
from clouds.azure.endpoints.containerapps import ContainerApps
from clouds.azure.endpoints.ml import Ml
from clouds.azure.endpoints.web import Web
from clouds.azure.prices import AzurePrices
from clouds.errors import Cancelled
from clouds.models import DeploymentPlan, DeploymentSpec, Endpoint, EndpointRef
from clouds.replay import Tap
from tests import ledgers
from tests.clouds.azure.rig import Credential
from tests.clouds.azure.simulator import ID, TENANT, Boot, Seam, Subscription, ml
from tools.ledger import Book

REGIONS = ("swedencentral", "westus3")
SIZE, FAMILY = "Standard_NC4as_T4_v3", "Standard NCASv3_T4 Family"
BIG, BIG_FAMILY = "Standard_NC24ads_A100_v4", "StandardNCADSA100v4Family"
GGUF = "ggml-org/gemma-4-E2B-it-GGUF"
PROFILES = ("Consumption-GPU-NC8as-T4", "Consumption-GPU-NC24-A100")
SIGNED_IN = ({"id": ID, "tenantId": TENANT, "isDefault": True},)


@dataclass
class Heard:
    """A progress on the simulated clock. `stop_when` sees each message and may ask to stop."""

    account: Subscription
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
        self.account.clock.sleep(seconds)


@dataclass
class Rig:
    """All that a test of an endpoint service needs."""

    account: Subscription
    seam: Seam
    api: AzureApi
    book: Book
    heard: Heard
    apps: ContainerApps
    ml: Ml

    def spec(self, **changes: Any) -> DeploymentSpec:
        """Gemma 4 E2B on one serverless T4, for 4 hours."""
        base = DeploymentSpec(
            cloud="azure",
            service="containerapps",
            name="gemma",
            model="google/gemma-4-E2B-it",
            regions=("swedencentral",),
            accelerator="T4",
            max_usd_per_hour=3.0,
        )
        return replace(base, **changes)

    def ml_spec(self, **changes: Any) -> DeploymentSpec:
        """The same as GGUF on one T4 machine of Azure ML."""
        settings = {"file": "gemma-4-E2B-it-Q4_K_M.gguf"}
        base = replace(self.spec(), service="ml", model=GGUF, regions=(), instance_types=(SIZE,), settings=settings)
        return replace(base, **changes)

    def begin(self, plan: DeploymentPlan) -> DeploymentPlan:
        """Write a plan down, as deploying does."""
        return replace(plan, deployment=self.book.deployments.begin(plan.spec, plan))

    def deploy(self, **changes: Any) -> Endpoint:
        """Plan, write down and carry out."""
        return self.apps.create(self.begin(self.apps.plan(self.spec(**changes))), self.book, self.heard)

    def deploy_ml(self, **changes: Any) -> Endpoint:
        """Plan, write down and carry out on Azure ML."""
        return self.ml.create(self.begin(self.ml.plan(self.ml_spec(**changes))), self.book, self.heard)

    def steps(self) -> list[str]:
        """The ledger's rows of the newest deployment, as `type.verb state`."""
        live = [row.id for row in self.book.deployments.live()]
        found = [step for one in live for step in self.book.steps(one)]
        return [f"{step.call} {step.state}" for step in found]


REF = EndpointRef("azure", "containerapps", "swedencentral", "gemma")
ML_REF = EndpointRef("azure", "ml", "swedencentral", "gemma")


QUICK = Boot(12.0, 30.0, lines=tuple((at / 4, line) for at, line in Boot().lines))


def usual() -> Subscription:
    """One GPU of each kind free and allowed in each of two regions, and a workspace in the first."""
    account = Subscription()
    account.boot, account.environment_takes, account.app_takes = QUICK, 20.0, 10.0
    for region in REGIONS:
        account.offered[region] = PROFILES
        for card, usd in (("T4", 0.0002), ("A100-80GB", 0.0007)):
            account.gpu_quota[region, card] = 1
            account.capacity[region, card] = 1
            account.rates[region, f"Standard NC {'T4 v3' if card == 'T4' else 'A100 v4'} GPU Usage"] = usd
        account.rates[region, "Standard vCPU Active Usage"] = 0.000024
        account.rates[region, "Standard Memory Active Usage"] = 0.000003
        account.ml_quota[region, FAMILY], account.ml_quota[region, BIG_FAMILY] = (8, 0), (24, 0)
        account.capacity[region, SIZE] = account.capacity[region, BIG] = 1
    account.sizes = {SIZE: (FAMILY, 4, 1, 0.53), BIG: (BIG_FAMILY, 24, 1, 3.67)}
    ml.workspace(account, "team", "swedencentral")
    return account


def guarded(of: Rig, guard: Tap) -> Rig:
    """The same subscription and ledger behind a guard."""
    return replace(rig(of.book.home, of.account, taps=(guard,)), book=of.book)


def rig(home: Path, account: Subscription | None = None, *, taps: tuple[Tap, ...] = (), chosen: bool = True) -> Rig:
    """The services over a subscription; without one, the usual."""
    made = account or usual()
    seam, heard = Seam(made), Heard(made)
    credential = Credential(made.time, life=10**9)
    api = AzureApi(
        credential=lambda: credential,
        inner=seam,
        taps=taps,
        attempts=1,
        clock=made.time,
        sleep=made.clock.sleep,
        signed_in=lambda: tuple({**row, "isDefault": chosen} for row in SIGNED_IN),
    )
    prices, web = AzurePrices(api, home, now=made.now), Web(inner=seam)
    apps = ContainerApps(api, prices, home, web, now=made.now, pause=made.clock.sleep)
    endpoints = Ml(api, prices, web, now=made.now, pause=made.clock.sleep)
    return Rig(made, seam, api, Book(ledgers.lay(home), clock=made.now), heard, apps, endpoints)
