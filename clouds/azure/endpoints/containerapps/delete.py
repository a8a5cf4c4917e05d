"""Finds everything that belongs to an app, and takes it away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import belongings, ending, ids, keys, parts, places, removal, tags
from clouds.azure.endpoints.belongings import Belongings, of
from clouds.azure.endpoints.containerapps import calls, invoke, view
from clouds.azure.endpoints.making import Maker
from clouds.base import Ledger, Progress
from clouds.errors import Conflict, NotFound
from clouds.models import Call, DeletedPart, Deletion, EndpointRef, Scope


def find(api: AzureApi, ref: EndpointRef, ledger: Ledger) -> Belongings:
    """Read what exists of an app. Raises Conflict for one that modelrig did not make."""
    app = _app(api, ref)
    group, deployment = _group(api, ref, app)
    if app is not None:
        deployment = tags.deployment_of(app)
        if not deployment:
            raise Conflict(
                f"deleting {ref}",
                answered="modelrig did not make this app (it has no tag of ours)",
                fix="Delete it where it was made; scan_waste tells whether anybody uses it.",
            )
    if not deployment:
        return Belongings()
    wanted: list[Call] = []
    if app is not None:
        environment = str(environment_of(app))
        wanted += [of(parts.APP, str(app["id"]))]
        wanted += [of(parts.ENVIRONMENT, environment), of(parts.ENVIRONMENT, environment, "patch")]
    if group:
        wanted += [
            of(parts.ENVIRONMENT, ids.within(group, parts.ENVIRONMENT, f"{ref.name}-{ref.location}")),
            of(ending.WORKFLOW, ids.within(group, ending.WORKFLOW, ending.name_of(ref.name))),
            belongings.right(group, deployment),
            *belongings.in_group(api, group, deployment),
            of(parts.GROUP, group),
        ]
    wanted += belongings.written(ledger, deployment)
    return belongings.there(api, wanted, deployment)


def environment_of(app: Mapping[str, Any]) -> str:
    """The id of an app's environment; both names are in use."""
    held = app.get("properties") or {}
    return str(held.get("environmentId") or held.get("managedEnvironmentId") or "")


def _app(api: AzureApi, ref: EndpointRef) -> Mapping[str, Any] | None:
    try:
        return view.find(api, ref)
    except NotFound:
        return None


def _group(api: AzureApi, ref: EndpointRef, app: Mapping[str, Any] | None) -> tuple[str, str]:
    """The id of the group to look in, and whose it is."""
    if app is not None:
        return ids.group_of(str(app["id"])), tags.deployment_of(app)
    name = calls.group_name(ref.name)
    if first := places.usual(api):
        usual = of(parts.GROUP, ids.group(first, name))
        if (seen := parts.look(api, usual)) is not None and seen.deployment:
            return str(usual.parameters["id"]), seen.deployment
    subscriptions, _ = places.asked(api, Scope())
    for kind, wanted in ((parts.GROUP, name), (parts.ENVIRONMENT, f"{ref.name}-{ref.location}")):
        listed = places.in_all(subscriptions, partial(places.rows, api, Call(kind, "list")))
        for row in listed.found:
            if str(row.get("name", "")).lower() == wanted.lower() and tags.deployment_of(row):
                return ids.group_of(str(row["id"])), tags.deployment_of(row)
    return "", ""


def carry_out(
    api: AzureApi, ref: EndpointRef, ledger: Ledger, progress: Progress, home: Path, now: Callable[[], datetime]
) -> Deletion:
    """App, environment, end, group; read back until Azure says 404."""
    found = find(api, ref, ledger)
    maker = Maker(api, ledger, progress, found.deployment)
    removed = take_away(maker, found.calls, now)
    maker.drop(str(invoke.awaited("")))
    belongings.close(maker)
    parts_gone = removed.parts or (DeletedPart(part=f"container app {ref.name}", outcome="was not there"),)
    gone = removed.gone and belongings.nothing_left(api, found.calls)
    if gone:
        keys.forget(home, found.deployment)
    return Deletion(ref=ref, parts=parts_gone, gone=gone, note=removed.later)


def take_away(maker: Maker, wanted: list[Call] | tuple[Call, ...], now: Callable[[], datetime]) -> removal.Removed:
    """Remove what these calls made; where Azure refuses to let the app go, its scheduled end goes on asking."""
    workflow = next((str(call.parameters["id"]) for call in wanted if call.service == ending.WORKFLOW), "")
    return removal.remove(maker, wanted, later=lambda: ending.sooner(maker.api, workflow, now()) if workflow else "")
