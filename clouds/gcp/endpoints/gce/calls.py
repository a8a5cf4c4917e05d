"""The call that makes one machine of Compute Engine: the article's ct6e with FLEX_START, spot or on demand."""

from __future__ import annotations

from typing import Any

from clouds.gcp.endpoints.hardware import Shape
from clouds.gcp.endpoints.machines import calls
from clouds.gcp.endpoints.machines.calls import Build
from clouds.models import Call

FAMILIES = {
    True: "ubuntu-os-accelerator-images/ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e",
    False: "ubuntu-os-accelerator-images/ubuntu-accelerator-2204-amd64-with-nvidia-580",
}
"""Boot images by whether it is a TPU: the articles' own; the second brings NVIDIA's driver (gemma4-dev, 2026-11-29)."""
MODELS = {"on-demand": "STANDARD", "spot": "SPOT", "flex-start": "FLEX_START"}
SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def insert(build: Build, shape: Shape, zone: str, image: str, number: int) -> Call:
    """One machine in one zone, deleted by Google when its run duration is over. A repeated call makes no second one."""
    chosen = build.chosen
    scheduling: dict[str, Any] = {
        "provisioningModel": MODELS[chosen.market],
        "onHostMaintenance": "TERMINATE",
        "automaticRestart": False,
        "instanceTerminationAction": "DELETE",
        "maxRunDuration": {"seconds": str(build.ttl_seconds)},
    }
    size = str(chosen.extra.get("disk_gib", 200))
    disk: dict[str, Any] = {"sourceImage": image, "diskSizeGb": size, "labels": build.labels}
    if not shape.tpu:  # for a TPU the articles name none, and Compute Engine takes what the machine can use
        kind = "hyperdisk-balanced" if shape.type.startswith("g4") else "pd-balanced"
        disk["diskType"] = f"zones/{zone}/diskTypes/{kind}"
    body: dict[str, Any] = {
        "name": calls.label(build.name),
        "machineType": f"zones/{zone}/machineTypes/{shape.type}",
        "labels": build.labels,
        "tags": {"items": [calls.rule_name(build.service, build.name)]},
        "disks": [{"boot": True, "autoDelete": True, "initializeParams": disk}],
        "networkInterfaces": [
            {
                "network": f"projects/{build.project}/global/networks/{chosen.network}",
                "accessConfigs": [{"name": "External NAT", "type": "ONE_TO_ONE_NAT"}],
            }
        ],
        "scheduling": scheduling,
        "metadata": {
            "items": [
                {"key": key, "value": value}
                for key, value in calls.metadata(build, shape, zone, attributes=False).items()
            ]
        },
        "serviceAccounts": [{"email": calls.account(chosen), "scopes": [SCOPE]}],
    }
    if chosen.market == "flex-start":
        body["params"] = {"requestValidForDuration": {"seconds": str(round(chosen.wait_hours * 3600))}}
        body["reservationAffinity"] = {"consumeReservationType": "NO_RESERVATION"}
    return Call(
        "compute",
        "instances.insert",
        {"project": build.project, "zone": zone, "requestId": build.request(number), "body": body},
    )
