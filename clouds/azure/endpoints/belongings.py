"""Everything that belongs to a deployment: from Azure first, from the ledger second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import binding, ending, ids, parts, tags
from clouds.azure.endpoints.making import Maker
from clouds.base import Ledger
from clouds.errors import CloudError, NotFound
from clouds.models import Call, Scope

_OF_TYPE = {
    parts.APP.lower(): Call(parts.APP, "put"),
    parts.ENVIRONMENT.lower(): Call(parts.ENVIRONMENT, "put"),
    ending.WORKFLOW.lower(): Call(ending.WORKFLOW, "put"),
}


@dataclass(frozen=True)
class Belongings:
    """The calls that made what was found, as `removal.remove` takes them, and whose they are."""

    deployment: str = ""
    calls: tuple[Call, ...] = ()


def of(kind: str, place: str, verb: str = "put") -> Call:
    """The call that made, or would have made, what is at an id."""
    return Call(kind, verb, {"id": place})


def there(api: AzureApi, candidates: Sequence[Call], deployment: str = "") -> Belongings:
    """Which of these exist and are of one deployment: the one that is named, else that of the first found.

    What is somebody else's is left out. Raises CloudError when nobody knows whether one exists.
    """
    found: dict[tuple[str, str], Call] = {}
    for call in candidates:
        key = (str(call), str(call.parameters["id"]).lower())
        if key in found:
            continue
        seen = parts.look(api, call)
        if seen is None or not seen.deployment:
            continue
        if seen.deployment == parts.MINE:
            found[key] = call
            continue
        deployment = deployment or seen.deployment
        if seen.deployment == deployment:
            found[key] = call
    return Belongings(deployment, tuple(found.values()))


def in_group(api: AzureApi, group: str, deployment: str) -> list[Call]:
    """What a resource group lists with the tag of this deployment (a list may lag behind)."""
    call = Call("Microsoft.Resources/resources", "list_in", {"parent": group})
    try:
        answer = api.send(call, scope=Scope(account=ids.subscription_of(group)))
    except NotFound:
        return []
    found = []
    for row in (answer or {}).get("value", []):
        made = _OF_TYPE.get(str(row.get("type", "")).lower())
        if made is not None and deployment and tags.deployment_of(row) == deployment:
            found.append(of(made.service, str(row["id"])))
    return found


def written(ledger: Ledger, deployment: str) -> list[Call]:
    """What the ledger says was made and is not known to be gone."""
    steps = ledger.steps(deployment) if deployment else ()
    return [step.call for step in steps if step.state in {"intent", "done"} and str(step.call) in parts.KINDS]


def close(maker: Maker) -> None:
    """Mark as undone what the ledger has and Azure no longer knows: its own end may have taken it."""
    for call in written(maker.ledger, maker.deployment):
        try:
            if parts.look(maker.api, call) is None:
                maker.forget(call)
        except CloudError:
            continue  # it stays written down


def right(scope: str, deployment: str) -> Call:
    """The right of a deployment's scheduled end on `scope`."""
    return of(ending.ASSIGNMENT, f"{scope}/providers/{ending.ASSIGNMENT}/{binding.guid(deployment)}")


def nothing_left(api: AzureApi, calls: Sequence[Call]) -> bool:
    """Whether what bills, what holds it and its end are all gone; a group or an environment may be kept for others."""
    telling = [call for call in calls if parts.kind_of(call).bills or call.service in (parts.ENDPOINT, ending.WORKFLOW)]
    try:
        return not there(api, telling).calls
    except CloudError:
        return False
