"""Resource Graph: one question to many subscriptions. It is a cache, seconds to minutes old: what it said is
read again with a GET before anything is deleted.

A question goes to one tenant, whose token it carries, and to at most 300 subscriptions; `id` has to be projected or
there are no further pages; its types are in lower case while ids keep theirs (service documentation, 2026-11-29).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clouds.errors import InvalidInput
from clouds.models import Call, Scope

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

GRAPH = Call("Microsoft.ResourceGraph/resources", "query")
AT_ONCE = 300
PAGE = 1000


def ask(api: AzureApi, query: str, accounts: Sequence[str]) -> list[Mapping[str, Any]]:
    """Every row of a query over some subscriptions, whatever tenants they are in. Raises CloudError for any part."""
    return [row for call, scope in calls(api, query, accounts) for row in api.send(call, scope=scope).get("data") or ()]


def calls(api: AzureApi, query: str, accounts: Sequence[str]) -> Iterator[tuple[Call, Scope]]:
    """The questions that a query over some subscriptions is, each for one tenant. Raises InvalidInput."""
    if not re.search(r"\bproject\b.*\bid\b|\bsummarize\b|\bcount\b", query, re.DOTALL):
        raise InvalidInput("query", "does not project id", fix="Project `id`: without it there are no further pages.")
    tenants: dict[str, list[str]] = {}
    for account in dict.fromkeys(each.lower() for each in accounts):
        tenants.setdefault(api.directory.tenant_of(account), []).append(account)
    for mine in tenants.values():
        for start in range(0, len(mine), AT_ONCE):
            part = mine[start : start + AT_ONCE]
            body = {"subscriptions": part, "query": query, "options": {"$top": PAGE, "resultFormat": "objectArray"}}
            yield Call(GRAPH.service, GRAPH.operation, {"body": body}), Scope(account=part[0])


def kind(row: Mapping[str, Any]) -> str:
    """The type of a row in lower case, as it is to be compared."""
    return str(row.get("type") or "").lower()
