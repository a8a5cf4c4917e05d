"""Reads one app as it is now. Only ARM is asked, never the app's own address: a look wakes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from clouds import enginelog
from clouds.azure.api import AzureApi
from clouds.azure.endpoints import ids, keys, parts, places, rates, serving, tags
from clouds.azure.endpoints.containerapps import calls, logs, state
from clouds.azure.endpoints.containerapps.state import Seen
from clouds.azure.endpoints.web import Web
from clouds.azure.prices import AzurePrices
from clouds.errors import CloudError, NotFound
from clouds.models import Call, Endpoint, EndpointRef, EngineFacts, Hardware, Phase, Price, Read, Scope

REVISION, REPLICA = f"{parts.APP}/revisions", f"{parts.APP}/revisions/replicas"
READS = (
    Call("tenants", "list"),
    Call("subscriptions", "list"),
    Call("providers", "list"),
    Call("prices", "list"),
    *(Call(kind, verb) for kind in (parts.APP, parts.ENVIRONMENT, parts.GROUP) for verb in ("get", "list")),
    Call(parts.JOB, "list"),
    Call(REVISION, "list_in"),
    Call(REPLICA, "list_in"),
    Call(parts.APP, "getAuthToken"),
    Call("Microsoft.App/locations/availableManagedEnvironmentsWorkloadProfileTypes", "list"),
    Call("Microsoft.App/locations/usages", "list"),
    Call("Microsoft.App/managedEnvironments/usages", "list_in"),
    Call("Microsoft.Resources/resources", "list_in"),
    Call("Microsoft.Logic/workflows", "get"),
    Call("Microsoft.Authorization/roleAssignments", "get"),
    Call("Microsoft.Authorization/permissions", "list_in"),
)
"""What looking at Container Apps sends, for the read-only allow-list."""
COLD = "modelrig-cold-start"
"""The tag with the seconds from asked to first token, as they were measured."""


def find(api: AzureApi, ref: EndpointRef) -> Mapping[str, Any]:
    """The app of a ref: where modelrig would have made it, else wherever it is. Raises NotFound and Conflict."""
    if first := places.usual(api):
        place = ids.within(ids.group(first, calls.group_name(ref.name)), parts.APP, ref.name)
        try:
            usual = api.send(Call(parts.APP, "get", {"id": place}), scope=Scope(account=first))
            return places.only([usual], ref)
        except NotFound:
            pass
    subscriptions, unread = places.asked(api, Scope())
    listed = places.in_all(subscriptions, lambda one: places.rows(api, Call(parts.APP, "list"), one))
    found = places.only(listed.found, ref, (*unread, *listed.unread))
    # a list may lag behind: the resource itself says how it is
    one: Mapping[str, Any] = api.send(
        Call(parts.APP, "get", {"id": str(found["id"])}), scope=Scope(account=ids.subscription_of(str(found["id"])))
    )
    return one


def seen(api: AzureApi, app: Mapping[str, Any]) -> Seen:
    """The app with its newest revision and that one's replicas, as far as they can be read."""
    name = str((app.get("properties") or {}).get("latestRevisionName") or "")
    if not name:
        return Seen(app, None, None)
    place, scope = str(app["id"]), Scope(account=ids.subscription_of(str(app["id"])))
    revision, replicas, others = None, None, 0
    try:
        rows = (api.send(Call(REVISION, "list_in", {"parent": place}), scope=scope) or {}).get("value", [])
        revision = next((row for row in rows if row.get("name") == name), None)
        # while a new revision comes up the old one serves, and bills
        others = sum(int((row.get("properties") or {}).get("replicas") or 0) for row in rows if row is not revision)
        call = Call(REPLICA, "list_in", {"parent": f"{place}/revisions/{name}"})
        replicas = (api.send(call, scope=scope) or {}).get("value", [])
    except CloudError:
        pass  # state says what is not known
    return Seen(app, revision, replicas, others)


def read(api: AzureApi, place: str) -> Seen:
    """An app by its id, with its revision and replicas. Raises NotFound."""
    app = api.send(Call(parts.APP, "get", {"id": place}), scope=Scope(account=ids.subscription_of(place)))
    return seen(api, app)


def of(api: AzureApi, web: Web, book: AzurePrices, home: Path, app: Mapping[str, Any]) -> Endpoint:
    """The endpoint with everything that Azure says of it."""
    now = seen(api, app)
    lines = logs.tail(api, web, now, 300) if now.started else ()
    return build(now, book, home, [text for _, text in lines])


def build(now: Seen, book: AzurePrices, home: Path, texts: list[str]) -> Endpoint:
    """Pure but for the price: the record from what was read."""
    app, mine = now.app, tags.read(now.app)
    standing, region = state.standing(now), calls.region_of(app)
    fqdn = str(((now.properties.get("configuration") or {}).get("ingress") or {}).get("fqdn") or "")
    words = enginelog.progress_words(texts) if standing.state == "loading" else ""
    deployment = mine.get(tags.DEPLOYMENT, "")
    key = keys.path(home, deployment) if keys.read(home, deployment) else None
    seconds = mine.get(COLD, "")
    hardware = hardware_of(app)
    return Endpoint(
        ref=str(EndpointRef("azure", "containerapps", region, str(app["name"]))),
        state=standing.state,
        cloud_status=now.status,
        billing=standing.billing,
        model=serving.served(container_of(app).get("args") or []),
        reason="; ".join(word for word in (standing.reason, words and f"last seen: {words}") if word),
        url=f"https://{fqdn}" if fqdn else "",
        created=_stamp(str((app.get("systemData") or {}).get("createdAt", ""))),
        expires=mine.get(tags.EXPIRES, "") if tags.moment(mine.get(tags.EXPIRES, "")) else "",
        deployment=deployment,
        account=ids.subscription_of(str(app["id"])),
        engine=_engine(app, texts),
        hardware=hardware,
        price=_price(book, hardware, app, region),
        phases=(Phase(name="cold start, as it was measured", seconds=float(seconds)),) if seconds.isdigit() else (),
        key_file=str(key) if key else "",
    )


