"""Vertex AI: feature stores, agents and notebooks that run for nobody; Workbench and Colab machines left on."""

from __future__ import annotations

from datetime import timedelta

from clouds.gcp import meters
from clouds.gcp.checks import words
from clouds.gcp.checks.metrics import LISTED, usage
from clouds.gcp.checks.reads import INSTANCES, VERTEX, everywhere, in_each, named_kind
from clouds.gcp.checks.steps import step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Meter, Row, Seen, Unresolved, Waste, WasteCheck

ONLINE = in_each(
    VERTEX, "projects.locations.featureOnlineStores.list", "featureOnlineStores",
    "aiplatform.googleapis.com/FeatureOnlineStore",
)  # fmt: skip
LEGACY = in_each(
    VERTEX, "projects.locations.featurestores.list", "featurestores", "aiplatform.googleapis.com/Featurestore"
)
ENGINES = in_each(
    VERTEX, "projects.locations.reasoningEngines.list", "reasoningEngines", "aiplatform.googleapis.com/ReasoningEngine"
)
RUNTIMES = in_each(
    VERTEX, "projects.locations.notebookRuntimes.list", "notebookRuntimes", "aiplatform.googleapis.com/NotebookRuntime"
)
WORKBENCH = everywhere(
    "notebooks", "projects.locations.instances.list", "instances", "notebooks.googleapis.com/Instance"
)

STORE = named_kind("Vertex online store", ONLINE, "aiplatform")
FEATURES = named_kind("Vertex feature store", LEGACY, "aiplatform")
AGENT = named_kind("Vertex agent", ENGINES, "aiplatform", label=words.shown)
RUNTIME = named_kind("Colab runtime", RUNTIMES, "aiplatform", label=words.shown)
NOTEBOOK = named_kind("Workbench instance", WORKBENCH, "notebooks", moving=("healthInfo", "healthState"))
_COUNTER = LISTED + "a counter that is emitted on use"


def _id(row: Row) -> tuple[str, ...]:
    return (words.last(row["name"]), words.part(row["name"], "locations"))


READS = usage(
    "online reads", ONLINE, "aiplatform.googleapis.com/featureonlinestore/online_serving/request_count",
    "aiplatform.googleapis.com/FeatureOnlineStore", ("feature_online_store_id", "location"), _id, days=14,
    absent="zero", source=_COUNTER,
)  # fmt: skip
OLD_READS = usage(
    "online reads", LEGACY, "aiplatform.googleapis.com/featurestore/online_serving/request_count",
    "aiplatform.googleapis.com/Featurestore", ("featurestore_id", "location"), _id, days=14, absent="zero",
    when=lambda row: bool(_nodes(row)), source=_COUNTER,
)  # fmt: skip
CALLS = usage(
    "requests", ENGINES, "aiplatform.googleapis.com/reasoning_engine/request_count",
    "aiplatform.googleapis.com/ReasoningEngine", ("reasoning_engine_id", "location"), _id, days=7, absent="zero",
    when=lambda row: bool(_least(row)), source=_COUNTER,
)  # fmt: skip


def _store(row: Row, seen: Seen) -> Waste | None:
    if seen.metric(READS, row):
        return None
    scaling = (row.get("bigtable") or {}).get("autoScaling") or {}
    nodes = int(words.number(scaling.get("minNodeCount")) or 1)
    kind = "bigtable" if row.get("bigtable") else "optimized"
    return Waste(
        f"a {kind} store of at least {nodes} node{'' if nodes == 1 else 's'}, and nobody read from it in 14 days",
        (Meter(f"vertex-feature-store/{kind}-node", "hour", nodes, words.name_place(row, seen.at)),),
        bound="at least",
        evidence={"kind": kind, "nodes": nodes},
    )


STORE_IDLE = WasteCheck(
    id="vertex-online-store-idle", title="Feature store that nobody reads", kind=STORE, judge=_store, reads=(READS,),
    why="An online store keeps its nodes at all hours.",
    remove="its views have to go first, and with them what they have synchronised: delete it where they are defined",
    reversal="cannot be undone", recovery="", category="ai", order=24,
    meter="Vertex nodes by the hour; the table has no rate for them", min_age=timedelta(days=14),
    spares=("read in 14 days", "younger than 14 days"), unchecked=("reads that go to Bigtable directly",),
)  # fmt: skip


