"""Which Azure RBAC actions the checks need, derived from what they read and from the steps that they may send.

An action is `<type>/read`, `/write` or `/delete`; a POST is `<type>/<name>/action`. Those that are named otherwise are
listed (Azure's permissions reference, read 2026-11-29).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clouds.models.waste import WasteCheck

_VERBS = {"list": "read", "list_in": "read", "get": "read", "put": "write", "patch": "write", "delete": "delete"}
_TYPES = {
    "subscriptions": "Microsoft.Resources/subscriptions",
    "providers": "Microsoft.Resources/subscriptions/providers",
    "tenants": "Microsoft.Resources/tenants",
    "Microsoft.Resources/resources": "Microsoft.Resources/subscriptions/resources",
    "Microsoft.Resources/resourceGroups": "Microsoft.Resources/subscriptions/resourceGroups",
}
_NAMED: Mapping[str, tuple[str, ...]] = {
    "Microsoft.CostManagement/query.query": ("Microsoft.CostManagement/query/action",),
    "Microsoft.ContainerRegistry/registries.listUsages": ("Microsoft.ContainerRegistry/registries/listUsages/read",),
    "Microsoft.Compute/virtualMachines.instanceView": ("Microsoft.Compute/virtualMachines/instanceView/read",),
    "Microsoft.Compute/snapshots.put": (
        "Microsoft.Compute/snapshots/write",
        "Microsoft.Compute/disks/beginGetAccess/action",
    ),
}
ANYWHERE = "/subscriptions/00000000-0000-0000-0000-000000000000"
"""Where the published roles may be assigned: to be replaced by whoever makes them."""


def permissions(service: str, operation: str) -> tuple[str, ...]:
    """`("Microsoft.Compute/disks", "list")` -> `("Microsoft.Compute/disks/read",)`; however the two were parted."""
    kind, _, verb = f"{service}.{operation}".rpartition(".")
    if found := _NAMED.get(f"{kind}.{verb}"):
        return found
    name = _TYPES.get(kind, kind)
    return (f"{name}/{_VERBS[verb]}",) if verb in _VERBS else (f"{name}/{verb}/action",)


def providers(check: WasteCheck) -> tuple[str, ...]:
    """The resource providers that a check reads: a check that reads metrics names Microsoft.Insights too."""
    kinds = {call.rpartition(".")[0] for call in check.operations}
    return tuple(sorted({kind.partition("/")[0] for kind in kinds if "/" in kind}))


def scanner(checks: Iterable[WasteCheck], also: Iterable[str] = ()) -> dict[str, Any]:
    """The role of an identity that may look at everything a scan reads, and can change nothing."""
    reads = {operation for check in checks for operation in check.operations}
    return _role("modelrig scanner", "Reads what a waste scan reads; changes nothing.", {*reads, *also})


def cleaner(checks: Iterable[WasteCheck]) -> dict[str, Any]:
    """The role of an identity that may carry out what the checks can remove. It is given beside the scanner's."""
    steps = {step for check in checks for step in check.steps}
    return _role("modelrig cleaner", "Carries out the cleanup steps of the waste checks.", steps)


def _role(name: str, about: str, calls: Iterable[str]) -> dict[str, Any]:
    actions = sorted({action for call in calls for action in permissions(*call.rsplit(".", 1))}, key=str.lower)
    return {
        "Name": name,
        "IsCustom": True,
        "Description": about,
        "Actions": actions,
        "NotActions": [],
        "DataActions": [],
        "NotDataActions": [],
        "AssignableScopes": [ANYWHERE],
    }
