"""list_checks: what a scan looks for, what each check reads and may need, and whether it applied in the last scan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from clouds.base import Missing
from clouds.errors import CloudError, InvalidInput, NotFound
from clouds.models import Record
from clouds.models.waste import Metric, WasteCheck
from clouds.models.waste_pack import WastePack
from tools.context import Clouds
from tools.figures import did_you_mean
from tools.ledger import Book
from tools.result import Result, capped
from tools.waste import store
from tools.waste.records import Scan


class CheckRow(Record):
    """One check in a list."""

    check: str
    finds: str
    cloud: str = ""
    applies: str = ""


class CheckDetail(Record):
    """One check in full."""

    check: str
    cloud: str
    title: str
    why: str
    reads: tuple[str, ...]
    permissions: tuple[str, ...]
    metrics: tuple[str, ...] = ()
    younger_than_days_is_too_new: float
    spares: tuple[str, ...]
    not_checked: tuple[str, ...] = ()
    priced_by: str
    cleanup: str
    cleanup_permissions: tuple[str, ...] = ()
    reversal: str
    recovery: str


class CheckList(Result):
    """Checks and how many there are of each sort."""

    count: int
    by_cloud: Mapping[str, int]
    by_category: Mapping[str, int]
    permissions: int
    filter: Mapping[str, str] = {}
    showing: str = ""
    rows: tuple[CheckRow, ...] = ()
    detail: CheckDetail | None = None


def list_checks(
    clouds: Clouds,
    book: Book,
    cloud: Annotated[str, Field(max_length=20)] = "",
    category: Literal["", "ai", "classic", "own"] = "",
    check: Annotated[str, Field(max_length=60, description="one id: everything about it")] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 40,
) -> CheckList:
    """The waste checks: what each finds and whether it applied in the last scan; one of them with all it reads."""
    cloud = cloud.lower()
    packs = _packs(clouds, cloud)
    every = [(name, each, pack) for name, pack in packs.items() for each in pack.checks]
    if check:
        found = [item for item in every if item[1].id == check]
        if not found:
            hint = did_you_mean(check, [each.id for _, each, _ in every])
            raise InvalidInput("check", f"{check!r} is no check.{hint}", fix="Call list_checks without it.")
        name, one, pack = found[0]
        return _one(name, one, pack)
    chosen = [item for item in every if category in ("", item[1].category)]
    last = _last(book)
    shown, showing = capped(chosen, limit)
    permissions = {
        word for _, each, pack in chosen for read in each.operations for word in pack.permissions(*read.split(".", 1))
    }
    return CheckList(
        headline=f"{len(chosen)} check{'s look' if len(chosen) != 1 else ' looks'} for what nobody uses"
        + (f" ({', '.join(word for word in (cloud, category) if word)})" if cloud or category else "")
        + ".",
        count=len(chosen),
        by_cloud=_count(name for name, _, _ in chosen),
        by_category=_count(each.category for _, each, _ in chosen),
        permissions=len(permissions),
        filter={key: value for key, value in (("cloud", cloud), ("category", category)) if value},
        showing=showing,
        rows=tuple(
            CheckRow(
                check=each.id,
                finds=each.title,
                cloud=name if len(packs) > 1 else "",
                applies=_applies(name, each.id, last),
            )
            for name, each, _ in shown
        ),
        next='list_checks(check="…") for one of them, or scan_waste.',
    )


def _packs(clouds: Clouds, cloud: str) -> dict[str, WastePack]:
    found = {}
    for name in (cloud,) if cloud else clouds.names:
        try:
            pack = clouds.get(name).waste
        except InvalidInput:
            raise
        except CloudError:
            continue
        if not isinstance(pack, Missing):
            found[name] = pack
        elif cloud:
            raise NotFound(f"Looking for checks of {cloud}", answered=pack.why, fix="Name another cloud.", sent=False)
    return found


def _one(cloud: str, check: WasteCheck, pack: WastePack) -> CheckList:
    metrics = [read for read in check.reads if isinstance(read, Metric)]
    cleanup = check.remove if isinstance(check.remove, str) else "plan_cleanup makes the steps"
    detail = CheckDetail(
        check=check.id,
        cloud=cloud,
        title=check.title,
        why=check.why,
        reads=tuple(sorted(check.operations)),
        permissions=tuple(
            sorted({word for read in check.operations for word in pack.permissions(*read.split(".", 1))})
        ),
        metrics=tuple(
            f"{metric.name} over {metric.days:g} d; no series means {metric.absent} ({metric.source})"
            for metric in metrics
        ),
        younger_than_days_is_too_new=round(check.age.total_seconds() / 86400, 3),
        spares=check.spares,
        not_checked=check.unchecked,
        priced_by=check.meter,
        cleanup=cleanup,
        cleanup_permissions=tuple(
            sorted({word for step in check.steps for word in pack.permissions(*step.split(".", 1))})
        ),
        reversal=check.reversal,
        recovery=check.recovery,
    )
    return CheckList(
        headline=f"{check.id}: {check.title}.",
        count=1,
        by_cloud={cloud: 1},
        by_category={check.category: 1},
        permissions=len(detail.permissions),
        filter={"check": check.id},
        detail=detail,
    )


def _last(book: Book) -> Scan | None:
    try:
        return store.load(book.home)
    except CloudError:
        return None


def _applies(cloud: str, check: str, last: Scan | None) -> str:
    """How the check ended in the last scan that ran it."""
    if last is None or check not in last.checks or cloud not in {who.cloud for who in last.who}:
        return ""
    away = sum(gap.check == check and gap.cloud == cloud for gap in last.not_applicable)
    unread = sum(gap.check == check and gap.cloud == cloud and not gap.resources for gap in last.unread)
    places = sum(scope.cloud == cloud for scope in last.scopes)
    if unread:
        return f"could not be read in {unread} of {places} places"
    return f"not in {away} of {places} places" if away else "everywhere"


def _count(words: object) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:  # type: ignore[attr-defined]
        found[word] = found.get(word, 0) + 1
    return found
