"""Carries a cleanup plan out: each resource is read again, backups are waited for, and what failed stops its finding.

    1. everything that has not been begun is read again; what changed since the plan is refused
    2. the backups of all findings are asked for, so that they run side by side
    3. finding by finding: wait for its backup, read it again, then the other steps, each waited for and read back;
       what had no backup to wait for is read again too, unless it was read this moment

Everything is written down before and after it is sent: a second run goes on where the first ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from clouds.base import Api, Cloud, Missing, Progress
from clouds.errors import Cancelled, CloudError, InvalidInput, NotFound, PermissionMissing, Throttled
from clouds.models import Call, Scope
from tools.cleanup.backups import Kept
from tools.cleanup.journal import Entry, Journal
from tools.cleanup.records import CleanupPlan, PlannedFinding, PlannedStep, filled, lookup, needed
from tools.cleanup.rereading import Sought, pack_of, reread, stays
from tools.cleanup.waiting import Clock, NotTrue, failure, wait
from tools.waste.exceptions import Keep
from tools.waste.rows import extract

FRESH_SECONDS = 10.0
"""How old a reading may be when the first step that destroys something is sent (or twice as long as reading takes)."""
Ended = Literal["done", "refused", "failed"]
_STANDS = {"done": "", "sent": "not known to be complete", "intent": "may have been made"}
"""What is said of a backup by the state of its step."""


@dataclass(frozen=True)
class Outcome:
    """How one finding ended. `stands` is what is there now because of us, or still there because a step failed.

    `before`: an earlier run had done it, at the moment `at`. `backups` are those that were made of it, by any run.
    """

    finding: PlannedFinding
    ended: Ended
    detail: str
    stands: tuple[str, ...] = ()
    backups: tuple[Kept, ...] = ()
    before: bool = False
    at: str = ""


class Declared:
    """Lets only the operations through that a plan's checks declare for their cleanup."""

    def __init__(self, api: Api, allow: frozenset[str]) -> None:
        self._api, self.allow = api, allow

    def send(self, call: Call, *, scope: Scope) -> Any:
        """The answer. Raises InvalidInput for an operation that the check does not declare; nothing is sent then."""
        if str(call) not in self.allow:
            raise InvalidInput("plan", f"{call} is no step of this check", fix="Make a new plan; this one was changed.")
        return self._api.send(call, scope=scope)


