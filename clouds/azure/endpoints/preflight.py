"""What every plan asks first: who asks, whether the providers are registered, and whether there is quota."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clouds.azure.api import AzureApi
from clouds.azure.claims import who
from clouds.azure.words import REMEDIES
from clouds.errors import ApiDisabled, CloudError
from clouds.models import Call, Scope


@dataclass(frozen=True)
class Room:
    """A quota of a region: how much is allowed and used. None for what could not be read."""

    name: str
    limit: float | None
    used: float | None

    @property
    def free(self) -> float | None:
        """How much more may be asked for."""
        return None if self.limit is None or self.used is None else self.limit - self.used

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.used:g} of {self.limit:g} used" if self.free is not None else f"{self.name}: unknown"
        )


def registered(api: AzureApi, subscription: str, providers: Sequence[str]) -> None:
    """Raises ApiDisabled for a provider that the subscription itself says is not registered."""
    for provider in providers:
        state = api.registration(provider, subscription)
        if state.lower() in ("notregistered", "unregistered"):
            raise ApiDisabled(
                f"using {provider}",
                answered=f"the subscription says that it is {state}",
                code=state,
                fix=REMEDIES["api_disabled"].format(provider=provider, subscription=subscription),
            )


def owner(api: AzureApi, subscription: str) -> str:
    """A word for whoever asks, for the owner's tag: the sign-in's own name for itself, without its secret."""
    try:
        return who(api.tokens.get(api.directory.tenant_of(subscription))).name or "unknown"
    except CloudError:
        return "unknown"


def usage(api: AzureApi, call: Call, scope: Scope, pattern: str) -> Room:
    """The quota whose name matches; the tightest where several do. Never raises: unknown is not "no"."""
    where = f"{call} in {scope.location}"
    try:
        answer = api.send(call, scope=scope)
    except CloudError as error:
        return Room(f"{where}: {error.code or error.kind}", None, None)
    rows = [room(row) for row in (answer or {}).get("value", [])]
    fitting = [one for one in rows if re.search(pattern, one.name, re.IGNORECASE)]
    return min(fitting, key=_tightness) if fitting else Room(f"{where} names none", None, None)


def room(row: Mapping[str, Any]) -> Room:
    """One row of a usages listing: both spellings of its name are put together, since either may tell."""
    name = row.get("name") or {}
    words = (
        [str(name.get("localizedValue") or ""), str(name.get("value") or "")]
        if isinstance(name, Mapping)
        else [str(name)]
    )
    limit, used = row.get("limit"), row.get("currentValue")
    return Room(
        " / ".join(dict.fromkeys(word for word in words if word)),
        # below zero means that none is published
        float(limit) if isinstance(limit, int | float) and limit >= 0 else None,
        float(used) if isinstance(used, int | float) and used >= 0 else None,
    )


def _tightness(one: Room) -> float:
    return float("inf") if one.free is None else one.free
