"""Which locations a question is about, and the subscription that it is asked in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clouds.errors import CloudError, InvalidInput
from clouds.models import Call, Scope, Unread

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

LOCATIONS = Call("locations", "list")
DEFAULT = (
    *("eastus", "eastus2", "southcentralus", "westus2", "westus3", "swedencentral", "westeurope", "northeurope"),
    *("uksouth", "japaneast", "southeastasia", "australiaeast"),
)
"""Where to look when no place is named: the regions of the price table. One list of sizes is several megabytes, and
Azure has over sixty locations, so all of them would take minutes."""
_NAME = re.compile(r"[a-z][a-z0-9]{2,40}")


def location_of(text: str | None) -> str:
    """A location as ARM spells it (`East US` -> `eastus`). Raises InvalidInput for what cannot be one."""
    name = re.sub(r"[ ()]", "", (text or "").lower())
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            "region", f"{(text or '')[:40]!r} is not an Azure location", fix="Name one like eastus or swedencentral."
        )
    return name


def asked(api: AzureApi, scopes: Sequence[Scope]) -> tuple[Scope, ...]:
    """The places of some scopes, each once, each with its subscription. Raises InvalidInput and NotSignedIn."""
    wanted = scopes or (Scope(),)
    found: dict[Scope, None] = {}
    for scope in wanted:
        account = (scope.account or api.directory.default()).lower()
        for name in (location_of(scope.location),) if scope.location else DEFAULT:
            found[Scope(name, account)] = None
    return tuple(found)


def unread(call: Call, scope: Scope, error: CloudError) -> Unread:
    """One thing that could not be looked at, in Azure's own words."""
    reason = ": ".join(part for part in (error.code, error.answered) if part) or str(error)
    return Unread(call=str(call), scope=scope.location or str(scope), reason=reason)
