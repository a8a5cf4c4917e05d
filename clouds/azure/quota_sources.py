"""The four places where Azure keeps quotas, each as rows of one kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from clouds.azure.skus import Skus, families
from clouds.azure.words import bounded
from clouds.models import Call, Quota, Scope

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi
    from clouds.azure.sizes import Profile

COMPUTE = Call("Microsoft.Compute/locations/usages", "list")
APPS = Call("Microsoft.App/locations/usages", "list")
ENVIRONMENTS = Call("Microsoft.App/managedEnvironments", "list")
ENVIRONMENT = Call("Microsoft.App/managedEnvironments/usages", "list_in")
ML = Call("Microsoft.MachineLearningServices/locations/usages", "list")
FOUNDRY = Call("Microsoft.CognitiveServices/locations/usages", "list")
TOTAL, SPOT = "cores", "lowPriorityCores"
_GPU = re.compile(r"gpu", re.IGNORECASE)
_CARD = {"T4": re.compile(r"T4", re.IGNORECASE), "A100-80GB": re.compile(r"A100", re.IGNORECASE)}


class Sources:
    """Reads each of the four in one location. Every method raises CloudError."""

    def __init__(self, api: AzureApi, skus: Skus) -> None:
        """`skus` says which family a size is of: the names differ by series and are never guessed."""
        self._api, self._skus = api, skus
        self._environments: dict[str, list[Mapping[str, Any]]] = {}
        self._lock = Lock()

    def compute(self, sizes: Sequence[str], scope: Scope) -> Iterator[Quota]:
        """The vCPUs of each family, of the region, and of spot. A size that is not there is not offered."""
        known = self._skus.at(scope)
        yield from _absent(known, sizes, scope)
        wanted = families(known, sizes)
        if not wanted:
            return
        rows = {plain(row["name"]["value"]): row for row in self._rows(COMPUTE, scope)}
        for family, names in wanted.items():
            row = rows.get(plain(family))
            yield _row(row, scope, "vCPU") if row else _unknown(f"vCPUs of {family} ({names[0]})", family, scope)
        for name, words in ((TOTAL, "Total Regional vCPUs"), (SPOT, "Total Regional Spot vCPUs")):
            row = rows.get(plain(name))
            yield _row(row, scope, "vCPU") if row else _unknown(words, name, scope)

    def ml(self, sizes: Sequence[str], scope: Scope) -> Iterator[Quota]:
        """The vCPUs of each family for Azure ML's endpoints and clusters, a pool apart from Compute's."""
        known = self._skus.at(scope)
        wanted = families(known, sizes)
        if not wanted:
            return
        rows = list(self._rows(ML, scope))
        for family in wanted:
            mine = [row for row in rows if plain(family) in plain(_text(row))]
            for row in mine:
                yield _row(row, scope, "vCPU", "Azure ML: ")
            if not mine:
                yield _unknown(f"Azure ML: vCPUs of {family}", family, scope)

    def apps(self, profiles: Sequence[Profile], scope: Scope) -> Iterator[Quota]:
        """GPUs of Container Apps: the subscription's rows, and those of each environment that is there."""
        gpus = [row for row in self._rows(APPS, scope) if _GPU.search(_text(row))]
        here = [
            row
            for row in self._all_environments(scope)
            if str(row.get("location", "")).replace(" ", "").lower() == scope.location
        ]
        inside = [(env, row) for env in here for row in self._of(env, scope) if _GPU.search(_text(row))]
        for serverless in dict.fromkeys(profile.serverless for profile in profiles):
            for card in dict.fromkeys(p.accelerator for p in profiles if p.serverless is serverless):
                yield from _gpus(card, serverless, gpus, inside, scope)

    def _all_environments(self, scope: Scope) -> list[Mapping[str, Any]]:
        """Those of the whole subscription, listed once for all locations."""
        account = str(scope.account)
        with self._lock:
            if account not in self._environments:
                self._environments[account] = self._api.send(ENVIRONMENTS, scope=Scope(account=account))["value"]
            return self._environments[account]

    def _of(self, env: Mapping[str, Any], scope: Scope) -> Iterator[Mapping[str, Any]]:
        call = Call(ENVIRONMENT.service, ENVIRONMENT.operation, {"parent": str(env["id"])})
        yield from self._api.send(call, scope=scope)["value"]

    def foundry(self, models: Sequence[str], scope: Scope) -> Iterator[Quota]:
        """Provisioned throughput units and tokens a minute, in the unit of each row's own deployment type."""
        rows = list(self._rows(FOUNDRY, scope))
        for model in models:
            mine = [row for row in rows if plain(model) in plain(_text(row))]
            for row in mine:
                unit = "PTU" if "provisioned" in _text(row).lower() else "1,000 tokens a minute"
                yield _row(row, scope, unit if "account" not in _text(row).lower() else "accounts", "Foundry: ")
            if not mine:
                yield _unknown(f"Foundry: {model}", model, scope)

    def _rows(self, call: Call, scope: Scope) -> Iterator[Mapping[str, Any]]:
        yield from self._api.send(call, scope=scope)["value"]


