"""A simulated account with the real services, the real ledger and a clock that only moves when somebody waits."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import botocore.session

from clouds.aws.api import AwsApi
from clouds.aws.endpoints.ec2 import Ec2, ssh
from clouds.aws.endpoints.sagemaker import SageMaker
from clouds.aws.prices import AwsPrices
from clouds.aws.quotas import AwsQuotas
from clouds.errors import Cancelled
from clouds.models import DeploymentPlan, DeploymentSpec, Endpoint
from tests.clouds.aws.simulator import Account, Quota, Seam, boot, offer
from tools.ledger import Book

PRICES = {"ml.g6.xlarge": 1.1267, "ml.g6.2xlarge": 1.222, "ml.g6.4xlarge": 1.654}
VCPU_QUOTAS = {
    "Running On-Demand G and VT instances": "L-DB2E81BA",
    "All G and VT Spot Instance Requests": "L-3819A6DF",
}
REGIONS = ("us-east-1", "us-east-2", "us-west-2")


@cache
def shared() -> tuple[Seam, AwsApi]:
    """One seam and one set of clients for every test: making clients takes most of the time."""
    session = botocore.session.Session()
    session.set_credentials("AKIASIMULATED", "not-a-secret")
    session.set_config_variable("region", "us-east-2")
    seam = Seam(Account())
    seam.attach(session, signed=False)
    return seam, AwsApi(build=lambda: session, attempts=1)


@dataclass
class Heard:
    """A progress on the simulated clock. `stop_when` sees each message and may ask to stop."""

    account: Account
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

    account: Account
    seam: Seam
    api: AwsApi
    book: Book
    heard: Heard
    sagemaker: SageMaker
    ec2: Ec2
    shells: list[FakeMachine]

    def spec(self, **changes: Any) -> DeploymentSpec:
        """Gemma 4 E2B on one L4, at most $1.50 an hour, for 4 hours."""
        base = DeploymentSpec(
            cloud="aws",
            service="sagemaker",
            name="gemma-4-e2b",
            model="google/gemma-4-E2B-it",
            regions=("us-east-2",),
            accelerator="L4",
        )
        return replace(base, **changes)

    def machine_spec(self, **changes: Any) -> DeploymentSpec:
        """The same on one EC2 machine."""
        return self.spec(**{"service": "ec2", "regions": ("us-east-1",), **changes})

    def plan(self, **changes: Any) -> DeploymentPlan:
        return self.sagemaker.plan(self.spec(**changes))

    def begin(self, plan: DeploymentPlan) -> DeploymentPlan:
        """Write a plan down, as deploying does."""
        return replace(plan, deployment=self.book.deployments.begin(plan.spec, plan))

    def deploy(self, **changes: Any) -> Endpoint:
        """Plan, write down and carry out."""
        return self.sagemaker.create(self.begin(self.plan(**changes)), self.book, self.heard)

    def deploy_machine(self, **changes: Any) -> Endpoint:
        """Plan, write down and carry out on EC2."""
        return self.ec2.create(self.begin(self.ec2.plan(self.machine_spec(**changes))), self.book, self.heard)

    def until(self, clock_time: str) -> None:
        """Let time pass until `19:02` of the simulated day."""
        there = datetime.fromisoformat(f"{self.account.now():%Y-%m-%d}T{clock_time}:00+00:00")
        self.account.clock.sleep((there - self.account.now()).total_seconds())

    def steps(self) -> list[str]:
        """The ledger's rows of the newest deployment, as `Operation state`."""
        live = [row.id for row in self.book.deployments.live()]
        found = [step for one in live for step in self.book.steps(one)]
        return [f"{step.call.operation} {step.state}" for step in found]


DIGEST = "sha256:" + "ab" * 32
BRISK = boot.Boot(tuple((at / 15, line) for at, line in boot.VLLM.lines), boot.VLLM.done / 15)
"""The article's start, fifteen times as fast: fewer readings while waiting."""
BRISK_CONSOLE = boot.console(
    12.0,
    (
        (5.0, "timer set"),
        (6.0, "pulling image"),
        (8.0, "image pulled"),
        (9.0, "engine started"),
        (55.0, "engine answers"),
    ),
    BRISK.lines,
)
MACHINES = {"g6.xlarge": 0.8048, "g6.2xlarge": 0.9776}


BRIEF = os.environ.get("MODELRIG_ALL") != "1"
"""Every answer goes through bytes and botocore's parser with MODELRIG_ALL=1; without, those of the wire's own tests."""


class FakeMachine:
    """In place of SSH to a machine: its forwarded port is an engine on loopback, commands are only written down."""

    engine_port = 0

    def __init__(self, machine: ssh.Machine) -> None:
        self.machine, self.commands, self.closed = machine, list[str](), False

    def forward(self, port: int) -> int:
        return self.engine_port

    def run(self, commands: str) -> str:
        self.commands.append(commands)
        return self.answer if commands.startswith("cat ") else ""

    def close(self) -> None:
        self.closed = True

    answer = ""


def rig(home: Path, account: Account | None = None, *, brief: bool = BRIEF) -> Rig:
    """A fresh account with the L4 types in three regions, quota for one of each, and one free machine of each."""
    seam, api = shared()
    made = account or usual()
    if not (ledger := home / "ledger.sqlite3").exists():
        ledger.write_bytes(_new_ledger())
    ledger.with_name(f"{ledger.name}.reserve").touch()  # no room for a full disk, which takes a third of the opening
    seam.start(made, brief=brief)
    prices = AwsPrices(api, home, now=made.now)
    quotas = AwsQuotas(api)
    heard = Heard(made)
    service = SageMaker(api, quotas, prices, now=made.now, pause=made.clock.sleep)
    shells: list[FakeMachine] = []

    def connect(_: AwsApi, machine: ssh.Machine) -> Any:
        shells.append(FakeMachine(machine))
        return shells[-1]

    machines = Ec2(
        api,
        quotas,
        prices,
        now=made.now,
        pause=made.clock.sleep,
        connect=connect,
        digest=lambda _: DIGEST,
        address=lambda: "203.0.113.7/32",
    )
    return Rig(made, seam, api, Book(home, clock=made.now), heard, service, machines, shells)


@cache
def _new_ledger() -> bytes:
    """The file as the first opening makes it: that takes longer than a plan."""
    with TemporaryDirectory() as home:
        Book(Path(home)).close()
        return (Path(home) / "ledger.sqlite3").read_bytes()


def usual() -> Account:
    """One L4 of each single-GPU type free and allowed in each of three regions."""
    account = Account()
    account.boot, account.console = BRISK, BRISK_CONSOLE
    for region in REGIONS:
        offer(account, region, dict.fromkeys(PRICES, (1, 1)), others=110 if region == "us-east-1" else 0)
        for kind, usd in PRICES.items():
            account.prices[f"sagemaker-hosting/{kind}", region] = usd
        for kind, usd in MACHINES.items():
            account.prices[f"ec2/{kind}", region] = usd
            for zone in "ab":
                account[region].capacity[f"{kind}@{region}{zone}"] = 1
                account[region].capacity[f"spot:{kind}@{region}{zone}"] = 1
        for name, code in VCPU_QUOTAS.items():
            account[region].quotas[name] = Quota(name, code, 8.0, "ec2")
    return account
