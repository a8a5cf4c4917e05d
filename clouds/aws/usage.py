"""What is used of a quota, read from what exists: endpoints hold one of every pooled type, machines their vCPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from clouds.aws import instances
from clouds.errors import NotFound
from clouds.models import Call, Scope

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi

Used = Mapping[str, float]


def endpoints_use(api: AwsApi, region: str) -> Used:
    """SageMaker type -> instances held by the endpoints of a region. Raises CloudError.

    A pool of several types holds quota of every one of them, whichever was placed; a failed endpoint holds it until it
    is deleted (article of 2026-09-26).
    """
    names = [
        row["EndpointName"] for row in api.send(Call("sagemaker", "ListEndpoints"), scope=Scope(region))["Endpoints"]
    ]
    held: Counter[str] = Counter()
    with ThreadPoolExecutor(max(1, min(8, len(names)))) as pool:
        for types in pool.map(lambda name: _held(api, region, name), names):
            held.update(types)
    return {kind: float(count) for kind, count in held.items()}


def _held(api: AwsApi, region: str, name: str) -> Mapping[str, int]:
    def read(operation: str, **parameters: str) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = api.send(Call("sagemaker", operation, parameters), scope=Scope(region))
        return answer

    try:
        endpoint = read("DescribeEndpoint", EndpointName=name)
        config = read("DescribeEndpointConfig", EndpointConfigName=endpoint["EndpointConfigName"])
    except NotFound:
        return {}  # deleted between the listing and now
    wanted = {
        variant["VariantName"]: max(variant.get("CurrentInstanceCount", 0), variant.get("DesiredInstanceCount", 0))
        for variant in endpoint.get("ProductionVariants", ())
    }
    held: Counter[str] = Counter()
    for variant in config.get("ProductionVariants", ()):
        count = wanted.get(variant["VariantName"]) or variant.get("InitialInstanceCount", 0)
        pools = [pool["InstanceType"] for pool in variant.get("InstancePools", ())]
        for kind in pools or [variant.get("InstanceType", "")]:
            held[kind] += count
    return held


def machines_use(api: AwsApi, region: str) -> Used:
    """`family/on-demand` or `family/spot` -> vCPUs of machines that count against a quota. Raises CloudError."""
    states = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    answer = api.send(Call("ec2", "DescribeInstances", {"Filters": states}), scope=Scope(region))
    used: Counter[str] = Counter()
    for machine in (one for group in answer["Reservations"] for one in group["Instances"]):
        kind, spot = machine["InstanceType"], machine.get("InstanceLifecycle") == "spot"
        used[f"{kind.split('.', 1)[0]}/{'spot' if spot else 'on-demand'}"] += _vcpus(machine)
    return {key: float(count) for key, count in used.items()}


def _vcpus(machine: Mapping[str, Any]) -> int:
    """A quota counts the vCPUs that a type has by default, also where fewer were asked for."""
    known = instances.find(machine["InstanceType"])
    options = machine.get("CpuOptions", {})
    return known.vcpus if known else int(options.get("CoreCount", 0)) * int(options.get("ThreadsPerCore", 0))