def _nodes(row: Row) -> int:
    serving = row.get("onlineServingConfig") or {}
    least = (serving.get("scaling") or {}).get("minNodeCount")
    return int(words.number(serving.get("fixedNodeCount")) or words.number(least))


def _features(row: Row, seen: Seen) -> Waste | None:
    nodes = _nodes(row)
    if not nodes or seen.metric(OLD_READS, row):
        return None
    return Waste(f"{nodes} online node{'' if nodes == 1 else 's'}, and nobody read from it in 14 days",
                 (Meter("vertex-feature-store/legacy-node", "hour", nodes, words.name_place(row, seen.at)),),
                 evidence={"nodes": nodes})  # fmt: skip


FEATURES_IDLE = WasteCheck(
    id="vertex-feature-store-idle", title="Legacy feature store with online nodes that nobody reads", kind=FEATURES,
    judge=_features, reads=(OLD_READS,), why="Online nodes bill at all hours; the offline part does not need them.",
    remove="set its online nodes to 0 in the console (`onlineServingConfig.fixedNodeCount`): gcloud has no word for it",
    reversal="can be undone", recovery="", category="ai", order=25,
    meter="Vertex nodes by the hour; the table has no rate for them", min_age=timedelta(days=14),
    spares=("read in 14 days", "no online nodes"), unchecked=("reads of the offline part",),
)  # fmt: skip


def _least(row: Row) -> int:
    return int(words.number(((row.get("spec") or {}).get("deploymentSpec") or {}).get("minInstances")))


def _agent(row: Row, seen: Seen) -> Waste | None:
    least = _least(row)
    if not least or seen.metric(CALLS, row):
        return None
    limits = row["spec"]["deploymentSpec"].get("resourceLimits") or {}
    place = words.name_place(row, seen.at)
    return Waste(
        f"keeps {least} instance{'' if least == 1 else 's'}, and nobody called it in 7 days",
        (Meter("vertex-agent/vCPU", "vCPU-hour", least * meters.cores(limits.get("cpu") or 4), place),
         Meter("vertex-agent/memory", "GiB-hour", least * meters.gib_of(limits.get("memory") or "4Gi"), place)),
        evidence={"least instances": least, "cpu": limits.get("cpu", ""), "memory": limits.get("memory", "")},
    )  # fmt: skip


AGENT_IDLE = WasteCheck(
    id="vertex-agent-idle", title="Agent with standing instances that nobody calls", kind=AGENT, judge=_agent,
    reads=(CALLS,), why="minInstances keeps CPU and memory at all hours.",
    remove="set minInstances to 0 where it is deployed from (its SDK): gcloud has no word for it",
    reversal="can be undone", recovery="", category="ai", order=26,
    meter="vCPU and memory by the hour; the table has no rate for them", min_age=timedelta(days=7),
    spares=("called in 7 days", "minInstances is 0"), unchecked=("its sessions and memory bank",),
)  # fmt: skip


def _runtime(row: Row, seen: Seen) -> Waste | None:
    shutdown = row.get("idleShutdownConfig") or {}
    if row.get("runtimeState") != "RUNNING" or (shutdown and not shutdown.get("idleShutdownDisabled")):
        return None
    spec = row.get("machineSpec") or {}
    place, kind = words.name_place(row, seen.at), spec.get("machineType", "")
    return Waste(f"{kind} that runs on, without a shut-down when idle",
                 (Meter(f"vertex/{kind}", "hour", 1.0, place),), bound="at most",
                 evidence={"type": kind, "user": row.get("runtimeUser", "")})  # fmt: skip


def _stop_runtime(doomed: Doomed) -> tuple[CleanupStep, ...]:
    where = {"name": str(doomed.row["name"])}
    return (
        step(
            "stop",
            f"stop the runtime {words.shown(doomed.row)}",
            "aiplatform.projects.locations.notebookRuntimes.stop",
            where,
            "can be undone",
            until(
                "aiplatform.projects.locations.notebookRuntimes.get",
                where,
                "runtimeState",
                "STOPPED",
                failed=("ERROR",),
            ),
        ),
    )


