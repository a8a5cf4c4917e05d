"""What each port reads, and the custom role of whoever deploys: both derived from the very calls that are sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from clouds.gcp import capacity, catalogue, identity, quotas
from clouds.models import Call

READS: Mapping[str, tuple[Call, ...]] = {
    "identity": identity.READS,
    "quotas": quotas.READS,
    "capacity": capacity.READS,
    "prices": catalogue.READS,
}
"""What each port reads."""
_NEED: Mapping[str, tuple[str, ...]] = {
    "oauth2.userinfo.get": (),
    "cloudbilling.services.skus.list": (),
    "cloudbilling.services.list": (),
    "cloudbilling.projects.getBillingInfo": ("resourcemanager.projects.get",),
    "cloudquotas.projects.locations.services.quotaInfos.list": ("cloudquotas.quotas.get",),
    "cloudquotas.projects.locations.services.quotaInfos.get": ("cloudquotas.quotas.get",),
    "iamcredentials.projects.serviceAccounts.generateIdToken": ("iam.serviceAccounts.getOpenIdToken",),
    "tpu.projects.locations.acceleratorTypes.list": ("tpu.acceleratortypes.list",),
    "storage-media.objects.get": ("storage.objects.get",),
    "compute.firewalls.insert": ("compute.firewalls.create", "compute.networks.updatePolicy"),
    "compute.instances.insert": (
        *("compute.instances.create", "compute.instances.setMetadata", "compute.instances.setLabels"),
        *("compute.instances.setServiceAccount", "compute.instances.setTags", "compute.disks.create"),
        *("compute.subnetworks.use", "compute.subnetworks.useExternalIp"),
    ),
}
"""Where an operation's permissions are not named after it. Names follow Google's IAM reference; not tried live."""
_BESIDE = ("iam.serviceAccounts.actAs", "iap.tunnelInstances.accessViaIAP", "serviceusage.services.use")
"""No call of ours carries these names: handing a service account to a machine, the relay, and whose quota counts."""


def reads() -> frozenset[str]:
    """The read-only allow-list of every port: `service.operation`."""
    return frozenset(str(call) for calls in READS.values() for call in calls)


def permissions(calls: Iterable[Call | str]) -> frozenset[str]:
    """The IAM permissions of some calls."""
    from clouds.gcp.checks import permissions as checked

    found: set[str] = set()
    for call in calls:
        name = str(call)
        found.update(_NEED[name] if name in _NEED else checked.permissions(*name.split(".", 1)))
    return frozenset(found)


def deployer() -> dict[str, Any]:
    """The custom role of whoever deploys, as `gcloud iam roles create NAME --file` takes it."""
    from clouds.gcp.endpoints.gce import Gce
    from clouds.gcp.endpoints.run import CloudRun
    from clouds.gcp.endpoints.tpu import Tpu

    calls = {str(call) for service in (Tpu, Gce, CloudRun) for call in (*service.reads, *service.writes)}
    return {
        "name": "modelrigDeployer",
        "title": "modelrig deployer",
        "description": "Plans, makes, watches and deletes the endpoints of modelrig",
        "stage": "GA",
        "includedPermissions": sorted({*permissions(calls | reads()), *_BESIDE}),
    }


def deployer_text() -> str:
    """policy/gcp-deployer.json."""
    return json.dumps(deployer(), indent=2) + "\n"
