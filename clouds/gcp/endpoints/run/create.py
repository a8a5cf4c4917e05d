"""Carries a plan out, region after region, until a service gave a token; a killed run is taken up again."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clouds.base import PriceBook
from clouds.errors import (
    Cancelled,
    CloudError,
    NoCapacity,
    NotFound,
    NotOffered,
    QuotaTooSmall,
    Throttled,
    Unexpected,
    Unreachable,
)
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import binding, operations, promise
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.machines import removal, start
from clouds.gcp.endpoints.machines.held import Standing
from clouds.gcp.endpoints.making import Maker
from clouds.gcp.endpoints.run import calls, view
from clouds.gcp.errors import of_status
from clouds.models import Call, DeletedPart, DeploymentPlan, Endpoint, EndpointRef, PlanStep, Scope, State, Wire

AWAITED = "run.ask"
"""How the ledger names the wait for a first token."""
TRY_ELSEWHERE = (NoCapacity, NotOffered, QuotaTooSmall)
POLL, STARTS_WITHIN, BLIND_TRIES, TRIES = 15.0, 3600.0, 8, 4
COLD, TOKEN = "cold start: instance, image, weights, startup probe", "first token"


def awaited(name: str) -> Call:
    """The wait for a first token, as the ledger has it: open before anything bills, until the token came."""
    service, operation = AWAITED.split(".")
    return Call(service, operation, {"name": name})


@dataclass
class Run:
    """One run of create."""

    api: GcpApi
    maker: Maker
    plan: DeploymentPlan
    steps: tuple[PlanStep, ...]
    now: Callable[[], datetime]
    pause: Callable[[float], None]
    attempts: list[dict[str, Any]] = field(default_factory=list)
    token: int = 0
    """The ledger's open row of the wait for a first token."""

    @property
    def regions(self) -> list[str]:
        """In the order of the plan."""
        return [*dict.fromkeys(step.location for step in self.steps)]

    def of(self, region: str) -> list[PlanStep]:
        """The steps of one region."""
        return [step for step in self.steps if step.location == region]

    def ref(self, region: str) -> EndpointRef:
        """The endpoint if it is in that region."""
        return EndpointRef("gcp", "run", region, self.plan.spec.name)

    def remember(self, **facts: Any) -> None:
        """Write down facts and attempts."""
        self.maker.ledger.remember(self.plan.deployment, {**facts, "attempts": self.attempts})


def begin(
    api: GcpApi, plan: DeploymentPlan, maker: Maker, now: Callable[[], datetime], pause: Callable[[float], None]
) -> Run:
    """Take up what an earlier run left, with the end that it promised; start anew where it had come to its end."""
    promised = promise.taken_up(maker.ledger.facts(plan.deployment), now(), plan.spec.ttl_hours)
    run = Run(api, maker, plan, binding.bind(plan, promised.end), now, pause, [dict(one) for one in promised.attempts])
    if not promised.going_on:
        if any(step.state in {"intent", "done"} for step in maker.ledger.steps(plan.deployment)):
            undo(run, run.regions)
        run.remember(expires=tags.iso(promised.end), ended=False)
    return run


def undo(run: Run, regions: list[str]) -> tuple[DeletedPart, ...]:
    """Remove what these regions hold of this deployment. Never raises a CloudError."""
    run.maker.drop(AWAITED)
    steps = _begun(run, regions)
    try:
        return removal.remove(run.maker.steady(run.pause), steps)
    except CloudError as error:
        return (DeletedPart(part="parts", outcome="still there", detail=str(error)[:300]),)


def _begun(run: Run, regions: list[str]) -> list[Call]:
    return removal.begun(run.maker, [step.call for region in regions for step in run.of(region) if step.creates])


def stopped(run: Run) -> None:
    """Somebody asked to stop: take all of it back."""
    run.remember(ended=_gone(undo(run, run.regions)))


def _gone(parts: tuple[DeletedPart, ...]) -> bool:
    return all(part.outcome != "still there" for part in parts)


def carry_out(run: Run) -> str:
    """Returns the region in which a service is up. Raises what the regions said when none had one."""
    over = [region for region in run.regions if any(one["zone"] == region and one.get("over") for one in run.attempts)]
    undo(run, over)
    for region in [region for region in run.regions if region not in over]:
        run.remember(location=region)
        run.token = run.maker.begin(awaited(run.plan.spec.name))
        try:
            _start(run, region)
        except TRY_ELSEWHERE as error:
            said = {"kind": error.kind, "code": error.code, "said": error.answered}
            run.attempts.append({"zone": region, "type": "L4", **said})
        except Cancelled:
            stopped(run)
            raise
        except CloudError as error:
            parts = undo(run, run.regions)
            run.remember(ended=_gone(parts))
            left = ", ".join(f"{part.part} ({part.detail})" for part in parts if part.outcome == "still there")
            error.fix = f"{error.fix} Not seen to be gone: {left}."[:900] if left else error.fix
            error.sent = error.sent or bool(_begun(run, run.regions))
            raise
        else:
            return region
        left_parts = [part.part for part in undo(run, [region]) if part.outcome == "still there"]
        run.attempts.append({"zone": region, "over": True, "left": left_parts})
        run.remember()
    run.remember(ended=not any(one.get("left") for one in run.attempts))
    raise nowhere(run)


def _start(run: Run, region: str) -> None:
    for step in run.of(region):
        run.maker.progress.report(f"{region}: {step.text}")
        if not step.creates:
            if not _there(run, region):
                run.api.send(step.call, scope=Scope(region))
            continue
        facts = run.maker.make(step.call, region)
        if str(step.call) == f"run.{calls.CREATE}":
            _until_up(run, region, str(facts.get("operation", "")))


