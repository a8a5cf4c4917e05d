"""What we deployed ourselves and what has outlived its end, by the tags that it carries; priced by what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.addresses import IPV4, own_pool
from clouds.aws.checks.ec2_reads import ADDRESS, VOLUME, attached_to, instance_meters, volume_meters
from clouds.aws.checks.sagemaker_endpoints import hosting_meters, serving, shown
from clouds.errors import InvalidInput
from clouds.models import EndpointRef, Scope
from clouds.models.waste import Bound, Detail, Kind, Listing, Row, Seen, Unseen, Waste, WasteCheck, outlived

DEPLOYMENT, EXPIRES = "modelrig-deployment", "modelrig-expires"
_PREFIX = "modelrig-"
"""What a machine of ours is called, before the name of its deployment."""
OURS = Listing(
    "resourcegroupstaggingapi", "GetResources", "ResourceTagMappingList", {"TagFilters": [{"Key": DEPLOYMENT}]}
)


def _sort(row: Row) -> str:
    """`arn:aws:sagemaker:eu-west-1:123456789012:endpoint/gemma` -> "sagemaker:endpoint"."""
    _, _, service, _, _, rest = row["ResourceARN"].split(":", 5)
    return f"{service}:{rest.partition('/')[0]}"


def _name(row: Row) -> str:
    return str(row["ResourceARN"].rsplit("/", 1)[-1])


def _is(sort: str) -> Callable[[Row], bool]:
    return lambda row: _sort(row) == sort and DEPLOYMENT in words.tags(row)


def _ec2(operation: str, rows: str, by: str, theirs: Callable[[Row], Any], sort: str) -> Detail:
    """What EC2 lists under a filter on ids: what is gone is left out of it, where an id itself would be an error."""
    return Detail(
        OURS, "ec2", operation,
        lambda ours, _at: {"Filters": [{"Name": by, "Values": [_name(each) for each in ours]}]},
        rows=rows, when=_is(sort), batch=100, pair=(_name, theirs),
    )  # fmt: skip


ENDPOINT = Detail(
    OURS, "sagemaker", "DescribeEndpoint", lambda rows, _at: {"EndpointName": _name(rows[0])},
    when=_is("sagemaker:endpoint"),
)  # fmt: skip
CONFIG = Detail(
    ENDPOINT, "sagemaker", "DescribeEndpointConfig",
    lambda rows, _at: {"EndpointConfigName": rows[0]["EndpointConfigName"]},
    when=lambda row: row["EndpointStatus"] == "InService" and bool(row.get("EndpointConfigName")),
)  # fmt: skip
COMPONENTS = Detail(
    ENDPOINT, "sagemaker", "ListInferenceComponents", lambda rows, _at: {"EndpointNameEquals": rows[0]["EndpointName"]},
    rows="InferenceComponents", when=serving,
)  # fmt: skip
MACHINE = _ec2(
    "DescribeInstances", "Reservations[].Instances[]", "instance-id", lambda row: row["InstanceId"], "ec2:instance"
)
DISKS = _ec2(
    "DescribeVolumes", "Volumes", "attachment.instance-id", lambda row: next(iter(attached_to(row)), ""), "ec2:instance"
)
HELD = _ec2("DescribeAddresses", "Addresses", "instance-id", lambda row: row.get("InstanceId", ""), "ec2:instance")
DISK = _ec2("DescribeVolumes", "Volumes", "volume-id", lambda row: row["VolumeId"], "ec2:volume")
IP = _ec2("DescribeAddresses", "Addresses", "allocation-id", lambda row: row.get("AllocationId", ""), "ec2:elastic-ip")
OWN = Kind(name="deployment of modelrig", of=OURS, id=lambda row, _at: row["ResourceARN"], label=_name, tags=words.tags)


def _endpoint(row: Row, seen: Seen) -> Waste | None:
    found = seen.one(ENDPOINT, row)
    if found is None or found["EndpointStatus"] == "Deleting":
        return None
    status = found["EndpointStatus"]
    if status == "Failed":
        return Waste("it failed, and bills nothing", free=True)
    serverless = any(each.get("CurrentServerlessConfig") for each in found.get("ProductionVariants", ()))
    config, bound = _config(found, seen)
    if meters := hosting_meters(found, config):
        said, bound = f"{status}, holds {shown(found, config)}", "at least" if serverless else bound
        return Waste(said, meters, bound=bound, holds=_components(found, seen))
    if status != "InService":
        return Waste(f"{status}: nobody says what it holds")
    if serverless:
        return Waste("serverless: it bills what it is used")
    return Waste("it holds no instance now", free=True)


def _config(endpoint: Row, seen: Seen) -> tuple[Row, Bound]:
    """What says its types and volumes; where that could not be read a type is not known, and has no price."""
    try:
        return seen.one(CONFIG, endpoint) or {}, "exact"
    except Unseen:
        return {}, "at least"


def _components(endpoint: Row, seen: Seen) -> tuple[str, ...]:
    """What is placed on its instances is priced with them. Where that could not be read the scan is not complete."""
    try:
        return tuple(each["InferenceComponentArn"] for each in seen.of(COMPONENTS, endpoint))
    except Unseen:
        return ()


def _instance(row: Row, seen: Seen) -> Waste | None:
    found = seen.one(MACHINE, row)
    if found is None or found["State"]["Name"] in ("shutting-down", "terminated"):
        return None
    state = found["State"]["Name"]
    meters = [] if state in ("stopping", "stopped") else [*instance_meters(found)]
    ids, unread = [], []
    try:
        disks = [each for each in seen.of(DISKS, row) if len(each["Attachments"]) == 1 and not words.kept(each)]
        meters += [meter for each in disks for meter in volume_meters(each)]
        ids += [seen.id(VOLUME, each) for each in disks]
    except Unseen:
        unread.append("disks")
    try:
        held = seen.of(HELD, row)
        mine = [each for each in held if each.get("AllocationId") and not own_pool(each) and not words.kept(each)]
        # an address that it has only while it runs bills like an Elastic IP, and is in no list of them
        lent = found.get("PublicIpAddress") not in (None, "", *(each["PublicIp"] for each in held))
        meters += [IPV4] * (len(mine) + lent)
        ids += [seen.id(ADDRESS, each) for each in mine]
    except Unseen:
        unread.append("addresses")
    said = f"; its {' and '.join(unread)} could not be read" if unread else ""
    return Waste(
        reason=f"{found['InstanceType']}, {state}{said}",
        meters=tuple(meters),
        free=not meters and not unread,
        bound="at least" if unread else "exact",
        holds=tuple(ids),
    )


def _volume(row: Row, seen: Seen) -> Waste | None:
    found = seen.one(DISK, row)
    if found is None or found["State"] in ("deleting", "deleted"):
        return None
    return Waste(f"{found['Size']} GiB {found['VolumeType']}", volume_meters(found))


def _address(row: Row, seen: Seen) -> Waste | None:
    found = seen.one(IP, row)
    if found is None:
        return None
    return Waste(f"address {found['PublicIp']}", () if own_pool(found) else (IPV4,), free=own_pool(found))


def _unpriced(_row: Row, _seen: Seen) -> Waste:
    return Waste("of a sort that modelrig does not deploy: its price is not known here")


_PRICED: Mapping[str, Callable[[Row, Seen], Waste | None]] = {
    "sagemaker:endpoint": _endpoint,
    "ec2:instance": _instance,
    "ec2:volume": _volume,
    "ec2:elastic-ip": _address,
    "ec2:natgateway": _unpriced,
    **dict.fromkeys(("eks:cluster", "ecs:cluster", "sagemaker:cluster"), _unpriced),
}
"""What bills by the hour, and what says its price; None where it is gone. Each raises Unseen."""


def ref(row: Row, at: Scope) -> str:
    """What `delete_endpoint` knows it by: the name of an endpoint, or that in a machine's name tag; "" for none."""
    sort = _sort(row)
    service, name = "sagemaker", _name(row)
    if sort != "sagemaker:endpoint":
        service, name = "ec2", words.tags(row).get("Name", "")
        if not name.startswith(_PREFIX):
            return ""
    try:
        return str(EndpointRef.parse(f"aws:{service}:{at.location}:{name.removeprefix(_PREFIX)}"))
    except InvalidInput:
        return ""


