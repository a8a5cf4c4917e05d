"""Which actions each part needs, derived from the very calls it sends: the least-privilege roles are these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from clouds.azure import capacity, identity, places, quotas, retail, versions
from clouds.azure.api import OWN_READS
from clouds.models import Call

READS: Mapping[str, tuple[Call, ...]] = {
    "identity": identity.READS,
    "quotas": quotas.READS,
    "capacity": capacity.READS,
    "places": (places.LOCATIONS,),
    "prices": retail.READS,
}
"""What each port reads."""

_SUBSCRIPTIONS = "Microsoft.Resources/subscriptions"
# Azure's name of an action is not always the type's (operations of the providers, read 2026-11-29); "" needs none.
_ACTIONS: Mapping[str, str] = {
    "tenants.list": "",
    "subscriptions.list": f"{_SUBSCRIPTIONS}/read",
    "subscriptions.get": f"{_SUBSCRIPTIONS}/read",
    "locations.list": f"{_SUBSCRIPTIONS}/locations/read",
    "providers.list": f"{_SUBSCRIPTIONS}/providers/read",
    "prices.list": "",
    "operations.get": "",
    "Microsoft.Resources/resourceGroups": f"{_SUBSCRIPTIONS}/resourceGroups",
    "Microsoft.Resources/resources": f"{_SUBSCRIPTIONS}/resources",
    "Microsoft.ResourceGraph/resources.query": "Microsoft.ResourceGraph/resources/read",
    "Microsoft.CostManagement/query.query": "Microsoft.CostManagement/query/action",
    "Microsoft.Compute/locations/placementScores/spot.generate": (
        "Microsoft.Compute/locations/placementScores/generate/action"
    ),
    "Microsoft.ContainerRegistry/registries.listUsages": "Microsoft.ContainerRegistry/registries/listUsages/read",
    "Microsoft.Compute/virtualMachines.instanceView": "Microsoft.Compute/virtualMachines/instanceView/read",
}
_VERBS = {"list": "read", "list_in": "read", "get": "read", "put": "write", "patch": "write", "delete": "delete"}


def reads() -> frozenset[str]:
    """The read-only allow-list of every port: `service.Operation`."""
    return frozenset(str(call) for calls in READS.values() for call in calls) | OWN_READS


def action(call: Call | str) -> str:
    """The action of a call (`Microsoft.App/containerApps/read`); "" for one that needs none."""
    name = str(call)
    service, _, verb = name.rpartition(".")
    if name in _ACTIONS:
        return _ACTIONS[name]
    kind = _ACTIONS.get(service, service)
    return f"{kind}/{_VERBS[verb]}" if verb in _VERBS else f"{kind}/{verb}/action"


def deployer() -> dict[str, Any]:
    """The role of whoever deploys: all reads, and what each way to serve sends."""
    from clouds.azure.endpoints.containerapps import ContainerApps
    from clouds.azure.endpoints.ml import Ml

    sent = {str(call) for service in (ContainerApps, Ml) for call in (*service.reads, *service.writes)}
    return role("modelrig deployer", "Deploys, looks after and deletes what modelrig deploys.", reads() | sent)


def role(name: str, description: str, calls: Iterable[Call | str]) -> dict[str, Any]:
    """A custom role with exactly the actions of these calls, as `az role definition create` takes it."""
    actions = sorted({action(call) for call in calls} - {""}, key=str.lower)
    wrong = [each for each in actions if not re.fullmatch(r"[A-Za-z]+(\.[A-Za-z]+)+(/[A-Za-z]+)+", each)]
    if wrong:
        raise ValueError(f"not actions: {wrong}")
    return {
        "Name": name,
        "IsCustom": True,
        "Description": description,
        "Actions": actions,
        "NotActions": [],
        "DataActions": [],
        "NotDataActions": [],
        "AssignableScopes": ["/subscriptions/SUBSCRIPTION_ID"],
    }


def known(call: Call | str) -> bool:
    """Whether the table of versions has the type of a call."""
    return str(call).rpartition(".")[0].lower() in versions.rows()
