"""Finds everything that belongs to an endpoint, and takes it away: traffic, deployment, end, endpoint, image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import belongings, ending, ids, parts, removal, tags
from clouds.azure.endpoints.belongings import Belongings, of
from clouds.azure.endpoints.making import Maker
from clouds.azure.endpoints.ml import calls, view
from clouds.azure.endpoints.parts import Found
from clouds.base import Ledger, Progress
from clouds.errors import CloudError, Conflict, NotFound
from clouds.models import Call, DeletedPart, Deletion, EndpointRef, Scope

AWAITED = "web.score"


def awaited(endpoint: str) -> Call:
    """The wait for a first token, as the ledger has it."""
    return Call("web", "score", {"id": endpoint})


def find(api: AzureApi, ref: EndpointRef, ledger: Ledger) -> Belongings:
    """Read what exists of an endpoint. Raises Conflict for one that modelrig did not make."""
    deployment, wanted = "", list[Call]()
    try:
        endpoint = view.find(api, ref)
    except NotFound:
        places = [str(row["id"]) for row in view.workspaces(api, Scope(ref.location)).found]
    else:
        deployment, place = tags.deployment_of(endpoint), str(endpoint["id"])
        if not deployment:
            raise Conflict(
                f"deleting {ref}",
                answered="modelrig did not make this endpoint (it has no tag of ours)",
                fix="Delete it where it was made; scan_waste tells whether anybody uses it.",
            )
        wanted += [of(parts.SERVED, str(row["id"])) for row in view.deployments(api, endpoint)]
        wanted += [of(parts.ENDPOINT, place), belongings.right(place, deployment)]
        places = [place.rpartition("/onlineEndpoints/")[0]]
    flows = [ids.within(ids.group_of(place), ending.WORKFLOW, ending.name_of(ref.name)) for place in places]
    first = belongings.there(api, [of(ending.WORKFLOW, place) for place in flows], deployment)
    deployment = deployment or first.deployment
    if not deployment:
        return Belongings()
    image = f"environments/{calls.environment_name(ref.name)}/versions/{deployment}"
    wanted += [*first.calls, *(of(parts.IMAGE, f"{place}/{image}") for place in places)]
    wanted += [call for call in belongings.written(ledger, deployment) if not calls.changes_traffic(call)]
    found = belongings.there(api, wanted, deployment)
    return Belongings(deployment, tuple(call for call in found.calls if not _put_away(api, call)))


def _put_away(api: AzureApi, call: Call) -> bool:
    """A version that was archived before: there is nothing left to do about it."""
    if call.service != parts.IMAGE:
        return False
    resource = parts.read(api, call) or {}
    return bool((resource.get("properties") or {}).get("isArchived"))


def take_away(maker: Maker, wanted: Sequence[Call], now: Callable[[], datetime]) -> removal.Removed:
    """Remove what these calls made; what only turned the traffic made nothing."""
    made = [call for call in wanted if not calls.changes_traffic(call)]
    flow = next((str(call.parameters["id"]) for call in made if call.service == ending.WORKFLOW), "")

    def quiet(call: Call, found: Found) -> None:
        if call.service == parts.SERVED:
            _no_traffic(maker, found.id)

    return removal.remove(
        maker, made, before=quiet, later=lambda: ending.sooner(maker.api, flow, now()) if flow else ""
    )


def _no_traffic(maker: Maker, deployment: str) -> None:
    """A deployment with traffic is not deleted. When this fails, the deletion itself says why."""
    place, name = deployment.rsplit("/deployments/", 1)
    try:
        held = parts.read(maker.api, of(parts.ENDPOINT, place)) or {}
        properties = held.get("properties") or {}
        if not (properties.get("traffic") or {}).get(name):
            return
        kept = {key: properties[key] for key in ("authMode", "publicNetworkAccess") if key in properties}
        body = {key: held[key] for key in ("location", "tags") if key in held}
        body |= {"identity": {"type": "SystemAssigned"}, "properties": {**kept, "traffic": {name: 0}}}
        begun = maker.api.begin(
            Call(parts.ENDPOINT, "put", {"id": place, "body": body}), scope=Scope(account=ids.subscription_of(place))
        )
        maker.api.poll(begun, progress=maker.progress, timeout=600.0)
    except CloudError:
        return


def carry_out(
    api: AzureApi, ref: EndpointRef, ledger: Ledger, progress: Progress, now: Callable[[], datetime]
) -> Deletion:
    """Deployment, end, endpoint; read back until Azure says 404."""
    found = find(api, ref, ledger)
    maker = Maker(api, ledger, progress, found.deployment)
    removed = take_away(maker, found.calls, now)
    maker.drop(AWAITED)
    belongings.close(maker)
    gone_parts = removed.parts or (DeletedPart(part=f"endpoint {ref.name}", outcome="was not there"),)
    gone = removed.gone and belongings.nothing_left(api, found.calls)
    return Deletion(ref=ref, parts=gone_parts, gone=gone, note=removed.later)
