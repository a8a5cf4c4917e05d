"""The sentences of a report: one wording for the chat, the page and the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from tools.figures import shortened
from tools.waste.records import Finding, Scan, Totals
from tools.waste.unread import by_reason


class Costing(Protocol):
    """What costs, and how sure that is."""

    @property
    def usd_per_month(self) -> float | None:
        """None is unknown."""

    @property
    def bound(self) -> str:
        """`exact`, `at most` or `at least`."""


def money(usd: float) -> str:
    """US dollars to the cent."""
    return f"-${-usd:,.2f}" if usd < 0 else f"${usd:,.2f}"


def headline(scan: Scan) -> str:
    """The first line: what is wasted, or that nothing was found, and how much was looked at."""
    totals = scan.totals
    only = filter_words(scan, 120)
    only = f" ({only})" if only else ""
    if not totals.findings:
        if not scan.coverage.pairs_judged:
            why = by_reason((*scan.unread, *scan.unresolved))[:2]
            words = "; ".join(
                shortened(f"{each.cloud}: {each.reason}".removeprefix(": "), 160).rstrip(".") for each in why
            )
            return f"Nothing was looked at{only}, so nothing is known: {f'{words}.' if words else coverage_words(scan)}"
        start = "No waste found" if scan.complete else "No waste found in what could be looked at"
        return f"{start}{only}: {coverage_words(scan)}"
    about = f" in {found_words(totals)}{only}"
    total, at_most, at_least = totals.usd_per_month, totals.usd_per_month_at_most, totals.usd_per_month_at_least
    cost = f"{amount_words(total, at_most, at_least)} ({money(totals.usd_per_year)} a year)"
    if not totals.priced:
        cost = "No price is known" if totals.unpriced else "Nothing to pay"
    ran, asked = len(scan.checks), len(scan.checks) + len(scan.not_run)
    looked = (
        "the one check" if asked == 1 else f"all {ran:,} checks" if ran == asked else f"{ran:,} of {asked:,} checks"
    )
    tail = f"; {looked} looked" if scan.complete else "; NOT everything could be looked at"
    return f"{cost}{about}{tail}."


def found_words(totals: Totals) -> str:
    """What was found, counted apart: "20 resources that nothing uses, 3 in use that could cost less and 1 priced …"."""
    unused, elsewhere = totals.findings - totals.saving - totals.booked_elsewhere, totals.booked_elsewhere
    counts = [
        (unused, "that nothing uses"),
        (totals.saving, "in use that could cost less"),
        (elsewhere, f"priced with what holds {'it' if elsewhere == 1 else 'them'}"),
    ]
    words = [f"{count:,} {word}" for count, word in counts if count]
    first = next(count for count, _ in counts if count)
    words[0] = words[0].replace(" ", f" resource{'' if first == 1 else 's'} ", 1)
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def bound_words(usd: float, at_most: float, at_least: float) -> str:
    """How much of an amount is a bound: "of it $9.00 at most and $1.00 at least", or "at most" where all of it is."""
    for part, word in ((at_most, "at most"), (at_least, "at least")):
        if part and part == usd:
            return word
    parts = [f"{money(part)} {word}" for part, word in ((at_most, "at most"), (at_least, "at least")) if part]
    return f"of it {' and '.join(parts)}" if parts else ""


def plan_words(findings: Iterable[Costing]) -> str:
    """What a plan saves, with its bound: "$10.00 a month (of it $9.00 at most)", without what has no price."""
    each = tuple(findings)
    usd, at_most, at_least = (
        round(sum(one.usd_per_month or 0.0 for one in each if bound in ("", one.bound)), 2)
        for bound in ("", "at most", "at least")
    )
    words = bound_words(usd, at_most, at_least)
    return f"{money(usd)} a month{f' ({words})' if words.startswith('of it') else f' {words}'}".rstrip()


def amount_words(usd: float, at_most: float, at_least: float) -> str:
    """An amount with its bound: "$9.00 a month at most", "$10.00 a month, of it $9.00 at most"."""
    words = bound_words(usd, at_most, at_least)
    return f"{money(usd)} a month{',' if words.startswith('of it') else ''} {words}".rstrip()


def filter_words(scan: Scan, limit: int = 1_000) -> str:
    """What a scan was narrowed to: "category ai, at least $500 a month"; empty where it looked at everything."""
    parts = [f"{key} {value}" for key, value in scan.filters.items() if key != "min_usd"]
    if least := scan.filters.get("min_usd"):
        parts.append(f"at least ${least} a month")
    words = ", ".join(parts)
    return words if len(words) <= limit else f"{words[: limit - 1].rstrip()}…"


def coverage_words(scan: Scan) -> str:
    """How many checks ran where, and how many pairs of check and place were looked at, did not apply, and failed."""
    cover = scan.coverage
    if not cover.pairs_attempted:
        return "no check ran."
    parts = [f"{cover.pairs_judged:,} of {cover.pairs_attempted:,} pairs of check and place were judged"]
    if cover.pairs_not_applicable:
        parts.append(f"{cover.pairs_not_applicable:,} do{'es' if cover.pairs_not_applicable == 1 else ''} not apply")
    failed = f"{cover.pairs_unread:,} could not be read"
    parts.append(failed if cover.pairs_unread else "none failed")
    words = f"{_ran(scan)}: {', '.join(parts)}"
    extra = [
        (cover.unread, "unread"), (cover.unresolved, "unresolved"), (cover.too_new, "too new"),
        (cover.managed, "managed elsewhere"),
    ]  # fmt: skip
    counts = ", ".join(f"{count:,} {word}" for count, word in extra if count)
    return f"{words}; {several(cover.resources, 'resource')} looked at{f' ({counts})' if counts else ''}."


def _ran(scan: Scan) -> str:
    """How many checks ran in how many places, so that their products are the pairs: those of a global service ran in
    one place, whatever the others did."""
    each = Counter(scope.attempted for scope in scan.scopes if scope.attempted)
    words = [
        f"{several(checks, 'check')} in {'each of ' if places > 1 else ''}{several(places, 'place')}"
        for checks, places in each.items()
    ]
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def several(count: int, word: str) -> str:
    """A count with its word: "1 check", "2 checks"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def bill_words(scan: Scan) -> str:
    """What the bill showed, also where it showed nothing, and what asking it cost; "" where it was not to be asked."""
    bill = scan.bill
    if bill is None:
        return ""
    if not bill.days:
        return "No bill was asked: none of these clouds has one that can be."
    paid = (
        f"asking cost ${bill.usd_of_query:.4f}".rstrip("0").rstrip(".") if bill.usd_of_query else "asking cost nothing"
    )
    problem = f"The bill was not read: {bill.problem}."
    if bill.problem and not bill.usd:
        return problem
    covered, others = money(bill.covered_usd), money(round(bill.usd - bill.covered_usd, 2))
    words = f"The bill of {bill.days} days: {money(bill.usd)}, of it {covered} for services that a check of this scan"
    words = f"{words} looks at and {others} for others; {paid}."
    return f"{words} In part: {problem}" if bill.problem else words


def who_words(scan: Scan) -> list[str]:
    """As whom each cloud was scanned."""
    return [f"{who.cloud}: {who.principal} ({who.account_kind}), account {who.account}" for who in scan.who]


def undo(finding: Finding) -> str:
    """Whether removing it, or changing what is in use, can be undone, or why it stays."""
    if finding.stays:
        return f"stays: {finding.stays}"
    return f"changed, not removed: {finding.reversal}" if finding.billing == "saving" else finding.reversal
