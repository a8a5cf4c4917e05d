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
from tools.figures import did_you_mean, shortened
from tools.inert import NAME, one_line
from tools.ledger import Book
from tools.result import Result, table
from tools.settings import Settings
from tools.waste import bill as billing
from tools.waste import exceptions, grouping, places, report, store, telling
from tools.waste.records import Scan, Sum
from tools.waste.report.words import headline, who_words
from tools.waste.scan import Wanted, scan
from tools.waste.summing import bound, joined
from tools.waste.unread import Same, by_reason

Words = tuple[Annotated[str, Field(max_length=80)], ...]
READS = 5
"""Reasons why something was not read that an answer shows."""


class CheckSum(Record):
    """One check's findings."""

    check: str
    resources: int
    usd_per_month: float | None
    """None where none of them has a price."""
    bound: str = ""
    without_price: int = 0


class FindingRow(Record):
    """One finding, or several of one check in one place, whose id (`g-…`) means all of them.

    `bound`: "at most" or "at least" where the amount is no exact one.
    """

    finding: str
    resource: str
    where: str
    why: str
    usd_per_month: float | None
    bound: str = ""
    billing: str = ""


class NotRead(Record):
    """What could not be looked at for one reason."""

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
    usd_at_most: float = 0.0
    usd_at_least: float = 0.0
    """How much of the amount is an upper, and how much a lower bound."""
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

    @property
    def is_error(self) -> bool:
        """True where nothing at all could be looked at: not signed in, no package, everything denied."""
        return not self.complete and not self.coverage.get("pairs_judged")

    def body(self) -> str:
        """Who first, then the sums by check, then the dearest findings."""
        parts = ["; ".join(self.who)]
        if self.filter:
            parts.append("Filter: " + " · ".join(f"{word} {value}" for word, value in self.filter.items()))
        if self.by_check:
            parts.append(table(self.by_check))
        if len(self.by_place) > 1:
            parts.append("By place: " + " · ".join(f"{word} ${usd:,.2f}" for word, usd in self.by_place.items()) + ".")
        if self.rows:
            parts.append((f"{self.showing}:\n\n" if self.showing else "") + table(self.rows))
        if self.not_read:
            parts.append("Not read:\n\n" + table(self.not_read))
        places = " · ".join(f"{word} {count:,}" for word, count in self.places.items()) or "none"
        parts.append(f"Places: {places}.{'' if self.coverage.get('pairs_judged') else ' No check ran.'}")
        if self.bill:
            parts.append("On the bill and looked at by no check: "
                         + ", ".join(f"{word} ${usd:,.2f}" for word, usd in self.bill.items()) + ".")  # fmt: skip
        without = f"; without {self.excludes}" if self.excludes != "nothing" else ""
        parts.append(f"Prices: {self.prices}{without}. The scan: {self.scan_cost}.")
        others = ", ".join(word for word in self.files if word != "html")
        parts.append(f"Report: {self.files.get('html', '')} (beside it {others})")
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
    min_usd: Annotated[float, Field(ge=0, le=1e6, description="least $ a month of a row; sums hold all")] = 0,
    bill: Annotated[bool, Field(description="also what the bill shows and no check covers; AWS: $0.01")] = False,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
) -> ScanResult:
    """Find and price what nobody uses, reading only. Sums here; everything in the files that it names.

    complete=false: something could not be read, so that nothing found is not nothing there.
    """
    named = _named(clouds, cloud)
    now = book.clock()
    keeps = exceptions.load(settings.project, known_ids(clouds))
    found = scan(
        {name: _connected(clouds, name) for name in named},
        Wanted(tuple(scopes), tuple(checks), category),
        keeps,
        now,
        progress,
        store.new_id(named, now),
    )
    unused = exceptions.unused(keeps, found, now.date(), _ids(clouds)[0]) if keeps else ()
    found = replace(found, exceptions=(*unused, *found.exceptions))
    if bill:
        progress.report(f"Asking the bill: {billing.cost_words(clouds, named)}")
        found = billing.added(found, clouds, named, now)
    files = report.write(book.home, found)
    return result(found, {word: str(path) for word, path in files.items()}, limit, min_usd)


def _named(clouds: Clouds, cloud: Words) -> tuple[str, ...]:
    """The clouds to be looked at. Raises InvalidInput, with those that could be, for one that cannot."""
    having = tuple(name for name in clouds.names if _has_checks(clouds, name))
    named = tuple(dict.fromkeys(name.lower() for name in cloud)) or having
    if not named:
        raise InvalidInput("cloud", "none of the clouds on offer has waste checks", fix="Set up AWS and name it.")
    for name in named:
        if name not in having:
            wrong = "has no waste checks" if name in clouds.names else "is not on offer"
            hint = did_you_mean(name, having)
            raise InvalidInput("cloud", f"{name[:40]} {wrong}.{hint}", fix="Leave it out.", allowed=having)
    return named


