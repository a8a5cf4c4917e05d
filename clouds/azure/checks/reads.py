"""What several checks read, each once a subscription, and how a resource gets its age where its type says none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from clouds.azure.checks import words
from clouds.models.waste import Detail, Kind, Listing, Reading, Row, Seen, Unresolved, Unseen, Waste, WasteCheck

INDEXES = frozenset(
    {
        "Microsoft.Resources/resources",
        "Microsoft.ResourceGraph/resources",
        "Microsoft.Insights/metricDefinitions",
        "providers",
    }
)
"""What has no properties by design: indexes, and what is no resource."""
EVERY = 1_000_000
"""So many rows are served by one request: all of them."""


def listing(kind: str, **query: str) -> Listing:
    """All resources of a type in a subscription, over all groups and regions."""
    return Listing(kind, "list", "value", {"query": query} if query else {})


def children(of: Listing | Detail, kind: str, when: Callable[[Row], bool] | None = None) -> Detail:
    """The children of each row of `of`."""
    return Detail(of, kind, "list_in", lambda rows, _at: {"parent": rows[0]["id"]}, rows="value", when=when)


def single(of: Listing | Detail, kind: str, when: Callable[[Row], bool] | None = None, *, expand: str = "") -> Detail:
    """Each row of `of` in full, where the list leaves things out."""
    more = {"query": {"$expand": expand}} if expand else {}
    return Detail(of, kind, "get", lambda rows, _at: {"id": rows[0]["id"], **more}, when=when)


REGISTRATIONS = listing("providers", **{"$select": "namespace,registrationState"})
GROUPS = listing("Microsoft.Resources/resourceGroups")
LOCKS = Listing("Microsoft.Authorization/locks", "list", "value")
RESOURCES = listing("Microsoft.Resources/resources", **{"$expand": "createdTime,changedTime"})


def aged(of: Listing) -> Detail:
    """The same resources as ARM's own index lists them, with the time each was made.

    Many types (most of Microsoft.Network) do not say when they were made; ARM does when it is asked with
    `$expand=createdTime` (Resources - List, read 2026-11-29). One that is not in that index yet is seconds old.
    """
    kind = of.service
    query = {"$filter": f"resourceType eq '{kind}'", "$expand": "createdTime,changedTime"}
    return Detail(
        of, "Microsoft.Resources/resources", "list", lambda _rows, _at: {"query": query}, "value", batch=EVERY
    )


def aged_kind(name: str, of: Detail) -> Kind:
    """A kind whose rows are those of `aged`."""
    return Kind(
        name=name, of=of, id=words.ident, label=words.label, created=lambda row: row.get("createdTime"),
        tags=words.tags, managed=words.managed, place=words.place, moving=("changedTime",),
    )  # fmt: skip


def kind(name: str, of: Listing | Detail, created: Callable[[Row], Any] = words.made, **more: Any) -> Kind:
    """A kind whose own rows say when they were made."""
    return Kind(
        name=name, of=of, id=words.ident, label=words.label, created=created, tags=words.tags, place=words.place,
        **{"managed": words.managed, **more},
    )  # fmt: skip


Judge = Callable[[Row, Seen], Waste | None]
_MADE = "createdTime"


@dataclass(frozen=True, eq=False)
class Dated:
    """A type that does not say when its resources were made: ARM's index says it, and the row is completed with it."""

    of: Listing
    index: Detail

    def kind(self, name: str, **more: Any) -> Kind:
        """Its kind: the rows of its own listing."""
        return kind(name, self.of, lambda row: row.get(_MADE), **more)

    def judge(self, judge: Judge) -> Judge:
        """The judgement, with the age looked up for what is waste; one whose age cannot be read is not removed."""

        def judged(row: Row, seen: Seen) -> Waste | None:
            waste = judge(row, seen)
            if waste is None:
                return None
            try:
                listed = seen.of(self.index, row)
            except Unseen:
                why = "when it was made could not be read, so that it may be new"
                return replace(waste, blocked=waste.blocked or why)
            # one that is not in the index yet is seconds old
            made = listed[0].get(_MADE) if listed else seen.now.isoformat()
            if not made:
                return replace(waste, blocked=waste.blocked or "nobody says when it was made, so that it may be new")
            row[_MADE] = made
            return waste

        return judged


def located(row: Row, seen: Seen, of: Listing) -> None:
    """Give a child that has no region of its own the region of its parent: there it is billed. Raises Unseen."""
    found = seen.index(of, words.key).get(words.parent(row["id"]).lower(), ())
    if found:
        row.setdefault("location", found[0].get("location"))


