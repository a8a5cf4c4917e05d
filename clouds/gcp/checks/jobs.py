"""Workstations that are kept warm for nobody, and streams of Dataflow that nothing flows through."""

from __future__ import annotations

from datetime import timedelta

from clouds.gcp import meters
from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import LISTED, usage
from clouds.gcp.checks.reads import in_each, locations, named_kind
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

CLUSTERS = in_each(
    locations("workstations"), "projects.locations.workstationClusters.list", "workstationClusters",
    "workstations.googleapis.com/WorkstationCluster",
)  # fmt: skip
CONFIGS = Detail(
    CLUSTERS, "workstations", "projects.locations.workstationClusters.workstationConfigs.list",
    lambda rows, _at: {"parent": rows[0]["name"]}, rows="workstationConfigs",
)  # fmt: skip
STATIONS = Detail(
    CONFIGS, "workstations", "projects.locations.workstationClusters.workstationConfigs.workstations.list",
    lambda rows, _at: {"parent": rows[0]["name"]}, rows="workstations",
)  # fmt: skip
JOBS = Listing(
    "dataflow", "projects.jobs.aggregated", "jobs", ask=lambda at: {"projectId": at.account, "filter": "ACTIVE"},
    assets=("dataflow.googleapis.com/Job",),
)  # fmt: skip

CLUSTER = named_kind("workstation cluster", CLUSTERS, "workstations", moving=("conditions", "reconciling"))
CONFIG = named_kind("workstation configuration", CONFIGS, "workstations", moving=("conditions", "reconciling"))
JOB = Kind(
    name="Dataflow job", of=JOBS,
    id=lambda row, at: f"//dataflow.googleapis.com/projects/{at.account}/locations/{row['location']}/jobs/{row['id']}",
    label=lambda row: str(row["name"]), created=lambda row: row.get("createTime"), tags=words.labels,
    place=lambda row, _at: str(row.get("location") or "global"), moving=("currentStateTime", "stageStates"),
)  # fmt: skip


def _stations(row: Row, seen: Seen) -> list[Row]:
    return [station for config in seen.of(CONFIGS, row) for station in seen.of(STATIONS, config)]


def _no_stations(row: Row, seen: Seen) -> Waste | None:
    if row.get("deleteTime") or _stations(row, seen):
        return None
    configs = len(seen.of(CONFIGS, row))
    return Waste(f"{words.count(configs, 'configuration')}, and no workstation",
                 (Meter("workstations/cluster", "hour", 1.0, words.name_place(row, seen.at)),),
                 evidence={"configurations": configs})  # fmt: skip


CLUSTER_EMPTY = WasteCheck(
    id="workstation-cluster-empty", title="Workstation cluster without workstations", kind=CLUSTER, judge=_no_stations,
    reads=(CONFIGS, STATIONS), why="A cluster bills for its control plane by the hour, also without workstations.",
    remove="its configurations go with it: delete it where it is defined (`gcloud workstations clusters`)",
    reversal="can be undone", recovery="", order=54, meter="cluster by the hour; the table has no rate for it",
    min_age=timedelta(days=14), spares=("a workstation stands in it", "younger than 14 days", "being deleted"),
    unchecked=("who is about to be given one",),
)  # fmt: skip


def _warm(row: Row, seen: Seen) -> Waste | None:
    machine = (row.get("host") or {}).get("gceInstance") or {}
    kept = int(words.number(machine.get("poolSize")))
    if not kept or row.get("deleteTime"):
        return None
    stations = seen.of(STATIONS, row)
    if any(each.get("state") not in ("STATE_STOPPED", "STATE_SUSPENDED") for each in stations):
        return None
    if any(words.older(seen, each.get("startTime"), days=14) is False for each in stations):
        return None
    kind, place = machine.get("machineType", ""), words.name_place(row, seen.at)
    lines = tuple(
        Meter(each.key, each.unit, each.quantity * kept, each.location) for each in meters.machine(kind, place)
    )
    return Waste(f"keeps {words.count(kept, 'machine')} ready ({kind}), and nobody started a workstation in 14 days",
                 lines, bound="at least",
                 evidence={"machines": kept, "type": kind, "workstations": len(stations)})  # fmt: skip


POOL_WARM = WasteCheck(
    id="workstation-pool-idle", title="Workstation machines that are kept ready for nobody", kind=CONFIG, judge=_warm,
    reads=(STATIONS,), why="Machines of a quick-start pool run at all hours, so that a workstation starts faster.",
    remove="set its pool to 0 (`gcloud workstations configs update --pool-size=0`); starting one then takes longer",
    reversal="can be undone", recovery="", order=54,
    meter="its machines by the hour; fee and disks are not counted", min_age=timedelta(days=14),
    spares=("a workstation was started in 14 days", "one runs now", "no pool"), unchecked=("a course to come",),
)  # fmt: skip


def _streams(row: Row) -> bool:
    return bool(row.get("type") == "JOB_TYPE_STREAMING" and row.get("currentState") == "JOB_STATE_RUNNING")


ELEMENTS = usage(
    "elements produced", JOBS, "dataflow.googleapis.com/job/elements_produced_count", "dataflow_job",
    ("job_name", "region"), lambda row: (str(row["name"]), str(row.get("location"))), days=7, absent="unresolved",
    when=_streams, source=LISTED + "a counter that every running job reports; a job without a series was not measured",
)  # fmt: skip


def _stream(row: Row, seen: Seen) -> Waste | None:
    if not _streams(row) or seen.metric(ELEMENTS, row):
        return None
    return Waste("a streaming job that produced nothing in 7 days",
                 (Meter("dataflow/streaming-worker", "hour", 1.0, str(row.get("location"))),), bound="at least",
                 evidence={"state": row["currentState"]})  # fmt: skip


STREAM_IDLE = WasteCheck(
    id="dataflow-stream-idle", title="Dataflow stream that nothing flows through", kind=JOB, judge=_stream,
    reads=(ELEMENTS,), why="A streaming job keeps at least one worker at all hours.",
    remove="drain it (`gcloud dataflow jobs drain`), so that nothing that is under way is lost; it cannot be resumed",
    reversal="cannot be undone", recovery="", order=54, meter="its workers by the hour; the table has no rate for them",
    min_age=timedelta(days=7), spares=("it produced something in 7 days", "batch jobs", "not measured"),
    unchecked=("a source that is only seldom written to",),
)  # fmt: skip
CHECKS = (POOL_WARM, CLUSTER_EMPTY, STREAM_IDLE)
