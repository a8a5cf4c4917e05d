"""Talking to a managed online endpoint: one path, one key, and the deployment that is meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import ids, parts
from clouds.azure.endpoints.ml import calls, view
from clouds.errors import NotFound
from clouds.models import Call, Scope, Wire


def scope_of(place: str) -> Scope:
    """The subscription of an id."""
    return Scope(account=ids.subscription_of(place))


def wire(api: AzureApi, endpoint: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> Wire:
    """Its scoring address with the endpoint's own key, which is asked of Azure each time. Raises CloudError."""
    place = str(endpoint["id"])
    uri = urlsplit(str((endpoint.get("properties") or {}).get("scoringUri") or ""))
    if uri.scheme != "https" or not uri.netloc:
        raise NotFound(
            f"connecting to {endpoint.get('name')}", answered="it has no address yet", fix="Ask again in a minute."
        )
    answer = api.send(Call(parts.ENDPOINT, "listKeys", {"id": place}), scope=scope_of(place))
    headers = {"Authorization": f"Bearer {(answer or {}).get('primaryKey', '')}"}
    deployment = found[0] if found else None
    if deployment is not None:
        headers["azureml-model-deployment"] = str(deployment.get("name", calls.DEPLOYMENT))
    path = uri.path if uri.path not in ("", "/") else calls.ROUTE
    return Wire(url=f"https://{uri.netloc}", headers=headers, path=path, model=view.model_of(deployment))
