"""From judged rows to findings: priced, kept or not, with their owner, and each resource booked once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from clouds.models.waste_pack import WastePack
from tools.figures import duration
from tools.waste import price
from tools.waste.exceptions import Keep, suppression
from tools.waste.records import Billing, Fact, Finding
from tools.waste.state import Wasted

TAGS_KEPT = 20
TEXT_KEPT = 256
CENT = 0.01


def findings(
    cloud: str,
    account: str,
    pack: WastePack,
    wasted: Iterable[Wasted],
    rates: price.Rates,
    keeps: tuple[Keep, ...],
    now: datetime,
) -> tuple[list[Finding], list[str]]:
    """Every finding of one cloud, dearest first, and words on exceptions that do not do what they were meant to."""
    words: list[str] = []
    found = [_finding(cloud, account, pack, each, rates, keeps, now, words) for each in wasted]
    booked = _once(found, {check.id: place for place, check in enumerate(pack.checks)})
    return sorted(booked, key=_dearest_first), list(dict.fromkeys(words))


def finding_id(check: str, resource: str) -> str:
    """A short name of a finding: the same resource found by the same check has it in every scan."""
    return hashlib.sha256(f"{check}\0{resource}".encode()).hexdigest()[:10]


def _dearest_first(finding: Finding) -> tuple[float, str, str]:
    return -(finding.usd_per_month or 0.0), finding.check, finding.resource


def _finding(
    cloud: str,
    account: str,
    pack: WastePack,
    wasted: Wasted,
    rates: price.Rates,
    keeps: tuple[Keep, ...],
    now: datetime,
    words: list[str],
) -> Finding:
    check, waste = wasted.check, wasted.waste
    left = None if waste.until is None else max(0.0, (waste.until - now).total_seconds())
    hours = price.HOURS if left is None else left / 3600
    lines = tuple(rates.priced(meter, wasted.place, hours) for meter in waste.meters)
    usd, partly = price.total(lines)
    billing, usd = _billing(wasted, usd)
    kept, word = suppression(check.id, wasted.id, wasted.name, wasted.tags, keeps, now.date())
    if word:
        words.append(word)
    stays = check.remove if isinstance(check.remove, str) else waste.blocked
    notes = []
    if wasted.tags_problem:
        notes.append(f"its tags could not be read ({wasted.tags_problem}), so it may be marked to be kept")
        stays = stays or "its tags could not be read, so nobody knows whether it is to be kept"
    if partly and usd is not None and waste.bound == "at most":
        notes.append("a part of it has no price, so that it may cost more than that")
    age = None if wasted.created is None else (now - wasted.created).total_seconds() / 86400
    evidence: dict[str, Fact] = {key: _fact(value) for key, value in waste.evidence.items()}
    evidence.update({key: _fact(value) for key, value in wasted.used.items()})
    return Finding(
        id=finding_id(check.id, wasted.id),
        check=check.id,
        title=check.title,
        category=check.category,
        cloud=cloud,
        account=wasted.scope.account or account,
        location=wasted.place,
        kind=check.kind.name,
        resource=wasted.id,
        name=wasted.name[:TEXT_KEPT],
        reason=waste.reason + ("" if left is None or hours >= price.HOURS else _ends(left)),
        billing=billing,
        usd_per_month=usd,
        bound="at least" if partly and usd is not None and waste.bound == "exact" else waste.bound,
        meters=lines,
        reversal=check.reversal,
        removable=not stays,
        fingerprint=wasted.fingerprint,
        created=wasted.created.isoformat(timespec="seconds") if wasted.created else "",
        age_days=None if age is None else round(age, 2),
        owner=pack.owner(wasted.tags),
        tags={key[:128]: value[:TEXT_KEPT] for key, value in list(wasted.tags.items())[:TAGS_KEPT]},
        evidence=evidence,
        holds=waste.holds,
        stays=stays,
        notes=tuple(notes),
        suppressed=kept,
        # Of what ends within a month only the rest is priced, and that once.
        months=None if left is None else min(price.YEAR, max(1.0, round(hours / price.HOURS, 4))),
    )


def _ends(seconds: float) -> str:
    return f"; ends by itself in {duration(seconds)}, and only that is priced"


def _billing(wasted: Wasted, usd: float | None) -> tuple[Billing, float | None]:
    waste = wasted.waste
    if waste.prepaid:
        return "prepaid", 0.0
    if waste.free:
        return "free", 0.0
    if usd is None:
        return "unpriced", None
    if 0 < usd < CENT:
        usd = CENT  # what costs something is never shown as nothing
    return ("saving" if waste.saving else "billed"), round(usd, 2)


def _once(found: Sequence[Finding], order: dict[str, int]) -> list[Finding]:
    """Two checks on one resource make one finding; what a holder's price holds is not priced again."""
    by_resource: dict[str, list[Finding]] = {}
    for finding in found:
        by_resource.setdefault(finding.resource, []).append(finding)
    single: list[Finding] = []
    for group in by_resource.values():
        # A finding that is kept speaks for its resource; else the dearest; else the check that stands first.
        group.sort(key=lambda each: (each.suppressed is None, -(each.usd_per_month or 0.0), order[each.check]))
        also = tuple(dict.fromkeys(each.check for each in group if each.check != group[0].check))
        single.append(replace(group[0], also=also) if also else group[0])
    holders = {
        held: each
        for each in single
        if each.suppressed is None and each.usd_per_month is not None
        for held in each.holds
        if held != each.resource
    }
    return [
        replace(each, billing="booked elsewhere", usd_per_month=0.0, booked_with=holders[each.resource].resource)
        if each.resource in holders and each.billing not in ("free", "prepaid")
        else _shared(each, holders)
        for each in single
    ]


def _shared(finding: Finding, holders: dict[str, Finding]) -> Finding:
    """What two findings hold is in both prices: the one that is not its holder then costs at most what it says."""
    if finding.suppressed is not None or finding.usd_per_month is None:
        return finding
    twice = [held for held in finding.holds if held in holders and holders[held].resource != finding.resource]
    if not twice:
        return finding
    word = f"{len(twice)} of what it holds is priced with {holders[twice[0]].resource} too"
    return replace(finding, bound="at most", notes=(*finding.notes, word))


def _fact(value: object) -> Fact:
    if value is None or isinstance(value, str | int | float | bool):
        return value[:TEXT_KEPT] if isinstance(value, str) else value
    return str(value)[:TEXT_KEPT]
