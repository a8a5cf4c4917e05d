"""Resource groups, tags, workflows that fire at their time, and the rights that let them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx2

from tests.clouds.azure.simulator.subscription import Resource, Subscription
from tests.clouds.azure.simulator.wire import Refused, answer, not_found

BASE = "https://management.azure.com"
UNKNOWN_FOR = 15.0
"""Seconds for which a new identity is unknown to role assignments."""
TRAFFIC = "microsoft.machinelearningservices/workspaces/onlineendpoints/deployments"


def check_parent(account: Subscription, path: str) -> None:
    """A group has to be there for what is put into it, and a parent for its child."""
    head, found, tail = path.partition("/providers/")
    if found and account.find(head) is None:
        raise Refused(404, "ResourceGroupNotFound", f"Resource group '{head.rsplit('/', 1)[-1]}' could not be found.")
    above = path.rsplit("/", 2)[0]
    if (
        tail.count("/") > 2
        and "/providers/" not in path[len(head) + 1 :].split("/", 1)[-1]
        and not _there(account, above)
    ):
        raise Refused(404, "ParentResourceNotFound", f"Can not perform requested operation on {above}.")


def _there(account: Subscription, place: str) -> bool:
    # the container of an environment's versions is made with the first of them
    return account.find(place) is not None or "/environments/" in place.lower()


def location(body: dict[str, Any]) -> str:
    return str(body["location"]).replace(" ", "").lower()


def new(account: Subscription, path: str, kind: str, body: dict[str, Any]) -> Resource:
    made = Resource(
        path, kind, location(body), dict(body.get("tags") or {}), dict(body.get("properties") or {}), account.now()
    )
    account.resources[path.lower()] = made
    return made


def started(account: Subscription, held: Resource, status: int, seconds: float, state: str) -> httpx2.Response:
    """An operation under way on a resource, which then has `state`; a fault may have it fail instead."""
    name, fails = account.begin(), account.fails_next
    account.clock.later(seconds, lambda: finish(account, held, name, state, fails=fails))
    place = f"{BASE}/subscriptions/{held.id.split('/')[2]}/providers/operations/{name}?api-version=2026-01-01"
    return answer(status, held.shown(), {"Azure-AsyncOperation": place})


def finish(account: Subscription, held: Resource, name: str, state: str, *, fails: bool) -> None:
    if fails:
        held.state = "Failed"
        account.end(name, {"code": "InternalOperationFailed", "message": "The operation failed for an unknown reason."})
        return
    held.state = state
    account.end(name)


def ending(account: Subscription, held: Resource, seconds: float) -> httpx2.Response:
    """A deletion under way: 202 with a Location, and after a while 404."""
    if held.state == "Deleting":
        return answer(202)
    name, before, fails = account.begin(), held.state, account.fails_next
    held.state = "Deleting"

    def end() -> None:
        if fails:
            held.state = before
            account.end(name, {"code": "InternalOperationFailed", "message": "The deletion failed."})
            return
        account.drop(held)
        account.end(name)

    account.clock.later(seconds, end)
    place = f"{BASE}/subscriptions/{held.id.split('/')[2]}/providers/operations/{name}?api-version=2026-01-01"
    return answer(202, None, {"Azure-AsyncOperation": place})


def delete_now(account: Subscription, held: Resource) -> httpx2.Response:
    if account.fails_next:
        return answer(200, {"status": "Failed", "error": {"code": "InternalOperationFailed", "message": "It failed."}})
    account.drop(held)
    return answer(200)


def put_group(account: Subscription, path: str, body: dict[str, Any], held: Resource | None) -> httpx2.Response:
    if held is not None and held.location != location(body):
        raise Refused(409, "InvalidResourceGroupLocation", f"'{held.name}' already exists in '{held.location}'.")
    made = new(account, path, "Microsoft.Resources/resourceGroups", body)
    made.state = "Failed" if account.fails_next else "Succeeded"
    return answer(200 if held else 201, made.shown())


def delete_group(account: Subscription, held: Resource) -> httpx2.Response:
    """A group takes with it whatever is in it: that is why it may go only when it is empty."""
    inside = [one for key, one in account.resources.items() if key.startswith(f"{held.id.lower()}/")]
    if [one for one in inside if not one.type.endswith("roleAssignments")]:  # rights go with what they are on
        account.misuse.append(f"group {held.name} was deleted with {len(inside)} things in it")
    reply = ending(account, held, account.gone_after)
    if not account.fails_next:
        for one in inside:
            account.drop(one)
    return reply


def merge_tags(account: Subscription, path: str, body: dict[str, Any]) -> httpx2.Response:
    target = path.rpartition("/providers/Microsoft.Resources/tags/")[0]
    held = account.find(target)
    if held is None:
        raise not_found(target)
    if account.fails_next:
        return answer(200, {"status": "Failed", "error": {"code": "InternalOperationFailed", "message": "It failed."}})
    held.tags.update(body["properties"]["tags"])
    return answer(200, {"id": path, "properties": {"tags": held.tags}})


def put_workflow(account: Subscription, path: str, body: dict[str, Any], held: Resource | None) -> httpx2.Response:
    made = new(account, path, "Microsoft.Logic/workflows", body)
    made.state = "Failed" if account.fails_next else "Succeeded"
    same = held.held if held is not None else {"principal": f"principal-{account.number()}", "since": account.now()}
    made.held = {**same, "run": account.number()}
    made.more = {"identity": {"type": "SystemAssigned", "principalId": made.held["principal"]}}
    recurrence = made.properties["definition"]["triggers"]["end"]["recurrence"]
    start = datetime.fromisoformat(recurrence["startTime"])
    every = recurrence["interval"] * {"Hour": 3600, "Minute": 60}[recurrence["frequency"]]
    account.clock.at(start, lambda: fire(account, made, made.held["run"], every))
    return answer(200 if held else 201, made.shown())


def fire(account: Subscription, flow: Resource, run: int, every: float) -> None:
    """The workflow's one action: a DELETE with its own identity, where that has a right."""
    if not account.alive(flow) or flow.held["run"] != run or flow.state != "Succeeded":
        return
    account.clock.later(every, lambda: fire(account, flow, run, every))
    action = flow.properties["definition"]["actions"]["delete"]["inputs"]
    place = str(httpx2.URL(action["uri"]).path)
    held = account.find(place)
    if held is None or not _allowed(account, flow, place):
        return
    from tests.clouds.azure.simulator import arm

    try:
        arm.DELETES.get(held.type.lower(), delete_now)(account, held)
    except Refused:
        return  # it asks again


