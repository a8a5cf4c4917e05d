"""From a Call to what is sent, and back from an address to the Call's names: the one place that knows ARM's paths.

`service` is a type of the table, `operation` a verb: `list` (in a subscription or location), `list_in` (under
`parent`), `get`, `put`, `patch`, `delete` (of `id`), or the name of a POST action (on `id`, `parent` or a location).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from clouds.azure import versions
from clouds.azure.versions import Row
from clouds.errors import InvalidInput
from clouds.models import Call, Scope

ARM = "management.azure.com"
PRICES = "prices.azure.com"
_VERBS = {"list": "GET", "list_in": "GET", "get": "GET", "put": "PUT", "patch": "PATCH", "delete": "DELETE"}
# Actions that are named like POSTs and are GETs (REST specifications 2025-11-01 and 2026-04-01, read 2026-11-29).
_GETS = frozenset(
    {
        ("microsoft.containerregistry/registries", "listUsages"),
        ("microsoft.compute/virtualmachines", "instanceView"),
        ("microsoft.compute/virtualmachinescalesets", "instanceView"),
    }
)
_KNOWN = frozenset({"id", "parent", "query", "body", "tenant"})
_ID = re.compile(r"(/[\w.~()!@+,;=:$'&*% -]+)+")  # names of resource groups may have letters of any script
_SUBSCRIPTION = re.compile(r"^/subscriptions/([^/]+)", re.IGNORECASE)
READ_POSTS = frozenset({"tenant-query", "extension-query"})


@dataclass(frozen=True)
class Sending:
    """One request to ARM: method, path (quoted), query with its api-version, body, and whether repeating it is safe."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    row: Row
    subscription: str = ""
    repeatable: bool = False
    host: str = ARM


def sending(call: Call, scope: Scope) -> Sending:
    """What to send. Raises InvalidInput for a call that is not in the table or lacks what its path needs."""
    row = versions.row(call.service)
    verb = call.operation
    given = dict(call.parameters)
    if unknown := sorted(given.keys() - _KNOWN):
        raise _bug(call, f"takes no {', '.join(unknown)}")
    if "api-version" in (given.get("query") or {}):
        raise _bug(call, "has its version in the table")
    method = _VERBS.get(verb) or ("GET" if (row.type.lower(), verb) in _GETS else "POST")
    path = _path(call, row, scope)
    about = _SUBSCRIPTION.match(path)
    query = {str(key): str(value) for key, value in (given.get("query") or {}).items()}
    return Sending(
        method=method,
        path=quote(path, safe="/:@!$&'()*+,;=~"),
        query={"api-version": row.version, **query} if row.version else query,
        body=given.get("body"),
        row=row,
        subscription=about[1].lower() if about else "",
        repeatable=method == "GET" or row.shape in READ_POSTS,
        host=PRICES if row.shape == "retail" else ARM,
    )


def _path(call: Call, row: Row, scope: Scope) -> str:
    verb, given = call.operation, call.parameters
    if verb in ("get", "put", "patch", "delete"):
        at_root = row.shape == "root" and "id" not in given
        return f"/{row.type}/{_account(call, scope)}" if at_root else _full(call, "id")
    if "id" in given:
        return f"{_full(call, 'id')}/{verb}"
    tail = "" if verb in ("list", "list_in") or row.shape in READ_POSTS else f"/{verb}"
    if "parent" in given:
        return _under(row, _full(call, "parent")) + tail
    return _listed(call, row, scope) + tail


def _listed(call: Call, row: Row, scope: Scope) -> str:
    """The path of a type where neither an id nor a parent is named."""
    if row.shape == "tenant-query":
        return f"/providers/{row.type}"
    if row.shape == "root":
        return f"/{row.type}"
    if row.shape == "retail":
        return "/api/retail/prices"
    if row.shape not in ("bare", "location", "subscription"):
        raise _bug(call, "needs a parent")
    subscription = f"/subscriptions/{_account(call, scope)}"
    if row.shape == "bare":
        return f"{subscription}/{row.last}"
    if row.shape == "subscription":
        return f"{subscription}/providers/{row.type}"
    provider, _, rest = row.type.split("/", 2)
    place = (scope.location or "").replace(" ", "").lower()
    if not re.fullmatch(r"[a-z0-9]+", place):
        raise InvalidInput("location", f"{call} needs one", fix="Name an Azure region, for example eastus.")
    return f"{subscription}/providers/{provider}/locations/{place}/{rest}"