def _there(run: Run, region: str) -> bool:
    """Whether an earlier run made the service: then there is nothing to try out."""
    try:
        view.find(run.api, run.ref(region))
    except NotFound:
        return False
    return True


def _until_up(run: Run, region: str, operation: str) -> None:
    """Wait until the revision passed its probe. Raises what the service failed with, in our words."""
    ref, waited, blind, unseen = run.ref(region), 0.0, 0, 0
    now: Standing | None
    while True:
        error = operations.error_of(run.api, "run", operation, Scope(region), f"starting {ref}")
        if error is not None:
            raise error
        try:
            now = view.standing(view.find(run.api, ref))
            blind, unseen, words = 0, 0, now.reason
        except NotFound:
            now = None
            unseen += 1
            if unseen > BLIND_TRIES:
                raise
            words = "accepted, not shown yet"
        except (Throttled, Unreachable, Unexpected):
            blind += 1
            if blind > BLIND_TRIES:
                raise
            now, words = None, "it could not be read now"
        if now is not None and now.state in {"ready", "loading"}:
            return
        if now is not None and now.state in {"failed", "deleting"}:
            raise _failed(ref, words)
        if waited >= STARTS_WITHIN:
            raise Unexpected(
                f"starting {ref}", answered=f"it is not up after {waited:.0f} s", fix="Read its log, then deploy again."
            )
        run.maker.progress.report(f"{region}: {waited:.0f} s; {words}")
        run.maker.progress.sleep(POLL)
        waited += POLL


def _failed(ref: EndpointRef, words: str) -> CloudError:
    """A revision that failed: a quota in its words is a quota, whatever the condition is called."""
    found = of_status({"code": 2, "message": words}, f"starting {ref}")
    if isinstance(found, TRY_ELSEWHERE):
        return found
    return Unexpected(
        f"starting {ref}", answered=words, fix="Correct what it says (get_endpoint_logs), then deploy again."
    )


def until_token(run: Run, region: str, prices: PriceBook, connect: Callable[[EndpointRef], Wire]) -> Endpoint:
    """Ask once, measure, and say so in the cloud. Returns the endpoint, ready or loading with the reason."""
    ref, maker = run.ref(region), run.maker
    row = view.find(run.api, ref)
    created = tags.time_of(row.get("createTime", "")) or run.now()
    up = tags.time_of(row.get("terminalCondition", {}).get("lastTransitionTime", "")) or run.now()
    said, before = "", run.now()
    for attempt in range(TRIES):
        if attempt:
            maker.progress.sleep(POLL)
        before = run.now()
        said = start.one_token(connect, ref)
        if not said:
            break
    if said:
        return _seen(run, ref, row, prices, "loading", f"it is up, but asked for a token: {said}")
    phases = [[COLD, round(max((up - created).total_seconds(), 0.0), 1)]]
    phases.append([TOKEN, round((run.now() - before).total_seconds(), 1)])
    moment = run.now()
    run.remember(ready_at=tags.iso(moment), location=region, placed="L4")
    maker.ledger.done(run.token, {"location": region, "at": tags.iso(moment)})
    unmarked = maker.mark(lambda: mark(run.api, ref, row, moment, phases))
    reason = f"it gave a token; the label that says so could not be written ({unmarked})" if unmarked else ""
    return _seen(run, ref, row, prices, "ready", reason)


def mark(api: GcpApi, ref: EndpointRef, row: dict[str, Any], moment: datetime, phases: list[list[Any]]) -> None:
    """Say in the cloud that a token came, and how long the cold start took."""
    body = {
        "labels": {**row.get("labels", {}), tags.READY: tags.stamp(moment)},
        "annotations": {**row.get("annotations", {}), calls.PHASES: json.dumps(phases)},
    }
    patch(api, ref, body)


def patch(api: GcpApi, ref: EndpointRef, body: dict[str, Any]) -> Any:
    """Change the named fields of the service and no others. Without a mask all would be replaced."""
    asked = {"name": view.name_of(api.project, ref), "updateMask": ",".join(sorted(body)), "body": body}
    return api.send(Call("run", "projects.locations.services.patch", asked), scope=Scope(ref.location))


def _seen(run: Run, ref: EndpointRef, row: dict[str, Any], prices: PriceBook, state: State, reason: str) -> Endpoint:
    """What was just made: it exists, whatever a last reading says."""
    with suppress(CloudError):
        row = view.find(run.api, ref)
    found = view.build(ref, row, view.engine_lines(run.api, ref, row), prices)
    return found.model_copy(update={"state": state, "reason": reason or found.reason})


def nowhere(run: Run) -> CloudError:
    """The plain account of a deployment that no region took."""
    asked = [one for one in run.attempts if "kind" in one]
    kinds = {one["kind"] for one in asked}
    kind: type[CloudError] = (
        QuotaTooSmall if "quota_too_small" in kinds else NoCapacity if "no_capacity" in kinds else NotOffered
    )
    words = "; ".join(f"{one['zone']}: {one['code']}: {one['said']}" for one in asked)
    left = [word for one in run.attempts for word in one.get("left", [])]
    rest = f" Not seen to be gone: {'; '.join(left)}" if left else " Nothing remains and nothing was billed."
    return kind(
        f"deploying {run.plan.spec.name}", answered=f"{words}.{rest}", code=str(asked[-1]["code"]) if asked else "",
        fix="Ask for more of the quota that is named, or use another region.",
    )  # fmt: skip
