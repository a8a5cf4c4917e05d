"""A ledger of one's own, a clock that stands still, and a spec with its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from clouds.models import Call, DeploymentPlan, DeploymentSpec, EndpointRef, EngineFacts, Hardware, PlanStep, Price
from tools.ledger import Book


class Clock:
    """29 November 2026, 19:04 UTC, until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 29, 19, 4, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **passed: float) -> None:
        self.now += timedelta(**passed)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def book(home: Path, clock: Clock) -> Iterator[Book]:
    with Book(home, clock=clock, who="test") as opened:
        yield opened


@pytest.fixture
def spec() -> Callable[..., DeploymentSpec]:
    def make(name: str = "gemma", **changes: Any) -> DeploymentSpec:
        values = {
            "cloud": "aws",
            "service": "sagemaker",
            "model": "google/gemma-4-E2B-it",
            "settings": {"context": 2048},
        }
        return DeploymentSpec(name=name, **{**values, **changes})

    return make


@pytest.fixture
def plan() -> Callable[..., DeploymentPlan]:
    def make(spec: DeploymentSpec, usd_per_hour: float | None = None, location: str = "us-east-2") -> DeploymentPlan:
        call = Call(
            "sagemaker", "CreateModel", {"ModelName": spec.name, "Tags": [{"Key": "modelrig-owner", "Value": "me"}]}
        )
        return DeploymentPlan(
            spec=spec,
            ref=EndpointRef(spec.cloud, spec.service, location, spec.name),
            steps=(PlanStep("create the model", call, command="aws sagemaker create-model", creates=True),),
            price=None
            if usd_per_hour is None
            else Price(amount=usd_per_hour, unit="hour", as_of="2026-09-26", source="price list"),
            hardware=Hardware(instance_type="ml.g6.xlarge", accelerators=("L4",)),
            engine=EngineFacts(engine="vllm", settings={"dtype": "auto"}),
            left_out=("ml.g6.2xlarge",),
        )

    return make


@pytest.fixture
def begun(book: Book, spec: Callable[..., DeploymentSpec], plan: Callable[..., DeploymentPlan]) -> Callable[..., str]:
    """Begin a deployment and return its id."""

    def begin(name: str = "gemma", usd_per_hour: float | None = None, **changes: Any) -> str:
        asked = spec(name, **changes)
        return book.deployments.begin(asked, plan(asked, usd_per_hour))

    return begin
