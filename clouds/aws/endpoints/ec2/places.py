"""Where a machine may be started: types with a known price under the ceiling and quota left, zone by zone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clouds.aws import instances
from clouds.aws.api import AwsApi
from clouds.aws.endpoints.ec2.settings import Chosen
from clouds.aws.instances import Instance
from clouds.aws.prices import AwsPrices
from clouds.base import QuotaReader
from clouds.errors import CloudError, InvalidInput, NotFound, NotOffered, QuotaTooSmall
from clouds.models import Call, DeploymentSpec, Price, Quota, Scope

DEFAULT_ACCELERATOR = "L4"
MOST_PLACES = 12
"""Placements of one region that are tried: more would only ask the same full zones again."""


@dataclass(frozen=True)
class Place:
    """One type in one zone."""

    row: Instance
    zone: str
    subnet: str
    vpc: str


@dataclass(frozen=True)
class Choice:
    """The places of one region in their order, with the price of each type; empty when the region is left out."""

    region: str
    places: tuple[Place, ...] = ()
    prices: Mapping[str, Price] | None = None
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    refused: CloudError | None = None


def key(kind: str, market: str) -> str:
    """The price table's key of a machine."""
    return f"ec2/{kind}/{market}"


def candidates(spec: DeploymentSpec) -> tuple[Instance, ...]:
    """The types that were asked for. Raises InvalidInput for unknown or mixed ones, and where CUDA does not run."""
    if spec.instance_types:
        found = [instances.find(name) for name in dict.fromkeys(spec.instance_types)]
        rows = tuple(row for row in found if row is not None)
        if len(rows) < len(found):
            raise InvalidInput("instance_types", "one is no accelerated type", fix="Use types like g6.xlarge.")
    else:
        rows = instances.carrying(spec.accelerator or DEFAULT_ACCELERATOR)
    if len({(row.accelerator, row.accelerators) for row in rows}) > 1:
        raise InvalidInput(
            "instance_types",
            "are not all of one accelerator and count",
            fix="Keep one kind, so that runs stay comparable.",
        )
    usable = tuple(row for row in rows if row.cuda)
    if not usable:
        raise InvalidInput(
            "accelerator",
            f"{rows[0].accelerator} is none that these containers run on",
            fix="Use an NVIDIA GPU on x86_64.",
        )
    return usable


def choose(
    spec: DeploymentSpec,
    chosen: Chosen,
    rows: Sequence[Instance],
    region: str,
    api: AwsApi,
    prices: AwsPrices,
    quotas: QuotaReader,
    *,
    ours: bool,
) -> Choice:
    """What is left of the candidates in one region. `ours`: a machine of this name already holds its quota."""
    known = prices.many([key(row.type, chosen.market) for row in rows], region)
    left: list[str] = []
    kept: list[tuple[Instance, Price]] = []
    for row in rows:
        price = known[key(row.type, chosen.market)]
        if price is None:
            left.append(f"{row.type} in {region}: no {chosen.market} price known, so the ceiling could not be kept")
        elif price.amount > spec.max_usd_per_hour:
            left.append(f"{row.type} in {region}: ${price.amount:g} an hour is over ${spec.max_usd_per_hour:g}")
        else:
            kept.append((row, price))
    if not kept:
        lowest = min((price.amount for price in known.values() if price), default=None)
        words = f"the cheapest is ${lowest:g} an hour" if lowest is not None else f"no {chosen.market} price is known"
        fix = f"Allow max_usd_per_hour={lowest:g}." if lowest is not None else "Use another region, type or market."
        refused: CloudError = InvalidInput("max_usd_per_hour", f"{region}: {words}", fix=fix)
        return Choice(region, left_out=tuple(left), refused=refused)
    if not spec.instance_types:
        kept.sort(key=lambda pair: pair[1].amount)
    warnings: list[str] = []
    short = None if ours else _short_of_vcpus(kept, region, chosen.market, quotas, warnings, left)
    if short is not None:
        return Choice(region, left_out=tuple(left), warnings=tuple(warnings), refused=short)
    try:
        places = _places([row for row, _ in kept], region, chosen, api)
    except CloudError as error:
        return Choice(region, left_out=(*left, f"{region}: {error}"), refused=error)
    return Choice(region, places, {row.type: price for row, price in kept}, tuple(left), tuple(warnings))


