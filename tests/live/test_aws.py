"""Against a real AWS account: only with MODELRIG_LIVE=1; nothing is created without MODELRIG_LIVE_SPEND=1 too.

MODELRIG_LIVE=1 AWS_PROFILE=work python -m pytest tests/live/test_aws.py -s
MODELRIG_LIVE=1 MODELRIG_LIVE_SPEND=1 …    deploys Gemma 4 E2B on one L4 for an hour at most, then deletes it
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from clouds.aws.api import AwsApi
from clouds.aws.endpoints.ec2 import Ec2
from clouds.aws.endpoints.sagemaker import SageMaker
from clouds.aws.prices import AwsPrices
from clouds.aws.quotas import AwsQuotas
from clouds.errors import CloudError
from clouds.models import DeploymentSpec, EndpointRef, Scope
from tools.ledger import Book
from tools.progress import CallProgress

LIVE = {name: value for name, value in os.environ.items() if name.startswith(("AWS_", "MODELRIG_LIVE"))}
"""Taken before the tests' own fixtures scrub the environment."""

if LIVE.get("MODELRIG_LIVE") != "1":
    pytest.skip("MODELRIG_LIVE is not 1: the real AWS account is not asked", allow_module_level=True)

REGIONS = tuple(LIVE.get("MODELRIG_LIVE_REGIONS", "us-east-2,us-east-1,us-west-2").split(","))


@pytest.fixture(autouse=True)
def signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's own sign-in, and the network, for these tests alone."""
    monkeypatch.undo()
    for name, value in LIVE.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def account(tmp_path: Path) -> Iterator[tuple[SageMaker, Ec2, Book]]:
    api = AwsApi()
    quotas, prices = AwsQuotas(api), AwsPrices(api, tmp_path)
    book = Book(tmp_path)
    yield SageMaker(api, quotas, prices), Ec2(api, quotas, prices), book
    book.close()


SPEC = DeploymentSpec(
    cloud="aws",
    service="sagemaker",
    name="modelrig-live-test",
    model="google/gemma-4-E2B-it",
    regions=REGIONS,
    accelerator="L4",
    max_usd_per_hour=2.0,
    ttl_hours=1.0,
)


def test_a_plan_on_sagemaker_finds_image_quota_and_price(account: tuple[SageMaker, Ec2, Book]) -> None:
    plan = account[0].plan(SPEC)
    print(*(f"{step.text}\n    {step.command}" for step in plan.steps), *plan.warnings, *plan.left_out, sep="\n")
    assert plan.price is not None
    assert 0.5 < plan.price.amount < 2.0


def test_a_plan_on_ec2_finds_zones_image_quota_and_price(account: tuple[SageMaker, Ec2, Book]) -> None:
    plan = account[1].plan(replace(SPEC, service="ec2"))
    print(*(step.text for step in plan.steps), *plan.warnings, *plan.left_out, sep="\n")
    assert plan.price is not None


def test_every_region_can_be_listed(account: tuple[SageMaker, Ec2, Book]) -> None:
    for service in account[:2]:
        found = service.list(scope=Scope())
        print([one.ref for one in found.found], [f"{one.scope}: {one.reason}" for one in found.unread])


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("service", [0, 1], ids=["sagemaker", "ec2"])
def test_a_deployment_gives_a_token_and_is_gone_again(account: tuple[SageMaker, Ec2, Book], service: int) -> None:
    if LIVE.get("MODELRIG_LIVE_SPEND") != "1":
        pytest.skip("MODELRIG_LIVE_SPEND is not 1: nothing that bills is created")
    endpoints, book = (account[0], account[1])[service], account[2]
    plan = endpoints.plan(replace(SPEC, service=("sagemaker", "ec2")[service]))
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
    assert deletion.gone