def _allowed(account: Subscription, flow: Resource, place: str) -> bool:
    return any(
        one.properties["principalId"] == flow.held["principal"] and place.lower().startswith(one.held["scope"])
        for one in account.of("Microsoft.Authorization/roleAssignments")
    )


def put_assignment(account: Subscription, path: str, body: dict[str, Any], held: Resource | None) -> httpx2.Response:
    scope = path.lower().rpartition("/providers/")[0]
    if account.find(scope) is None:
        raise not_found(scope)
    principal = body["properties"]["principalId"]
    if held is not None and held.properties["principalId"] != principal:
        raise Refused(
            409, "RoleAssignmentUpdateNotPermitted", "Tenant ID, application ID, principal ID, and scope fixed."
        )
    flows = [one for one in account.of("Microsoft.Logic/workflows") if one.held.get("principal") == principal]
    if not flows or account.now() - flows[0].held["since"] < timedelta(seconds=UNKNOWN_FOR):
        raise Refused(400, "PrincipalNotFound", f"Principal {principal} does not exist in the directory.")
    made = new(account, path, "Microsoft.Authorization/roleAssignments", {"location": "global", **body})
    made.held["scope"] = scope
    made.state = ""
    return answer(201, made.shown())


def get(account: Subscription, path: str, kind: str) -> dict[str, Any] | None:
    if kind == "microsoft.authorization/permissions":
        return {"value": account.rights}
    return None