def _expired(row: Row, seen: Seen) -> Waste | None:
    found = words.tags(row)
    if DEPLOYMENT not in found or _sort(row) not in _PRICED:
        return None
    reason = outlived(found[DEPLOYMENT], words.moment(found.get(EXPIRES, "").replace("_", ":")), seen.now)
    if not reason:
        return None
    try:
        priced = _PRICED[_sort(row)](row, seen)
    except Unseen:
        priced = Waste("nobody could read whether it is still there")
    if priced is None:
        return None
    evidence = {"deployment": found[DEPLOYMENT], "should have ended": found.get(EXPIRES, "never")}
    if known := ref(row, seen.at):
        evidence["endpoint"] = known
    return replace(priced, reason=f"{reason}; {priced.reason}", evidence=evidence)


EXPIRED = WasteCheck(
    id="own-expired",
    title="Deployment of modelrig that has outlived its end",
    kind=OWN,
    reads=(ENDPOINT, CONFIG, COMPONENTS, MACHINE, DISKS, HELD, DISK, IP),
    judge=_expired,
    why="Every deployment ends by itself; one that is still there had its end prevented, and goes on billing.",
    spares=(
        "its end is still to come",
        "gone or being deleted: tags can be read for a while after that",
        "parts that bill nothing by the hour: roles, configurations, schedules",
    ),
    unchecked=("whether somebody uses it after all",),
    meter="hosting or instance hours, and the volumes and public IPv4 addresses that go with them",
    category="own",
    min_age=timedelta(0),
    remove="delete_endpoint takes down the whole deployment, with every part of it",
    reversal="can be undone",
    recovery="deploy_endpoint deploys it again.",
    order=5,
)
CHECKS = (EXPIRED,)
