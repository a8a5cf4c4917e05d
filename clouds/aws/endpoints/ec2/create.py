"""Carries a plan out, place after place, until a machine was started; a killed run is taken up again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clouds.aws.endpoints import binding, promise, tags
from clouds.aws.endpoints.ec2 import calls, removal
from clouds.aws.endpoints.making import Maker
from clouds.aws.endpoints.parts import KINDS
from clouds.errors import Cancelled, CloudError, NoCapacity, NotOffered, QuotaTooSmall
from clouds.models import DeletedPart, DeploymentPlan, PlanStep, Scope

TRY_ELSEWHERE = (NoCapacity, NotOffered)
AWAITED = "ec2-instance-connect.SendSSHPublicKey"
"""The first call of the way to a token."""


@dataclass
class Run:
    """One run of create: the bound steps, and what every place said so far."""

    maker: Maker
    plan: DeploymentPlan
    steps: tuple[PlanStep, ...]
    end: datetime
    now: Callable[[], datetime]
    pause: Callable[[float], None]
    attempts: list[dict[str, Any]] = field(default_factory=list)
    token: int = 0
    """The ledger's open row of the wait for a first token."""

    @property
    def regions(self) -> tuple[str, ...]:
        """In the order of the plan."""
        return tuple(dict.fromkeys(step.location for step in self.steps))

    def of(self, region: str) -> list[PlanStep]:
        """The steps of one region."""
        return [step for step in self.steps if step.location == region]

    def remember(self, **facts: Any) -> None:
        """Write down facts and attempts."""
        self.maker.ledger.remember(self.plan.deployment, {**facts, "attempts": self.attempts})


def begin(plan: DeploymentPlan, maker: Maker, now: Callable[[], datetime], pause: Callable[[float], None]) -> Run:
    """Take up what an earlier run left, with the end that it promised; start anew where it had come to its end."""
    promised = promise.taken_up(maker.ledger.facts(plan.deployment), now(), plan.spec.ttl_hours)
    attempts = [dict(one) for one in promised.attempts]
    run = Run(maker, plan, binding.bind(plan, promised.end), promised.end, now, pause, attempts)
    if not promised.going_on:
        if any(step.state in {"intent", "done"} for step in maker.ledger.steps(plan.deployment)):
            for region in run.regions:
                undo(run, region)
        run.remember(expires=tags.stamp(promised.end), ended=False)
    return run


def carry_out(run: Run) -> str:
    """Returns the region in which a machine was started. Raises what the places said when none had one."""
    for region in run.regions:
        if any(one["region"] == region and one.get("over") for one in run.attempts):
            undo(run, region)
            continue
        run.remember(location=region)
        try:
            if _start(run, region):
                return region
        except Cancelled:
            run.remember(ended=_gone(undo(run, region)))
            raise
        except CloudError as error:
            left = undo(run, region)
            run.remember(ended=_gone(left))
            words = ", ".join(f"{part.part} ({part.detail})" for part in left if part.outcome == "still there")
            if words:
                error.fix = f"{error.fix} Not seen to be gone in {region}: {words}."[:900]
            error.sent = error.sent or bool(run.maker.begun([step.call for step in run.of(region)]))
            raise
        left = undo(run, region)
        run.attempts.append({"region": region, "over": True, "left": _left(left)})
        run.remember()
    run.remember(ended=True)
    raise nowhere(run)


def _start(run: Run, region: str) -> bool:
    """Make group and rule, then ask place after place. False when none had a machine."""
    group = ""
    for step in run.of(region):
        bound = calls.with_group(step, group) if group else step
        call, parameters = bound.call, bound.call.parameters
        run.maker.progress.report(f"{region}: {step.text}")
        if call.operation != "RunInstances":
            facts = run.maker.make(call, region)
            group = group or str(facts.get("group", ""))
            continue
        if _there(run, bound, region):
            return True
        place = {"region": region, "type": parameters["InstanceType"], "zone": _zone(step)}
        try:
            run.maker.make(call, region)
        except TRY_ELSEWHERE as error:
            run.attempts.append({**place, "kind": error.kind, "code": error.code, "said": error.answered})
            run.remember()
        except QuotaTooSmall as error:
            # one quota counts every type of the plan: the other places of this region would say the same
            run.attempts.append({**place, "kind": error.kind, "code": error.code, "said": error.answered})
            run.remember()
            return False
        else:
            return True
    return False


def _there(run: Run, step: PlanStep, region: str) -> bool:
    """Whether an earlier run has started the machine already; its row in the ledger is then settled."""
    ledger, deployment = run.maker.ledger, run.plan.deployment
    rows = [row for row in ledger.steps(deployment) if row.call.operation == "RunInstances"]
    if not any(row.state in {"intent", "done"} for row in rows):
        return False
    kind = KINDS["ec2.RunInstances"]
    found = kind.look(run.maker.api, Scope(region), step.call.parameters)
    if found is None or found.facts.get("state") == "shutting-down":
        return False
    for row in rows:
        if row.state == "intent":
            ledger.done(row.id, {"region": region, **found.facts})
    return True


def _zone(step: PlanStep) -> str:
    text = step.text.rsplit(" in ", 1)[-1]
    return text.split(";", 1)[0]


def undo(run: Run, region: str) -> tuple[DeletedPart, ...]:
    """Remove what one region holds of this deployment. Never raises a CloudError: what is left is in the answer."""
    try:
        run.maker.drop(AWAITED)
        calls = run.maker.begun([step.call for step in run.of(region)])
        return removal.remove(run.maker.steady(run.pause), calls, region)
    except CloudError as error:
        return (DeletedPart(part=f"parts in {region}", outcome="still there", detail=str(error)[:300]),)


def _gone(parts: tuple[DeletedPart, ...]) -> bool:
    return all(part.outcome != "still there" for part in parts)


def _left(parts: tuple[DeletedPart, ...]) -> list[str]:
    return [f"{part.part}: {part.detail}" for part in parts if part.outcome == "still there"]


def nowhere(run: Run) -> CloudError:
    """The plain account of a deployment that found no machine."""
    asked = [one for one in run.attempts if "kind" in one]
    kinds = {one["kind"] for one in asked}
    kind: type[CloudError] = (
        NoCapacity if "no_capacity" in kinds else QuotaTooSmall if "quota_too_small" in kinds else NotOffered
    )
    words = "; ".join(f"{one['type']} in {one['zone']}: {one['code']}: {one['said']}" for one in asked)
    left = [word for one in run.attempts for word in one.get("left", [])]
    rest = f" Not seen to be gone: {'; '.join(left)}" if left else " Nothing remains and nothing was billed."
    return kind(
        f"deploying {run.plan.spec.name}",
        answered=f"{words}.{rest}",
        code=str(asked[-1]["code"]) if asked else "",
        fix="Name other regions, zones or types, or the other market (spot, on-demand), or try again later.",
    )
