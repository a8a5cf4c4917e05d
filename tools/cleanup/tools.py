"""plan_cleanup and apply_cleanup: steps first, then the same steps carried out with the token that names them."""

from __future__ import annotations

import time
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from clouds.base import Missing, Progress
from clouds.errors import Conflict, InvalidInput
from tools import confirm as confirming
from tools.cleanup import planning, reach, script, store
from tools.cleanup.answers import SHOWN, Applied, Planned, all_rows, applied, headline, planned, preview_steps
from tools.cleanup.applying import Run, left
from tools.cleanup.choosing import MOST, choose
from tools.cleanup.journal import Journal
from tools.cleanup.records import CleanupPlan
from tools.cleanup.rereading import pack_of
from tools.cleanup.waiting import Clock
from tools.context import Clouds
from tools.home import write_atomically
from tools.inert import NAME, one_line
from tools.ledger import Book, Holder
from tools.registry import Preview
from tools.settings import Settings
from tools.waste import exceptions
from tools.waste import store as scans

HOLD = "cleanup"
"""What an apply_cleanup holds while it works: two plans may name the same resources."""


def plan_cleanup(
    clouds: Clouds,
    settings: Settings,
    book: Book,
    progress: Progress,
    scan: Annotated[str, Field(max_length=80, description="scan id; empty: the newest")] = "",
    findings: Annotated[
        tuple[Annotated[str, Field(max_length=400)], ...],
        Field(max_length=MOST, description="ids, g-… of a row: all in it; none: by check"),
    ] = (),
    checks: Annotated[
        tuple[Annotated[str, Field(max_length=60)], ...], Field(description=f"all of these, dearest {MOST}")
    ] = (),
    limit: Annotated[int, Field(ge=1, le=50)] = 20,
) -> Planned:
    """Read findings again and plan their removal: backups first, with what cannot be undone. Changes nothing."""
    found = scans.load(book.home, scan)
    chosen = choose(found, findings, checks, book.home)
    keeps = exceptions.load(settings.project, frozenset())
    plan = planning.make(found.id, chosen.findings, clouds.get, keeps, book.clock(), progress)
    store.save(book.home, plan)
    printed = write_atomically(store.path(book.home, plan.id, "sh"), as_script(plan, clouds), mode=0o700)
    token, until = ("", "")
    if plan.findings:
        asked = _preview(plan, plan)
        bound = confirming.Bound("apply_cleanup", {"plan": plan.id}, asked.steps, asked.state)
        token, until = confirming.issue(book, bound)
    notes = [f"Filter: {chosen.part or 'all'} findings of {', '.join(checks)} in {plan.scan}."] if checks else []
    part = f"{chosen.part} that were named" if chosen.left else ""
    return planned(plan, str(printed), token, until, limit, [*notes, *([chosen.words] if chosen.left else [])], part)


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
    found, journal = store.load(book.home, plan), Journal(book, plan)
    if (other := book.holds.take(HOLD, plan)) is not None:
        raise _held(plan, other)
    if left(found, journal.read()).findings:  # else nothing is sent, whoever is signed in
        _check(found, clouds, progress)
    run = Run(
        found, clouds.get, journal, progress, book.clock, Clock(time.monotonic),
        partial(exceptions.load, settings.project, frozenset()),
    )  # fmt: skip
    outcomes = run.run()
    notes: tuple[str, ...] = ()
    if len(outcomes) > SHOWN:
        file = write_atomically(store.path(book.home, found.id, "applied.json"), all_rows(outcomes))
        notes = (f"All {len(outcomes):,} rows: {file}",)
    return applied(found, outcomes, notes)


def _check(plan: CleanupPlan, clouds: Clouds, progress: Progress) -> None:
    """Raises InvalidInput where the plan's clouds and accounts are not those that we work with now."""
    for name in {each.cloud for each in plan.findings}:
        cloud = clouds.get(name)
        if isinstance(cloud.waste, Missing) or isinstance(cloud.api, Missing):
            raise InvalidInput("plan", f"{name} has nothing to clean up with here", fix="Set it up as it was.")
        if problem := reach.problem(cloud, {each.account for each in plan.findings if each.cloud == name}, progress):
            raise InvalidInput("plan", problem, fix="Sign in as before.")


def _held(plan: str, other: Holder) -> Conflict:
    same = other.detail == plan
    return Conflict(
        f"Carrying out {plan}", sent=False,
        answered=f"{other.operation} is working on {'it' if same else f'{other.detail}, and one plan at a time is'}",
        fix=f'get_operation("{other.operation}") says how far it is; cancel=true stops it. Then make this call again '
        "without `confirm`.",
    )  # fmt: skip


def preview(clouds: Clouds, book: Book, progress: Progress, plan: str, confirm: str = "") -> Preview | None:
    """The steps that are still to be done; None when there are none. Raises Conflict while a cleanup is under way: a
    token would be used up for nothing."""
    del clouds, progress, confirm
    found = store.load(book.home, plan)
    rest = left(found, Journal(book, plan).read())
    if not rest.findings:
        return None
    if (other := book.holds.holder(HOLD)) is not None:
        raise _held(plan, other)
    return _preview(found, rest)


def _preview(plan: CleanupPlan, rest: CleanupPlan) -> Preview:
    """The stored steps, and the plan's digest as the state: another plan under the same name is another state."""
    stays = tuple(f"{one_line(each.name, NAME)}: {one_line(each.reason, 200)}" for each in plan.refused[:20])
    return Preview(headline(rest, plan), preview_steps(rest), {"plan": plan.id, "digest": plan.digest}, stays)
