"""The read that proves a version of the table, for the live test and for the test that every row can be asked."""

from __future__ import annotations

from clouds.azure import versions
from clouds.models import Call, Scope


def asking(row: versions.Row, scope: Scope) -> Call | None:
    """The read that proves a version: a listing, or a read of something that is not there (404 ResourceNotFound)."""
    group = f"/subscriptions/{scope.account}/resourceGroups/modelrig-not-there"
    if row.shape in ("subscription", "location", "bare", "root", "retail"):
        query = {"$filter": f"location eq '{scope.location}'"} if row.type.endswith("/skus") else {}
        return Call(row.type, "list", {"query": query} if query else {})
    if row.shape == "child":
        names = row.type.split("/")
        path = "".join(f"/{name}/none" for name in names[1:])
        return Call(row.type, "get", {"id": f"{group}/providers/{names[0]}{path}"})
    if row.shape == "extension":
        return Call(row.type, "list_in", {"parent": f"/subscriptions/{scope.account}"})
    return None
