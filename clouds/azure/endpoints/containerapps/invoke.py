"""Talking to the app: its wire, and a question that wakes it and costs no token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import ids, keys, parts, serving, tags
from clouds.azure.endpoints.containerapps import view
from clouds.azure.endpoints.containerapps.state import Seen
from clouds.azure.endpoints.web import Web
from clouds.errors import CloudError, NotFound
from clouds.models import Call, Scope, Wire

TOKEN = "web.chat"  # noqa: S105 - the name of a request
LONGEST = 230.0
"""Container Apps' ingress ends a request after 240 s: the question gives up before."""


def awaited(app: str) -> Call:
    """The wait for a first token, as the ledger has it."""
    return Call("web", "chat", {"id": app})


def address(seen: Seen) -> str:
    """https:// and the app's own name; empty while it has none."""
    fqdn = ((seen.properties.get("configuration") or {}).get("ingress") or {}).get("fqdn")
    return f"https://{fqdn}" if fqdn else ""


def wake(web: Web, seen: Seen) -> None:
    """Ask /health once. No answer is an answer: the ingress holds the request while a replica is started."""
    if not address(seen):
        return
    try:
        web.ask("health", f"{address(seen)}/health", seconds=5.0)
    except CloudError:
        return


def key_of(api: AzureApi, home: Path, app: dict[str, Any]) -> str:
    """The app's key: from this machine, else from Azure, which gives it to who may read the app's secrets."""
    held = keys.read(home, tags.deployment_of(app))
    if held:
        return held
    place = str(app["id"])
    answer = api.send(Call(parts.APP, "listSecrets", {"id": place}), scope=Scope(account=ids.subscription_of(place)))
    return next((str(row["value"]) for row in (answer or {}).get("value", []) if row.get("name") == "api-key"), "")


def wire(api: AzureApi, home: Path, app: dict[str, Any]) -> Wire:
    """All OpenAI paths, streamed as the engine streams; every request carries the app's own key."""
    url = address(Seen(app, None, None))
    if not url:
        raise NotFound(
            f"connecting to {app.get('name')}", answered="it has no address (no ingress)", fix="Deploy it again."
        )
    key = key_of(api, home, app)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return Wire(url=url, headers=headers, model=serving.served(view.container_of(app).get("args") or []))
