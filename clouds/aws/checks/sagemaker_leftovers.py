"""SageMaker: models and endpoint configurations that no endpoint uses, and monitors of endpoints that are gone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.sagemaker_components import COMPONENT, COMPONENTS
from clouds.aws.checks.sagemaker_endpoints import ENDPOINT, ENDPOINTS
from clouds.aws.checks.steps import gone, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Row, Seen, Waste, WasteCheck

CONFIGS = Listing("sagemaker", "ListEndpointConfigs", "EndpointConfigs")
CONFIG_DETAIL = Detail(
    CONFIGS,
    "sagemaker",
    "DescribeEndpointConfig",
    lambda rows, _at: {"EndpointConfigName": rows[0]["EndpointConfigName"]},
)
MODELS = Listing("sagemaker", "ListModels", "Models")
SCHEDULES = Listing("sagemaker", "ListMonitoringSchedules", "MonitoringScheduleSummaries")
CONFIG_TAGS = Detail(
    CONFIGS, "sagemaker", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["EndpointConfigArn"]}, rows="Tags",
    late=True,
)  # fmt: skip
MODEL_TAGS = Detail(
    MODELS, "sagemaker", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["ModelArn"]}, rows="Tags", late=True
)
SCHEDULE_TAGS = Detail(
    SCHEDULES, "sagemaker", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["MonitoringScheduleArn"]},
    rows="Tags", late=True,
)  # fmt: skip

ENDPOINT_CONFIG = Kind(
    name="SageMaker endpoint configuration",
    of=CONFIGS,
    id=lambda row, _at: row["EndpointConfigArn"],
    label=lambda row: row["EndpointConfigName"],
    created=lambda row: row["CreationTime"],
    tags_read=CONFIG_TAGS,
    tags_of=words.tag_row,
)
MODEL = Kind(
    name="SageMaker model",
    of=MODELS,
    id=lambda row, _at: row["ModelArn"],
    label=lambda row: row["ModelName"],
    created=lambda row: row["CreationTime"],
    tags_read=MODEL_TAGS,
    tags_of=words.tag_row,
)
SCHEDULE = Kind(
    name="SageMaker monitoring schedule",
    of=SCHEDULES,
    id=lambda row, _at: row["MonitoringScheduleArn"],
    label=lambda row: row["MonitoringScheduleName"],
    created=lambda row: row["CreationTime"],
    tags_read=SCHEDULE_TAGS,
    tags_of=words.tag_row,
)


def _configs_in_use(row: Row) -> Iterable[Any]:
    yield row["EndpointConfigName"]
    pending = row.get("PendingDeploymentSummary") or {}
    if pending.get("EndpointConfigName"):
        yield pending["EndpointConfigName"]


def _models_of(row: Row) -> Iterable[Any]:
    for variant in (*row.get("ProductionVariants", ()), *row.get("ShadowProductionVariants", ())):
        if variant.get("ModelName"):
            yield variant["ModelName"]
        for pool in variant.get("InstancePools", ()):
            if pool.get("ModelNameOverride"):
                yield pool["ModelNameOverride"]


def _models_placed(row: Row) -> Iterable[Any]:
    """The models of an inference component: the configuration of its endpoint names none."""
    for about in (row.get("Specification") or {}, *row.get("Specifications", ())):
        if about.get("ModelName"):
            yield about["ModelName"]


def _config_left(row: Row, seen: Seen) -> Waste | None:
    if row["EndpointConfigName"] in seen.index(ENDPOINT, _configs_in_use):
        return None
    return Waste("no endpoint uses it", free=True, evidence={"endpoints read": len(seen.rows(ENDPOINT))})


def _model_left(row: Row, seen: Seen) -> Waste | None:
    name = row["ModelName"]
    if name in seen.index(CONFIG_DETAIL, _models_of) or name in seen.index(COMPONENT, _models_placed):
        return None
    return Waste(
        "no endpoint configuration or inference component names it",
        free=True,
        evidence={"configurations read": len(seen.rows(CONFIG_DETAIL))},
    )


def _delete_config(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"EndpointConfigName": doomed.row["EndpointConfigName"]}
    return (
        step(
            "delete", f"delete endpoint configuration {doomed.name}", "sagemaker.DeleteEndpointConfig", name,
            "cannot be undone", until=gone("sagemaker.DescribeEndpointConfig", name, "EndpointConfigName"),
        ),
    )  # fmt: skip


def _delete_model(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"ModelName": doomed.row["ModelName"]}
    return (
        step(
            "delete", f"delete model {doomed.name}; its artefacts in S3 stay", "sagemaker.DeleteModel", name,
            "cannot be undone", until=gone("sagemaker.DescribeModel", name, "ModelName"),
        ),
    )  # fmt: skip


CONFIG_LEFT = WasteCheck(
    id="sm-orphan-configs",
    title="SageMaker endpoint configuration that no endpoint uses",
    kind=ENDPOINT_CONFIG,
    reads=(ENDPOINTS, ENDPOINT),
    judge=_config_left,
    why="It costs nothing and hides what is in use; deployments of JumpStart and notebooks leave many behind.",
    spares=("named by an endpoint, also by one that is being updated",),
    unchecked=("a pipeline that makes endpoints from it by name", "whether it is kept to make an endpoint again"),
    meter="none",
    category="ai",
    min_age=timedelta(days=30),
    remove=_delete_config,
    reversal="cannot be undone",
    recovery="It can be written again from its description, which the report keeps no copy of.",
    order=70,
    steps=("sagemaker.DeleteEndpointConfig", "sagemaker.DescribeEndpointConfig"),
)
MODEL_LEFT = WasteCheck(
    id="sm-orphan-models",
    title="SageMaker model that nothing serves",
    kind=MODEL,
    reads=(CONFIGS, CONFIG_DETAIL, COMPONENTS, COMPONENT),
    judge=_model_left,
    why="The record costs nothing; the artefacts behind it in S3 may.",
    spares=(
        "named by a variant, a shadow variant or an instance pool of any configuration",
        "placed by an inference component",
    ),
    unchecked=("batch transforms and pipelines that name it", "artefacts in S3"),
    meter="none for the record; artefacts in S3 are not priced here",
    category="ai",
    min_age=timedelta(days=30),
    remove=_delete_model,
    reversal="cannot be undone",
    recovery="It can be made again from its image and artefacts.",
    order=72,
    steps=("sagemaker.DeleteModel", "sagemaker.DescribeModel"),
)
_NAMES = words.by("EndpointName")


def _schedule_left(row: Row, seen: Seen) -> Waste | None:
    if row["MonitoringScheduleStatus"] != "Scheduled" or not row.get("EndpointName"):
        return None
    if row["EndpointName"] in seen.index(ENDPOINTS, _NAMES):
        return None
    return Waste(
        f"watches endpoint {row['EndpointName']}, which is gone; each run starts a processing job that fails",
        meters=(),
        evidence={"endpoint": row["EndpointName"], "type": row.get("MonitoringType", "")},
    )


def _stop_schedule(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"MonitoringScheduleName": doomed.row["MonitoringScheduleName"]}
    return (
        step(
            "stop",
            f"stop monitoring schedule {doomed.name}",
            "sagemaker.StopMonitoringSchedule",
            name,
            "can be undone",
            until=until(
                "sagemaker.DescribeMonitoringSchedule", name, "MonitoringScheduleStatus", "Stopped", seconds=600
            ),
        ),
    )


SCHEDULE_LEFT = WasteCheck(
    id="sm-monitoring-schedule",
    title="Monitoring schedule of an endpoint that is gone",
    kind=SCHEDULE,
    reads=(ENDPOINTS,),
    judge=_schedule_left,
    why="It goes on starting processing jobs by the clock, and each is billed by the second.",
    spares=("monitors of batch transforms", "stopped schedules"),
    unchecked=("how long each run lasts, so it has no price here",),
    meter="processing instance hours of each run (not known from the schedule)",
    category="ai",
    remove=_stop_schedule,
    reversal="can be undone",
    recovery="start-monitoring-schedule sets it going again.",
    order=12,
    steps=("sagemaker.StopMonitoringSchedule", "sagemaker.DescribeMonitoringSchedule"),
)
CHECKS = (SCHEDULE_LEFT, CONFIG_LEFT, MODEL_LEFT)
