"""A call of a cleanup in the words of gcloud, one word each, not yet quoted; always with its project.

A `From` stays where the answer of an earlier step goes: whoever prints the script makes a variable of it. Commands and
flags as gcloud 528 has them (read 2026-11-29).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from clouds.errors import InvalidInput
from clouds.gcp.checks.words import last, part
from clouds.models import Call, Scope

Words = tuple[Any, ...]
Render = Callable[[Mapping[str, Any]], Words]
_VERBS = {"get": "describe", "delete": "delete", "list": "list", "stop": "stop"}
_PROMPTS = frozenset({
    "logging.projects.locations.buckets.patch", "sqladmin.instances.patch", "appengine.apps.services.versions.patch",
    "container.projects.locations.clusters.nodePools.setSize",
})  # fmt: skip
"""What asks back beside deleting: only these and deletes get --quiet."""
_COMPUTE = {
    "addresses": ("addresses", "address"), "disks": ("disks", "disk"), "firewalls": ("firewall-rules", "firewall"),
    "forwardingRules": ("forwarding-rules", "forwardingRule"),
    "futureReservations": ("future-reservations", "futureReservation"),
    "globalAddresses": ("addresses", "address"), "globalForwardingRules": ("forwarding-rules", "forwardingRule"),
    "images": ("images", "image"), "instanceGroupManagers": ("instance-groups managed", "instanceGroupManager"),
    "instances": ("instances", "instance"), "instantSnapshots": ("instant-snapshots", "instantSnapshot"),
    "interconnectAttachments": ("interconnects attachments", "interconnectAttachment"),
    "machineImages": ("machine-images", "machineImage"), "nodeGroups": ("sole-tenancy node-groups", "nodeGroup"),
    "regionCommitments": ("commitments", "commitment"), "regionDisks": ("disks", "disk"),
    "regionInstanceGroupManagers": ("instance-groups managed", "instanceGroupManager"),
    "regionInstantSnapshots": ("instant-snapshots", "instantSnapshot"),
    "reservations": ("reservations", "reservation"), "snapshots": ("snapshots", "snapshot"),
    "storagePools": ("storage-pools", "storagePool"), "targetVpnGateways": ("target-vpn-gateways", "targetVpnGateway"),
    "vpnGateways": ("vpn-gateways", "vpnGateway"), "vpnTunnels": ("vpn-tunnels", "vpnTunnel"),
}  # fmt: skip
_WORLD = frozenset({"globalAddresses", "globalForwardingRules"})
_BETA = frozenset({"futureReservations"})
"""What gcloud 528 knows in its beta track only."""
_NAMED = {
    "aiplatform.projects.locations.deploymentResourcePools": ("beta ai deployment-resource-pools", "region"),
    "aiplatform.projects.locations.endpoints": ("ai endpoints", "region"),
    "aiplatform.projects.locations.indexEndpoints": ("ai index-endpoints", "region"),
    "aiplatform.projects.locations.notebookRuntimes": ("colab runtimes", "region"),
    "aiplatform.projects.locations.persistentResources": ("ai persistent-resources", "region"),
    "container.projects.locations.clusters": ("container clusters", "location"),
    "file.projects.locations.backups": ("filestore backups", "region"),
    "file.projects.locations.instances": ("filestore instances", "location"),
    "logging.projects.locations.buckets": ("logging buckets", "location"),
    "memcache.projects.locations.instances": ("memcache instances", "region"),
    "notebooks.projects.locations.instances": ("workbench instances", "location"),
    "pubsub.projects.subscriptions": ("pubsub subscriptions", ""),
    "run.projects.locations.services": ("run services", "region"),
    "run.projects.locations.workerPools": ("beta run worker-pools", "region"),
    "tpu-v2alpha1.projects.locations.queuedResources": ("compute tpus queued-resources", "zone"),
    "tpu.projects.locations.nodes": ("compute tpus tpu-vm", "zone"),
    "vpcaccess.projects.locations.connectors": ("compute networks vpc-access connectors", "region"),
}


def command(call: Call, scope: Scope) -> Words:
    """`gcloud compute disks delete d1 --zone=us-central1-a --project=p --quiet`. Raises InvalidInput without a word."""
    asked = call.parameters
    collection, _, verb = str(call).rpartition(".")
    words = _special(str(call), asked)
    if words is None and collection.startswith("compute."):
        words = _compute(collection.removeprefix("compute."), verb, asked)
    if words is None and collection in _NAMED:
        words = _named(*_NAMED[collection], verb, asked)
    if words is None:
        raise InvalidInput("command", f"gcloud has no word for {call}", fix="Report this as a bug of modelrig.")
    quiet = ("--quiet",) if verb.lower().startswith("delete") or str(call) in _PROMPTS else ()
    return ("gcloud", *words, f"--project={_project(asked, scope)}", *quiet)


def _project(asked: Mapping[str, Any], scope: Scope) -> str:
    """By its id where that is known: some answers name a project by its number."""
    return str(asked.get("project") or asked.get("projectId") or asked.get("appsId") or scope.account or "")


def _where(kind: str, asked: Mapping[str, Any]) -> Words:
    if asked.get("zone"):
        return (f"--zone={asked['zone']}",)
    if asked.get("region"):
        return (f"--region={asked['region']}",)
    return ("--global",) if kind in _WORLD else ()


def _compute(kind: str, verb: str, asked: Mapping[str, Any]) -> Words | None:
    if kind not in _COMPUTE or verb not in _VERBS:
        return None
    group, name = _COMPUTE[kind]
    if verb == "list":
        return ("compute", *group.split(), "list", f"--filter={asked.get('filter', '')}")
    track = ("beta",) if kind in _BETA else ()
    ssd = ("--discard-local-ssd=true",) if asked.get("discardLocalSsd") else ()
    return (*track, "compute", *group.split(), _VERBS[verb], asked[name], *_where(kind, asked), *ssd)


def _named(group: str, flag: str, verb: str, asked: Mapping[str, Any]) -> Words | None:
    if verb not in _VERBS:
        return None
    name = str(asked.get("name") or asked.get("subscription"))
    place = (f"--{flag}={part(name, 'locations')}",) if flag else ()
    force = ("--force",) if asked.get("force") else ()
    return (*group.split(), _VERBS[verb], last(name), *place, *force)


def _special(operation: str, asked: Mapping[str, Any]) -> Words | None:
    found = _SPECIAL.get(operation)
    return found(asked) if found is not None else None


def _snapshot(asked: Mapping[str, Any]) -> Words:
    body = asked["body"]
    labels = ",".join(f"{key}={value}" for key, value in body.get("labels", {}).items())
    return ("compute", "disks", "snapshot", asked["disk"], f"--snapshot-names={body['name']}", f"--labels={labels}",
            *_where("", asked))  # fmt: skip


def _machine_image(asked: Mapping[str, Any]) -> Words:
    body = asked["body"]
    source = str(body["sourceInstance"])
    return ("compute", "machine-images", "create", body["name"], f"--source-instance={last(source)}",
            f"--source-instance-zone={part(source, 'zones')}")  # fmt: skip


def _scale(group: str) -> Render:
    def render(asked: Mapping[str, Any]) -> Words:
        name, body = str(asked["name"]), asked["body"]
        flags = [*(["--min=0"] if "scaling" in body else []), *(["--min-instances=0"] if "template" in body else [])]
        track: tuple[str, ...] = ()
        if "manualInstanceCount" in body.get("scaling", {}):
            track, flags = ("beta",), ["--scaling=0"]
        return (*track, "run", group, "update", last(name), *flags, f"--region={part(name, 'locations')}")

    return render


def _resize(asked: Mapping[str, Any]) -> Words:
    where = _where("", asked)
    return (
        "compute",
        "instance-groups",
        "managed",
        "resize",
        asked["instanceGroupManager"],
        f"--size={asked['size']}",
        *where,
    )


def _pool(verb: str) -> Render:
    def render(asked: Mapping[str, Any]) -> Words:
        name = str(asked["name"])
        cluster, place, pool = part(name, "clusters"), part(name, "locations"), last(name)
        if verb == "resize":
            count = asked["body"]["nodeCount"]
            return (
                "container",
                "clusters",
                "resize",
                cluster,
                f"--node-pool={pool}",
                f"--num-nodes={count}",
                f"--location={place}",
            )
        return ("container", "node-pools", "describe", pool, f"--cluster={cluster}", f"--location={place}")

    return render


def _undeploy(group: str, verb: str, name: str, field: str) -> Render:
    def render(asked: Mapping[str, Any]) -> Words:
        path = str(asked[name])
        flag = "--deployed-model-id" if field == "deployedModelId" else "--deployed-index-id"
        shares = ",".join(f"{key}={share}" for key, share in asked["body"].get("trafficSplit", {}).items())
        split = (f"--traffic-split={shares}",) if shares else ()
        region = f"--region={part(path, 'locations')}"
        return ("ai", group, verb, last(path), f"{flag}={asked['body'][field]}", *split, region)

    return render


def _version(verb: str) -> Render:
    return lambda asked: ("app", "versions", verb, asked["versionsId"], f"--service={asked['servicesId']}")


def _sql(verb: str) -> Render:
    more = ("--activation-policy=NEVER",) if verb == "patch" else ()
    return lambda asked: ("sql", "instances", verb, asked["instance"], *more)


def _sql_backup(verb: str) -> Render:
    return lambda asked: ("sql", "backups", verb, asked["name"])


def _dataproc(verb: str) -> Render:
    return lambda asked: ("dataproc", "clusters", verb, asked["clusterName"], f"--region={asked['region']}")


def _zone(verb: str) -> Render:
    return lambda asked: ("dns", "managed-zones", verb, asked["managedZone"])


def _file_backup(asked: Mapping[str, Any]) -> Words:
    source = str(asked["body"]["sourceInstance"])
    return ("filestore", "backups", "create", asked["backupId"], f"--instance={last(source)}",
            f"--file-share={asked['body']['sourceFileShare']}", f"--instance-location={part(source, 'locations')}",
            f"--region={part(asked['parent'], 'locations')}")  # fmt: skip


def _file_backups(asked: Mapping[str, Any]) -> Words:
    return (
        "filestore",
        "backups",
        "list",
        f"--region={part(asked['parent'], 'locations')}",
        f"--filter={asked['filter']}",
    )


def _no_renewal(asked: Mapping[str, Any]) -> Words:
    return ("compute", "commitments", "update", asked["commitment"], "--no-auto-renew", f"--region={asked['region']}")


def _log_days(asked: Mapping[str, Any]) -> Words:
    name = str(asked["name"])
    return ("logging", "buckets", "update", last(name), f"--retention-days={asked['body']['retentionDays']}",
            f"--location={part(name, 'locations')}")  # fmt: skip


_SPECIAL: Mapping[str, Render] = {
    "aiplatform.projects.locations.endpoints.undeployModel": _undeploy(
        "endpoints", "undeploy-model", "endpoint", "deployedModelId"
    ),
    "aiplatform.projects.locations.indexEndpoints.undeployIndex": _undeploy(
        "index-endpoints", "undeploy-index", "indexEndpoint", "deployedIndexId"
    ),
    "appengine.apps.services.versions.get": _version("describe"),
    "appengine.apps.services.versions.patch": _version("stop"),
    "compute.disks.createSnapshot": _snapshot,
    "compute.instanceGroupManagers.resize": _resize,
    "compute.machineImages.insert": _machine_image,
    "compute.regionCommitments.update": _no_renewal,
    "compute.regionDisks.createSnapshot": _snapshot,
    "compute.regionInstanceGroupManagers.resize": _resize,
    "container.projects.locations.clusters.nodePools.get": _pool("describe"),
    "container.projects.locations.clusters.nodePools.setSize": _pool("resize"),
    "dataproc.projects.regions.clusters.get": _dataproc("describe"),
    "dataproc.projects.regions.clusters.stop": _dataproc("stop"),
    "dns-v1.managedZones.delete": _zone("delete"),
    "dns-v1.managedZones.get": _zone("describe"),
    "file.projects.locations.backups.create": _file_backup,
    "file.projects.locations.backups.list": _file_backups,
    "logging.projects.locations.buckets.patch": _log_days,
    "run.projects.locations.services.patch": _scale("services"),
    "run.projects.locations.workerPools.patch": _scale("worker-pools"),
    "sqladmin.Backups.DeleteBackup": _sql_backup("delete"),
    "sqladmin.Backups.GetBackup": _sql_backup("describe"),
    "sqladmin.instances.get": _sql("describe"),
    "sqladmin.instances.patch": _sql("patch"),
}


def query(path: str) -> Words:
    """What makes gcloud print the one value at a path: its paths are those of the answer, lists marked as such."""
    head, _, rest = path.partition(".")
    if head in ("deployedModels", "deployedIndexes"):
        return (f'--format=value({head}[].{rest}.list(separator="|"))',)
    return (f"--format=value({path})",) if path else ("--format=value(name)",)


def account_line(account: str) -> str:
    """Stops where a project is not reached: gcloud is told the project with every command."""
    return f"gcloud projects describe {shlex.quote(account)} --format='value(projectId)' >/dev/null"
