"""The IAM permissions that the checks need, and the two custom roles made of them.

Google names a permission `service.resource.verb`; where the method says it otherwise it stands in the table. The
discovery documents hold no permissions: these names follow Google's rule and were not tried live (2026-11-29).
"""

from __future__ import annotations

import json
import re
from typing import Any

_SERVICES = {"sqladmin": "cloudsql", "bigtableadmin": "bigtable", "dns-v1": "dns", "run-v1": "run",
             "tpu-v2alpha1": "tpu", "cloudresourcemanager": "resourcemanager"}  # fmt: skip
_VERBS = {"aggregatedList": "list", "insert": "create", "patch": "update", "search": "get", "setSize": "update",
          "resize": "update"}  # fmt: skip
_EXACT: dict[str, tuple[str, ...]] = {
    "aiplatform.projects.locations.endpoints.undeployModel": ("aiplatform.endpoints.undeploy",),
    "aiplatform.projects.locations.indexEndpoints.undeployIndex": ("aiplatform.indexEndpoints.undeploy",),
    "appengine.apps.services.versions.patch": ("appengine.versions.update",),
    "cloudasset.v1.searchAllResources": ("cloudasset.assets.searchAllResources",),
    "cloudkms.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.list": ("cloudkms.cryptoKeyVersions.list",),
    "compute.disks.createSnapshot": ("compute.disks.createSnapshot", "compute.snapshots.create",
                                     "compute.snapshots.setLabels"),
    "compute.firewalls.delete": ("compute.firewalls.delete", "compute.networks.updatePolicy"),
    "compute.instances.delete": ("compute.instances.delete", "compute.disks.delete"),
    "compute.machineImages.insert": ("compute.machineImages.create", "compute.instances.useReadOnly"),
    "compute.regionDisks.createSnapshot": ("compute.disks.createSnapshot", "compute.snapshots.create",
                                           "compute.snapshots.setLabels"),
    "container.projects.locations.clusters.nodePools.get": ("container.clusters.get",),
    "container.projects.locations.clusters.nodePools.setSize": ("container.clusters.update",),
    "dataflow.projects.jobs.aggregated": ("dataflow.jobs.list",),
    "dns-v1.resourceRecordSets.list": ("dns.resourceRecordSets.list",),
    "monitoring.projects.timeSeries.list": ("monitoring.timeSeries.list",),
    "sqladmin.Backups.DeleteBackup": ("cloudsql.backupRuns.delete",),
    "sqladmin.Backups.GetBackup": ("cloudsql.backupRuns.get",),
    "sqladmin.Backups.ListBackups": ("cloudsql.backupRuns.list",),
}  # fmt: skip
_RESOURCES = {
    "globalAddresses": "globalAddresses", "globalForwardingRules": "globalForwardingRules",
    "regionCommitments": "commitments", "regionDisks": "disks", "regionInstanceGroupManagers": "instanceGroupManagers",
    "regionInstantSnapshots": "instantSnapshots", "queuedResources": "nodes", "workerPools": "workerpools",
    "clusters.nodePools": "clusters",
}  # fmt: skip
"""Resources whose permissions are those of another: a queued resource asks for nodes."""


def permissions(service: str, operation: str) -> tuple[str, ...]:
    """The permissions of one method: ("compute", "disks.aggregatedList") needs compute.disks.list."""
    found = _EXACT.get(f"{service}.{operation}")
    if found is not None:
        return found
    *path, verb = operation.split(".")
    resource = _RESOURCES.get(path[-1], path[-1])
    owner = _SERVICES.get(service, service)
    verb = _VERBS.get(verb, verb)
    if service == "compute" and resource == "instances" and verb == "stop":
        return ("compute.instances.stop",)
    return (f"{owner}.{resource}.{verb}",)


def role(name: str, title: str, about: str, operations: frozenset[str]) -> dict[str, Any]:
    """A custom role as `gcloud iam roles create NAME --file` takes it."""
    needed = sorted({each for one in operations for each in permissions(*one.split(".", 1))})
    return {"name": name, "title": title, "description": about, "stage": "GA", "includedPermissions": needed}


def roles() -> dict[str, dict[str, Any]]:
    """The two roles: `scanner` looks and can change nothing, `cleaner` does what the cleanups of the checks do."""
    from clouds.gcp.checks import CHECKS, PACK

    steps = frozenset(step for check in CHECKS for step in check.steps)
    return {
        "scanner": role(
            "modelrigScanner", "modelrig scanner", "Reads what the waste checks of modelrig read", PACK.reads
        ),
        "cleaner": role("modelrigCleaner", "modelrig cleaner", "Removes what a cleanup plan of modelrig names", steps),
    }


def scanner_text() -> str:
    """What the role of a scan holds, on one line."""
    return json.dumps(roles()["scanner"])


def reads_only(name: str) -> bool:
    """Whether a permission changes nothing."""
    return bool(re.fullmatch(r"(list|get|searchAllResources)", name.rsplit(".", 1)[-1]))
