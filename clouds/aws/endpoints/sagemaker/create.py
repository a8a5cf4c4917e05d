"""Carries a plan out, region after region, until an endpoint has given a token; a killed run is taken up again.

What a run needs to know of an earlier one is in the ledger's facts: the promised end, and how each region ended.
Everything else is read from AWS. Calls are sent as planned; a name that is there already is ours or a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from clouds.aws.endpoints import binding, promise, tags
from clouds.aws.endpoints.making import Maker
from clouds.aws.endpoints.sagemaker import container, invoke, removal, watch
from clouds.aws.endpoints.sagemaker import settings as options
from clouds.errors import Cancelled, CloudError, Conflict, NoCapacity, NotOffered, QuotaTooSmall
from clouds.models import Call, DeletedPart, DeploymentPlan, PlanStep

TRY_ELSEWHERE = (NoCapacity, QuotaTooSmall, NotOffered)


@dataclass
class Run:
    """One run of create: the bound steps, and what the regions said so far."""

    maker: Maker
    plan: DeploymentPlan
    steps: tuple[PlanStep, ...]
    end: datetime
    settle: timedelta
    now: Callable[[], datetime]
    pause: Callable[[float], None]
    attempts: list[dict[str, Any]] = field(default_factory=list)
    token: int = 0
    """The ledger's open row of the wait for a first token."""

    @property
    def regions(self) -> tuple[str, ...]:
        """In the order of the plan."""
        return tuple(dict.fromkeys(step.location for step in self.steps if step.call.service != "iam"))

    def of(self, region: str) -> list[Call]:
        """The calls of one region, the shared roles left out."""
        return [step.call for step in self.steps if step.location == region and step.call.service != "iam"]

    def tried(self, region: str) -> dict[str, Any] | None:
        """How a region ended in this deployment, if it did."""
        return next((one for one in self.attempts if one["region"] == region), None)

    def remember(self, **facts: Any) -> None:
        """Write down facts and attempts."""
        self.maker.ledger.remember(self.plan.deployment, {**facts, "attempts": self.attempts})


def begin(plan: DeploymentPlan, maker: Maker, now: Callable[[], datetime], pause: Callable[[float], None]) -> Run:
    """Take up what an earlier run left, with the end that it promised; start anew where it had come to its end."""
    promised = promise.taken_up(maker.ledger.facts(plan.deployment), now(), plan.spec.ttl_hours)
    attempts = [dict(one) for one in promised.attempts]
    run = Run(maker, plan, binding.bind(plan, promised.end), promised.end, _settle(plan), now, pause, attempts)
    if not promised.going_on:
        if any(step.state in {"intent", "done"} for step in maker.ledger.steps(plan.deployment)):
            for region in run.regions:
                undo(run, region)
        run.remember(expires=tags.stamp(promised.end), ended=False)
    return run


def _settle(plan: DeploymentPlan) -> timedelta:
    chosen = options.choose(plan.spec.settings)
    start, download = container.time_outs(plan.spec.model, chosen)
    return timedelta(seconds=chosen.capacity_wait_seconds + start + download + 600)


def carry_out(run: Run) -> str:
    """Returns the region in which the endpoint is InService. Raises what the last region said when none has it."""
    for step in run.steps:
        if step.call.service == "iam":
            run.maker.make(step.call, step.location)
    for region in run.regions:
        earlier = run.tried(region)
        if earlier is not None:
            if not earlier["undone"]:
                _give_up(run, region, earlier)
            continue
        try:
            _make(run, region)
            run.token = run.maker.begin(invoke.awaited(run.plan.spec.name))
            watch.until_in_service(run.maker, region, run.plan.spec.name, run.now)
            _check_not_over(run)
        except TRY_ELSEWHERE as error:
            attempt = _attempt(run, region, error)
            run.attempts.append(attempt)
            run.remember()
            _give_up(run, region, attempt)
        except watch.StartFailed as error:
            run.remember(ended=undo(run, region).gone)
            raise error.cause from None
        except Cancelled:
            removed = undo(run, region)
            run.remember(ended=removed.gone)
            raise
        else:
            return region
    run.remember(ended=all(one["undone"] for one in run.attempts))
    raise nowhere(run)


