"""ARM: paths to resources, and what each type does with GET, PUT, PATCH, DELETE and POST."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

import httpx2

from tests.clouds.azure.simulator import apps, groups, ml
from tests.clouds.azure.simulator.subscription import ID, LISTS_LATE, TENANT, Resource, Subscription
from tests.clouds.azure.simulator.wire import Drift, Refused, answer, not_found

BASE = "https://management.azure.com"
Handler = Callable[[Subscription, str, Any], httpx2.Response]
PUTS: Mapping[str, Callable[[Subscription, str, dict[str, Any], Resource | None], httpx2.Response]] = {
    "microsoft.resources/resourcegroups": groups.put_group,
    "microsoft.logic/workflows": groups.put_workflow,
    "microsoft.authorization/roleassignments": groups.put_assignment,
    "microsoft.app/managedenvironments": apps.put_environment,
    "microsoft.app/containerapps": apps.put_app,
    "microsoft.machinelearningservices/workspaces/environments/versions": ml.put_version,
    "microsoft.machinelearningservices/workspaces/onlineendpoints": ml.put_endpoint,
    "microsoft.machinelearningservices/workspaces/onlineendpoints/deployments": ml.put_deployment,
}
PATCHES = {
    "microsoft.app/managedenvironments": apps.patch_environment,
    "microsoft.app/containerapps": apps.patch_app,
    "microsoft.machinelearningservices/workspaces/onlineendpoints/deployments": ml.patch_deployment,
}
DELETES = {
    "microsoft.resources/resourcegroups": groups.delete_group,
    "microsoft.app/managedenvironments": apps.delete_environment,
    "microsoft.app/containerapps": apps.delete_app,
    "microsoft.machinelearningservices/workspaces/onlineendpoints": ml.delete_endpoint,
    "microsoft.machinelearningservices/workspaces/onlineendpoints/deployments": ml.delete_deployment,
}


def type_of(path: str) -> str:
    """The type at the end of a path, listings too: `Microsoft.App/containerApps/revisions/replicas`."""
    head, found, tail = unquote(path).rpartition("/providers/")
    if not found:
        words = head.strip("/").split("/") if head else unquote(path).strip("/").split("/")
        last = words[2] if len(words) > 2 else words[0]
        if len(words) == 5:
            return words[4]
        return "Microsoft.Resources/resourceGroups" if last.lower() == "resourcegroups" else last
    words = tail.strip("/").split("/")
    if len(words) > 1 and words[1].lower() == "locations":
        return "/".join([words[0], "locations", *words[3:4]])
    return "/".join([words[0], *words[1::2]])


def handle(account: Subscription, request: httpx2.Request, body: Any) -> httpx2.Response:
    path, method = unquote(request.url.path), request.method
    if "/op-" in path:
        return _operation(account, path)
    if "api-version" not in request.url.params:
        raise Refused(400, "MissingApiVersionParameter", "The api-version query parameter (?api-version=) is required.")
    if method in {"GET", "POST"}:
        return _get(account, path, type_of(path).lower()) if method == "GET" else _post(account, path)
    return _write(account, method, path, body)


def _write(account: Subscription, method: str, path: str, body: Any) -> httpx2.Response:
    kind, held = type_of(path).lower(), account.find(path)
    if kind == "microsoft.resources/tags":
        return groups.merge_tags(account, path, body)
    if method == "PUT" and kind in PUTS:
        groups.check_parent(account, path)
        return PUTS[kind](account, path, body, held)
    if held is None and method == "DELETE":
        return answer(404 if kind.endswith("resourcegroups") else 204)
    if held is None:
        raise not_found(path)
    if method == "PATCH" and kind in PATCHES:
        return PATCHES[kind](account, held, body)
    if method == "DELETE":
        return DELETES.get(kind, groups.delete_now)(account, held)
    raise Drift(f"the simulator has no {method} {kind}")


def _operation(account: Subscription, path: str) -> httpx2.Response:
    operation = account.operations.get(path.rsplit("/", 1)[-1])
    if operation is None:
        raise not_found(path)
    body: dict[str, Any] = {"id": path, "status": operation.status}
    return answer(200, {**body, "error": operation.error} if operation.error else body)


def _get(account: Subscription, path: str, kind: str) -> httpx2.Response:
    if (held := account.find(path)) is not None:
        return answer(200, held.shown())
    for special in (apps.get, ml.get, groups.get, _directory):
        found = special(account, path, kind)
        if found is not None:
            return answer(200, found)
    rows = _listed(account, path)
    if rows is None:
        raise not_found(path)
    return answer(200, {"value": rows})


def _directory(account: Subscription, path: str, kind: str) -> dict[str, Any] | None:
    if path == "/tenants":
        return {"value": [{"tenantId": TENANT, "tenantCategory": "Home", "displayName": "Home"}]}
    if path == "/subscriptions":
        rows = [{"subscriptionId": one, "state": "Enabled"} for one in (ID, *account.more_subscriptions)]
        return {"value": [{**row, "displayName": "Dev", "tenantId": TENANT} for row in rows]}
    if kind == "providers":
        return {"value": [{"namespace": name, "registrationState": to} for name, to in account.providers.items()]}
    return None


def _listed(account: Subscription, path: str) -> list[dict[str, Any]] | None:
    """Groups, what a group holds, all of one type, or the children of something."""
    words = path.strip("/").split("/")
    if words[0] == "subscriptions" and words[1] in account.more_subscriptions:
        return []
    if len(words) == 3 and words[2].lower() == "resourcegroups":
        return [one.shown() for one in account.of("Microsoft.Resources/resourceGroups")]
    if words[-1].lower() == "resources":
        return _contents(account, path.rsplit("/", 1)[0])
    if len(words) == 5 and words[2] == "providers":
        registered = account.providers.get(words[3]) != "NotRegistered"
        return [one.shown() for one in account.of(f"{words[3]}/{words[4]}")] if registered else []
    if account.find(path.rsplit("/", 1)[0]) is None:
        return None
    return [one.shown() for key, one in account.resources.items() if key.rsplit("/", 1)[0] == path.lower()]


def _contents(account: Subscription, group: str) -> list[dict[str, Any]]:
    """What a group holds as the list shows it: what is gone for some seconds more; children and rights never."""
    if account.find(group) is None:
        raise Refused(404, "ResourceGroupNotFound", f"Resource group '{group}' could not be found.")
    inside = f"{group.lower()}/providers/"
    now = [
        one.shown()
        for key, one in account.resources.items()
        if key.startswith(inside) and key.removeprefix(inside).count("/") == 2 and "/roleassignments/" not in key
    ]
    late = [
        row
        for at, row in account.late
        if account.now() - at < timedelta(seconds=LISTS_LATE)
        and row["id"].lower().startswith(inside)
        and row["id"].lower().removeprefix(inside).count("/") == 2
    ]
    return [{name: row[name] for name in ("id", "name", "type", "location", "tags")} for row in (*now, *late)]


def _post(account: Subscription, path: str) -> httpx2.Response:
    place, _, action = path.rpartition("/")
    held = account.find(place)
    if held is None:
        raise not_found(place)
    for special in (apps.post, ml.post):
        found = special(account, held, action)
        if found is not None:
            return answer(200, found)
    raise Drift(f"the simulator has no POST {held.type}/{action}")
