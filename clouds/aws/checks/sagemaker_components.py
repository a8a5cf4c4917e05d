"""SageMaker inference components that nobody calls."""

from __future__ import annotations

from clouds.aws.checks import accelerated, words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

COMPONENTS = Listing("sagemaker", "ListInferenceComponents", "InferenceComponents")
COMPONENT = Detail(
    COMPONENTS,
    "sagemaker",
    "DescribeInferenceComponent",
    lambda rows, _at: {"InferenceComponentName": rows[0]["InferenceComponentName"]},
)
COMPONENT_TAGS = Detail(
    COMPONENT,
    "sagemaker",
    "ListTags",
    lambda rows, _at: {"ResourceArn": rows[0]["InferenceComponentArn"]},
    rows="Tags",
    late=True,
)
SOURCE = "SageMaker docs, metrics for monitoring: Invocations counts requests to a variant or component; emitted on use"
COMPONENT_CALLS = usage(
    "AWS/SageMaker",
    "Invocations",
    COMPONENT,
    by=lambda row: [{"InferenceComponentName": row["InferenceComponentName"]}],
    days=7,
    absent="zero",
    # One without a copy now may have been called this week and scaled to zero since.
    when=lambda row: row["InferenceComponentStatus"] == "InService",
    unit="requests",
    source=SOURCE,
)


def copies(row: Row) -> int:
    """Copies of a component that are placed."""
    return int(row.get("RuntimeConfig", {}).get("CurrentCopyCount") or 0)


INFERENCE_COMPONENT = Kind(
    name="SageMaker inference component",
    of=COMPONENT,
    id=lambda row, _at: row["InferenceComponentArn"],
    label=lambda row: row["InferenceComponentName"],
    created=lambda row: row["CreationTime"],
    tags_read=COMPONENT_TAGS,
    tags_of=words.tag_row,
)


def _component_idle(row: Row, seen: Seen) -> Waste | None:
    if row["InferenceComponentStatus"] != "InService" or not copies(row):
        return None
    if seen.metric(COMPONENT_CALLS, row):
        return None
    needs = row.get("Specification", {}).get("ComputeResourceRequirements", {})
    wanted = needs.get("NumberOfAcceleratorDevicesRequired") or 0
    count = copies(row)
    meters = []
    for place in row.get("RuntimeConfig", {}).get("PlacementStatus", ()):
        has = accelerated.count(place["InstanceType"])
        if has and wanted and place["CurrentCopyCount"]:
            share = min(1.0, wanted / has) * place["CurrentCopyCount"]
            meters.append(Meter(f"sagemaker-hosting/{place['InstanceType']}/on-demand", "hour", share))
    return Waste(
        reason=f"no request in 7 days; {count} cop{'y' if count == 1 else 'ies'} placed on {row['EndpointName']}",
        meters=tuple(meters),
        bound="at most",
        evidence={"endpoint": row["EndpointName"], "copies": count, "accelerators each": wanted},
    )


def _scale_to_zero(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"InferenceComponentName": doomed.row["InferenceComponentName"]}
    return (
        step(
            "scale",
            f"set the copies of inference component {doomed.name} to 0",
            "sagemaker.UpdateInferenceComponentRuntimeConfig",
            {**name, "DesiredRuntimeConfig": {"CopyCount": 0}},
            "can be undone",
            until=until(
                "sagemaker.DescribeInferenceComponent", name, "RuntimeConfig.CurrentCopyCount", "0", seconds=1800
            ),
            capacity=True,
        ),
    )


COMPONENT_IDLE = WasteCheck(
    id="sm-inference-component-idle",
    title="SageMaker inference component that nobody calls",
    kind=INFERENCE_COMPONENT,
    reads=(COMPONENT_CALLS,),
    judge=_component_idle,
    why="Copies of a component hold accelerators of the endpoint's instances; without them instances can be released.",
    spares=("no copies placed", "called in 7 days", "priced with its endpoint where the whole endpoint is idle"),
    unchecked=("a least number of copies that autoscaling keeps: it would place them again",),
    meter="its share of the endpoint's instances: saved only when instances are released with it",
    category="ai",
    remove=_scale_to_zero,
    reversal="can be undone",
    recovery="The component stays; setting its copies places it again, if there is capacity then.",
    order=9,
    steps=("sagemaker.UpdateInferenceComponentRuntimeConfig", "sagemaker.DescribeInferenceComponent"),
)

CHECKS = (COMPONENT_IDLE,)
