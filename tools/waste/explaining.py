"""explain_finding: why this is waste, by what evidence, what was not checked, and what removing it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from clouds.base import Missing
from clouds.errors import CloudError
from clouds.models import Record
from clouds.models.waste import WasteCheck
from tools.context import Clouds
from tools.figures import show
from tools.inert import NAME, one_line
from tools.ledger import Book
from tools.result import Result
from tools.waste import store
from tools.waste.grouping import Group
from tools.waste.naming import find, group
from tools.waste.records import Finding
from tools.waste.report.words import amount_words, money


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
    group: Mapping[str, float] = {}
    """Of a row that holds several findings: how many, all of them together, the least and the greatest."""
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
    finding: Annotated[str, Field(max_length=400, description="its id, a row's g-… id, or the resource's id or name")],
    scan: Annotated[str, Field(max_length=80, description="scan id; empty: the newest")] = "",
) -> Explained:
    """Why a finding is waste: evidence, what was not checked, how it could be wrong, what removing it does."""
    found = store.load(book.home, scan)
    many = group(found, finding)
    one = many.first if many else find(found, finding, book.home)
    check = _check(clouds, one)
    lines = tuple(
        PriceLine(
            meter=line.key, quantity=line.quantity, unit=line.unit, usd_per_unit=line.usd_per_unit,
            usd_per_month=line.usd_per_month, as_of=line.as_of, source=line.source,
        )
        for line in one.meters
    )  # fmt: skip
    kept = one.suppressed
    return Explained(
        headline=f"{_group_words(many)}{_words(one)}.",
        finding=one.id,
        group=_group_figures(many) if many else {},
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
        removing=f"not by plan_cleanup: {one.stays_because}" if one.stays else "plan_cleanup shows the steps",
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
        next=_next_of(many, found.id) if many else next_step(one, found.id),
    )


def _words(one: Finding) -> str:
    bound = "" if one.bound == "exact" or not one.usd_per_month else f" {one.bound}"
    cost = "of unknown cost" if one.usd_per_month is None else f"{money(one.usd_per_month)} a month{bound}"
    return f"{one_line(one.name, NAME)} ({one.kind}, {one.location}): {one_line(one.reason)}; {cost}"


def _group_words(many: Group | None) -> str:
    """How many findings a row holds and what they cost together, before the dearest of them."""
    if many is None:
        return ""
    sums, span = many.sum, many.span
    usd = amount_words(sums.usd_per_month, sums.at_most, sums.at_least) if span else "of unknown cost"
    each = f", {' to '.join(dict.fromkeys(map(money, span)))} each" if span else ""
    unpriced = f", {sums.unpriced:,} of them without a price" if sums.unpriced and span else ""
    first = many.first
    return (
        f"{many.id} is {many.count:,} findings of {first.check} in {first.cloud} {first.location}: "
        f"{usd} together{each}{unpriced}. The dearest: "
    )


def _group_figures(many: Group) -> Mapping[str, float]:
    found: dict[str, float] = {"findings": many.count, "without_price": many.sum.unpriced}
    if many.span:
        least, greatest = many.span
        found |= {"usd_per_month": many.sum.usd_per_month, "least_usd": least, "greatest_usd": greatest}
    return found


def _next_of(many: Group, scan: str) -> str:
    plan = f'plan_cleanup(scan="{scan}", findings=["{many.id}"]) plans all that can go, ' if many.goes else ""
    return f'{plan}summarize_findings(scan="{scan}", filters={{"group": "{many.id}"}}) lists them.'


def next_step(finding: Finding, scan: str) -> str:
    """The one call that ends it: a cleanup, or the deletion of a deployment of our own; "" where there is none."""
    if not finding.stays:
        return f'plan_cleanup(scan="{scan}", findings=["{finding.id}"]).'
    return f'delete_endpoint("{finding.our_ref}").' if finding.our_ref else ""


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