def _make(run: Run, region: str) -> None:
    """Make one region's parts. What refuses for another reason than room takes back what was made, then is raised."""
    run.remember(location=region)
    try:
        for call in run.of(region):
            run.maker.progress.report(f"{region}: {call.operation}")
            run.maker.make(call, region)
    except TRY_ELSEWHERE:
        raise
    except CloudError as error:
        removed = undo(run, region)
        run.remember(ended=removed.gone)
        left = ", ".join(f"{part.part} ({part.detail})" for part in removed.parts if part.outcome == "still there")
        if left:
            error.fix = f"{error.fix} Not seen to be gone in {region}: {left}."[:900]
        error.sent = error.sent or bool(run.maker.begun(run.of(region)))
        raise


def undo(run: Run, region: str) -> removal.Removed:
    """Remove what one region holds of this deployment. Never raises a CloudError: what is left is in the answer."""
    try:
        steady = run.maker.steady(run.pause)
        steady.drop(invoke.AWAITED)
        return removal.remove(steady, run.maker.begun(run.of(region)), region, now=run.now(), settle=run.settle)
    except CloudError as error:
        part = DeletedPart(part=f"parts in {region}", outcome="still there", detail=str(error)[:300])
        return removal.Removed((part,))


def _said(attempt: Mapping[str, Any]) -> str:
    """AWS's words, with its code where they do not hold it already."""
    code, words = str(attempt["code"]), str(attempt["said"]).rstrip(".")
    return words if code in words else f"{code}: {words}"


def _check_not_over(run: Run) -> None:
    """Raises StartFailed when the promised end came before it was ready."""
    if run.end > run.now():
        return
    raise watch.StartFailed(
        Conflict(
            f"deploying {run.plan.spec.name}",
            answered=f"it was InService only after its own end ({tags.stamp(run.end)})",
            fix="Deploy it again with more ttl_hours.",
        )
    )


def _give_up(run: Run, region: str, attempt: dict[str, Any]) -> None:
    removed = undo(run, region)
    attempt["undone"] = removed.gone
    attempt["left"] = [f"{part.part}: {part.detail}" for part in removed.parts if part.outcome == "still there"]
    run.remember()


def _attempt(run: Run, region: str, error: CloudError) -> dict[str, Any]:
    types = [
        pool["InstanceType"]
        for call in run.of(region)
        if str(call) == "sagemaker.CreateEndpointConfig"
        for pool in call.parameters["ProductionVariants"][0]["InstancePools"]
    ]
    waited = watch.waited(run.maker.ledger.steps(run.plan.deployment), run.now())
    return {
        "region": region,
        "types": types,
        "waited_seconds": waited if isinstance(error, NoCapacity) else 0,
        "kind": error.kind,
        "code": error.code,
        "said": error.answered,
        "undone": False,
    }


def nowhere(run: Run) -> CloudError:
    """The plain account of a deployment that found no place."""
    kinds = {one["kind"] for one in run.attempts}
    kind: type[CloudError] = NoCapacity if "no_capacity" in kinds else QuotaTooSmall
    if kinds == {"not_offered"}:
        kind = NotOffered
    words = "; ".join(
        f"{one['region']} ({', '.join(one['types'])}), waited {one['waited_seconds']:.0f} s: {_said(one)}"
        for one in run.attempts
    )
    left = [word for one in run.attempts for word in one.get("left", [])]
    # an instance that was placed would have ended in another error: nothing of this was billed
    rest = f"Not seen to be gone: {'; '.join(left)}." if left else "Nothing remains and nothing was billed."
    return kind(
        f"deploying {run.plan.spec.name}",
        answered=f"{words}. {rest}",
        code=str(run.attempts[-1]["code"]),
        fix="Name other regions or types (check_quota shows where there is quota), or try again later.",
    )


def mark_ready(run: Run, region: str) -> str:
    """Remember in AWS and in the ledger that it gave a token; whoever looks later asks it nothing.

    Returns what to say when AWS did not take the tag; empty otherwise.
    """
    moment = tags.stamp(run.now())
    run.remember(ready_at=moment, location=region)
    run.maker.ledger.done(run.token, {"region": region, "at": moment})
    made = [
        step.result["arn"]
        for step in run.maker.ledger.steps(run.plan.deployment)
        if str(step.call) == "sagemaker.CreateEndpoint" and step.state == "done" and step.result.get("region") == region
    ]
    call = Call("sagemaker", "AddTags", {"ResourceArn": made[-1], "Tags": [{"Key": tags.READY, "Value": moment}]})
    said = run.maker.mark(call, region)
    return f"it gave a token; the tag that says so could not be written ({said})" if said else ""
