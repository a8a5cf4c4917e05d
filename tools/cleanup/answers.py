"""What plan_cleanup and apply_cleanup answer: sentences and figures over a plan and over how its findings ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from clouds.models import Record
from tools.cleanup.applying import Outcome
from tools.cleanup.backups import Bill, bill
from tools.cleanup.records import CleanupPlan, PlannedFinding, words
from tools.figures import moment
from tools.inert import NAME, one_line
from tools.result import Result, capped
from tools.waste.report.words import plan_words, several

SHOWN = 20
"""Rows of what was carried out."""


class PlanRow(Record):
    """One finding of a plan."""

    finding: str
    resource: str
    check: str
    where: str
    steps: int
    usd_per_month: float | None
    bound: str = ""
    owner: str = ""


class RefusedRow(Record):
    """A finding that gets no steps."""

    finding: str
    resource: str
    reason: str


class Planned(Result):
    """A plan: nothing was changed. Its backups bill at most so much from when they are made."""

    plan: str
    scan: str
    findings: int
    steps_count: int
    usd_per_month: float
    without_price: int
    refused: int
    by_reversal: Mapping[str, int]
    backups: int
    backups_usd_per_month: float = 0.0
    steps: tuple[str, ...]
    rows: tuple[PlanRow, ...] = ()
    showing: str = ""
    refusals: tuple[RefusedRow, ...] = ()
    script: str
    confirm: str = ""
    confirm_until: str = ""


class Unplanned(Planned):
    """No plan could be made, since what was to be removed could not be read again."""

    @property
    def is_error(self) -> bool:
        """True: what was asked for was not reached."""
        return True


class AppliedRow(Record):
    """How one finding ended, and the id of its backup that stands ("?" where the answer that said it was lost)."""

    finding: str
    resource: str
    ended: str
    detail: str
    usd_per_month: float | None
    stands: str = ""
    backup: str = ""
    backup_usd_per_month: float | None = None


class Applied(Result):
    """What was carried out and read back. `done` and what is saved are of this run; backups are all that stand."""

    plan: str
    done: int
    done_before: int = 0
    refused: int
    failed: int
    saved_usd_per_month: float
    backups: int
    backups_usd_per_month: float = 0.0
    rows: tuple[AppliedRow, ...]
    showing: str = ""

    @property
    def is_error(self) -> bool:
        """True where not all that was asked for was removed: something failed or was refused, or nothing was done."""
        return bool(self.failed or self.refused) or not (self.done or self.done_before)


def headline(plan: CleanupPlan, whole: CleanupPlan | None = None) -> str:
    """The first line of a plan, or of what is left of the `whole` one."""
    count = sum(len(each.steps) for each in plan.findings)
    if not count:
        return _nothing(plan)
    unpriced = f" and {plan.unpriced} without a price" if plan.unpriced else ""
    known = plan.unpriced < len(plan.findings)
    saved = f"{plan_words(plan.findings)}{unpriced}" if known else "none of them with a known price"
    fates = Counter(step.reversal for each in plan.findings for step in each.steps)
    lost = fates["cannot be undone"]
    parts = [f"{lost} of them cannot be undone" if lost else "every step can be undone or recovered"]
    if any(step.capacity for each in plan.findings for step in each.steps):
        parts.append("capacity may not come back")
    if plan.backups.count:
        parts.append(str(plan.backups))
    left = f" (of {len(whole.steps):,}; the others were carried out)" if whole and len(whole.steps) > count else ""
    return (
        f"Plan {plan.id}: {several(count, 'step')}{left} for {several(len(plan.findings), 'finding')}, {saved}; "
        f"{'; '.join(parts)}."
    )


def _nothing(plan: CleanupPlan) -> str:
    unread = Counter(each.reason for each in plan.refused if each.unread)
    if not unread:
        return f"Nothing to clean up: {len(plan.refused)} of {len(plan.refused)} findings were refused."
    reason, _ = unread.most_common(1)[0]
    every = several(len(plan.refused), "finding")
    return (
        f"Nothing could be planned: {unread.total()} of {every} could not be read again "
        f"({one_line(reason.removeprefix('could not be read again: '), 200)})."
    )


def planned(
    plan: CleanupPlan, printed: str, token: str, until: str, limit: int, notes: Sequence[str] = (), part: str = ""
) -> Planned:
    """What plan_cleanup answers. `printed` is the script's path; `notes` and `part` say what was chosen."""
    steps, _ = capped(plan.steps, limit)
    rows, showing = capped(plan.findings, limit)
    said = ["Nothing has been changed.", *notes]
    if len(plan.steps) > limit:
        said.append(f"{len(plan.steps) - limit:,} more steps are in the script.")
    if len(plan.refused) > 10:
        said.append(f"{len(plan.refused) - 10:,} more refused findings are in the plan's file.")
    if owners := sorted({each.owner for each in plan.findings if each.owner}):
        shown = ", ".join(one_line(each, NAME) for each in owners[:5])
        said.append(f"Belongs to infrastructure as code, which drifts when removed here: {shown}.")
    unread = [each for each in plan.refused if each.unread]
    made = Planned if plan.findings or not unread else Unplanned
    following = ""
    if token:
        call = f'apply_cleanup(plan="{plan.id}", confirm="{token}")'
        following = f"{call} carries it out; each resource is read again first."
    elif made is Unplanned:
        again = "plan_cleanup again once it can be read; check_setup says who is signed in and what is denied."
        following = " ".join(part for part in (next((each.fix for each in unread if each.fix), ""), again) if part)
    return made(
        headline=f"{headline(plan)[:-1]}; {part}." if part else headline(plan),
        plan=plan.id,
        scan=plan.scan,
        findings=len(plan.findings),
        steps_count=len(plan.steps),
        usd_per_month=plan.usd_per_month,
        without_price=plan.unpriced,
        refused=len(plan.refused),
        by_reversal=dict(Counter(step.reversal for each in plan.findings for step in each.steps)),
        backups=plan.backups.count,
        backups_usd_per_month=plan.backups.usd_per_month,
        steps=steps,
        rows=tuple(
            PlanRow(
                finding=each.id, resource=one_line(each.name, NAME), check=each.check, where=each.where,
                steps=len(each.steps), usd_per_month=each.usd_per_month,
                bound=each.bound if each.bound != "exact" and each.usd_per_month else "",
                owner=one_line(each.owner, NAME),
            )
            for each in rows
        ),
        showing=showing,
        refusals=tuple(
            RefusedRow(finding=each.id, resource=one_line(each.name, NAME), reason=one_line(each.reason, 200))
            for each in plan.refused[:10]
        ),
        script=printed,
        confirm=token,
        confirm_until=until,
        notes=tuple(said),
        next=following,
    )  # fmt: skip