def _gpus(
    card: str,
    serverless: bool,
    subscription: Sequence[Mapping[str, Any]],
    environments: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
    scope: Scope,
) -> Iterator[Quota]:
    sort = "serverless" if serverless else "dedicated"
    pattern = _CARD.get(card, re.compile(re.escape(card), re.IGNORECASE))
    found = False
    for row in subscription:
        if pattern.search(_text(row)) and ("consumption" in _text(row).lower()) is serverless:
            found = True
            yield _row(row, scope, "GPU", f"Container Apps, {sort} {card}: ")
    for env, row in environments:
        if pattern.search(_text(row)) and ("consumption" in _text(row).lower()) is serverless:
            found = True
            yield _row(row, scope, "GPU", f"Container Apps, {sort} {card} in {bounded(str(env.get('name')), 60)}: ")
    if not found:
        why = "; shown on an environment only, and none here shows it" if serverless else ""
        yield _unknown(f"Container Apps, {sort} {card} GPUs{why}", "", scope, "GPU")


def _absent(known: Mapping[str, Any], sizes: Sequence[str], scope: Scope) -> Iterator[Quota]:
    for size in sizes:
        if size.lower() not in known:
            yield Quota(
                name=f"vCPUs of {size}",
                code="",
                scope=str(scope.location),
                limit=None,
                used=None,
                unit="vCPU",
                offered=False,
            )


def _row(row: Mapping[str, Any], scope: Scope, unit: str, before: str = "") -> Quota:
    """A usage row. A limit below zero means no limit that is published; a negative use is not known."""
    name = row.get("name") or {}
    limit, used = row.get("limit"), row.get("currentValue")
    return Quota(
        name=before + bounded(str(name.get("localizedValue") or name.get("value") or ""), 120),
        code=bounded(str(name.get("value") or ""), 120),
        scope=str(scope.location),
        limit=float(limit) if isinstance(limit, int | float) and limit >= 0 else None,
        used=float(used) if isinstance(used, int | float) and used >= 0 else None,
        unit=unit,
        adjustable=True,
        offered=True,
    )


def _unknown(name: str, code: str, scope: Scope, unit: str = "vCPU") -> Quota:
    return Quota(name=name, code=code, scope=str(scope.location), limit=None, used=None, unit=unit)


def _text(row: Mapping[str, Any]) -> str:
    """Everything that names a row: its code, its words, its type."""
    name = row.get("name") or {}
    if not isinstance(name, Mapping):
        return str(name)
    return " ".join(str(part or "") for part in (name.get("value"), name.get("localizedValue"), row.get("type")))


def plain(text: str) -> str:
    """Letters and digits alone: families are spelt with and without spaces and in several cases."""
    return re.sub(r"[^a-z0-9]", "", text.lower())
