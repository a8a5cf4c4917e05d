"""Carries a plan out, place after place, until a machine runs; a killed run is taken up again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clouds.errors import Cancelled, CloudError, NoCapacity, NotOffered, QuotaTooSmall
from clouds.gcp import errors
from clouds.gcp.endpoints import binding, promise
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.machines import removal
from clouds.gcp.endpoints.machines.settling import Settler
from clouds.gcp.endpoints.machines.world import World
from clouds.gcp.endpoints.making import Maker
from clouds.gcp.endpoints.parts import kind_of
from clouds.models import Call, DeletedPart, DeploymentPlan, EndpointRef, PlanStep

TRY_ELSEWHERE = (NoCapacity, NotOffered, QuotaTooSmall)
AWAITED = "iap.connect"
"""How the ledger names the wait for a first token, which ends with a request through the tunnel."""


def awaited(name: str) -> Call:
    """The wait for a first token, as the ledger has it: open before anything bills, until the token came."""
    service, operation = AWAITED.split(".")
    return Call(service, operation, {"name": name})


@dataclass
class Run:
    """One run of create: the bound steps, and what every place said so far."""

    maker: Maker
    world: World
    plan: DeploymentPlan
    steps: tuple[PlanStep, ...]
    end: datetime
    now: Callable[[], datetime]
    pause: Callable[[float], None]
    attempts: list[dict[str, Any]] = field(default_factory=list)
    token: int = 0
    """The ledger's open row of the wait for a first token."""

    @property
    def zones(self) -> list[str]:
        """In the order of the plan."""
        return [*dict.fromkeys(step.location for step in self.steps if step.location != "global")]

    def of(self, place: str) -> list[PlanStep]:
        """The steps of one zone, or those of the whole project ("global")."""
        return [step for step in self.steps if step.location == place]

    def ref(self, zone: str) -> EndpointRef:
        """The endpoint if it is in that zone."""
        return EndpointRef("gcp", self.world.word, zone, self.plan.spec.name)

    def remember(self, **facts: Any) -> None:
        """Write down facts and attempts."""
        self.maker.ledger.remember(self.plan.deployment, {**facts, "attempts": self.attempts})


def begin(
    plan: DeploymentPlan, world: World, maker: Maker, now: Callable[[], datetime], pause: Callable[[float], None]
) -> Run:
    """Take up what an earlier run left, with the end that it promised; start anew where it had come to its end."""
    waits = float(plan.spec.settings.get("wait_hours", 2.0)) if plan.spec.settings.get("market") == "flex-start" else 0
    promised = promise.taken_up(maker.ledger.facts(plan.deployment), now(), plan.spec.ttl_hours + waits)
    attempts = [dict(one) for one in promised.attempts]
    run = Run(maker, world, plan, binding.bind(plan, promised.end), promised.end, now, pause, attempts)
    if not promised.going_on:
        if any(step.state in {"intent", "done"} for step in maker.ledger.steps(plan.deployment)):
            undo(run, [*run.zones, "global"])
        run.remember(expires=tags.iso(promised.end), ended=False)
    return run


def carry_out(run: Run) -> str:
    """Returns the zone in which a machine runs. Raises what the places said when none had one."""
    over = [zone for zone in run.zones if any(one["zone"] == zone and one.get("over") for one in run.attempts)]
    left = [zone for zone in run.zones if zone not in over]
    try:
        undo(run, over)
        for step in run.of("global"):
            run.maker.progress.report(step.text)
            run.maker.make(step.call, "global")
        while left:
            zone = left.pop(0)
            run.remember(location=zone)
            if _start(run, zone):
                return zone
            gone = undo(run, [zone])
            run.attempts.append({"zone": zone, "over": True, "left": _left(gone)})
            run.remember()
            hinted = {hint for one in run.attempts for hint in one.get("elsewhere", ())}
            left.sort(key=lambda one: one not in hinted)  # a stockout's own hint goes first; the rest keeps its order
    except Cancelled:
        run.remember(ended=_gone(undo(run, [*run.zones, "global"])))
        raise
    except CloudError as error:
        parts = undo(run, [*run.zones, "global"])
        run.remember(ended=_gone(parts))
        words = ", ".join(f"{part.part} ({part.detail})" for part in parts if part.outcome == "still there")
        if words:
            error.fix = f"{error.fix} Not seen to be gone: {words}."[:900]
        calls = [step.call for place in (*run.zones, "global") for step in run.of(place)]
        error.sent = error.sent or bool(removal.begun(run.maker, calls))
        raise
    parts = undo(run, ["global"])
    run.remember(ended=_gone(parts) and not any(one.get("left") for one in run.attempts))
    raise nowhere(run)


def _start(run: Run, zone: str) -> bool:
    """Make what belongs to the zone, ask type after type until a machine runs there. False when it had none."""
    run.token = run.maker.begin(awaited(run.plan.spec.name))
    for step in run.of(zone):
        kind = kind_of(step.call)
        run.maker.progress.report(f"{zone}: {step.text}")
        try:
            facts = run.maker.make(step.call, zone)
            if kind.bills:
                Settler(run.world, run.maker).until_running(run.ref(zone), step.call, facts)
                return True
        except TRY_ELSEWHERE as error:
            said = {"kind": error.kind, "code": error.code, "said": error.answered}
            hints = errors.elsewhere(error)
            run.attempts.append({"zone": zone, "type": _type(step), **said, **({"elsewhere": hints} if hints else {})})
            run.remember()
            if not kind.bills or not _gone(removal.remove(run.maker.steady(run.pause), [step.call])):
                return False
    return False


def _type(step: PlanStep) -> str:
    """The type in the words of a step: "start one v6e-1 (spot) in …"."""
    words = step.text.split(" (", 1)[0].split()
    return words[-1] if words else ""


def undo(run: Run, places: list[str]) -> tuple[DeletedPart, ...]:
    """Remove what these places hold of this deployment. Never raises a CloudError: what is left is in the answer."""
    run.maker.drop(AWAITED)
    calls = removal.begun(run.maker, [step.call for place in places for step in run.of(place)])
    try:
        return removal.remove(run.maker.steady(run.pause), calls)
    except CloudError as error:
        return (DeletedPart(part=f"parts in {', '.join(places)}", outcome="still there", detail=str(error)[:300]),)


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
    hints = sorted({zone for one in asked for zone in one.get("elsewhere", ())} - set(run.zones))
    there = f"Google says that {', '.join(hints)} has some now. " if hints else ""
    fewer = "Ask for fewer chips: a v6e-8 waited 26 minutes in vain where a v6e-4 was granted at once (2026-10-25)."
    return kind(
        f"deploying {run.plan.spec.name}",
        answered=f"{words}.{rest}",
        code=str(asked[-1]["code"]) if asked else "",
        fix=f"{there}Name other zones or another market (spot, flex-start, on-demand). {fewer}",
    )
