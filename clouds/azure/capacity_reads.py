"""The questions behind an answer about capacity. Every function raises CloudError."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clouds.models import Call, Scope

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

SPOT = Call("Microsoft.Compute/locations/placementScores/spot", "generate")
PROFILES = Call("Microsoft.App/locations/availableManagedEnvironmentsWorkloadProfileTypes", "list")
OFFERED = Call("Microsoft.CognitiveServices/locations/models", "list")
MODELS = Call("Microsoft.CognitiveServices/locations/modelCapacities", "list")
_AT_ONCE = 5  # sizes in one question for scores
_VERSIONS = 3


@dataclass(frozen=True)
class Score:
    """How well a spot request for a size would do, in one zone ("" for the region), and whether quota allows it."""

    zone: str
    score: str
    quota: bool | None


def scores(api: AzureApi, where: Sequence[Scope], sizes: Sequence[str]) -> Mapping[tuple[str, str], tuple[Score, ...]]:
    """(location, size in lower case) -> its scores by zone. Needs an action that Reader does not have."""
    found: dict[tuple[str, str], tuple[Score, ...]] = {}
    for start in range(0, len(sizes), _AT_ONCE):
        body = {
            "desiredLocations": [scope.location for scope in where],
            "desiredSizes": [{"sku": size} for size in sizes[start : start + _AT_ONCE]],
            "desiredCount": 1,
            "availabilityZones": True,
        }
        answer = api.send(Call(SPOT.service, SPOT.operation, {"body": body}), scope=where[0])
        for row in answer.get("placementScores") or ():
            key = (str(row.get("region", "")).replace(" ", "").lower(), str(row.get("sku", "")).lower())
            score = Score(
                str(row.get("availabilityZone") or ""), str(row.get("score") or ""), row.get("isQuotaAvailable")
            )
            found[key] = (*found.get(key, ()), score)
    return found


def profile_types(api: AzureApi, scope: Scope) -> frozenset[str]:
    """The workload profile types that Container Apps names in a location, in lower case."""
    rows = api.send(PROFILES, scope=scope)["value"]
    names = {str(row.get("name") or "") for row in rows}
    names |= {str((row.get("properties") or {}).get("displayName") or "") for row in rows}
    return frozenset(name.lower().removeprefix("dedicated-") for name in names if name)


def models(api: AzureApi, scope: Scope, wanted: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Model -> "version, deployment type, how much Foundry would deploy"; empty for a model that is not there."""
    rows = [row.get("model") or {} for row in api.send(OFFERED, scope=scope)["value"]]
    found: dict[str, tuple[str, ...]] = {}
    for name in wanted:
        mine = {
            (str(row.get("format") or "OpenAI"), str(row["name"]), str(row.get("version") or ""))
            for row in rows
            if str(row.get("name", "")).lower() == name.lower()
        }
        lines: list[str] = []
        for form, model, version in sorted(mine, key=lambda each: each[2], reverse=True)[:_VERSIONS]:
            query = {"modelFormat": form, "modelName": model, "modelVersion": version}
            answer = api.send(Call(MODELS.service, MODELS.operation, {"query": query}), scope=scope)
            for row in answer["value"]:
                more = row.get("properties") or {}
                lines.append(f"{version} {more.get('skuName') or row.get('name')}: {more.get('availableCapacity')}")
        found[name] = tuple(lines)
    return found