RUNTIME_ON = WasteCheck(
    id="colab-runtime-on", title="Colab runtime that never shuts down", kind=RUNTIME, judge=_runtime,
    why="A runtime without idle shut-down bills its machine until somebody stops it.", remove=_stop_runtime,
    steps=("aiplatform.projects.locations.notebookRuntimes.stop", "aiplatform.projects.locations.notebookRuntimes.get"),
    reversal="can be undone", recovery="Start it again; its disk stays.", category="ai", order=27,
    meter="its machine by the hour, at most; the table has no rate for it", min_age=timedelta(days=1),
    spares=("it shuts down when idle", "not running", "younger than a day"),
    unchecked=("whether a notebook computes in it right now",),
)  # fmt: skip


def _metadata(row: Row) -> dict[str, str]:
    return dict((row.get("gceSetup") or {}).get("metadata") or {})


def _number(row: Row) -> str:
    return str((row.get("gceSetup") or {}).get("instanceId") or "")


WORK = usage(
    "highest CPU", WORKBENCH, "compute.googleapis.com/instance/cpu/utilization", "gce_instance", ("instance_id",),
    lambda row: (_number(row),), days=1, absent="unresolved", fold="max", unit="share",
    when=lambda row: row.get("state") == "ACTIVE" and bool(_number(row)),
    source=LISTED + "every running machine reports it",
)  # fmt: skip


def _by_number(machine: Row) -> tuple[str]:
    return (str(machine.get("id")),)


def _notebook(row: Row, seen: Seen) -> Waste | None:
    timeout = _metadata(row).get("idle-timeout-seconds", "")
    if row.get("state") != "ACTIVE" or timeout not in ("", "0"):
        return None
    if not _number(row):
        raise Unresolved("which machine it runs on is not said, so that its usage is not known")
    if seen.metric(WORK, row) >= 0.10:  # a notebook server of its own takes a few percent
        return None
    setup = row["gceSetup"]
    kind, zone = words.last(setup.get("machineType")), words.name_place(row, seen.at)
    gpus = [
        {
            "acceleratorType": str(each.get("type", "")).lower().replace("_", "-"),
            "acceleratorCount": each.get("coreCount"),
        }
        for each in setup.get("acceleratorConfigs") or ()
    ]
    machine = seen.index(INSTANCES, _by_number).get(_number(row), ())
    return Waste(
        f"{kind}{' with GPUs' if gpus else ''} that rested for a day and has no idle timeout",
        meters.machine(kind, zone, "on-demand", gpus),
        holds=tuple(words.compute_id(each, seen.at) for each in machine),
        evidence={"type": kind, "GPUs": sum(int(words.number(each["acceleratorCount"])) for each in gpus)},
    )


def _stop_notebook(doomed: Doomed) -> tuple[CleanupStep, ...]:
    where = {"name": str(doomed.row["name"])}
    return (
        step(
            "stop",
            f"stop the notebook {words.short(doomed.row)}",
            "notebooks.projects.locations.instances.stop",
            where,
            "can be undone",
            until("notebooks.projects.locations.instances.get", where, "state", "STOPPED"),
            capacity=True,
        ),
    )


NOTEBOOK_ON = WasteCheck(
    id="workbench-idle", title="Workbench instance that rests and never shuts down", kind=NOTEBOOK, judge=_notebook,
    reads=(WORK, INSTANCES), why="A notebook bills its machine and GPUs until somebody stops it.",
    remove=_stop_notebook,
    steps=("notebooks.projects.locations.instances.stop", "notebooks.projects.locations.instances.get"),
    reversal="can be undone", recovery="Start it again; its disks stay and go on billing.", category="ai", order=28,
    meter="its machine and GPUs by the hour", min_age=timedelta(days=1),
    spares=("it has an idle timeout", "its CPU was used within a day", "stopped"),
    unchecked=("GPU work that needs no CPU",),
)  # fmt: skip
CHECKS = (STORE_IDLE, FEATURES_IDLE, AGENT_IDLE, RUNTIME_ON, NOTEBOOK_ON)
