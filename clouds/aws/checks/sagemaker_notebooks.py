"""SageMaker notebook instances that run on, or keep a disk long after they were stopped."""

from __future__ import annotations

import base64
import re

from clouds.aws.checks import words
from clouds.aws.checks.steps import step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

NOTEBOOKS = Listing("sagemaker", "ListNotebookInstances", "NotebookInstances")
NOTEBOOK = Detail(
    NOTEBOOKS,
    "sagemaker",
    "DescribeNotebookInstance",
    lambda rows, _at: {"NotebookInstanceName": rows[0]["NotebookInstanceName"]},
)
LIFECYCLE = Detail(
    NOTEBOOK,
    "sagemaker",
    "DescribeNotebookInstanceLifecycleConfig",
    lambda rows, _at: {"NotebookInstanceLifecycleConfigName": rows[0]["NotebookInstanceLifecycleConfigName"]},
    when=lambda row: (
        bool(row.get("NotebookInstanceLifecycleConfigName")) and row["NotebookInstanceStatus"] == "InService"
    ),
)
NOTEBOOK_LOG = Detail(
    NOTEBOOK,
    "logs",
    "DescribeLogStreams",
    lambda rows, _at: {
        "logGroupName": "/aws/sagemaker/NotebookInstances",
        "logStreamNamePrefix": f"{rows[0]['NotebookInstanceName']}/",
    },
    rows="logStreams",
    when=lambda row: row["NotebookInstanceStatus"] == "InService",
    nothing_on=("ResourceNotFoundException",),
)
NOTEBOOK_TAGS = Detail(
    NOTEBOOK, "sagemaker", "ListTags", lambda rows, _at: {"ResourceArn": rows[0]["NotebookInstanceArn"]}, rows="Tags",
    late=True,
)  # fmt: skip
NOTEBOOK_INSTANCE = Kind(
    name="SageMaker notebook instance",
    of=NOTEBOOK,
    id=lambda row, _at: row["NotebookInstanceArn"],
    label=lambda row: row["NotebookInstanceName"],
    created=lambda row: row["CreationTime"],
    tags_read=NOTEBOOK_TAGS,
    tags_of=words.tag_row,
)
IDLE_DAYS = 7
_STOPS_ITSELF = re.compile(r"auto.?stop|idle", re.IGNORECASE)


def stops_itself(config: Row | None) -> bool:
    """Whether a lifecycle script looks like one that stops the notebook when it is idle."""
    for script in (config or {}).get("OnStart", []) + (config or {}).get("OnCreate", []):
        text = base64.b64decode(script.get("Content", "")).decode("utf-8", "replace")
        if _STOPS_ITSELF.search(text):
            return True
    return False


def _notebook_idle(row: Row, seen: Seen) -> Waste | None:
    if row["NotebookInstanceStatus"] != "InService":
        return None
    days = words.days_since(seen, row["LastModifiedTime"])
    if days is None or days < IDLE_DAYS or stops_itself(seen.one(LIFECYCLE, row)):
        return None
    last = max((each.get("lastEventTimestamp") or 0 for each in seen.of(NOTEBOOK_LOG, row)), default=0)
    quiet = int((seen.now.timestamp() - last / 1000) // 86400) if last else None
    if quiet is not None and quiet < IDLE_DAYS:
        return None
    size = row.get("VolumeSizeInGB") or 0
    return Waste(
        reason=f"running for {days} days, "
        + (f"last line of its log {quiet} days ago" if quiet is not None else "it has written no log"),
        meters=(Meter(f"sagemaker-notebook/{row['InstanceType']}/on-demand", "hour"),),
        evidence={"instance": row["InstanceType"], "started days ago": days, "log quiet for days": quiet, "GB": size},
    )


def _stop_notebook(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"NotebookInstanceName": doomed.row["NotebookInstanceName"]}
    return (
        step(
            "stop",
            f"stop notebook instance {doomed.name}; its volume stays",
            "sagemaker.StopNotebookInstance",
            name,
            "can be undone",
            capacity=True,
            until=until(
                "sagemaker.DescribeNotebookInstance", name, "NotebookInstanceStatus", "Stopped", failed=("Failed",)
            ),
        ),
    )


NOTEBOOK_IDLE = WasteCheck(
    id="sm-notebook-idle",
    title="SageMaker notebook instance that runs on",
    kind=NOTEBOOK_INSTANCE,
    reads=(LIFECYCLE, NOTEBOOK_LOG),
    judge=_notebook_idle,
    why="A notebook instance bills until it is stopped, whether a kernel runs or not.",
    spares=(
        "started in the last 7 days",
        "its log was written to in 7 days",
        "a lifecycle script that stops it when idle",
    ),
    unchecked=("whether a kernel is computing without a word in the log", "work in open browser tabs"),
    meter="SageMaker notebook instance hours",
    category="ai",
    remove=_stop_notebook,
    reversal="can be undone",
    recovery="Start it again: the volume with everything under /home/ec2-user/SageMaker stays and goes on billing.",
    order=14,
    steps=("sagemaker.StopNotebookInstance", "sagemaker.DescribeNotebookInstance"),
)


def _notebook_stopped(row: Row, seen: Seen) -> Waste | None:
    days = words.days_since(seen, row["LastModifiedTime"])
    size = row.get("VolumeSizeInGB")
    if row["NotebookInstanceStatus"] != "Stopped" or days is None or days < 30:
        return None
    return Waste(
        reason=f"stopped {days} days ago; its volume{f' of {size} GB' if size else ''} is still billed",
        meters=(Meter("sagemaker-notebook/volume", "GB-month", size),) if size else (),
        evidence={"stopped days ago": days, "GB": size},
    )


NOTEBOOK_STOPPED = WasteCheck(
    id="sm-notebook-stopped",
    title="Volume of a notebook instance stopped long ago",
    kind=NOTEBOOK_INSTANCE,
    judge=_notebook_stopped,
    why="A stopped notebook instance keeps its volume, and that is billed by the GB.",
    spares=("stopped less than 30 days ago",),
    unchecked=("what the volume holds",),
    meter="SageMaker notebook volume GB-months",
    category="ai",
    remove="the volume can only be deleted with the instance, and no API saves its data first",
    reversal="cannot be undone",
    recovery="Deleting the instance deletes the volume and what nobody has copied out of it.",
    order=80,
)

CHECKS = (NOTEBOOK_IDLE, NOTEBOOK_STOPPED)
