"""Writes `fixtures/aws/account`: one simulated account with a running endpoint, as `--replay fixtures` shows it.

    .venv/bin/python -m tests.clouds.aws.simulator.recording

Gemma 4 E2B is deployed on one L4 of us-east-2, by the real service against the simulator; then everything is read that
the tools read. What depends on the hour of reading is any value in the fixtures.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import botocore.session

from clouds.aws.api import AwsApi
from clouds.aws.capacity import AwsCapacity
from clouds.aws.endpoints.ec2 import Ec2
from clouds.aws.endpoints.sagemaker import SageMaker
from clouds.aws.identity import AwsIdentity
from clouds.aws.prices import AwsPrices
from clouds.aws.quotas import AwsQuotas
from clouds.errors import InvalidInput, QuotaTooSmall
from clouds.models import DeploymentSpec, EndpointRef, Scope
from clouds.record import Recorder
from clouds.replay import Answer, Request
from tests.clouds.aws import rig as rigs
from tests.clouds.aws.simulator import Seam

HERE = Path(__file__).resolve().parents[4] / "fixtures" / "aws" / "account" / "an_l4_serves_gemma"
ROLE_ID = "AROAEXAMPLEEXAMPLE00"
ON = date(2026, 11, 29)
_ASKER_S = ("limit", "startTime", "endTime")
"""How much of a log, and since when, is the asker's choice."""
_LONGEST_COUNT = 1_000_000_000  # a larger number is a moment in milliseconds


class Once:
    """A tap that hands each different question to the recorder once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._seen = recorder, set[str]()

    def before(self, request: Request) -> Answer | None:
        return None

    def after(self, request: Request, answer: Answer) -> None:
        timeless = Request(
            service=request.service,
            operation=request.operation,
            location=request.location,
            parameters=_timeless(request.parameters),
            alias=request.alias,
        )
        mark = f"{timeless} {json.dumps(timeless.parameters, sort_keys=True, default=str)}"
        if mark not in self._seen:
            self._seen.add(mark)
            self._recorder.after(timeless, answer)


def _timeless(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: "*" if key in _ASKER_S else _timeless(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_timeless(item) for item in value]
    if isinstance(value, datetime) or (isinstance(value, int) and value > _LONGEST_COUNT):
        return "*"
    return value


def record(directory: Path) -> None:
    """Write the whole scenario anew."""
    shutil.rmtree(directory, ignore_errors=True)
    with TemporaryDirectory() as home:
        rig = rigs.rig(Path(home))
        try:
            rig.deploy()
            rig.account.clock.sleep(600)
            recorder = Recorder(directory, source="the simulated account of tests/clouds/aws/simulator", on=ON)
            read(_api(rig.seam, Once(recorder)), rig, Path(home))
        finally:
            rig.book.close()
    for path in directory.glob("*_iam.GetRole.json"):  # the scrubber's substitute is shorter than AWS's ids can be
        path.write_text(path.read_text("utf-8").replace('"scrubbed-1"', f'"{ROLE_ID}"'), "utf-8")
    (directory / "expected.json").write_text(json.dumps({"held_by": "tests/clouds/aws/test_replay.py"}) + "\n", "utf-8")
    origin = directory / "origin.json"
    origin.write_text(origin.read_text("utf-8").replace('"recorded"', '"emulator"'), "utf-8")


def read(api: AwsApi, rig: rigs.Rig, home: Path) -> None:
    """What the tools ask: who, which endpoints, one of them, its log, quotas, capacity, plans on both services."""
    prices, quotas = AwsPrices(api, home, now=rig.account.now), AwsQuotas(api)
    AwsIdentity(api).read()
    sagemaker = SageMaker(api, quotas, prices, now=rig.account.now, pause=rig.account.clock.sleep)
    machines = Ec2(
        api,
        quotas,
        prices,
        now=rig.account.now,
        pause=rig.account.clock.sleep,
        digest=lambda _: rigs.DIGEST,
        address=lambda: "203.0.113.7/32",
    )
    for service in (sagemaker, machines):
        for endpoint in service.list(scope=Scope()).found:
            service.get(EndpointRef.parse(endpoint.ref))
            service.logs(EndpointRef.parse(endpoint.ref), since=timedelta(hours=1), limit=200)
    everywhere = (Scope(),)
    quotas.read("L4", (), everywhere)
    AwsCapacity(api, now=rig.account.now).read("L4", (), everywhere)
    AwsCapacity(api, now=rig.account.now).read(None, ("g6.xlarge",), everywhere)
    for region in rigs.REGIONS:
        for service, name in ((sagemaker, "sagemaker"), (machines, "ec2")):
            for called in ("gemma-4-e2b", "gemma-4-e2b-it"):
                spec = DeploymentSpec(
                    cloud="aws",
                    service=name,
                    name=called,
                    model="google/gemma-4-E2B-it",
                    regions=(region,),
                    accelerator="L4",
                )
                with suppress(
                    QuotaTooSmall, InvalidInput
                ):  # what the endpoint holds; everything was asked before it is said
                    service.plan(spec)


def _api(seam: Seam, tap: Once) -> AwsApi:
    session = botocore.session.Session()
    session.set_credentials("AKIASIMULATED", "not-a-secret")
    session.set_config_variable("region", "us-east-1")
    seam.attach(session)
    return AwsApi(build=lambda: session, taps=(tap,), attempts=1)


if __name__ == "__main__":
    record(HERE)