class Run:
    """One run over one plan."""

    def __init__(
        self,
        plan: CleanupPlan,
        connect: Callable[[str], Cloud],
        journal: Journal,
        progress: Progress,
        now: Callable[[], datetime],
        clock: Clock,
        keeps: Callable[[], tuple[Keep, ...]] = tuple,
    ) -> None:
        """`keeps` reads the project's exceptions, each time anew: one may be written while this waits for a backup."""
        self._plan, self._connect, self._journal, self._keeps = plan, connect, journal, keeps
        self._progress, self._now, self._clock = progress, now, clock
        self._entries: dict[tuple[str, str], Entry] = {}
        self._read_at: dict[str, float] = {}
        self._reading_took = 0.0
        self._changed: dict[str, str] = {}
        self._apis: dict[tuple[str, str], Api] = {}

    def run(self) -> tuple[Outcome, ...]:
        """Every finding's end, in the order of the plan. Raises Cancelled; what was sent until then is written down."""
        try:
            return self._run()
        except Cancelled as stopped:
            steps = [self._state(finding, step) for finding in self._plan.findings for step in finding.steps]
            if sent := sum(state in ("intent", "sent", "done") for state in steps):
                done = f"{sent} of {len(steps)} steps had been sent and stay as they are"
                stopped.left = f"{done}; the same plan goes on from there."
            raise

    def _run(self) -> tuple[Outcome, ...]:
        self._entries = self._journal.read()
        self._reread([each for each in self._plan.findings if not self._begun(each)])
        early: dict[str, Outcome] = {}
        for finding in self._plan.findings:
            backups = [
                step for step in finding.steps if step.backup and self._state(finding, step) not in ("sent", "done")
            ]
            if backups and finding.id not in self._changed and not self._begun(finding):
                try:
                    self._send(finding, backups[0])
                except (CloudError, NotTrue, KeyError) as error:
                    early[finding.id] = self._failed(finding, backups[0], error)
        outcomes = []
        for number, finding in enumerate(self._plan.findings, 1):
            self._progress.report(f"finding {number} of {len(self._plan.findings)}: {finding.name}", number - 1)
            outcomes.append(early.get(finding.id) or self._finding(finding))
        return tuple(outcomes)

    def _begun(self, finding: PlannedFinding) -> bool:
        """Whether the cloud took a step other than a backup: from then on the resource differs because of us."""
        return any(self._state(finding, step) in ("sent", "done") for step in finding.steps if not step.backup)

    def _unsure(self, finding: PlannedFinding) -> bool:
        """Whether an interrupted run may have removed it: then that it is gone is no change, but the aim."""
        return any(self._state(finding, step) == "intent" for step in finding.steps if not step.backup)

    def _reread(self, findings: list[PlannedFinding]) -> None:
        wanted = {
            each.id: Sought(each.cloud, each.check, each.location, each.resource, each.account) for each in findings
        }
        begun, keeps = self._clock.read(), self._keeps()
        there = reread(wanted.values(), self._connect, self._now(), self._progress)
        self._reading_took = self._clock.read() - begun
        for finding in findings:
            found = there[wanted[finding.id]]
            self._read_at[finding.id] = begun
            if found.wasted is None:
                if not (found.words == "gone" and self._unsure(finding)):
                    self._changed[finding.id] = found.words
            elif found.wasted.tags_problem:
                self._changed[finding.id] = f"its tags could not be read again ({found.wasted.tags_problem})"
            elif found.wasted.fingerprint != finding.fingerprint:
                self._changed[finding.id] = "it has changed since the plan was made"
            # for what stands beside it, or since somebody wrote down that it is kept: nothing of its own has changed
            elif problem := stays(found.wasted, keeps, self._now().date()):
                self._changed[finding.id] = problem

    def _finding(self, finding: PlannedFinding) -> Outcome:
        if finished(finding, self._entries):
            at = max(self._entries[finding.id, step.name].changed for step in finding.steps)
            return Outcome(finding, "done", "was done before", (), self._backups(finding), before=True, at=at)
        if finding.id in self._changed:
            return self._refusal(finding)
        for step in finding.steps:
            try:
                if not step.backup and not self._begun(finding):
                    self._fresh(finding)
                    if finding.id in self._changed:
                        return self._refusal(finding)
                self._step(finding, step)
            except (CloudError, NotTrue, KeyError) as error:
                return self._failed(finding, step, error)
        return Outcome(finding, "done", "done and read back", (), self._backups(finding))

    def _fresh(self, finding: PlannedFinding) -> None:
        """Read it again where it may have come into use: while its backup was made, or since it was last read."""
        if any(step.backup for step in finding.steps):
            self._reread([finding])
            return
        age = self._clock.read() - self._read_at.get(finding.id, float("-inf"))
        if age > max(FRESH_SECONDS, 2 * self._reading_took):
            rest = self._plan.findings[self._plan.findings.index(finding) :]
            same = (finding.check, finding.cloud, finding.account, finding.location)
            alike = [each for each in rest if (each.check, each.cloud, each.account, each.location) == same]
            self._reread([each for each in alike if not self._begun(each) and each.id not in self._changed])

    def _step(self, finding: PlannedFinding, step: PlannedStep) -> None:
        if self._state(finding, step) == "done":
            return
        if self._state(finding, step) != "sent":
            self._send(finding, step)
        if step.wait is not None:
            until = step.wait.until()
            call = self._filled(finding, until.call)
            wait(self._api(finding), until, call, finding.scope, self._progress, self._clock, step.text)
        self._journal.done(finding.id, step.name)
        self._mark(finding, step, "done", self._answer(finding, step))

    def _send(self, finding: PlannedFinding, step: PlannedStep) -> None:
        """Send one step, unless an interrupted run has done so and its result can be found."""
        api = self._api(finding)
        interrupted = self._state(finding, step) in ("intent", "failed")
        found = self._found_again(api, finding, step) if interrupted else None
        if found is None:
            call = self._filled(finding, step.call.call())
            self._journal.intent(finding.id, step.name, str(call))
            self._mark(finding, step, "intent", {})
            answer: Any = {}
            try:
                answer = api.send(call, scope=finding.scope)
            except NotFound:
                if step.backup:
                    raise
            except CloudError as error:
                if error.code not in step.already:
                    raise
            found = {path: values[0] for path in _wanted(finding, step) if (values := extract(answer, path))}
        self._journal.sent(finding.id, step.name, found)
        self._mark(finding, step, "sent", found)

    def _found_again(self, api: Api, finding: PlannedFinding, step: PlannedStep) -> dict[str, Any] | None:
        again = lookup(step)
        if again is None:
            return None
        answer = api.send(self._filled(finding, again.call), scope=finding.scope)
        found = {path: values[0] for path, where in again.answer.items() if (values := extract(answer, where))}
        return found if len(found) == len(again.answer) else None

    def _filled(self, finding: PlannedFinding, call: Call) -> Call:
        answers = {step.name: self._answer(finding, step) for step in finding.steps}
        parameters = filled(call.parameters, answers, lambda answer, path: [answer[path]] if path in answer else [])
        return Call(call.service, call.operation, parameters)

    def _failed(self, finding: PlannedFinding, step: PlannedStep, error: Exception) -> Outcome:
        words = f"the answer of {error.args[0]} is missing" if isinstance(error, KeyError) else failure(error)
        if (finding.id, step.name) in self._entries:
            self._journal.failed(finding.id, step.name, words)
            if isinstance(error, PermissionMissing | Throttled):  # refused, so that nothing of it is under way
                self._mark(finding, step, "failed", {})
        return Outcome(finding, "failed", f"{step.text}: {words}", self._stands(finding), self._backups(finding))

    def _refusal(self, finding: PlannedFinding) -> Outcome:
        return Outcome(finding, "refused", self._changed[finding.id], self._stands(finding), self._backups(finding))

    def _stands(self, finding: PlannedFinding) -> tuple[str, ...]:
        done = [step for step in finding.steps if self._state(finding, step) == "done"]
        made = [f"done: {step.text}" for step in done]
        sent = [f"asked for: {step.text}" for step in finding.steps if self._state(finding, step) in ("sent", "intent")]
        lost = [f"asked for, failed: {step.text}" for step in finding.steps if self._state(finding, step) == "failed"]
        left = [f"not done: {step.text}" for step in finding.steps if not self._state(finding, step)]
        return (*made, *sent, *lost, *left)

    def _backups(self, finding: PlannedFinding) -> tuple[Kept, ...]:
        """What was made of it, or may have been: it bills on, whatever has become of the finding."""
        found = []
        for step in (each for each in finding.steps if each.leaves):
            state, answer = self._state(finding, step), self._answer(finding, step)
            if state in _STANDS or (state == "failed" and answer):
                name = step.makes or str(answer.get(step.makes_at) or "")
                found.append(Kept(name, _STANDS.get(state, "it failed"), step.bills_usd_per_month))
        return tuple(found)

    def _state(self, finding: PlannedFinding, step: PlannedStep) -> str:
        entry = self._entries.get((finding.id, step.name))
        return entry.state if entry is not None else ""

    def _answer(self, finding: PlannedFinding, step: PlannedStep) -> Mapping[str, Any]:
        entry = self._entries.get((finding.id, step.name))
        return entry.answer if entry is not None else {}

    def _mark(self, finding: PlannedFinding, step: PlannedStep, state: str, answer: Mapping[str, Any]) -> None:
        self._entries[finding.id, step.name] = Entry(state, answer, "", "")

    def _api(self, finding: PlannedFinding) -> Api:
        """The cloud's api behind what the finding's own check declares."""
        key = (finding.cloud, finding.check)
        if key not in self._apis:
            cloud = self._connect(finding.cloud)
            pack = pack_of(cloud)
            check = next((each for each in pack.checks if each.id == finding.check), None) if pack else None
            if check is None or isinstance(cloud.api, Missing):
                raise InvalidInput("plan", f"{finding.check} is no check of {finding.cloud}", fix="Make a new plan.")
            self._apis[key] = Declared(cloud.api, frozenset(check.steps))
        return self._apis[key]


def _wanted(finding: PlannedFinding, step: PlannedStep) -> set[str]:
    """What is kept of a step's answer: what later calls need, and the id of what it made."""
    return needed(finding, step) | ({step.makes_at} if step.makes_at else set())


def finished(finding: PlannedFinding, entries: Mapping[tuple[str, str], Entry]) -> bool:
    """Whether every step of it was carried out and read back."""
    return all(_done(finding, step, entries) for step in finding.steps)


def _done(finding: PlannedFinding, step: PlannedStep, entries: Mapping[tuple[str, str], Entry]) -> bool:
    entry = entries.get((finding.id, step.name))
    return entry is not None and entry.state == "done"


def left(plan: CleanupPlan, entries: Mapping[tuple[str, str], Entry]) -> CleanupPlan:
    """What is still to be done of a plan: its other steps were carried out and read back."""
    rest = []
    for finding in plan.findings:
        steps = tuple(each for each in finding.steps if not _done(finding, each, entries))
        if steps:
            rest.append(replace(finding, steps=steps))
    return replace(plan, findings=tuple(rest))
