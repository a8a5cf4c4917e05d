"""SageMaker Studio apps and spaces, and MLflow servers, that run or keep disks while nobody works."""

from __future__ import annotations

from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.steps import gone, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Unresolved, Waste, WasteCheck

APPS = Listing("sagemaker", "ListApps", "Apps")


def _app(rows: list[Row] | tuple[Row, ...]) -> dict[str, str]:
    row = rows[0]
    whose = "SpaceName" if row.get("SpaceName") else "UserProfileName"
    return {
        "DomainId": row["DomainId"], "AppType": row["AppType"], "AppName": row["AppName"], whose: row.get(whose, ""),
    }  # fmt: skip


APP = Detail(
    APPS, "sagemaker", "DescribeApp", lambda rows, _at: _app(tuple(rows)),
    when=lambda row: row["Status"] == "InService" and row["AppType"] != "Canvas",
)  # fmt: skip
APP_TAGS = Detail(
    APP, "sagemaker", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["AppArn"]}, rows="Tags", late=True
)
STUDIO_APP = Kind(
    name="SageMaker Studio app",
    of=APP,
    id=lambda row, _at: row["AppArn"],
    label=lambda row: f"{row.get('SpaceName') or row.get('UserProfileName')}/{row['AppType']}/{row['AppName']}",
    created=lambda row: row["CreationTime"],
    tags_read=APP_TAGS,
    tags_of=words.tag_row,
)