def _under(row: Row, parent: str) -> str:
    if row.shape in ("extension", "extension-query"):
        return f"{parent}/providers/{row.type}"
    if row.shape == "bare":
        return f"{parent}/{row.last}"
    if type_of(parent).lower() == row.type.lower().rpartition("/")[0]:
        return f"{parent}/{row.last}"
    if row.shape == "subscription":
        return f"{parent}/providers/{row.type}"
    raise InvalidInput(
        "parent", f"{parent[:120]!r} is no parent of {row.type}", fix="Report this as a bug of modelrig."
    )


def _full(call: Call, name: str) -> str:
    value = str(call.parameters.get(name) or "")
    if not _ID.fullmatch(value) or "/../" in f"{value}/" or "/./" in f"{value}/":
        raise InvalidInput(name, f"{value[:120]!r} is not a resource id", fix=f"Give {call} a full resource id.")
    return value


def _account(call: Call, scope: Scope) -> str:
    if not scope.account or not re.fullmatch(r"[A-Za-z0-9-]+", scope.account):
        raise InvalidInput("account", f"{call} needs a subscription id", fix="Name the subscription to look in.")
    return scope.account


def type_of(resource: str) -> str:
    """The full type of a resource id; "" for a subscription, `Microsoft.Resources/resourceGroups` for a group."""
    at = resource.lower().rfind("/providers/")  # some services answer ids in capitals
    if at >= 0:
        tail = resource[at + len("/providers/") :]
        parts = tail.strip("/").split("/")
        return "/".join([parts[0], *parts[1::2]])
    return "Microsoft.Resources/resourceGroups" if "/resourcegroups/" in f"{resource.lower()}/" else ""


def subscription_of(resource: str) -> str:
    """The subscription of a resource id, in lower case; "" for none."""
    found = _SUBSCRIPTION.match(resource)
    return found[1].lower() if found else ""


def group_of(resource: str) -> str:
    """The resource group of a resource id, as it is spelt there; "" for none."""
    found = re.search(r"/resourceGroups/([^/]+)", resource, re.IGNORECASE)
    return found[1] if found else ""


def meant(method: str, url: str) -> tuple[str, str]:
    """The (service, operation) of an address that somebody else recorded. Types outside the table keep their spelling.

    A type cannot be told from an action by its words alone: a last segment is an action when the method is POST.
    """
    path = unquote(urlsplit(url).path).strip("/")
    head, found, tail = path.rpartition("providers/")
    if found and tail:
        parts = tail.split("/")
        provider, rest = parts[0], parts[1:]
        if len(rest) > 1 and rest[0].lower() == "locations":
            kind, names = "/".join([provider, "locations", *rest[2:]]), 0
        else:
            kind, names = "/".join([provider, *rest[::2]]), len(rest) // 2
        parent = bool(head.strip("/").count("/") > 1 or names)
        return _named(method, kind, listing=len(rest) % 2 == 1 or rest[0].lower() == "locations", parent=parent)
    parts = path.split("/")
    if parts[0].lower() == "subscriptions" and len(parts) > 2:
        grouped = parts[2].lower() == "resourcegroups"
        if grouped and len(parts) == 5:
            return _named(method, f"Microsoft.Resources/{parts[4]}", listing=True, parent=True)
        kind = "Microsoft.Resources/resourceGroups" if grouped else parts[2]
        return _named(method, kind, listing=len(parts) == 3, parent=False)
    return _named(method, parts[0], listing=len(parts) == 1, parent=False)


def _named(method: str, kind: str, *, listing: bool, parent: bool) -> tuple[str, str]:
    row = versions.rows().get(kind.lower())
    above, _, last = kind.rpartition("/")
    acts = method == "POST" and (row is None or row.shape not in READ_POSTS)
    if acts or (method == "GET" and (above.lower(), last) in _GETS):
        higher = versions.rows().get(above.lower())
        return (higher.type if higher else above), last
    service = row.type if row else kind
    if method == "POST":
        return service, "query"
    if method == "GET":
        return service, ("list_in" if parent else "list") if listing else "get"
    return service, method.lower()


def _bug(call: Call, problem: str) -> InvalidInput:
    return InvalidInput("call", f"{call} {problem}", fix="Report this as a bug of modelrig.")