def all_rows(outcomes: Sequence[Outcome]) -> str:
    """How every finding ended, as JSON: a list of rows."""
    return json.dumps([_row(each).model_dump(exclude_defaults=True) for each in outcomes], indent=1)


def applied(plan: CleanupPlan, outcomes: Sequence[Outcome], notes: tuple[str, ...] = ()) -> Applied:
    """What apply_cleanup answers for a run."""
    ended = Counter("before" if each.before else each.ended for each in outcomes)
    now = [each.finding for each in outcomes if each.ended == "done" and not each.before]
    order = {"failed": 0, "refused": 1, "done": 2}
    shown, showing = capped(sorted(outcomes, key=lambda each: (order[each.ended], each.before)), SHOWN)
    kept = bill(backup.usd_per_month for each in outcomes for backup in each.backups)
    return Applied(
        headline=_ended_words(outcomes, ended, now, kept),
        plan=plan.id,
        done=ended["done"],
        done_before=ended["before"],
        refused=ended["refused"],
        failed=ended["failed"],
        saved_usd_per_month=round(sum(each.usd_per_month or 0.0 for each in now), 2),
        backups=kept.count,
        backups_usd_per_month=kept.usd_per_month,
        rows=tuple(_row(each) for each in shown),
        showing=showing,
        notes=notes,
        next=_next(plan, ended, kept),
    )


def _ended_words(
    outcomes: Sequence[Outcome], ended: Mapping[str, int], now: Sequence[PlannedFinding], kept: Bill
) -> str:
    done, before = ended["done"], ended["before"]
    earlier = plan_words(each.finding for each in outcomes if each.before)
    if before and before == len(outcomes):
        at = max(each.at for each in outcomes)
        when = f", the last at {moment(at)}" if at else ""
        removed = f"{before} of {several(before, 'finding')} were removed and read back before{when}"
        parts = [f"Nothing is left to do: {removed} ({earlier}); nothing was changed now"]
    else:
        parts = [f"{done} of {several(len(outcomes), 'finding')} removed and read back, {plan_words(now)} saved"]
        if before:
            parts.append(f"{before} were done before ({earlier})")
    parts += [f"{ended[how]} {how}" for how in ("refused", "failed") if ended[how]]
    return "; ".join([*parts, *([str(kept)] if kept.count else [])]) + "."


def _row(outcome: Outcome) -> AppliedRow:
    costs = [each.usd_per_month for each in outcome.backups]
    known = [each for each in costs if each is not None]
    return AppliedRow(
        finding=outcome.finding.id, resource=one_line(outcome.finding.name, NAME), ended=outcome.ended,
        detail=one_line(outcome.detail, 240), usd_per_month=outcome.finding.usd_per_month,
        stands=one_line("; ".join(outcome.stands), 300),
        backup=", ".join(f"{each.id or '?'}{f' ({each.state})' if each.state else ''}" for each in outcome.backups),
        backup_usd_per_month=round(sum(known), 2) if known and len(known) == len(costs) else None,
    )  # fmt: skip


def _next(plan: CleanupPlan, ended: Mapping[str, int], kept: Bill) -> str:
    steps = []
    if ended["failed"]:
        steps.append(f'see why in its row, then apply_cleanup(plan="{plan.id}") goes on with what failed')
    if ended["refused"]:
        steps.append("plan_cleanup again for what was refused: it differs from what was planned")
    if kept.count:
        steps.append(
            f"delete each backup once nobody needs it: its tag or name holds {plan.id}, "
            f'apply_cleanup(plan="{plan.id}") lists what it made again, and scan_waste reports what is old'
        )
    return "; ".join(steps) + "." if steps else ""


def preview_steps(plan: CleanupPlan) -> tuple[str, ...]:
    """Every step with whose it is, as a person confirms it."""
    return tuple(f"{_who(each)}: {words(step)}" for each in plan.findings for step in each.steps)


def _who(finding: PlannedFinding) -> str:
    return f"{one_line(finding.name, NAME)} ({finding.location})"
