"""scan_waste: what costs and serves nothing, in every cloud and place that the credentials reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from clouds.base import Cloud, Missing, Progress
from clouds.errors import CloudError, InvalidInput
from clouds.models import Record
from tools.context import Clouds
from tools.ledger import Book
from tools.result import Result, table
from tools.settings import Settings
from tools.waste import bill as billing
from tools.waste import exceptions, grouping, places, report, store
from tools.waste.records import Gap, Scan, Sum
from tools.waste.report.words import coverage_words, headline, who_words
from tools.waste.scan import Wanted, scan

Words = tuple[Annotated[str, Field(max_length=80)], ...]


class CheckSum(Record):
    """One check's findings."""

    check: str
    resources: int
    usd_per_month: float | None
    """None where none of them has a price."""
    without_price: int = 0


class FindingRow(Record):
    """One finding, or several of one check in one place."""

    finding: str
    resource: str
    where: str
    why: str
    usd_per_month: float | None
    billing: str = ""


class NotRead(Record):
    """What could not be looked at."""

    where: str
    what: str
    reason: str
    resources: int = 0


class ScanResult(Result):
    """One scan with all its sums; the whole is in the files."""

    who: tuple[str, ...]
    scan: str
    complete: bool
    usd_per_month: float
    usd_per_year: float
    findings: int
    without_price: int
    kept: int
    places: Mapping[str, int]
    coverage: Mapping[str, int]
    by_check: tuple[CheckSum, ...]
    by_place: Mapping[str, float]
    showing: str = ""
    rows: tuple[FindingRow, ...] = ()
    not_read: tuple[NotRead, ...] = ()
    filter: Mapping[str, str] = {}
    prices: str
    excludes: str
    scan_cost: str
    bill: Mapping[str, float] = {}
    files: Mapping[str, str]

    def body(self) -> str:
        """Who first, then the sums by check, then the dearest findings."""
        parts = ["; ".join(self.who)]
        if self.filter:
            parts.append("Filter: " + " · ".join(f"{word} {value}" for word, value in self.filter.items()))
        if self.by_check:
            parts.append(table(self.by_check))
        if self.rows:
            parts.append((f"{self.showing}:\n\n" if self.showing else "") + table(self.rows))
        if self.not_read:
            parts.append("Not read:\n\n" + table(self.not_read))
        counts = " · ".join(f"{word.replace('_', ' ')} {count:,}" for word, count in self.coverage.items() if count)
        places = " · ".join(f"{word} {count:,}" for word, count in self.places.items()) or "none"
        parts.append(f"Places: {places}. {counts or 'No check ran'}.")
        if self.bill:
            parts.append("On the bill and looked at by no check: "
                         + ", ".join(f"{word} ${usd:,.2f}" for word, usd in self.bill.items()) + ".")  # fmt: skip
        without = f"; without {self.excludes}" if self.excludes != "nothing" else ""
        parts.append(f"Prices: {self.prices}{without}. The scan: {self.scan_cost}.")
        parts.append("Report: " + self.files.get("html", "") + " (and " + ", ".join(self.files) + ")")
        return "\n\n".join(part for part in parts if part)


def scan_waste(
    clouds: Clouds,
    settings: Settings,
    book: Book,
    progress: Progress,
    cloud: Annotated[Words, Field(description="which clouds; none: all")] = (),
    scopes: Annotated[Words, Field(description="regions, projects or subscriptions; none: all")] = (),
    checks: Annotated[Words, Field(description="ids, or words that ids begin with")] = (),
    category: Literal["", "ai", "classic", "own"] = "",
    min_usd: Annotated[float, Field(ge=0, le=1e6, description="least $ a month")] = 0,
    bill: Annotated[bool, Field(description="also what the bill shows and no check covers; AWS: $0.01")] = False,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
) -> ScanResult:
    """Find and price what nobody uses, reading only. Sums here; everything in the files that it names.

    complete=false: something could not be read, so that nothing found is not nothing there.
    """
    named = tuple(cloud) or tuple(name for name in clouds.names if _has_checks(clouds, name))
    if not named:
        raise InvalidInput("cloud", "none of the clouds on offer has waste checks", fix="Set up AWS and name it.")
    without = [name for name in named if not _has_checks(clouds, name)]
    if without:
        having = tuple(name for name in clouds.names if _has_checks(clouds, name))
        raise InvalidInput("cloud", f"{without[0]} has no waste checks", fix="Leave it out.", allowed=having)
    now = book.clock()
    keeps = exceptions.load(settings.project, known_ids(clouds))
    found = scan(
        {name: _connected(clouds, name) for name in named},
        Wanted(tuple(scopes), tuple(checks), category, min_usd),
        keeps,
        now,
        progress,
        store.new_id(named, now),
    )
    unused = exceptions.unused(keeps, (*found.findings, *found.suppressed), now.date())
    found = replace(found, exceptions=(*unused, *found.exceptions))
    if bill:
        progress.report(f"Asking the bill: {billing.cost_words(clouds, named)}")
        found = billing.added(found, clouds, named, now)
    files = report.write(book.home, found)
    return result(found, {word: str(path) for word, path in files.items()}, limit)


