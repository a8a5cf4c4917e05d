"""The toy cloud again, as one whose places are projects: each holds disks in zones, and an inventory knows them all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from clouds.models import Call, Scope
from clouds.models.waste import Detail, Listing
from clouds.models.waste_pack import Inventory
from tests.tools.waste import toy

DISKS = Listing("toy", "ListDisks", "disks", ask=lambda at: {"parent": f"projects/{at.account}"}, assets=("toy/Disk",))
ZONES = Listing(
    "toy", "ListZones", "zones", ask=lambda at: {"parent": f"projects/{at.account}"}, assets=("toy/Engine",)
)
ENGINES = Detail(
    ZONES, "toy", "ListEngines", lambda rows, at: {"zone": rows[0]}, rows="engines", assets=("toy/Engine",),
    spot=lambda row: row,
)  # fmt: skip
DISK = replace(
    toy.DISK,
    of=DISKS,
    id=lambda row, at: f"//toy/projects/{at.account}/zones/{row['zone']}/disks/{row['id']}",
    place=lambda row, at: row["zone"],
    tags_read=None,
)
ENGINE = replace(DISK, of=ENGINES, name="engine")
FREE = replace(toy.FREE_DISK, kind=DISK)
ENGINE_FREE = replace(toy.FREE_DISK, id="engine-free", kind=ENGINE)
INVENTORY = Inventory(
    roots=Listing("toy", "ListOrganizations", "organizations"),
    ask=lambda root, sorts: Call("toy", "Search", {"scope": root, "sorts": list(sorts)}),
    rows="results",
    answers_for=lambda row: row.get("looked", ""),
    asset=lambda row: (row["number"], row["sort"], row.get("zone", "")),
    number=lambda row: row["number"],
    operation="toy.Search",
)
PACK = replace(
    toy.PACK,
    checks=(FREE,),
    place=lambda row: row["id"],
    home="",
    scope=lambda place, account: Scope(None, place),
    account_line=lambda account: f"toy reach {account}",
    scope_word="project",
    lost=lambda answer: answer.get("unreachable", ()),
)
BOTH = replace(PACK, checks=(FREE, ENGINE_FREE), inventory=INVENTORY)


@dataclass
class Projects:
    """Implements the network: answers by project and operation. `found` is what the inventory answers."""

    projects: dict[str, dict[str, Any]]
    found: Any = None
    listed: tuple[str, ...] | None = None
    sent: list[tuple[str, str]] = field(default_factory=list)

    def send(self, call: Call, *, scope: Scope) -> Any:
        operation, project = call.operation, scope.account or ""
        self.sent.append((project, operation))
        if operation == "ListPlaces":
            return {"places": [{"id": name, "number": f"n-{name}"} for name in self._named()]}
        if operation == "ListOrganizations":
            return {"organizations": ["org"]}
        answer = self.found if operation == "Search" else self.projects[project].get(operation, {})
        if callable(answer):
            answer = answer(call.parameters)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _named(self) -> tuple[str, ...]:
        return tuple(self.projects) if self.listed is None else self.listed

    def asked(self, operation: str) -> list[str]:
        return sorted(project for project, each in self.sent if each == operation)


def disk(name: str, zone: str = "z1", **more: Any) -> dict[str, Any]:
    return toy.disk(name, zone=zone, **more)
