"""Makes a cleanup plan: every finding is read again first, and only what is still waste gets steps."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from clouds.base import Cloud, Progress
from clouds.models.removal import CleanupStep, Doomed
from tools.cleanup.records import CleanupPlan, PlannedFinding, Refused, planned
from tools.cleanup.rereading import Reread, Sought, pack_of, reread, stays
from tools.waste.exceptions import Keep
from tools.waste.reading import ODD
from tools.waste.records import Finding


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
    refused = [_refused(each, each.stays) for each in findings if not each.removable]
    again = reread([sought(each) for each in steady], connect, now, progress)
    found: list[tuple[int, PlannedFinding]] = []
    for each in steady:
        now_there = again[sought(each)]
        problem = now_there.words if now_there.wasted is None else stays(now_there.wasted, keeps, now.date())
        if problem or now_there.wasted is None:
            refused.append(_refused(each, problem))
            continue
        try:
            found.append(_planned(plan_id, each, now_there, connect, now))
        except ODD as error:  # the others are planned all the same
            refused.append(
                _refused(
                    each, f"its steps cannot be written: what is known of it lacks a part ({type(error).__name__})"
                )
            )
    order = sorted(found, key=lambda item: (item[0], item[1].check, item[1].resource))
    return CleanupPlan(
        plan_id, scan, now.isoformat(timespec="seconds"), tuple(each for _, each in order), tuple(refused)
    )


def _planned(
    plan: str, finding: Finding, there: Reread, connect: Callable[[str], Cloud], now: datetime
) -> tuple[int, PlannedFinding]:
    wasted = there.wasted
    if wasted is None or isinstance(wasted.check.remove, str):
        raise TypeError("only what is waste and removable is planned")
    mark = f"{plan}-{finding.id[:6]}"
    doomed = Doomed(wasted.row, wasted.scope, wasted.id, wasted.name, mark, wasted.waste.evidence)
    steps = wasted.check.remove(doomed)
    pack = pack_of(connect(finding.cloud))
    owner = pack.owner(wasted.tags) if pack is not None else ""
    return wasted.check.order, PlannedFinding(
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
        fingerprint=wasted.fingerprint,
        owner=owner,
        steps=tuple(planned(step, _until(step, now)) for step in steps),
    )


def _until(step: CleanupStep, now: datetime) -> str:
    days = step.recoverable_days
    return "" if days is None else (now + timedelta(days=days)).date().isoformat()


def _refused(finding: Finding, reason: str) -> Refused:
    return Refused(
        finding.id, finding.check, finding.resource, finding.name, finding.usd_per_month, reason or "no reason is known"
    )
