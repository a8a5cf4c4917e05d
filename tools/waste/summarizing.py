"""summarize_findings: counts and sums of a saved scan, by any field, over any filter. It calls no cloud."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from clouds.errors import InvalidInput
from clouds.models import Record
from tools.figures import did_you_mean, few
from tools.inert import NAME, one_line
from tools.ledger import Book
from tools.result import Result, capped
from tools.waste import places, store
from tools.waste.grouping import group_id
from tools.waste.records import Finding, Sum
from tools.waste.report.words import amount_words, several
from tools.waste.summing import COSTS, a_year, bound, by, cents, joined, summed

Field_ = Literal["check", "category", "cloud", "account", "location", "kind", "stack", "owner", "billing", "reversal"]
_FIELDS = ("check", "category", "cloud", "account", "location", "kind", "stack", "owner", "billing", "reversal")
_OLD = {"owner": "stack"}
"""Words of earlier versions: who made a resource (CloudFormation, Terraform) is no owner as a tag names one."""
_BESIDE = ("group", "contains")
"""What findings are chosen by besides: the id of a row of a scan, and a part of a name, an id, a reason or a tag."""


class GroupSum(Record):
    """Findings with one value of the field."""

    value: str
    findings: int
    usd_per_month: float | None
    """None where none of them has a price."""
    bound: str = ""
    without_price: int = 0


class Row(Record):
    """One finding."""

    finding: str
    resource: str
    check: str
    where: str
    usd_per_month: float | None
    bound: str = ""
    billing: str = ""


class Summary(Result):
    """Counts and sums of what a filter leaves."""

    scan: str
    complete: bool
    filter: Mapping[str, str]
    count: int
    total_usd_per_month: float
    total_usd_per_year: float
    usd_at_most: float = 0.0
    usd_at_least: float = 0.0
    min_usd_per_month: float | None
    max_usd_per_month: float | None
    without_price: int
    by: str
    groups: tuple[GroupSum, ...]
    groups_showing: str = ""
    showing: str = ""
    rows: tuple[Row, ...] = ()


def summarize_findings(
    book: Book,
    scan: Annotated[str, Field(max_length=80, description="scan id; empty: the newest")] = "",
    group_by: Field_ = "check",
    filters: Annotated[
        dict[str, Annotated[str, Field(max_length=300)]],
        Field(description='e.g. {"location": "eu-west-1"}; keys as group_by, "group" (g-…), "contains"'),
    ] = {},  # noqa: B006 - never changed
    min_usd: Annotated[float, Field(ge=0, le=1e6)] = 0,
    kept: Annotated[bool, Field(description="those kept on purpose instead")] = False,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
) -> Summary:
    """Count, total, least and greatest of a saved scan's findings by any field. Calls no cloud."""
    found = store.load(book.home, scan)
    every = found.suppressed if kept else found.findings
    group_by = _OLD.get(group_by, group_by)  # type: ignore[assignment]
    # What has no price may cost more than any least amount: it stays, as in scan_waste's rows, and is counted.
    chosen = [each for each in every if each.usd_per_month is None or min_usd <= 0 or each.usd_per_month >= min_usd]
    notes: list[str] = []
    said = {**filters, **({"min_usd": f"{min_usd:g}"} if min_usd else {}), **({"kept": "yes"} if kept else {})}
    for name, value in filters.items():
        keep = _filter(name, value)
        if not any(keep(each) for each in every):
            words = sorted({_value(each, name) for each in every}) if name in _FIELDS else []
            known = f"; there are {few(words, 8)}.{did_you_mean(value, words)}" if words else ""
            notes.append(f"no_such_{name}: {value!r}{known}")
        chosen = [each for each in chosen if keep(each)]
    usd = [each.usd_per_month for each in chosen if each.usd_per_month is not None and each.billing in COSTS]
    whole = summed(chosen)
    sums = by(chosen, lambda each: _value(each, group_by))
    ranked = list(sums.items())
    if group_by == "stack":
        notes.append("A stack is what made a resource (CloudFormation, Terraform and the like); an owner that a tag "
                     'names is found with filters={"contains": "Owner=…"}.')  # fmt: skip
    shown_groups, groups_showing = capped([_group(word, [each]) for word, each in ranked], limit)
    if rest := [each for _, each in ranked[limit:]]:
        shown_groups += (_group(f"{len(rest):,} more", rest),)
    shown, showing = capped(chosen, limit)
    total = cents(sum(usd))
    amount = amount_words(total, whole.at_most, whole.at_least)
    accounts = places.by_account(found)
    unpriced = sum(each.usd_per_month is None for each in chosen)
    if not found.complete:
        notes.append("This scan is not complete: something could not be read.")
    return Summary(
        headline=f"{several(len(chosen), 'finding')}, {amount}"
        + (f", {unpriced:,} without a price" if unpriced else "")
        + (f" ({', '.join(f'{key} {value}' for key, value in said.items())})" if said else "")
        + ".",
        scan=found.id,
        complete=found.complete,
        filter=said,
        count=len(chosen),
        total_usd_per_month=total,
        total_usd_per_year=a_year(chosen),
        usd_at_most=whole.at_most,
        usd_at_least=whole.at_least,
        min_usd_per_month=min(usd, default=None),
        max_usd_per_month=max(usd, default=None),
        without_price=unpriced,
        by=group_by,
        groups=shown_groups,
        groups_showing=groups_showing,
        showing=showing,
        rows=tuple(_row(each, accounts) for each in shown),
        notes=tuple(notes),
        next=f'explain_finding("{chosen[0].id}", scan="{found.id}").' if chosen else "",
    )


def _group(value: str, sums: Sequence[Sum]) -> GroupSum:
    one = joined(sums)
    usd = None if one.unpriced == one.findings else one.usd_per_month
    return GroupSum(value=value, findings=one.findings, usd_per_month=usd, bound=bound(one), without_price=one.unpriced)


def _filter(name: str, value: str) -> Callable[[Finding], bool]:
    lower = value.lower()
    if name == "contains":
        return lambda each: any(lower in text.lower() for text in _texts(each))
    if name == "group":
        return lambda each: group_id(each) == lower
    if name not in _FIELDS:
        allowed = (*_FIELDS, *_BESIDE)
        fix = f"Use {', '.join(allowed)}."
        raise InvalidInput(
            "filters", f"{name[:40]!r} is no field.{did_you_mean(name, allowed)}", fix=fix, allowed=allowed
        )
    return lambda each: lower in {_value(each, name).lower(), str(getattr(each, _attribute(name))).lower() or "none"}


def _texts(finding: Finding) -> Iterable[str]:
    yield from (finding.name, finding.resource, finding.reason, finding.owner)
    yield from (f"{key}={value}" for key, value in finding.tags.items())


def _value(finding: Finding, name: str) -> str:
    return str(getattr(finding, _attribute(name))) or ("in no stack" if _attribute(name) == "owner" else "none")


def _attribute(name: str) -> str:
    """The field of a finding that a word means."""
    return "owner" if name == "stack" else name


def _row(finding: Finding, accounts: frozenset[str]) -> Row:
    return Row(
        finding=finding.id,
        resource=one_line(finding.name, NAME),
        check=finding.check,
        where=places.where(finding, accounts),
        usd_per_month=finding.usd_per_month,
        bound=bound(summed((finding,))),
        billing="" if finding.billing == "billed" else finding.billing,
    )
