"""A quota sweep and a capacity check over AWS's 17 default regions, when every answer takes 100 ms.

    .venv/bin/python benchmarks/aws_sweep.py [rounds [words]]      words: only rows with them, as "check, 17"

The network is replaced below botocore's retries and signing, so that signing, serialising and parsing are all paid. The
goal is 1.3 x the longest dependent chain. Of the quotas that is every listing (Service Quotas allows one at a time) and
the three reads that say what the endpoints of the last region hold; of the capacity check it is its longest listing.
Each is measured warm (the clients are there, as in a server that has answered once) and cold.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import botocore.session
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.model import OperationModel

from clouds.aws.api import AwsApi
from clouds.aws.capacity import AwsCapacity
from clouds.aws.instances import carrying
from clouds.aws.quotas import AwsQuotas
from clouds.aws.regions import DEFAULT
from clouds.aws.session import recorded
from clouds.models import Scope
from tests.clouds.aws.simulator import wire

ANSWER = 0.1
GOAL = 1.3
PAGES = {"sagemaker": 3, "ec2": 2}
NOW = datetime(2026, 11, 29, tzinfo=UTC)


class Slow:
    """Answers everything after 100 ms: quota pages of 100 rows, one endpoint a region, spot prices of three zones."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self._call = threading.local()
        self._bytes: dict[str, bytes] = {}

    def attach(self, session: botocore.session.Session) -> None:
        """Every client that this session makes from now on is answered here."""
        events = session.get_component("event_emitter")
        events.register_first("before-parameter-build", self._note)
        events.register_first("before-send", self._send)

    def _note(self, params: Mapping[str, Any], model: OperationModel, **_: Any) -> None:
        self._call.now = (model, dict(params))

    def _send(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        model, params = self._call.now
        self.sent[f"{model.service_model.service_name}.{model.name}"] += 1
        key = f"{model.name} {params.get('NextToken')} {params.get('ServiceCode')} {params.get('RegionNames')}"
        if key not in self._bytes:  # writing an answer is the cloud's work and not ours
            self._bytes[key] = wire.answer(str(request.url), model, _answers(model.name, params)).content
        time.sleep(ANSWER)
        kind = "text/xml" if model.service_model.protocol == "ec2" else "application/json"
        return wire.response(str(request.url), 200, {"Content-Type": kind}, self._bytes[key])


def _answers(operation: str, params: Mapping[str, Any]) -> dict[str, Any]:
    named = {"EndpointName": "g", "EndpointArn": "arn:aws:sagemaker:us-east-2:111122223333:endpoint/g"}
    times = {"CreationTime": NOW, "LastModifiedTime": NOW, "EndpointStatus": "InService"}
    pools = [{"InstanceType": row.ml, "Priority": n} for n, row in enumerate(carrying("L4", sagemaker=True), 1)]
    variant = {"VariantName": "AllTraffic", "InitialInstanceCount": 1, "InstancePools": pools}
    spot = [
        {"InstanceType": "g6.xlarge", "AvailabilityZone": f"us-east-2{zone}", "SpotPrice": "0.2321", "Timestamp": NOW}
        for zone in "abc"
        for _ in range(20)
    ]
    answers: dict[str, Callable[[], dict[str, Any]]] = {
        "ListServiceQuotas": lambda: _quotas(params),
        "ListEndpoints": lambda: {"Endpoints": [{**named, **times}]},
        "DescribeEndpoint": lambda: {**named, **times, "EndpointConfigName": "g"},
        "DescribeEndpointConfig": lambda: {
            "EndpointConfigName": "g",
            "EndpointConfigArn": named["EndpointArn"],
            "CreationTime": NOW,
            "ProductionVariants": [variant],
        },
        "DescribeInstances": lambda: {"Reservations": []},
        "DescribeInstanceTypeOfferings": lambda: {
            "InstanceTypeOfferings": [
                {"InstanceType": row.type, "LocationType": "availability-zone", "Location": "us-east-2a"}
                for row in carrying("L4")
            ]
        },
        "GetSpotPlacementScores": lambda: {
            "SpotPlacementScores": [{"Region": region, "Score": 7} for region in params["RegionNames"]]
        },
        "DescribeSpotPriceHistory": lambda: {"SpotPriceHistory": spot},
        "DescribeCapacityReservations": lambda: {"CapacityReservations": []},
    }
    return answers[operation]()


def _quotas(params: Mapping[str, Any]) -> dict[str, Any]:
    """The rows that are looked for stand on the last page."""
    page, pages = int(params.get("NextToken") or 1), PAGES[params["ServiceCode"]]
    names = [f"quota {page}-{n}" for n in range(90)]
    if page == pages:
        names += [f"{row.ml} for endpoint usage" for row in carrying("L4", sagemaker=True)]
        names += ["Running On-Demand G and VT instances", "All G and VT Spot Instance Requests"]
    rows = [{"QuotaName": name, "QuotaCode": "L-00000000", "Value": 1.0, "Adjustable": True} for name in names]
    return {"Quotas": rows, **({"NextToken": str(page + 1)} if page < pages else {})}


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main(rounds: int, only: str = "") -> bool:
    """Print one line a measurement; whether the sweep, and the sweep with the check after it, keep the goal warm.

    The check alone is 53 calls beside each other: there the client's own work, 2 ms of CPU a call, is what shows;
    `cpu s` is the processor time of one warm run.
    """
    scopes = [Scope(region) for region in DEFAULT]
    four = scopes[:4]
    kept = True
    jobs: tuple[tuple[str, Callable[[AwsApi], object]], ...] = (
        ("quota sweep, 17 regions", lambda api: AwsQuotas(api).read("L4", (), scopes)),
        ("capacity check, 4 regions", lambda api: AwsCapacity(api, now=lambda: NOW).read("L4", (), four)),
        ("capacity check, 17 regions", lambda api: AwsCapacity(api, now=lambda: NOW).read("L4", (), scopes)),
        ("both, 17 regions", lambda api: _both(api, scopes)),
    )
    print(f"{'':28} {'calls':>5} {'chain s':>8} {'cold s':>7} {'warm s':>7} {'range':>13} {'x chain':>8} {'cpu s':>6}")
    for name, job in jobs:
        if only not in name:
            continue
        network = Slow()
        api = AwsApi(build=recorded, prepare=network.attach)
        cold = timed(lambda job=job, api=api: job(api))  # type: ignore[misc]
        calls = Counter(network.sent)
        chain = ANSWER * ((calls["service-quotas.ListServiceQuotas"] + 3) if "quota" in name or "both" in name else 1)
        spent = time.process_time()
        warm = [timed(lambda job=job, api=api: job(api)) for _ in range(rounds)]  # type: ignore[misc]
        spent = (time.process_time() - spent) / rounds
        middle = statistics.median(warm)
        kept = kept and (middle <= GOAL * chain or "capacity" in name)
        print(
            f"{name:28} {calls.total():5} {chain:8.2f} {cold:7.2f} {middle:7.2f} {min(warm):6.2f}-{max(warm):.2f} "
            f"{middle / chain:8.2f} {spent:6.2f}"
        )
    return kept


def _both(api: AwsApi, scopes: list[Scope]) -> None:
    AwsQuotas(api).read("L4", (), scopes)
    AwsCapacity(api, now=lambda: NOW).read("L4", (), scopes)


if __name__ == "__main__":
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    sys.exit(0 if main(int((sys.argv[1:] or ["3"])[0]), *sys.argv[2:3]) else 1)
