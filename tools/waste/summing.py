"""Every sum of a scan, made in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tools.waste.judging import Judged
from tools.waste.price import YEAR
from tools.waste.records import Coverage, Finding, ScopeEnd, Sum, Totals


def by(findings: Iterable[Finding], key: Callable[[Finding], str]) -> Mapping[str, Sum]:
    """Findings summed up by a key, dearest group first."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(key(finding), []).append(finding)
    sums = {word: summed(group) for word, group in groups.items()}
    return dict(sorted(sums.items(), key=lambda item: (-item[1].usd_per_month, item[0])))


def summed(findings: Iterable[Finding]) -> Sum:
    """Some findings as one sum, with how much of it is an upper or a lower bound."""
    group = tuple(findings)
    return Sum(
        len(group),
        cents(sum(each.usd_per_month or 0.0 for each in group)),
        sum(each.usd_per_month is None for each in group),
        _of(group, "at most"),
        _of(group, "at least"),
    )


def joined(sums: Iterable[Sum]) -> Sum:
    """Several sums as one."""
    every = tuple(sums)
    return Sum(
        sum(each.findings for each in every),
        cents(sum(each.usd_per_month for each in every)),
        sum(each.unpriced for each in every),
        cents(sum(each.at_most for each in every)),
        cents(sum(each.at_least for each in every)),
    )


def bound(one: Sum) -> str:
    """What a sum's amount is: "" where it is exact, "at most", "at least", or both where it has parts of both."""
    words = ("at most" if one.at_most else "", "at least" if one.at_least else "")
    return " and ".join(f"in part {word}" for word in words) if all(words) else "".join(words)


def _of(findings: Iterable[Finding], bound: str) -> float:
    """What those findings cost whose price is such a bound."""
    return cents(sum(each.usd_per_month or 0.0 for each in findings if each.bound == bound and each.billing in COSTS))


def totals(counted: Sequence[Finding], kept: Sequence[Finding], by_account: frozenset[str] = frozenset()) -> Totals:
    """The totals of what counts; what is kept by an exception stands apart.

    `by_account`: clouds whose scopes are accounts (projects, subscriptions) and not locations.
    """
    usd = [each.usd_per_month for each in counted if each.usd_per_month is not None and each.billing in COSTS]
    billing = [each.billing for each in counted]
    saved = [each for each in counted if each.billing == "saving"]
    return Totals(
        findings=len(counted),
        usd_per_month=cents(sum(usd)),
        usd_per_year=a_year(counted),
        priced=len(usd),
        unpriced=billing.count("unpriced"),
        free=billing.count("free"),
        prepaid=billing.count("prepaid"),
        booked_elsewhere=billing.count("booked elsewhere"),
        suppressed=len(kept),
        suppressed_usd_per_month=cents(sum(each.usd_per_month or 0.0 for each in kept)),
        cheapest_usd_per_month=cents(min(usd)) if usd else None,
        dearest_usd_per_month=cents(max(usd)) if usd else None,
        by_check=by(counted, lambda each: each.check),
        by_scope=by(
            counted, lambda each: f"{each.cloud}/{each.account if each.cloud in by_account else each.location}"
        ),
        by_category=by(counted, lambda each: each.category),
        usd_per_month_at_most=_of(counted, "at most"),
        usd_per_month_at_least=_of(counted, "at least"),
        saving=len(saved),
        saving_usd_per_month=cents(sum(each.usd_per_month or 0.0 for each in saved)),
    )


COSTS = frozenset({"billed", "saving"})
"""How a finding has to be billed to be part of a total."""


def a_year(findings: Iterable[Finding]) -> float:
    """US dollars that findings cost in the coming year: twelve months, or as long as each is there by itself."""
    return cents(
        sum(
            (each.usd_per_month or 0.0) * (YEAR if each.months is None else each.months)
            for each in findings
            if each.billing in COSTS
        )
    )


def coverage(judged: Sequence[Judged], scopes: Sequence[ScopeEnd], checks: tuple[str, ...]) -> Coverage:
    """What was looked at, and what was not."""
    ended = [each.ended for each in judged]
    return Coverage(
        checks=len(checks),
        scopes=len(scopes),
        pairs_attempted=len(ended),
        pairs_judged=ended.count("judged"),
        pairs_not_applicable=ended.count("not applicable"),
        pairs_unread=ended.count("unread"),
        resources=resources(judged),
        too_new=sum(each.too_new.count for each in judged if each.too_new),
        unresolved=sum(gap.count for each in judged for gap in each.unresolved.values()),
        unread=sum(gap.count for each in judged for gap in each.unread.values()),
        managed=sum(each.managed.count for each in judged if each.managed),
    )


def resources(judged: Sequence[Judged]) -> int:
    """How many resources were looked at: each once, however many checks judged it."""
    seen: dict[tuple[str, int], int] = {}
    for each in judged:
        key = (str(each.scope), id(each.check.kind))
        seen[key] = max(seen.get(key, 0), each.rows)
    return sum(seen.values())


def cents(usd: float) -> float:
    """US dollars to the cent."""
    return round(usd + 0.0, 2)