def result(found: Scan, files: Mapping[str, str], limit: int) -> ScanResult:
    """What a call answers for a scan."""
    totals, cover, pricing, effort = found.totals, found.coverage, found.pricing, found.effort
    groups = grouping.groups(found.findings)
    accounts = places.by_account(found)
    rows = tuple(_row(group, accounts) for group in groups[:limit])
    shown = sum(group.count for group in groups[:limit])
    ended = [each.ended for each in found.scopes]
    gaps = (*found.unread, *found.unresolved)
    notes = [coverage_words(found)] if totals.findings else []
    if totals.unpriced:
        several = "findings have no price and are" if totals.unpriced > 1 else "finding has no price and is"
        notes.append(f"{totals.unpriced:,} {several} not in the total.")
    if totals.suppressed:
        notes.append(
            f"{totals.suppressed:,} kept on purpose (${totals.suppressed_usd_per_month:,.2f} a month), not counted."
        )
    if found.below_minimum:
        usd = f"${found.below_minimum_usd_per_month:,.2f}"
        several = (
            "findings below the least amount were" if found.below_minimum > 1 else "finding below the least amount was"
        )
        notes.append(f"{found.below_minimum:,} {several} left out ({usd} a month).")
    notes += [f"Exception: {word}." for word in found.exceptions[:5]]
    if len(gaps) > 5:
        notes.append(f"{len(gaps) - 5:,} more that could not be read are in the files.")
    if found.bill is not None and found.bill.problem:
        notes.append(f"The bill was not read: {found.bill.problem}.")
    dates = pricing.oldest if pricing.oldest == pricing.newest else f"{pricing.oldest} to {pricing.newest}"
    first = found.findings[0].id if found.findings else ""
    going = next((each.id for each in found.findings if not each.stays), "")
    plan = f', or plan_cleanup(scan="{found.id}", findings=["{going}", …])' if going else ""
    cost = f", ${effort.usd:.5f}".rstrip("0").rstrip(".") if effort.usd else ", at no cost"
    return ScanResult(
        headline=headline(found),
        who=tuple(who_words(found)) or ("No account was looked at.",),
        scan=found.id,
        complete=found.complete,
        usd_per_month=totals.usd_per_month,
        usd_per_year=totals.usd_per_year,
        findings=totals.findings,
        without_price=totals.unpriced,
        kept=totals.suppressed,
        places={word: ended.count(word) for word in ("done", "skipped", "denied") if ended.count(word)},
        coverage={
            "checks": cover.checks, "resources": cover.resources, "pairs_judged": cover.pairs_judged,
            "pairs_not_applicable": cover.pairs_not_applicable, "pairs_unread": cover.pairs_unread,
            "too_new": cover.too_new, "unresolved": cover.unresolved, "unread": cover.unread, "managed": cover.managed,
        },
        by_check=_by_check(found, limit),
        by_place={word: each.usd_per_month for word, each in list(totals.by_scope.items())[:limit]},
        showing=f"{shown:,} of {totals.findings:,} findings" if shown < totals.findings else "",
        rows=rows,
        not_read=tuple(_not_read(gap) for gap in gaps[:5]),
        filter=found.filters,
        prices=f"{pricing.basis} of {dates}" if dates else f"{pricing.basis}, none was needed",
        excludes=", ".join(pricing.excludes) or "nothing",
        scan_cost=f"{effort.requests:,} reads, each with all its pages, in {effort.seconds:.1f} s{cost}",
        bill={line.service: line.usd for line in found.bill.not_covered[:limit]} if found.bill else {},
        files=files,
        notes=tuple(notes),
        next=f'explain_finding("{first}"){plan}.' if first else "",
    )  # fmt: skip


def _by_check(found: Scan, limit: int) -> tuple[CheckSum, ...]:
    ranked = list(found.totals.by_check.items())
    rows = [_sum(check, [each]) for check, each in ranked[:limit]]
    if rest := [each for _, each in ranked[limit:]]:
        rows.append(_sum(f"{len(rest)} more checks", rest))
    return tuple(rows)


def _sum(word: str, sums: Sequence[Sum]) -> CheckSum:
    count, unpriced = sum(each.findings for each in sums), sum(each.unpriced for each in sums)
    usd = None if count == unpriced else round(sum(each.usd_per_month for each in sums), 2)
    return CheckSum(check=word, resources=count, usd_per_month=usd, without_price=unpriced)


def _row(group: grouping.Group, accounts: frozenset[str]) -> FindingRow:
    finding = group.first
    many = group.count > 1
    return FindingRow(
        finding=finding.id,
        resource=f"{group.count:,} x {finding.kind}, e.g. {finding.name}" if many else finding.name,
        where=places.where(finding, accounts),
        why=f"{finding.check}: {finding.title.lower()}" if many else f"{finding.check}: {finding.reason}"[:160],
        usd_per_month=group.usd_per_month,
        billing="" if finding.billing == "billed" else finding.billing,
    )


def _not_read(gap: Gap) -> NotRead:
    what = " ".join(part for part in (gap.check, gap.call) if part) or "everything"
    reason = gap.reason[: 200 if gap.check else 600]  # a cloud that answered nothing says how to reach it
    return NotRead(where=f"{gap.cloud} {gap.location}".strip(), what=what, reason=reason, resources=gap.resources)


def _has_checks(clouds: Clouds, name: str) -> bool:
    try:
        return not isinstance(clouds.get(name).waste, Missing)
    except CloudError:
        return True  # it could not be connected: that is something to report, not to leave out


def _connected(clouds: Clouds, name: str) -> Cloud | CloudError:
    try:
        return clouds.get(name)
    except InvalidInput:
        raise
    except CloudError as error:
        return error


def known_ids(clouds: Clouds) -> frozenset[str]:
    """Every check of every cloud; empty when one of them is not known, so that no exception is refused for it."""
    found: set[str] = set()
    for name in clouds.names:
        cloud = _connected(clouds, name)
        if isinstance(cloud, CloudError):
            return frozenset()
        if not isinstance(cloud.waste, Missing):
            found |= {check.id for check in cloud.waste.checks}
    return frozenset(found)