def dated(of: Listing) -> Dated:
    """A listing and the index that knows the ages of its rows."""
    return Dated(of, aged(of))


def over(of: Listing, judge: Callable[[Row, Row, Seen], Waste | None]) -> Judge:
    """A judgement over `aged` rows that is given the whole resource too: `judge(whole, row, seen)`."""

    def judged(row: Row, seen: Seen) -> Waste | None:
        whole = seen.index(of, words.key).get(str(row["id"]).lower())
        waste = judge(whole[0], row, seen) if whole else None
        if whole and waste is not None:
            _refuse(_bare(whole[0]))
        return waste

    return judged


def careful(judge: Judge) -> Judge:
    """The judgement, less what belongs to a group that a service manages; a lock is said, and keeps it from removal."""

    def judged(row: Row, seen: Seen) -> Waste | None:
        waste = judge(row, seen)
        if waste is None:
            return None
        try:
            if managed_group(seen, row["id"]):
                return None
        except Unseen:
            why = "its resource group could not be read, so nobody knows whether a service manages it"
            return replace(waste, blocked=waste.blocked or why)
        lock = locked(seen, row["id"])
        return replace(waste, blocked=waste.blocked or lock) if lock else waste

    return judged


def managed_group(seen: Seen, resource: str) -> str:
    """Who manages the resource group of a resource; "" for nobody. Raises Unseen."""
    head = resource.lower().split("/providers/", 1)[0]
    found = seen.index(GROUPS, words.key).get(head, ())
    return words.last(str(found[0].get("managedBy") or "")) if found else ""


def _locked_scope(row: Row) -> tuple[str]:
    return (str(row["id"]).lower().rsplit("/providers/microsoft.authorization/locks/", 1)[0],)


def locked(seen: Seen, resource: str) -> str:
    """Which lock keeps a resource; "" for none. A lock that could not be read refuses the removal by itself."""
    try:
        locks = seen.index(LOCKS, _locked_scope)
    except Unseen:
        return ""
    parts = resource.lower().split("/")
    for end in range(3, len(parts) + 1, 2):
        for lock in locks.get("/".join(parts[:end]), ()):
            return f"the lock {words.last(lock['id'])} ({words.props(lock).get('level', '')}) keeps it"
    return ""


def registered(seen: Seen, namespace: str) -> None:
    """Raises Unresolved where a provider that speaks of usage is not registered: its silence would say nothing."""
    for row in seen.rows(REGISTRATIONS):
        if str(row.get("namespace", "")).lower() == namespace.lower():
            if str(row.get("registrationState", "")).lower() == "registered":
                return
            break
    raise Unresolved(f"{namespace} is not registered in this subscription, so nothing says whether it is used")


def _bare(row: Row) -> tuple[str, ...]:
    """The name of a resource of whose answer nothing is said; () for any other. Figures such as usages have no id."""
    told = "id" not in row or isinstance(row.get("properties"), Mapping)
    return () if told else (words.last(str(row["id"]))[:80],)


def _refuse(named: Iterable[str]) -> None:
    """Raises Unresolved where there is one: what is not said of it would be taken for what is not there."""
    for name in named:
        raise Unresolved(f"Azure named {name} without its properties")


def whole(judge: Judge, kind: Kind, reads: tuple[Reading, ...]) -> Judge:
    """The judgement; waste is not believed where a resource that it was judged by came without its properties."""
    beside = [each for each in reads if isinstance(each, Listing | Detail) and each.service not in INDEXES]

    def judged(row: Row, seen: Seen) -> Waste | None:
        waste = judge(row, seen)
        if waste is None:
            return None
        if kind.of.service not in INDEXES:
            _refuse(_bare(row))
        for each in beside:
            # one that could not be read was not needed; one that is read for single rows is looked at with those
            with suppress(Unseen, TypeError):
                if isinstance(each, Detail) and each.of == kind.of:
                    _refuse(name for one in seen.of(each, row) for name in _bare(one))
                else:
                    _refuse(seen.index(each, _bare))  # made once, whatever is judged by it
        return waste

    return judged


def check(*, judge: Judge, kind: Kind, reads: tuple[Reading, ...] = (), **more: Any) -> WasteCheck:
    """A check that also spares what a service manages, and says which lock keeps a resource."""
    own = careful(whole(judge, kind, reads))
    return WasteCheck(judge=own, kind=kind, reads=tuple(dict.fromkeys((*reads, GROUPS, LOCKS))), **more)
