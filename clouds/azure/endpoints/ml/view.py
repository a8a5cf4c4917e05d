"""Reads one managed online endpoint as it is now. Only ARM is asked, never the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from clouds import enginelog
from clouds.azure import sizes
from clouds.azure.api import AzureApi
from clouds.azure.endpoints import ending, ids, parts, places, rates, serving, tags, values
from clouds.azure.endpoints.ml import calls, logs, state
from clouds.azure.prices import AzurePrices
from clouds.errors import CloudError, NotFound
from clouds.models import Call, Endpoint, EndpointRef, EngineFacts, Hardware, Read, Scope, Unread

READS = (
    Call("tenants", "list"),
    Call("subscriptions", "list"),
    Call("providers", "list"),
    Call("prices", "list"),
    Call(parts.WORKSPACE, "list"),
    Call(parts.WORKSPACE, "get"),
    Call(parts.ENDPOINT, "get"),
    Call(parts.ENDPOINT, "list_in"),
    Call(parts.SERVED, "get"),
    Call(parts.SERVED, "list_in"),
    Call(parts.SERVED, "getLogs"),
    Call(parts.IMAGE, "get"),
    Call("Microsoft.MachineLearningServices/locations/usages", "list"),
    Call("Microsoft.MachineLearningServices/locations/vmSizes", "list"),
    Call("Microsoft.Logic/workflows", "get"),
    Call("Microsoft.Logic/workflows", "list"),
    Call("Microsoft.Authorization/roleAssignments", "get"),
    Call("Microsoft.Authorization/permissions", "list_in"),
)
"""What looking at managed online endpoints sends, for the read-only allow-list."""


def workspaces(api: AzureApi, scope: Scope) -> Read[Mapping[str, Any]]:
    """Every workspace of a scope. Raises NotSignedIn."""
    subscriptions, unread = places.asked(api, scope)
    found = places.in_all(subscriptions, lambda one: places.rows(api, Call(parts.WORKSPACE, "list"), one))
    here = tuple(row for row in found.found if scope.location in (None, values.place(str(row.get("location", "")))))
    return Read(here, (*unread, *found.unread), found.not_applicable)


def find(api: AzureApi, ref: EndpointRef) -> Mapping[str, Any]:
    """The endpoint of a ref, in whatever workspace it is. Raises NotFound and Conflict."""
    held = workspaces(api, Scope(ref.location))
    found = [one for row in held.found if (one := _one(api, calls.endpoint_id(str(row["id"]), ref.name))) is not None]
    return places.only(found, ref, held.unread)


def _one(api: AzureApi, place: str) -> Mapping[str, Any] | None:
    try:
        found: Mapping[str, Any] = api.send(
            Call(parts.ENDPOINT, "get", {"id": place}), scope=Scope(account=ids.subscription_of(place))
        )
    except NotFound:
        return None
    return found


def deployments(api: AzureApi, endpoint: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Its deployments, ours first. Raises CloudError."""
    place = str(endpoint["id"])
    answer = api.send(Call(parts.SERVED, "list_in", {"parent": place}), scope=Scope(account=ids.subscription_of(place)))
    rows: list[Mapping[str, Any]] = list((answer or {}).get("value", []))
    return sorted(rows, key=lambda row: str(row.get("name")) != calls.DEPLOYMENT)


def of(api: AzureApi, book: AzurePrices, endpoint: Mapping[str, Any]) -> Endpoint:
    """The endpoint with everything that Azure says of it. Raises CloudError."""
    found = deployments(api, endpoint)
    deployment = found[0] if found else None
    telling = deployment is not None and state.state_of(deployment).lower() != "deleting"
    lines = logs.tail(api, str(deployment["id"])) if telling and deployment else ()
    texts = None if lines is None else [text for _, text in lines]
    return build(book, endpoint, deployment, texts, image=image_of(api, deployment))


def build(
    book: AzurePrices,
    endpoint: Mapping[str, Any],
    deployment: Mapping[str, Any] | None,
    texts: list[str] | None,
    *,
    image: str = "",
) -> Endpoint:
    """Pure but for the price: the record from what was read. `texts` None: the log could not be read."""
    mine, region = tags.read(endpoint), values.place(str(endpoint.get("location", "")))
    logged = None if texts is None else bool(texts)
    words = enginelog.progress_words(texts or []) if texts else ""
    if texts and deployment and state.state_of(deployment).lower() in parts.BAD:
        words = " | ".join(enginelog.errors(texts))
    now = state.standing(endpoint, deployment, logged=logged, words=words)
    held = (deployment or {}).get("properties") or {}
    size = str(held.get("instanceType") or "")
    uri = urlsplit(str((endpoint.get("properties") or {}).get("scoringUri") or ""))
    moment = tags.moment(str((endpoint.get("systemData") or {}).get("createdAt", "")))
    status = (f"endpoint {state.state_of(endpoint)}", f"deployment {state.state_of(deployment) or 'none'}")
    return Endpoint(
        ref=str(EndpointRef("azure", "ml", region, str(endpoint["name"]))),
        state=now.state,
        cloud_status=", ".join(status),
        billing=now.billing,
        model=model_of(deployment),
        reason=now.reason,
        url=f"https://{uri.netloc}" if uri.netloc else "",
        created=tags.stamp(moment) if moment else "",
        expires=mine.get(tags.EXPIRES, "") if tags.moment(mine.get(tags.EXPIRES, "")) else "",
        deployment=mine.get(tags.DEPLOYMENT, ""),
        account=ids.subscription_of(str(endpoint["id"])),
        engine=_engine(deployment, texts or [], image),
        hardware=hardware_of(size),
        price=rates.machine(book, size, region) if size else None,
    )