def container_of(app: Mapping[str, Any]) -> Mapping[str, Any]:
    """The engine's container as the app's template has it."""
    held = (((app.get("properties") or {}).get("template")) or {}).get("containers") or [{}]
    named = [one for one in held if one.get("name") == calls.CONTAINER]
    found: Mapping[str, Any] = (named or held)[0]
    return found


def _engine(app: Mapping[str, Any], texts: list[str]) -> EngineFacts | None:
    container = container_of(app)
    image, words = str(container.get("image", "")), [str(word) for word in container.get("args") or []]
    if not image:
        return None
    facts = enginelog.read(texts)
    if facts is not None:
        return facts.model_copy(update={"image": image, "model": facts.model or serving.served(words)})
    return EngineFacts(engine=serving.engine_of(words), image=image, model=serving.served(words))


def hardware_of(app: Mapping[str, Any]) -> Hardware | None:
    """One replica: the GPU that has just these cores and this memory."""
    gpu = next((one for one in calls.gpus() if one.vcpus == calls.cores_of(app)), None)
    if gpu is None:
        return None
    return Hardware(
        instance_type=gpu.profile,
        accelerators=(gpu.accelerator,),
        cores=gpu.vcpus,
        memory_bytes=int(gpu.memory_gib * 1024**3),
        accelerator_memory_bytes=gpu.accelerator_mib * 1024**2,
    )


def _price(book: AzurePrices, hardware: Hardware | None, app: Mapping[str, Any], region: str) -> Price | None:
    """Of the replicas that stay up, or of one: that is what is paid while it serves."""
    if hardware is None:
        return None
    gpu = next(one for one in calls.gpus() if one.profile == hardware.instance_type)
    price = rates.replica(book, gpu.accelerator, gpu.vcpus, gpu.memory_gib, region)
    scale = (((app.get("properties") or {}).get("template")) or {}).get("scale") or {}
    warm = max(int(scale.get("minReplicas") or 0), 1)
    if price is None or warm == 1:
        return price
    return price.model_copy(update={"amount": price.amount * warm, "basis": f"{price.basis}, {warm} replicas"})


def _stamp(text: str) -> str:
    moment: datetime | None = tags.moment(text)
    return tags.stamp(moment) if moment else ""


def listing(api: AzureApi, web: Web, book: AzurePrices, home: Path, scope: Scope) -> Read[Endpoint]:
    """Everything of ours in a scope, also what a killed run left without an app. Raises NotSignedIn."""
    subscriptions, unread = places.asked(api, scope)
    found = places.in_all(subscriptions, lambda one: _subscription(api, web, book, home, one, scope.location))
    return Read(found=found.found, unread=(*unread, *found.unread), not_applicable=found.not_applicable)


def _subscription(
    api: AzureApi, web: Web, book: AzurePrices, home: Path, subscription: str, location: str | None
) -> Read[Endpoint]:
    listed = [
        places.rows(api, Call(kind, "list"), subscription) for kind in (parts.APP, parts.GROUP, parts.ENVIRONMENT)
    ]
    apps, rest = listed[0], [row for one in listed[1:] for row in one.found]
    found, unread = list[Endpoint](), [word for one in listed for word in one.unread]
    for app in apps.found:
        if not tags.deployment_of(app) or (location and calls.region_of(app) != location):
            continue
        call = Call(parts.APP, "get", {"id": str(app["id"])})
        try:
            found.append(of(api, web, book, home, api.send(call, scope=Scope(account=subscription))))
        except NotFound:
            continue
        except CloudError as error:
            unread.append(places.missed(Call(parts.APP, "get"), str(app["id"]), error))
    for row in rest:
        left = left_over(row, apps.complete)
        known = {one.deployment for one in found}
        if left is not None and left.deployment not in known and location in (None, left.ref.split(":")[2]):
            found.append(left)
    return Read(found=tuple(found), unread=tuple(unread), not_applicable=apps.not_applicable)


def left_over(row: Mapping[str, Any], looked: bool) -> Endpoint | None:
    """A group or an environment of ours without an app: what a killed run has left. None for any other."""
    mine, region, name = tags.read(row), calls.region_of(row), str(row.get("name", ""))
    whose = name.removeprefix("modelrig-") if name.startswith("modelrig-") else name.removesuffix(f"-{region}")
    if not mine.get(tags.DEPLOYMENT) or whose == name:
        return None
    what = str(row.get("type") or "").rsplit("/", 1)[-1] or "resource group"
    reason = f"its {what} is there and no app is: nothing bills; delete_endpoint takes it away"
    return Endpoint(
        ref=str(EndpointRef("azure", "containerapps", region, whose)),
        state="failed" if looked else "unknown",
        cloud_status="no app",
        billing=False if looked else None,
        reason=reason if looked else f"its {what} is there; whether an app is could not be read",
        expires=mine.get(tags.EXPIRES, ""),
        deployment=mine[tags.DEPLOYMENT],
        account=ids.subscription_of(str(row.get("id", ""))),
    )
