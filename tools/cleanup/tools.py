"""plan_cleanup and apply_cleanup: steps first, then the same steps carried out with the token that names them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from clouds.base import Missing, Progress
from clouds.errors import InvalidInput
from clouds.models import Record
from tools import confirm as confirming
from tools.cleanup import planning, reach, script, store
from tools.cleanup.applying import Outcome, Run
from tools.cleanup.journal import Journal
from tools.cleanup.records import CleanupPlan, words
from tools.cleanup.rereading import pack_of
from tools.cleanup.waiting import Clock
from tools.context import Clouds
from tools.home import write_atomically
from tools.ledger import Book
from tools.registry import Preview
from tools.result import Result, capped
from tools.settings import Settings
from tools.waste import exceptions
from tools.waste import store as scans
from tools.waste.explaining import find
from tools.waste.report.words import money
from tools.waste.scan import named

MOST = 200
"""Findings of one plan."""


class PlanRow(Record):
    """One finding of a plan."""

    finding: str
    resource: str
    check: str
    where: str
    steps: int
    usd_per_month: float | None
    owner: str = ""


class RefusedRow(Record):
    """A finding that gets no steps."""

    finding: str
    resource: str
    reason: str


class Planned(Result):
    """A plan: nothing was changed."""

    plan: str
    scan: str
    findings: int
    steps_count: int
    usd_per_month: float
    without_price: int
    refused: int
    by_reversal: Mapping[str, int]
    backups: int
    steps: tuple[str, ...]
    rows: tuple[PlanRow, ...] = ()
    showing: str = ""
    refusals: tuple[RefusedRow, ...] = ()
    script: str
    confirm: str = ""
    confirm_until: str = ""


def plan_cleanup(
    clouds: Clouds,
    settings: Settings,
    book: Book,
    progress: Progress,
    scan: Annotated[str, Field(max_length=80, description="scan id; empty: the newest")] = "",
    findings: Annotated[
        tuple[Annotated[str, Field(max_length=400)], ...], Field(max_length=MOST, description="ids; none: by check")
    ] = (),
    checks: Annotated[
        tuple[Annotated[str, Field(max_length=60)], ...], Field(description="all findings of these")
    ] = (),
    limit: Annotated[int, Field(ge=1, le=50)] = 20,
) -> Planned:
    """Read findings again and plan their removal: backups first, with what cannot be undone. Changes nothing."""
    found = scans.load(book.home, scan)
    by_check = {word: [each for each in found.findings if named(each.check, (word,))] for word in checks}
    every = [find(found, word, book.home) for word in findings]
    every += [each for word in checks for each in by_check[word]]
    chosen = list({each.id: each for each in every}.values())  # whatever is named twice is removed, and counted, once
    if unknown := [word for word in checks if not by_check[word]]:
        raise InvalidInput("checks", f"scan {found.id} has no finding of {unknown[0]!r}", fix="See summarize_findings.")
    if not chosen:
        raise InvalidInput("findings", "names nothing", fix="Give findings or checks; summarize_findings shows them.")
    if len(chosen) > MOST:
        raise InvalidInput("checks", f"are {len(chosen):,} findings", fix=f"A plan takes at most {MOST}.")
    keeps = exceptions.load(settings.project, frozenset())
    plan = planning.make(found.id, chosen, clouds.get, keeps, book.clock(), progress)
    store.save(book.home, plan)
    printed = write_atomically(store.path(book.home, plan.id, "sh"), as_script(plan, clouds), mode=0o700)
    token, until = ("", "")
    if plan.findings:
        asked = _preview(plan)
        bound = confirming.Bound("apply_cleanup", {"plan": plan.id}, asked.steps, asked.state)
        token, until = confirming.issue(book, bound)
    return _planned(plan, str(printed), token, until, limit, checks)


def as_script(plan: CleanupPlan, clouds: Clouds) -> str:
    """The plan as a shell script."""
    commands: dict[str, Any] = {}
    queries: dict[str, Any] = {}
    accounts: dict[str, Any] = {}
    for name in {each.cloud for each in plan.findings}:
        pack = pack_of(clouds.get(name))
        if pack is not None:
            commands[name], queries[name], accounts[name] = pack.command, pack.query, pack.account_line
    return script.render(plan, commands, queries, accounts)


def _headline(plan: CleanupPlan) -> str:
    count = sum(len(each.steps) for each in plan.findings)
    if not count:
        return f"Nothing to clean up: {len(plan.refused)} of {len(plan.refused)} findings were refused."
    unpriced = f" and {plan.unpriced} without a price" if plan.unpriced else ""
    known = plan.unpriced < len(plan.findings)
    saved = f"{money(plan.usd_per_month)} a month{unpriced}" if known else "none of them with a known price"
    fates = Counter(step.reversal for each in plan.findings for step in each.steps)
    lost = fates["cannot be undone"]
    fate = f"{lost} of them cannot be undone" if lost else "every step can be undone or recovered"
    capacity = any(step.capacity for each in plan.findings for step in each.steps)
    return (
        f"Plan {plan.id}: {count} step{'' if count == 1 else 's'} for {len(plan.findings)} "
        f"finding{'' if len(plan.findings) == 1 else 's'}, {saved}; {fate}"
        f"{'; capacity may not come back' if capacity else ''}."
    )


def _planned(plan: CleanupPlan, printed: str, token: str, until: str, limit: int, checks: tuple[str, ...]) -> Planned:
    steps, _ = capped(plan.steps, limit)
    rows, showing = capped(plan.findings, limit)
    fates = Counter(step.reversal for each in plan.findings for step in each.steps)
    notes = ["Nothing has been changed."]
    if checks:
        notes.append(f"Filter: all findings of {', '.join(checks)} in {plan.scan}.")
    if len(plan.steps) > limit:
        notes.append(f"{len(plan.steps) - limit:,} more steps are in the script.")
    if len(plan.refused) > 10:
        notes.append(f"{len(plan.refused) - 10:,} more refused findings are in the plan's file.")
    if owners := sorted({each.owner for each in plan.findings if each.owner}):
        notes.append(f"Belongs to infrastructure as code, which drifts when removed here: {', '.join(owners[:5])}.")
    return Planned(
        headline=_headline(plan),
        plan=plan.id,
        scan=plan.scan,
        findings=len(plan.findings),
        steps_count=len(plan.steps),
        usd_per_month=plan.usd_per_month,
        without_price=plan.unpriced,
        refused=len(plan.refused),
        by_reversal=dict(fates),
        backups=sum(step.backup for each in plan.findings for step in each.steps),
        steps=steps,
        rows=tuple(
            PlanRow(
                finding=each.id, resource=each.name, check=each.check, where=each.where,
                steps=len(each.steps), usd_per_month=each.usd_per_month, owner=each.owner,
            )
            for each in rows
        ),
        showing=showing,
        refusals=tuple(
            RefusedRow(finding=each.id, resource=each.name, reason=each.reason[:200]) for each in plan.refused[:10]
        ),
        script=printed,
        confirm=token,
        confirm_until=until,
        notes=tuple(notes),
        next=f'apply_cleanup(plan="{plan.id}", confirm="{token}") carries it out; each resource is read again first.'
        if token
        else "",
    )  # fmt: skip


class AppliedRow(Record):
    """How one finding ended."""

    finding: str
    resource: str
    ended: str
    detail: str
    usd_per_month: float | None
    stands: str = ""


class Applied(Result):
    """What was carried out and read back."""

    plan: str
    done: int
    refused: int
    failed: int
    saved_usd_per_month: float
    not_saved_usd_per_month: float
    rows: tuple[AppliedRow, ...]
    showing: str = ""

    @property
    def is_error(self) -> bool:
        """True where not all that was asked for was removed: something failed or was refused, or nothing was done."""
        return bool(self.failed or self.refused) or not self.done


def apply_cleanup(
    clouds: Clouds,
    settings: Settings,
    book: Book,
    progress: Progress,
    plan: Annotated[str, Field(max_length=20, description="c-… of plan_cleanup")],
    confirm: Annotated[str, Field(max_length=20, description="its token")] = "",
) -> Applied:
    """Carry a plan out: everything read again, what changed is refused, backups waited for, each removal read back.

    Stops a finding at its first failure. The same plan again goes on where it ended.
    """
    del confirm  # it was used up before this is called
    found = store.load(book.home, plan)
    for name in {each.cloud for each in found.findings}:
        cloud = clouds.get(name)
        if isinstance(cloud.waste, Missing) or isinstance(cloud.api, Missing):
            raise InvalidInput("plan", f"{name} has nothing to clean up with here", fix="Set it up as it was.")
        if problem := reach.problem(cloud, {each.account for each in found.findings if each.cloud == name}, progress):
            raise InvalidInput("plan", problem, fix="Sign in as before.")
    run = Run(
        found, clouds.get, Journal(book, found.id), progress, book.clock, Clock(time.monotonic),
        partial(exceptions.load, settings.project, frozenset()),
    )  # fmt: skip
    return applied(found, run.run())


def applied(plan: CleanupPlan, outcomes: tuple[Outcome, ...]) -> Applied:
    """What a call answers for a run."""
    ended = Counter(each.ended for each in outcomes)
    saved = sum(each.finding.usd_per_month or 0.0 for each in outcomes if each.ended == "done")
    rest = sum(each.finding.usd_per_month or 0.0 for each in outcomes if each.ended != "done")
    order = {"failed": 0, "refused": 1, "done": 2}
    shown, showing = capped(sorted(outcomes, key=lambda each: order[each.ended]), 20)
    words_ = [f"{ended['done']} of {len(outcomes)} findings removed and read back, {money(saved)} a month saved"]
    if ended["refused"]:
        words_.append(f"{ended['refused']} refused")
    if ended["failed"]:
        words_.append(f"{ended['failed']} failed")
    steps = []
    if ended["failed"]:
        steps.append(f'see why in its row, then apply_cleanup(plan="{plan.id}") goes on with what failed')
    if ended["refused"]:
        steps.append("plan_cleanup again for what was refused: it differs from what was planned")
    return Applied(
        headline="; ".join(words_) + ".",
        plan=plan.id,
        done=ended["done"],
        refused=ended["refused"],
        failed=ended["failed"],
        saved_usd_per_month=round(saved, 2),
        not_saved_usd_per_month=round(rest, 2),
        rows=tuple(
            AppliedRow(
                finding=each.finding.id, resource=each.finding.name, ended=each.ended, detail=each.detail[:240],
                usd_per_month=each.finding.usd_per_month, stands="; ".join(each.stands)[:300],
            )
            for each in shown
        ),
        showing=showing,
        next="; ".join(steps) + "." if steps else "",
    )  # fmt: skip


def preview(clouds: Clouds, book: Book, progress: Progress, plan: str, confirm: str = "") -> Preview | None:
    """The steps that are still to be done; None when there are none."""
    del clouds, progress, confirm
    return _preview(store.load(book.home, plan))


def _preview(plan: CleanupPlan) -> Preview:
    """The stored steps, and the plan's digest as the state: another plan under the same name is another state."""
    steps = tuple(f"{each.name} ({each.location}): {words(step)}" for each in plan.findings for step in each.steps)
    stays = tuple(f"{each.name}: {each.reason}" for each in plan.refused[:20])
    return Preview(_headline(plan), steps, {"plan": plan.id, "digest": plan.digest}, stays)
