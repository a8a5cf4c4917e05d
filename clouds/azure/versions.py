"""The one table of API versions: which we send for each type, and the shape of its path.

    subscription     listed under a subscription or a resource group, reached by its id
    child            listed under its parent only (parameter `parent`)
    location         in a location of a subscription: `.../providers/<provider>/locations/<location>/<rest>`
    extension        on top of another resource: `<parent>/providers/<type>`
    bare             in a subscription without a provider: `/subscriptions/<id>/locations`
    root             outside of any subscription: `/tenants`
    tenant-query     a POST outside of any subscription whose path ends with the type (Resource Graph)
    retail           the public price list, on its own host and without a sign-in
    extension-query  a POST on top of another resource whose path ends with the type (Cost Management)

A version that Azure retires is answered with NoRegisteredProviderFound or InvalidResourceType, which are errors here
and never "nothing there".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from clouds.errors import InvalidInput

Shape = Literal[
    "subscription", "child", "location", "extension", "bare", "root", "tenant-query", "extension-query", "retail"
]
TABLE = Path(__file__).with_name("versions.json")


@dataclass(frozen=True)
class Row:
    """One type: the version that is sent, its path's shape, what shows that the version exists, and when we looked."""

    type: str
    version: str
    shape: Shape
    evidence: str
    checked: str

    @property
    def provider(self) -> str:
        """The namespace that has to be registered; "" where there is none."""
        return self.type.split("/", 1)[0] if "/" in self.type else ""

    @property
    def last(self) -> str:
        """The last segment of the type: what follows a parent's id in a path."""
        return self.type.rsplit("/", 1)[-1]


@cache
def rows() -> Mapping[str, Row]:
    """Every row by its type in lower case: ARM's types ignore case, and its own answers spell them several ways."""
    table: dict[str, Row] = {}
    for entry in json.loads(TABLE.read_text("utf-8"))["rows"]:
        row = Row(*entry)
        if row.shape not in get_args(Shape) or row.type.lower() in table:
            raise ValueError(f"versions.json: {row.type} is there twice, or has no shape that we know")
        table[row.type.lower()] = row
    return table


def row(kind: str) -> Row:
    """The row of a type. Raises InvalidInput for one that is not in the table."""
    found = rows().get(kind.lower())
    if found is None:
        raise InvalidInput(
            "call", f"the table of API versions has no {kind[:80]!r}", fix="Report this as a bug of modelrig."
        )
    return found
