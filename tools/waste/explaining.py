"""explain_finding: why this is waste, by what evidence, what was not checked, and what removing it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from clouds.base import Missing
from clouds.errors import CloudError, InvalidInput, NotFound
from clouds.models import Record
from clouds.models.waste import WasteCheck
from tools.context import Clouds
from tools.figures import show
from tools.ledger import Book
from tools.result import Result
from tools.waste import store
from tools.waste.records import Finding, Scan
from tools.waste.report.words import money


class PriceLine(Record):
    """One line of a price."""

    meter: str
    quantity: float
    unit: str
    usd_per_unit: float | None
    usd_per_month: float | None
    as_of: str = ""
    source: str = ""


class Explained(Result):
    """One finding with everything that is known about it."""

    finding: str
    scan: str
    check: str
    resource: str
    where: str
    why_waste: str
    evidence: Mapping[str, str]
    not_checked: tuple[str, ...]
    wrong_if: tuple[str, ...]
    usd_per_month: float | None
    price_is: str
    price: tuple[PriceLine, ...] = ()
    holds: tuple[str, ...] = ()
    also_found_by: tuple[str, ...] = ()
    owner: str = ""
    tags: Mapping[str, str] = {}
    removing: str
    reversal: str
    recovery: str
    kept: str = ""


def explain_finding(
    clouds: Clouds,
    book: Book,
    finding: Annotated[str, Field(max_length=400, description="its id, or the resource's full id")],
    scan: Annotated[str, Field(max_length=80, description="scan id; empty: the newest")] = "",
) -> Explained:
    """Why a finding is waste: evidence, what was not checked, how it could be wrong, what removing it does."""
    found = store.load(book.home, scan)
    one = find(found, finding, book.home)
    check = _check(clouds, one)
    lines = tuple(
        PriceLine(
            meter=line.key, quantity=line.quantity, unit=line.unit, usd_per_unit=line.usd_per_unit,
            usd_per_month=line.usd_per_month, as_of=line.as_of, source=line.source[:160],
        )
        for line in one.meters
    )  # fmt: skip
    cost = "of unknown cost" if one.usd_per_month is None else f"{money(one.usd_per_month)} a month"
    kept = one.suppressed
    return Explained(
        headline=f"{one.name} ({one.kind}, {one.location}): {one.reason}; {cost}.",
        finding=one.id,
        scan=found.id,
        check=one.check,
        resource=one.resource,
        where=f"{one.cloud} {one.account} {one.location}",
        why_waste=check.why if check else one.title,
        evidence={
            key: show("", value) for key, value in (*_age(one), *one.evidence.items()) if value not in ("", None)
        },
        not_checked=check.unchecked if check else (),
        wrong_if=tuple(f"it is {word}" if " " not in word else word for word in check.spares) if check else (),
        usd_per_month=one.usd_per_month,
        price_is=_price_words(one, check),
        price=lines,
        holds=one.holds[:10],
        also_found_by=one.also,
        owner=one.owner,
        tags=one.tags,
        removing=f"not by modelrig: {one.stays}" if one.stays else "plan_cleanup shows the steps",
        reversal=one.reversal,
        recovery=check.recovery if check else "",
        kept=f"{kept.reason} ({kept.by}{f', until {kept.expires}' if kept.expires else ''})" if kept else "",
        notes=(
            *one.notes,
            *((f"It belongs to {one.owner}: removing it outside of that makes a drift.",) if one.owner else ()),
            *(
                (f"{len(one.holds) - 10} more resources that its price holds are in the files.",)
                if len(one.holds) > 10
                else ()
            ),
        ),
        next=next_step(one, found.id),
    )


def next_step(finding: Finding, scan: str) -> str:
    """The one call that ends it: a cleanup, or the deletion of a deployment of our own; "" where there is none."""
    if not finding.stays:
        return f'plan_cleanup(scan="{scan}", findings=["{finding.id}"]).'
    ref = finding.evidence.get("endpoint") if finding.category == "own" else None
    return f'delete_endpoint("{ref}").' if ref else ""


def find(scan: Scan, word: str, home: Path) -> Finding:
    """One finding by its id or by the full id of its resource, whatever its case. Raises NotFound or InvalidInput.

    Where another scan that is kept in `home` holds it, the error names that scan.
    """
    if not word.strip():
        raise InvalidInput("finding", "names nothing", fix="summarize_findings lists what was found, with its ids.")
    every: Sequence[Finding] = (*scan.findings, *scan.suppressed)
    lower = word.lower()
    found = [each for each in every if lower in (each.id, each.resource.lower())]
    if not found:
        found = [each for each in every if each.name == word]
        if len(found) > 1:
            raise InvalidInput(
                "finding", f"{word[:60]!r} is the name of {len(found)} resources",
                fix=f"Use one of {', '.join(each.id for each in found[:5])}.",
            )  # fmt: skip
    if not found:
        elsewhere = store.holding(home, word, scan.id)
        raise NotFound(
            f"Looking for finding {word[:80]!r} in scan {scan.id}", answered="there is none",
            fix=f'It is in another one: give scan="{elsewhere}".' if elsewhere
            else "summarize_findings lists what was found; what is in use is in no list.",
            sent=False,
        )  # fmt: skip
    return found[0]


def _check(clouds: Clouds, finding: Finding) -> WasteCheck | None:
    try:
        pack = clouds.get(finding.cloud).waste
    except CloudError:
        return None
    return None if isinstance(pack, Missing) else next((each for each in pack.checks if each.id == finding.check), None)


def _age(finding: Finding) -> tuple[tuple[str, str], ...]:
    return (("age", f"{finding.age_days:.1f} days"),) if finding.age_days is not None else ()


def _price_words(finding: Finding, check: WasteCheck | None) -> str:
    counted = check.meter if check is not None and not finding.meters else ""
    return {
        "billed": {"exact": "what it costs", "at most": "an upper bound", "at least": "a lower bound"}[finding.bound],
        "saving": "what would be saved",
        "free": "nothing: it costs nothing by nature",
        "prepaid": "nothing to save: it is paid already",
        "unpriced": f"unknown: {counted}" if counted else "unknown: no rate is known for it there",
        "booked elsewhere": f"booked with {finding.booked_with}, which holds it",
    }[finding.billing]
