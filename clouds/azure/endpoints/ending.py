"""The end of a deployment, kept by Azure itself: a Logic App that deletes what bills when the time has come.

The smallest thing there is for it: a Consumption workflow is one resource, runs without a machine, and 4,000 of its
steps a month are free ("Built-in operations", Logic Apps pricing page, read 2026-09); hourly from the end on it makes
1,460. It acts with an identity of its own whose only right is on what it deletes. Giving that right needs
Microsoft.Authorization/roleAssignments/write, which Contributors do not have: without it there is no end in the cloud.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from datetime import datetime
from typing import Any

from clouds.azure import versions
from clouds.azure.api import AzureApi
from clouds.azure.endpoints import ids, tags
from clouds.base import Api
from clouds.errors import CloudError
from clouds.models import Call, Scope

WORKFLOW, ASSIGNMENT = "Microsoft.Logic/workflows", "Microsoft.Authorization/roleAssignments"
PRINCIPAL = "<the identity of the workflow>"
"""Stands in a plan's call for what Azure gives the workflow when it is made."""
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
"""The built-in role Contributor; it is given on one endpoint, or on a resource group of our own."""
_NEEDED = ("microsoft.authorization/roleassignments/write", "microsoft.logic/workflows/write")
_SCHEMA = "https://schema.management.azure.com/providers/Microsoft.Logic/schemas/2016-06-01/workflowdefinition.json#"
NONE = (
    "nothing in Azure ends it: {why}. Its end is kept in modelrig's ledger and in its tags only; "
    "delete it by then (delete_endpoint), it bills until you do"
)


def name_of(endpoint: str) -> str:
    """The workflow of an endpoint."""
    return f"{endpoint}-end"


def workflow(group: str, endpoint: str, location: str, end: datetime, target: str, pairs: Mapping[str, str]) -> Call:
    """The call that makes, or moves, the end of `target`."""
    version = versions.row(ids.parse(target).type).version
    body = {
        "location": location,
        "tags": dict(pairs),
        "identity": {"type": "SystemAssigned"},
        "properties": {"state": "Enabled", "definition": _definition(target, version, end)},
    }
    return Call(WORKFLOW, "put", {"id": ids.within(group, WORKFLOW, name_of(endpoint)), "body": body})


def _definition(target: str, version: str, end: datetime) -> dict[str, Any]:
    """Every hour from the end on: what refuses while it is still being made is asked again."""
    # a start with Z takes no time zone beside it (Logic Apps, Recurrence trigger)
    recurrence = {"frequency": "Hour", "interval": 1, "startTime": tags.stamp(end)}
    # Azure's own address, not one of ours: the workflow calls it
    uri = f"https://management.azure.com{target}?api-version={version}"
    identity = {"type": "ManagedServiceIdentity", "audience": "https://management.azure.com/"}
    return {
        "$schema": _SCHEMA,
        "contentVersion": "1.0.0.0",
        "triggers": {"end": {"type": "Recurrence", "recurrence": recurrence}},
        "actions": {
            "delete": {
                "type": "Http",
                "inputs": {"method": "DELETE", "uri": uri, "authentication": identity},
                # it has no right to look at the deletion's own operation, and need not: it asks again in an hour
                "operationOptions": "DisableAsyncPattern",
                "runAfter": {},
            }
        },
    }


def assignment(scope: str) -> Call:
    """The call that lets the workflow act on `scope`, and on nothing else."""
    subscription = ids.parse(scope).subscription
    body = {
        "properties": {
            "roleDefinitionId": (
                f"/subscriptions/{subscription}/providers/Microsoft.Authorization/roleDefinitions/{CONTRIBUTOR}"
            ),
            "principalId": PRINCIPAL,
            "principalType": "ServicePrincipal",
        }
    }
    return Call(ASSIGNMENT, "put", {"id": f"{scope}/providers/{ASSIGNMENT}/{tags.GUID}", "body": body})


def sooner(api: AzureApi, place: str, now: datetime, every_minutes: int = 5) -> str:
    """Have a workflow ask for its deletion from now on. Returns what to say; empty where there is no workflow."""
    scope = Scope(account=ids.subscription_of(place))
    try:
        held = api.send(Call(WORKFLOW, "get", {"id": place}), scope=scope)
        definition = deepcopy(held["properties"]["definition"])
        again = {"frequency": "Minute", "interval": every_minutes, "startTime": tags.stamp(now)}
        definition["triggers"]["end"]["recurrence"] = again
        body = {
            "location": held.get("location"),
            "tags": held.get("tags") or {},
            "identity": {"type": "SystemAssigned"},
            "properties": {"state": "Enabled", "definition": definition},
        }
        api.poll(api.begin(Call(WORKFLOW, "put", {"id": place, "body": body}), scope=scope), timeout=120.0)
    except (CloudError, KeyError, TypeError):
        return ""
    return (
        f"Azure refuses to delete it now. Its scheduled end asks again every {every_minutes} minutes from now; "
        "it bills until then. delete_endpoint takes the rest away"
    )


def moved(resource: Mapping[str, Any], end: datetime, pairs: Mapping[str, str]) -> Call:
    """The call that moves the end of a workflow that was read."""
    definition = deepcopy(resource["properties"]["definition"])
    hourly = {"frequency": "Hour", "interval": 1, "startTime": tags.stamp(end)}
    definition["triggers"]["end"]["recurrence"] = hourly
    body = {
        "location": resource.get("location"),
        "tags": {**(resource.get("tags") or {}), **pairs},
        "identity": {"type": "SystemAssigned"},
        "properties": {"state": "Enabled", "definition": definition},
    }
    return Call(WORKFLOW, "put", {"id": str(resource["id"]), "body": body})


def end_of(resource: Mapping[str, Any]) -> datetime | None:
    """When a workflow starts to delete."""
    try:
        recurrence = resource["properties"]["definition"]["triggers"]["end"]["recurrence"]
        return tags.moment(str(recurrence["startTime"]))
    except (KeyError, TypeError):
        return None


def target_of(resource: Mapping[str, Any]) -> str:
    """The address that a workflow deletes; empty for one that is not ours."""
    try:
        return str(resource["properties"]["definition"]["actions"]["delete"]["inputs"]["uri"])
    except (KeyError, TypeError):
        return ""


def principal_of(resource: Mapping[str, Any]) -> str:
    """The identity that Azure gave a workflow; empty while it has none."""
    return str((resource.get("identity") or {}).get("principalId") or "")


def why_not(api: Api, scope: str) -> str:
    """Why no end can be kept in the cloud with the rights that we have on `scope`; empty when it can."""
    call = Call("Microsoft.Authorization/permissions", "list_in", {"parent": scope})
    try:
        answer = api.send(call, scope=Scope(account=ids.parse(scope).subscription))
    except CloudError as error:
        return f"your own rights could not be read ({error.code or error.kind})"
    rows = answer.get("value", []) if isinstance(answer, Mapping) else answer
    missing = [action for action in _NEEDED if not any(_allows(row, action) for row in rows)]
    return f"you lack {' and '.join(missing)}" if missing else ""


def _allows(row: Mapping[str, Any], action: str) -> bool:
    given = [str(one).lower() for one in row.get("actions") or []]
    taken = [str(one).lower() for one in row.get("notActions") or []]
    return any(_matches(one, action) for one in given) and not any(_matches(one, action) for one in taken)


def _matches(pattern: str, action: str) -> bool:
    """Azure's own wildcard: `*` stands for anything, also for slashes."""
    from fnmatch import fnmatchcase

    return fnmatchcase(action, pattern.replace("[", "[[]").replace("?", "[?]"))