def variables(deployment: Mapping[str, Any] | None) -> dict[str, str]:
    """The environment of a deployment's container."""
    held = ((deployment or {}).get("properties") or {}).get("environmentVariables") or {}
    return {str(name): str(value) for name, value in held.items()}


def model_of(deployment: Mapping[str, Any] | None) -> str:
    """The name under which it serves, as its environment says."""
    return serving.model_in(variables(deployment))


def image_of(api: AzureApi, deployment: Mapping[str, Any] | None) -> str:
    """The image of a deployment, by digest; empty where it cannot be read."""
    place = str(((deployment or {}).get("properties") or {}).get("environmentId") or "")
    if not place.startswith("/subscriptions/"):
        return ""
    try:
        held = parts.read(api, Call(parts.IMAGE, "put", {"id": place})) or {}
    except CloudError:
        return ""
    return str((held.get("properties") or {}).get("image") or "")


def _engine(deployment: Mapping[str, Any] | None, texts: list[str], image: str) -> EngineFacts | None:
    if deployment is None:
        return None
    model, facts = model_of(deployment), enginelog.read(texts)
    if facts is not None:
        return facts.model_copy(update={"model": facts.model or model, "image": image})
    name = "vllm" if serving.ARGS_VARIABLE in variables(deployment) else "llama.cpp"
    return EngineFacts(engine=name, model=model, image=image) if model else None


def hardware_of(size: str) -> Hardware | None:
    """What a size has, as far as the table knows it."""
    if not size:
        return None
    row = sizes.find(size)
    if row is None:
        return Hardware(instance_type=size)
    return Hardware(
        instance_type=row.size,
        accelerators=(row.accelerator,) * row.accelerators,
        cores=row.vcpus,
        accelerator_memory_bytes=row.accelerators * row.accelerator_mib * 1024**2,
    )


def listing(api: AzureApi, book: AzurePrices, scope: Scope) -> Read[Endpoint]:
    """Everything of ours in a scope; a workspace that cannot be read is said to be. Raises NotSignedIn."""
    held = workspaces(api, scope)
    found, unread = list[Endpoint](), list(held.unread)
    for row in held.found:
        place, call = str(row["id"]), Call(parts.ENDPOINT, "list_in")
        try:
            answer = api.send(
                Call(call.service, call.operation, {"parent": place}), scope=Scope(account=ids.subscription_of(place))
            )
        except CloudError as error:
            unread.append(places.missed(call, place, error))
            continue
        for endpoint in (answer or {}).get("value", []):
            if not tags.deployment_of(endpoint):
                continue
            try:
                found.append(of(api, book, endpoint))
            except NotFound:
                continue
            except CloudError as error:
                unread.append(places.missed(Call(parts.SERVED, "list_in"), str(endpoint["id"]), error))
                found.append(_unseen(endpoint))
    known = {one.deployment for one in found}
    return Read((*found, *_ended(api, scope, known, unread)), tuple(unread), held.not_applicable)


def _ended(api: AzureApi, scope: Scope, known: set[str], unread: list[Unread]) -> list[Endpoint]:
    """What its own end has deleted, and whose Logic App is still there."""
    subscriptions, _ = places.asked(api, scope)
    call = Call(ending.WORKFLOW, "list")
    listed = places.in_all(subscriptions, lambda one: places.rows(api, call, one))
    unread += listed.unread
    found: list[Endpoint] = []
    for row in listed.found:
        mine, region = tags.read(row), values.place(str(row.get("location", "")))
        if mine.get(tags.DEPLOYMENT, "") in {"", *known} or scope.location not in (None, region):
            continue
        if f"/{parts.ENDPOINT.split('/')[-1]}/".lower() not in ending.target_of(row).lower():
            continue
        found.append(
            Endpoint(
                ref=str(EndpointRef("azure", "ml", region, str(row["name"]).removesuffix("-end"))),
                state="deleted",
                cloud_status="no endpoint",
                billing=False,
                reason="the endpoint is gone; the Logic App that was to end it is left, delete_endpoint takes it away",
                expires=mine.get(tags.EXPIRES, ""),
                deployment=mine[tags.DEPLOYMENT],
                account=ids.subscription_of(str(row["id"])),
            )
        )
    return found


def _unseen(endpoint: Mapping[str, Any]) -> Endpoint:
    """An endpoint of ours whose deployments could not be read: it is there, and may bill."""
    region, mine = values.place(str(endpoint.get("location", ""))), tags.read(endpoint)
    return Endpoint(
        ref=str(EndpointRef("azure", "ml", region, str(endpoint["name"]))),
        state="unknown",
        cloud_status=f"endpoint {state.state_of(endpoint)}",
        billing=None,
        reason="its deployments could not be read",
        expires=mine.get(tags.EXPIRES, ""),
        deployment=mine.get(tags.DEPLOYMENT, ""),
        account=ids.subscription_of(str(endpoint["id"])),
    )