def _short_of_vcpus(
    kept: list[tuple[Instance, Price]],
    region: str,
    market: str,
    quotas: QuotaReader,
    warnings: list[str],
    left: list[str],
) -> QuotaTooSmall | None:
    """Drop the types for which no vCPUs are left. Returns the refusal when none remains."""
    read = quotas.read(None, [row.type for row, _ in kept], [Scope(region)])
    spot = re.compile(r"All .+ Spot Instance Requests")
    mine = [quota for quota in read.found if bool(spot.fullmatch(quota.name)) == (market == "spot") and quota.code]
    if not mine:
        why = read.unread[0].reason if read.unread else "its name was not recognised"
        warnings.append(f"the vCPU quota in {region} could not be read ({why[:160]}): AWS may refuse it")
        return None
    quota = mine[0]
    short = [row for row, _ in kept if _left(quota) is not None and (_left(quota) or 0) < row.vcpus]
    room = f"{_left(quota):g} of {quota.limit:g} are left"
    left += [f"{row.type} in {region}: it has {row.vcpus} vCPUs and {room}" for row in short]
    kept[:] = [pair for pair in kept if pair[0] not in short]
    if kept:
        return None
    return QuotaTooSmall(
        f"planning {short[0].type} in {region}",
        answered=f"{quota.name}: {_left(quota):g} of {quota.limit:g} vCPUs are left, {short[0].vcpus} are needed",
        code=quota.code,
        fix=f"Ask for more of it in Service Quotas for {region}, or use another region.",
    )


def _left(quota: Quota) -> float | None:
    return None if quota.limit is None else quota.limit - (quota.used or 0)


def _places(rows: Sequence[Instance], region: str, chosen: Chosen, api: AwsApi) -> tuple[Place, ...]:
    """Every type in every zone that offers it and has a subnet: types in order, zones in order. Raises NotOffered."""
    subnets = _subnets(api, region, chosen)
    offered = api.send(
        Call(
            "ec2",
            "DescribeInstanceTypeOfferings",
            {
                "LocationType": "availability-zone",
                "Filters": [{"Name": "instance-type", "Values": [row.type for row in rows]}],
            },
        ),
        scope=Scope(region),
    )
    zones = {(str(one["InstanceType"]), str(one["Location"])) for one in offered.get("InstanceTypeOfferings", [])}
    wanted = [zone for zone in chosen.zones.split(",") if zone] or sorted(subnets)
    found = [
        Place(row, zone, *subnets[zone])
        for row in rows
        for zone in wanted
        if zone in subnets and (row.type, zone) in zones
    ]
    if not found:
        raise NotOffered(
            f"looking for a zone in {region}",
            answered=f"none with a subnet of yours offers {', '.join(row.type for row in rows)}",
            fix="Use another region or type (check_capacity shows where it is offered).",
        )
    return tuple(found[:MOST_PLACES])


def _subnets(api: AwsApi, region: str, chosen: Chosen) -> dict[str, tuple[str, str]]:
    """Zone -> subnet and network. Raises NotFound where there is no default network and none was named."""
    asked = (
        {"SubnetIds": [chosen.subnet]}
        if chosen.subnet
        else {"Filters": [{"Name": "default-for-az", "Values": ["true"]}]}
    )
    rows = api.send(Call("ec2", "DescribeSubnets", asked), scope=Scope(region)).get("Subnets", [])
    if not rows:
        raise NotFound(
            f"looking for a network in {region}", answered="there is no default VPC",
            fix='Name a subnet with a way to the internet: engine_settings={"subnet": "subnet-…"}.',
        )  # fmt: skip
    return {str(row["AvailabilityZone"]): (str(row["SubnetId"]), str(row["VpcId"])) for row in rows}
