"""A cloud of toys: disks and machines in places, answered from a dictionary. Only the network is replaced."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from clouds.base import Cloud, Missing
from clouds.errors import NotFound, PermissionMissing
from clouds.models import Call, Identity, Price, Scope
from clouds.models.removal import CleanupStep, Doomed, From, Until
from clouds.models.waste import Charge, Detail, Kind, Listing, Meter, Metric, Question, Row, Seen, Waste, WasteCheck
from clouds.models.waste_pack import WastePack
from tools.progress import CallProgress
from tools.waste.exceptions import Keep
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
OLD = "2026-01-01T00:00:00+00:00"

DISKS = Listing("toy", "ListDisks", "disks")
MACHINES = Listing("toy", "ListMachines", "machines")
TAGS = Detail(DISKS, "toy", "ListTags", lambda rows, at: {"disk": rows[0]["id"]}, rows="tags", late=True)


def disk_id(row: Row, at: Scope) -> str:
    return f"toy://{at.account}/{at.location}/disk/{row['id']}"


DISK = Kind(
    name="disk",
    of=DISKS,
    id=disk_id,
    label=lambda row: row["id"],
    created=lambda row: row.get("created"),
    tags_read=TAGS,
    tags_of=lambda row: {row["key"]: row["value"]},
    managed=lambda row: row.get("manager", ""),
    moving=("size_used",),
)
MACHINE = Kind(
    name="machine",
    of=MACHINES,
    id=lambda row, at: f"toy://{at.account}/{at.location}/machine/{row['id']}",
    label=lambda row: row["id"],
    created=lambda row: row.get("created"),
    tags=lambda row: row.get("tags", {}),
)


def _ask(rows: Any, at: Scope, start: datetime, end: datetime) -> Any:
    del at, start, end
    for position in range(0, len(rows), 2):
        chunk = rows[position : position + 2]
        yield Question({"ids": [row["id"] for row in chunk]}, tuple(range(position, position + len(chunk))))


BUSY = Metric(
    name="work", of=MACHINES, days=7, absent="zero", service="toy", operation="ReadMetric", ask=_ask,
    points=lambda answer, question: [answer["points"].get(name) for name in question.parameters["ids"]],
    unit="jobs", charge=Charge(0.01, "metric", "2026-11-29", "made up"), source="made up",
    when=lambda row: row["state"] == "running",
)  # fmt: skip


def _machine_of(row: Row) -> list[str]:
    return [row["machine"]] if row.get("machine") else []


def _free(row: Row, _seen: Seen) -> Waste | None:
    if row.get("machine"):
        return None
    return Waste("belongs to nothing", (Meter("disk", "GiB-month", row["size"]),), evidence={"GiB": row["size"]})


def _delete(doomed: Doomed) -> tuple[CleanupStep, ...]:
    disk = doomed.row["id"]
    return (
        CleanupStep(
            "backup", f"back up {disk}", Call("toy", "CreateBackup", {"disk": disk, "mark": doomed.mark}),
            "can be undone",
            Until(Call("toy", "GetBackup", {"id": From("backup", "backup.id")}), "state", ("complete",), ("error",),
                  seconds=60, every=5),
            backup=True, makes=From("backup", "backup.id"),
            bills=(Meter("backup", "GiB-month", doomed.row["size"]),),
        ),
        CleanupStep(
            "delete", f"delete {disk}", Call("toy", "DeleteDisk", {"disk": disk}), "can be undone",
            Until(Call("toy", "GetDisk", {"disk": disk}), "id", gone=True, seconds=60, every=5),
        ),
    )  # fmt: skip


FREE_DISK = WasteCheck(
    id="disk-free", title="Disk that belongs to nothing", kind=DISK, judge=_free, why="It is billed by its size.",
    remove=_delete, recovery="A backup is made first.", reversal="can be undone", spares=("belongs to a machine",),
    unchecked=("what is on it",), order=40,
    steps=("toy.CreateBackup", "toy.GetBackup", "toy.DeleteDisk", "toy.GetDisk"),
)  # fmt: skip


def _idle(row: Row, seen: Seen) -> Waste | None:
    if row["state"] != "running" or seen.metric(BUSY, row):
        return None
    held = seen.index(DISKS, _machine_of).get(row["id"], ())
    return Waste(
        "no work in 7 days",
        (Meter("machine", "hour"), *(Meter("disk", "GiB-month", each["size"]) for each in held)),
        holds=tuple(seen.id(DISK, each) for each in held),
    )


IDLE_MACHINE = WasteCheck(
    id="machine-idle", title="Machine without work", kind=MACHINE, judge=_idle, reads=(BUSY, DISKS),
    why="It is billed by the hour.", remove="whoever owns it stops it", recovery="", reversal="can be undone",
    category="ai", order=20,
)  # fmt: skip


def _held(row: Row, seen: Seen) -> Waste | None:
    machine = row.get("machine")
    return Waste("of a machine", (Meter("disk", "GiB-month", row["size"]),)) if machine else None


HELD_DISK = WasteCheck(
    id="disk-held", title="Disk of a machine", kind=DISK, judge=_held, why="", remove="", recovery="",
    reversal="can be undone",
)  # fmt: skip
PACK = WastePack(
    checks=(IDLE_MACHINE, FREE_DISK),
    places=Listing("toy", "ListPlaces", "places"),
    place=lambda row: row,
    home="north",
    permissions=lambda service, operation: (f"{service}:{operation}",),
    command=lambda call, scope: ("toy", call.operation, *_words(call), "--place", scope.location or ""),
    query=lambda path: ("--query", path),
    account_line=lambda account: f'[[ "$(toy whoami)" == {account} ]]',
    owner=lambda tags: f"stack {tags['stack']}" if "stack" in tags else "",
    excludes=("discounts",),
    in_flight=4,
)


def _words(call: Call) -> list[Any]:
    return [word for key, value in call.parameters.items() for word in (f"--{key}", value)]


class Prices:
    def __init__(self, rates: Mapping[str, tuple[float, str]]) -> None:
        self.rates = rates

    def price(self, key: str, location: str) -> Price | None:
        del location
        if key not in self.rates:
            return None
        amount, unit = self.rates[key]
        return Price(amount=amount, unit=unit, as_of="2026-09-21", source="made up")


class Somebody:
    def __init__(self, account: str = "42") -> None:
        self.account = account

    def read(self) -> Identity:
        return Identity(principal="ana", account=self.account, kind="user", renews="")


Answer = Any
Place = dict[str, Answer]


@dataclass
class Network:
    """Answers by place and operation: a value, an error to raise, or a function of the parameters."""

    places: dict[str, Place]
    delay: Callable[[], None] = lambda: None
    sent: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)
    running: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, call: Call, *, scope: Scope) -> Any:
        place = scope.location or ""
        with self.lock:
            self.sent.append((place, call.operation, dict(call.parameters)))
            self.running[place] += 1
            self.most[place] = max(self.most[place], self.running[place])
        try:
            self.delay()
            if call.operation == "ListPlaces":
                return {"places": list(self.places)}
            answer = self.places[place].get(call.operation, {})
            if callable(answer):
                answer = answer(call.parameters)
            if isinstance(answer, Exception):
                raise answer
            return answer
        finally:
            with self.lock:
                self.running[place] -= 1

    def operations(self, place: str = "") -> list[str]:
        return [operation for where, operation, _ in self.sent if place in ("", where)]


RATES = {"disk": (0.1, "GiB-month"), "machine": (1.0, "hour")}


def cloud(
    network: Any, pack: WastePack = PACK, rates: Mapping[str, tuple[float, str]] = RATES, who: Any = None
) -> Cloud:
    return Cloud(
        "toy", who or Somebody(), {}, Missing(""), Missing(""), Prices(rates), network, waste_pack=lambda: pack
    )


def disk(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "size": 100, "created": OLD, **more}


def machine(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "state": "running", "created": OLD, **more}


def denied(action: str = "toy:ListDisks") -> PermissionMissing:
    return PermissionMissing(f"{action} in north", answered="no", code="Denied", fix="Ask.")


EVERYTHING = Wanted()


def missing() -> NotFound:
    return NotFound("looking", answered="not there", code="NotFound", fix="")


def look(
    places: dict[str, Place], *, pack: WastePack = PACK, keeps: tuple[Keep, ...] = (), now: datetime = NOW,
    wanted: Wanted = EVERYTHING, network: Network | None = None, rates: Mapping[str, tuple[float, str]] = RATES,
) -> Scan:  # fmt: skip
    """A whole scan."""
    return scan(
        {"toy": cloud(network or Network(places), pack, rates)},
        wanted,
        keeps,
        now,
        CallProgress(),
        "2026-11-29T120000-toy-1",
    )


def days_ago(days: float) -> str:
    return (NOW - timedelta(days=days)).isoformat()


ROOT = Path(__file__).resolve().parents[3]
