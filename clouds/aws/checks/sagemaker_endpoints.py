"""SageMaker endpoints that nobody calls, and those that failed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.sagemaker_components import COMPONENT, COMPONENT_CALLS, COMPONENTS, SOURCE, copies
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck, Young

ENDPOINTS = Listing("sagemaker", "ListEndpoints", "Endpoints")
ENDPOINT = Detail(
    ENDPOINTS, "sagemaker", "DescribeEndpoint", lambda rows, _at: {"EndpointName": rows[0]["EndpointName"]}
)
CONFIG = Detail(
    ENDPOINT,
    "sagemaker",
    "DescribeEndpointConfig",
    lambda rows, _at: {"EndpointConfigName": rows[0]["EndpointConfigName"]},
    when=lambda row: row["EndpointStatus"] == "InService" and bool(row.get("EndpointConfigName")),
)
ENDPOINT_TAGS = Detail(
    ENDPOINT, "sagemaker", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["EndpointArn"]}, rows="Tags", late=True
)


def serving(row: Row) -> bool:
    """Whether an endpoint holds instances, or serverless capacity, and takes requests."""
    held = any(_instances(row)) or bool(_kept_ready(row))
    return row["EndpointStatus"] in ("InService", "UpdateRollbackFailed") and held


def _variants(row: Row) -> Iterator[Row]:
    yield from row.get("ProductionVariants", ())
    yield from row.get("ShadowProductionVariants", ())


def _instances(row: Row) -> Iterator[Row]:
    """Variants that hold instances: serverless ones and those scaled to zero hold none."""
    for variant in _variants(row):
        if variant.get("CurrentInstanceCount") and not variant.get("CurrentServerlessConfig"):
            yield variant


def _kept_ready(row: Row) -> list[Row]:
    """The settings of serverless variants with provisioned concurrency, which is billed by the second, used or not."""
    settings = (variant.get("CurrentServerlessConfig") or {} for variant in _variants(row))
    return [each for each in settings if each.get("ProvisionedConcurrency")]


def _prepaid(row: Row) -> bool:
    """Whether all its instances are of capacity that is paid for ahead, used or not."""
    held = [variant.get("CapacityReservationConfig") or {} for variant in _instances(row)]
    return bool(held) and all(
        each.get("MlReservationArn") and each.get("CapacityReservationPreference") == "capacity-reservations-only"
        for each in held
    )


CALLS = usage(
    "AWS/SageMaker",
    "Invocations",
    ENDPOINT,
    by=lambda row: [
        {"EndpointName": row["EndpointName"], "VariantName": each["VariantName"]} for each in row["ProductionVariants"]
    ],
    days=7,
    absent="zero",
    when=serving,
    unit="requests",
    source=SOURCE,
)
BACKLOG = usage(
    "AWS/SageMaker",
    "ApproximateBacklogSize",
    ENDPOINT,
    by=lambda row: [{"EndpointName": row["EndpointName"]}],
    days=7,
    absent="unresolved",
    stat="Maximum",
    when=lambda row: serving(row) and bool(row.get("AsyncInferenceConfig")),
    unit="waiting",
    source="SageMaker docs, asynchronous inference metrics: always emitted while the endpoint is there",
)
REAL_TIME = Kind(
    name="SageMaker endpoint",
    of=ENDPOINT,
    id=lambda row, _at: row["EndpointArn"],
    label=lambda row: row["EndpointName"],
    created=lambda row: row["CreationTime"],
    tags_read=ENDPOINT_TAGS,
    tags_of=words.tag_row,
)
_BY_ENDPOINT = words.by("EndpointName")


def placed(row: Row, config: Row) -> list[tuple[str, int]]:
    """(instance type, how many) of everything that an endpoint holds, by the type that was placed."""
    types = {
        each["VariantName"]: each
        for each in (*config.get("ProductionVariants", ()), *config.get("ShadowProductionVariants", ()))
    }
    found = []
    for variant in _instances(row):
        pools = [(pool["InstanceType"], pool["CurrentInstanceCount"]) for pool in variant.get("InstancePools", ())]
        held = [(name, count) for name, count in pools if count]
        if not held:
            name = types.get(variant["VariantName"], {}).get("InstanceType", "a type that is not known")
            held = [(name, variant["CurrentInstanceCount"])]
        found += held
    return found


def hosting_meters(row: Row, config: Row) -> tuple[Meter, ...]:
    """What an endpoint costs: the hours of its instances, and the volume that its configuration gives to each."""
    meters = [Meter(f"sagemaker-hosting/{name}/on-demand", "hour", count) for name, count in placed(row, config)]
    by_name = {each["VariantName"]: each for each in config.get("ProductionVariants", ())}
    for variant in _instances(row):
        size = by_name.get(variant["VariantName"], {}).get("VolumeSizeInGB")
        if size:
            meters.append(
                Meter("sagemaker-hosting/endpoint-volume", "GB-month", size * variant["CurrentInstanceCount"])
            )
    return tuple(meters)


def shown(row: Row, config: Row) -> str:
    """What an endpoint holds in words: "2 x ml.g5.xlarge"."""
    ready = [f"{each['ProvisionedConcurrency']} x {each['MemorySizeInMB']} MB kept ready" for each in _kept_ready(row)]
    return ", ".join([*(f"{count} x {name}" for name, count in placed(row, config)), *ready])


def _idle(row: Row, seen: Seen) -> Waste | None:
    if not serving(row):
        return None
    components = seen.index(COMPONENTS, _BY_ENDPOINT).get(row["EndpointName"], ())
    if components:
        described = seen.index(COMPONENT, _BY_ENDPOINT).get(row["EndpointName"], ())
        active = [each for each in described if each["InferenceComponentStatus"] == "InService" and copies(each) > 0]
        if len(active) < len(components) and any(each["InferenceComponentStatus"] != "InService" for each in described):
            return None  # one of them is being made or changed: somebody is at work on it
        if not all(words.older(seen, each["CreationTime"], days=7) for each in described):
            return None  # a component that is younger than the window
        served = [each for each in described if each["InferenceComponentStatus"] == "InService"]
        requests = sum(seen.metric(COMPONENT_CALLS, each) for each in served)
    else:
        requests = seen.metric(CALLS, row)
        if row.get("AsyncInferenceConfig"):
            requests += seen.metric(BACKLOG, row)
    if requests:
        return None
    if words.older(seen, row.get("LastModifiedTime"), days=CALLS.days) is False:
        raise Young  # what it served before it was changed is counted under the variants that it had then
    config = seen.one(CONFIG, row) or {}
    held = shown(row, config)
    return Waste(
        reason=f"no request in 7 days; holds {held}",
        meters=hosting_meters(row, config),
        prepaid=_prepaid(row),
        bound="at least" if _kept_ready(row) else "exact",  # what is kept ready has no row in the price table
        holds=tuple(each["InferenceComponentArn"] for each in components),
        evidence={"status": row["EndpointStatus"], "instances": held, "components": len(components)},
    )


def _delete(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"EndpointName": doomed.row["EndpointName"]}
    return (
        step(
            "delete",
            f"delete endpoint {doomed.name}; its configuration and model stay, so it can be made again",
            "sagemaker.DeleteEndpoint",
            name,
            "can be undone",
            until=gone("sagemaker.DescribeEndpoint", name, "EndpointStatus"),
            capacity=doomed.row["EndpointStatus"] != "Failed",
        ),
    )


ENDPOINT_IDLE = WasteCheck(
    id="sm-endpoint-idle",
    title="SageMaker endpoint that nobody calls",
    kind=REAL_TIME,
    reads=(CONFIG, CALLS, BACKLOG, COMPONENTS, COMPONENT, COMPONENT_CALLS),
    judge=_idle,
    why="An endpoint bills every hour for each instance that it holds, whether a request comes or not.",
    spares=(
        "serverless without provisioned concurrency, or scaled to zero instances",
        "any variant or inference component was called in 7 days",
        "asynchronous with a backlog",
        "not in service (being made, changed or deleted), or changed in 7 days",
    ),
    unchecked=("a schedule that calls it less than once a week", "callers outside this account keep its name"),
    meter="SageMaker hosting instance hours of the placed type, and the endpoint's volume",
    category="ai",
    remove=_delete,
    reversal="can be undone",
    recovery="Configuration and model stay: create-endpoint makes it again, if there is capacity then.",
    order=10,
    steps=("sagemaker.DeleteEndpoint", "sagemaker.DescribeEndpoint"),
)


def _failed(row: Row, _seen: Seen) -> Waste | None:
    if row["EndpointStatus"] != "Failed":
        return None
    why = " ".join(str(row.get("FailureReason", "")).split())[:200]
    return Waste(
        reason="failed to be made; it serves nothing, and keeps its name and a place in the quota",
        free=True,
        evidence={"failure": why or "not given", "status": row["EndpointStatus"]},
    )


ENDPOINT_FAILED = WasteCheck(
    id="sm-endpoint-failed",
    title="SageMaker endpoint that failed",
    kind=REAL_TIME,
    judge=_failed,
    why="A failed endpoint holds no instance, but its name cannot be used again and it counts against the quota.",
    spares=("UpdateRollbackFailed, which still serves",),
    unchecked=("whether somebody still looks into the failure",),
    meter="none: a failed endpoint bills nothing",
    category="ai",
    min_age=timedelta(hours=24),
    remove=_delete,
    reversal="can be undone",
    recovery="It never served; its configuration and model stay.",
    order=10,
    steps=("sagemaker.DeleteEndpoint", "sagemaker.DescribeEndpoint"),
)


CHECKS = (ENDPOINT_IDLE, ENDPOINT_FAILED)