def _app_idle(row: Row, seen: Seen) -> Waste | None:
    kind = row.get("ResourceSpec", {}).get("InstanceType", "system")
    if row["Status"] != "InService" or kind == "system" or row.get("ResourceSpec", {}).get("TrainingPlanArn"):
        return None
    last, health = row.get("LastUserActivityTimestamp"), row.get("LastHealthCheckTimestamp")
    if last is None or last == health:
        # SageMaker sets the last activity to the health check when nobody is there (botocore 1.44.8 model).
        raise Unresolved("SageMaker gives the time of its health check as the last activity")
    if not words.older(seen, last, hours=4):
        return None
    hours = int((seen.now - (words.moment(last) or seen.now)).total_seconds() // 3600)
    return Waste(
        reason=f"runs on {kind} and nobody has used it for {hours} hours",
        meters=(Meter(f"sagemaker-studio/{kind}/on-demand", "hour"),),
        evidence={"instance": kind, "app": row["AppType"], "idle hours": hours},
    )


def _delete_app(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = _app((doomed.row,))
    return (
        step(
            "delete", f"delete Studio app {doomed.name}; its space with all files stays", "sagemaker.DeleteApp", name,
            "can be undone", until=gone("sagemaker.DescribeApp", name, "Status", "Deleted"), capacity=True,
        ),
    )  # fmt: skip


APP_IDLE = WasteCheck(
    id="sm-studio-app-idle",
    title="Studio app that runs while nobody works",
    kind=STUDIO_APP,
    judge=_app_idle,
    why="A Studio app holds its instance until it is deleted or an idle shutdown ends it.",
    spares=("runs on the system instance, which is free", "used in the last 4 hours", "Canvas", "in a training plan"),
    unchecked=("a kernel that computes without anybody at the keyboard",),
    meter="SageMaker Studio instance hours",
    category="ai",
    min_age=timedelta(hours=4),
    remove=_delete_app,
    reversal="can be undone",
    recovery="Files are in the space and stay; the app is started anew. What was in memory is lost.",
    order=14,
    steps=("sagemaker.DeleteApp", "sagemaker.DescribeApp"),
)

SPACES = Listing("sagemaker", "ListSpaces", "Spaces")
SPACE_TAGS = Detail(
    SPACES, "sagemaker", "ListTags",
    lambda rows, at: {"ResourceArn": words.arn("sagemaker", at, f"space/{rows[0]['DomainId']}/{rows[0]['SpaceName']}")},
    rows="Tags", late=True,
)  # fmt: skip
SPACE = Kind(
    name="SageMaker Studio space",
    of=SPACES,
    id=lambda row, at: words.arn("sagemaker", at, f"space/{row['DomainId']}/{row['SpaceName']}"),
    label=lambda row: f"{row['DomainId']}/{row['SpaceName']}",
    created=lambda row: row["CreationTime"],
    tags_read=SPACE_TAGS,
    tags_of=words.tag_row,
)


def _by_space(row: Row) -> list[tuple[str, str]]:
    return [(row["DomainId"], row["SpaceName"])] if row.get("SpaceName") and row["Status"] != "Deleted" else []


def _space_idle(row: Row, seen: Seen) -> Waste | None:
    storage = row.get("SpaceSettingsSummary", {}).get("SpaceStorageSettings", {}).get("EbsStorageSettings", {})
    size = storage.get("EbsVolumeSizeInGb")
    days = words.days_since(seen, row["LastModifiedTime"])
    if not size or row["Status"] != "InService" or days is None or days < 30:
        return None
    if (row["DomainId"], row["SpaceName"]) in seen.index(APPS, _by_space):
        return None
    return Waste(
        reason=f"no app runs in it and it was last changed {days} days ago; its {size} GB are billed",
        meters=(Meter("sagemaker-studio/volume", "GB-month", size),),
        evidence={"GB": size, "unchanged days": days},
    )


SPACE_IDLE = WasteCheck(
    id="sm-studio-space-idle",
    title="Studio space with a disk and no app",
    kind=SPACE,
    reads=(APPS,),
    judge=_space_idle,
    why="A space keeps its EBS volume, billed by the GB, after its last app is gone.",
    spares=("an app of any state but deleted in it", "changed in the last 30 days", "no volume of its own"),
    unchecked=("what the volume holds",),
    meter="Studio volume GB-months",
    category="ai",
    remove="deleting a space deletes its volume, and no API saves its data first",
    reversal="cannot be undone",
    recovery="There is none: the files are gone with the volume.",
    order=80,
)

MLFLOW_SERVERS = Listing("sagemaker", "ListMlflowTrackingServers", "TrackingServerSummaries")
MLFLOW_SERVER = Detail(
    MLFLOW_SERVERS,
    "sagemaker",
    "DescribeMlflowTrackingServer",
    lambda rows, _at: {"TrackingServerName": rows[0]["TrackingServerName"]},
)
MLFLOW_TAGS = Detail(
    MLFLOW_SERVER, "sagemaker", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["TrackingServerArn"]},
    rows="Tags", late=True,
)  # fmt: skip
MLFLOW = Kind(
    name="MLflow tracking server",
    of=MLFLOW_SERVER,
    id=lambda row, _at: row["TrackingServerArn"],
    label=lambda row: row["TrackingServerName"],
    created=lambda row: row["CreationTime"],
    tags_read=MLFLOW_TAGS,
    tags_of=words.tag_row,
)


def _mlflow_idle(row: Row, _seen: Seen) -> Waste | None:
    if row["TrackingServerStatus"] not in ("Created", "Started", "Updated"):
        return None
    if not row.get("IsActive"):
        raise Unresolved("SageMaker does not say whether it is active")
    if row["IsActive"] != "Inactive":
        return None
    return Waste(
        reason=f"{row['TrackingServerSize'].lower()} server is up and SageMaker calls it inactive",
        meters=(Meter(f"sagemaker-mlflow/{row['TrackingServerSize'].lower()}", "hour"),),
        evidence={"size": row["TrackingServerSize"], "status": row["TrackingServerStatus"]},
    )


def _stop_mlflow(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"TrackingServerName": doomed.row["TrackingServerName"]}
    return (
        step(
            "stop",
            f"stop MLflow server {doomed.name}; its runs and artefacts stay",
            "sagemaker.StopMlflowTrackingServer",
            name,
            "can be undone",
            until=until(
                "sagemaker.DescribeMlflowTrackingServer",
                name,
                "TrackingServerStatus",
                "Stopped",
                failed=("StopFailed",),
            ),
        ),
    )


MLFLOW_IDLE = WasteCheck(
    id="sm-mlflow-idle",
    title="MLflow tracking server that is inactive",
    kind=MLFLOW,
    judge=_mlflow_idle,
    why="A tracking server bills by the hour from its creation until it is stopped.",
    spares=("stopped, or being changed", "active"),
    unchecked=("AWS does not say what makes a server inactive; look at its last runs first",),
    meter="MLflow tracking server hours by size",
    category="ai",
    remove=_stop_mlflow,
    reversal="can be undone",
    recovery="Start it again: runs and artefacts stay.",
    order=14,
    steps=("sagemaker.StopMlflowTrackingServer", "sagemaker.DescribeMlflowTrackingServer"),
)
CHECKS = (APP_IDLE, MLFLOW_IDLE, SPACE_IDLE)
