"""Makes a cleanup plan: every finding is read again first, and only what is still waste gets steps, and gets them once.

What another finding of the plan holds goes along with that one: its own steps would come to a resource that is gone, or
change one that is about to go.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from clouds.base import Cloud, Progress
from clouds.models.removal import CleanupStep, Doomed
from tools.cleanup.backups import at_most
from tools.cleanup.records import CleanupPlan, PlannedFinding, Refused, planned
from tools.cleanup.rereading import Sought, pack_of, reread, stays
from tools.inert import NAME, one_line
from tools.waste.exceptions import Keep
from tools.waste.price import Rates
from tools.waste.reading import ODD
from tools.waste.records import Finding
from tools.waste.state import Wasted


def sought(finding: Finding) -> Sought:
    """What is read again for a finding."""
    return Sought(finding.cloud, finding.check, finding.location, finding.resource, finding.account)


def make(
    scan: str,
    findings: Sequence[Finding],
    connect: Callable[[str], Cloud],
    keeps: tuple[Keep, ...],
    now: datetime,
    progress: Progress,
) -> CleanupPlan:
    """The plan for some findings of a scan. Nothing is changed; what cannot be removed is refused, with why."""
    plan_id = f"c-{secrets.token_hex(3)}"
    steady = [each for each in findings if each.removable]
    refused = [_refused(each, each.stays_because) for each in findings if not each.removable]
    again = reread([sought(each) for each in steady], connect, now, progress)
    waste: list[tuple[Finding, Wasted]] = []
    for each in steady:
        there = again[sought(each)]
        problem = there.words if there.wasted is None else stays(there.wasted, keeps, now.date())
        if problem or there.wasted is None:
            unread = there.unread or bool(there.wasted and there.wasted.tags_problem)
            refused.append(_refused(each, problem, unread=unread, fix=there.fix))
        else:
            waste.append((each, there.wasted))
    waste.sort(key=lambda pair: (pair[1].check.order, pair[1].check.id, pair[1].id))
    steps: dict[str, PlannedFinding] = {}
    for each, wasted in waste:
        try:
            steps[each.id] = _planned(plan_id, each, wasted, connect(each.cloud), now)
        except ODD as error:  # the others are planned all the same
            lacking = f"its steps cannot be written: what is known of it lacks a part ({type(error).__name__})"
            refused.append(_refused(each, lacking))
    holders = _holders([pair for pair in waste if pair[0].id in steps])
    for each, _ in waste:
        if (holder := holders.get(each.id)) is not None:
            del steps[each.id]
            refused.append(_refused(each, f"goes along with {one_line(holder.name, NAME)} ({holder.id})"))
    return CleanupPlan(plan_id, scan, now.isoformat(timespec="seconds"), tuple(steps.values()), tuple(refused))


def _holders(waste: Sequence[tuple[Finding, Wasted]]) -> dict[str, Finding]:
    """Findings that go along with another one, by id. Of two that hold each other the first keeps its steps."""
    holder: dict[str, int] = {}
    for number, (_, wasted) in enumerate(waste):
        for held in wasted.waste.holds:
            if held != wasted.id:
                holder.setdefault(held, number)
    found = {}
    for number, (finding, wasted) in enumerate(waste):
        above = holder.get(wasted.id)
        if above is not None and not (above > number and waste[above][1].id in wasted.waste.holds):
            found[finding.id] = waste[above][0]
    return found


def _planned(plan: str, finding: Finding, wasted: Wasted, cloud: Cloud, now: datetime) -> PlannedFinding:
    if isinstance(wasted.check.remove, str):
        raise TypeError("only what is removable is planned")
    pack = pack_of(cloud)
    mark, name = f"{plan}-{finding.id[:6]}", one_line(wasted.name, NAME)
    doomed = Doomed(
        wasted.row, wasted.scope, wasted.id, name, mark, wasted.waste.evidence, tuple(wasted.waste.meters)
    )  # fmt: skip
    rates = Rates(cloud.prices)
    return PlannedFinding(
        id=finding.id,
        check=finding.check,
        cloud=finding.cloud,
        account=wasted.scope.account or "",
        location=finding.location,
        call_location=wasted.scope.location or "",
        resource=finding.resource,
        name=wasted.name,
        reason=wasted.waste.reason,
        usd_per_month=finding.usd_per_month,
        bound=finding.bound,
        fingerprint=wasted.fingerprint,
        owner=pack.owner(wasted.tags) if pack is not None else "",
        steps=tuple(
            planned(
                step, _until(step, now), at_most(step, rates, finding.location) if step.backup or step.makes else None
            )
            for step in wasted.check.remove(doomed)
        ),
    )


def _until(step: CleanupStep, now: datetime) -> str:
    days = step.recoverable_days
    return "" if days is None else (now + timedelta(days=days)).date().isoformat()


def _refused(finding: Finding, reason: str, *, unread: bool = False, fix: str = "") -> Refused:
    return Refused(
        finding.id, finding.check, finding.resource, finding.name, finding.usd_per_month,
        reason or "no reason is known", unread, fix,
    )  # fmt: skip