def result(found: Scan, files: Mapping[str, str], limit: int, min_usd: float = 0) -> ScanResult:
    """What a call answers for a scan. `min_usd` leaves rows out of the answer, and out of no sum and no file."""
    totals, cover, pricing, effort = found.totals, found.coverage, found.pricing, found.effort
    groups = grouping.groups(found.findings)
    hidden = [each for each in groups if each.usd_per_month is not None and each.usd_per_month < min_usd]
    chosen = [each for each in groups if each.usd_per_month is None or each.usd_per_month >= min_usd]
    accounts = places.by_account(found)
    ended = [each.ended for each in found.scopes]
    reasons = by_reason((*found.unread, *found.unresolved))
    dates = pricing.oldest if pricing.oldest == pricing.newest else f"{pricing.oldest} to {pricing.newest}"
    cost = f", ${effort.usd:.5f}".rstrip("0").rstrip(".") if effort.usd else ", at no cost"
    return ScanResult(
        headline=headline(found),
        who=tuple(who_words(found)) or ("No account was looked at.",),
        scan=found.id,
        complete=found.complete,
        usd_per_month=totals.usd_per_month,
        usd_per_year=totals.usd_per_year,
        usd_at_most=totals.usd_per_month_at_most,
        usd_at_least=totals.usd_per_month_at_least,
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
        by_place=_by_place(found, limit),
        showing=telling.showing(groups, chosen[:limit]),
        rows=tuple(_row(group, accounts) for group in chosen[:limit]),
        not_read=tuple(_not_read(each) for each in reasons[:READS]),
        filter={**found.filters, **({"min_usd": f"{min_usd:g}"} if min_usd else {})},
        prices=f"{pricing.basis} of {dates}" if dates else f"{pricing.basis}, none was needed",
        excludes=", ".join(pricing.excludes) or "nothing",
        scan_cost=f"{effort.requests:,} reads, each with all its pages, in {effort.seconds:.1f} s{cost}",
        bill={line.service: line.usd for line in found.bill.not_covered[:limit]} if found.bill else {},
        files=files,
        notes=telling.notes(found, hidden, min_usd, len(reasons), READS, limit),
        next=telling.next_step(found, groups, chosen),
    )  # fmt: skip


def _by_place(found: Scan, limit: int) -> Mapping[str, float]:
    ranked = [(word, each.usd_per_month) for word, each in found.totals.by_scope.items()]
    more = {f"{len(ranked) - limit:,} more": round(sum(usd for _, usd in ranked[limit:]), 2)} if ranked[limit:] else {}
    return {**dict(ranked[:limit]), **more}


def _by_check(found: Scan, limit: int) -> tuple[CheckSum, ...]:
    ranked = list(found.totals.by_check.items())
    rows = [_sum(check, [each]) for check, each in ranked[:limit]]
    if rest := [each for _, each in ranked[limit:]]:
        rows.append(_sum(f"{len(rest)} more checks", rest))
    return tuple(rows)


def _sum(word: str, sums: Sequence[Sum]) -> CheckSum:
    one = joined(sums)
    usd = None if one.findings == one.unpriced else one.usd_per_month
    return CheckSum(check=word, resources=one.findings, usd_per_month=usd, bound=bound(one), without_price=one.unpriced)


def _row(group: grouping.Group, accounts: frozenset[str]) -> FindingRow:
    finding = group.first
    many, name = group.count > 1, one_line(finding.name, NAME)
    return FindingRow(
        finding=group.id,
        resource=f"{group.count:,} x {finding.kind}, e.g. {name}" if many else name,
        where=places.where(finding, accounts),
        why=shortened(f"{finding.check}: {finding.title.lower() if many else finding.reason}", 160),
        usd_per_month=group.usd_per_month,
        bound=bound(group.sum),
        billing="" if finding.billing == "billed" else finding.billing,
    )


def _not_read(same: Same) -> NotRead:
    # A cloud that answered nothing says how to reach it.
    reason = shortened(same.reason, 200 if same.checks else 600)
    return NotRead(where=same.where, what=same.what, reason=reason, resources=same.resources)


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
    found, whole = _ids(clouds)
    return found if whole else frozenset()


def _ids(clouds: Clouds) -> tuple[frozenset[str], bool]:
    """The checks of the clouds that could be loaded, and whether those are all of them."""
    loaded = [_connected(clouds, name) for name in clouds.names]
    packs = [cloud.waste for cloud in loaded if isinstance(cloud, Cloud)]
    ids = {check.id for pack in packs if not isinstance(pack, Missing) for check in pack.checks}
    return frozenset(ids), len(packs) == len(loaded)
