"""Carries a plan out, region after region, until an endpoint is up; a killed run is taken up again.

What a run needs to know of an earlier one is in the ledger's facts: the promised end, and how each region ended.
Everything else is read from Azure. A step without a location of its own is shared by all regions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clouds.azure.endpoints import binding, ending, parts, promise, removal, tags
from clouds.azure.endpoints.making import Maker
from clouds.errors import (
    Cancelled,
    CloudError,
    Conflict,
    NoCapacity,
    NotOffered,
    QuotaTooSmall,
    Throttled,
    Unexpected,
    Unreachable,
)
from clouds.models import Call, DeletedPart, DeploymentPlan, PlanStep

TRY_ELSEWHERE = (NoCapacity, QuotaTooSmall, NotOffered)
BLIND_TRIES = 8
"""Readings in a row that may fail before a watch is given up; the endpoint itself goes on."""


class StartFailed(Exception):
    """It will not start here, for another reason than room: what was made has to be taken back."""

    def __init__(self, cause: CloudError) -> None:
        super().__init__(str(cause))
        self.cause = cause


Undo = Callable[[Maker, Sequence[Call]], removal.Removed]


@dataclass
class Run:
    """One run of create: the bound steps, and what the regions said so far.

    `awaited` is the wait for a first token as the ledger has it: a row that is open until the token came.
    """

    maker: Maker
    plan: DeploymentPlan
    steps: tuple[PlanStep, ...]
    end: datetime
    now: Callable[[], datetime]
    pause: Callable[[float], None]
    undoing: Undo
    awaited: Call
    attempts: list[dict[str, Any]] = field(default_factory=list)
    token: int = 0
    before: Callable[[Call], None] = lambda _: None
    """Told of each call before it is sent; what it raises is the call's own refusal."""
    explain: Callable[[Call, CloudError], None] = lambda _call, _error: None
    """Told of what a call was refused with, before anything is taken back: it may add what a log says."""
    location_of: Callable[[str], str] = lambda region: region
    """The location for what a step's own stands for (Azure ML tries sizes in one location)."""

    @property
    def regions(self) -> tuple[str, ...]:
        """In the order of the plan."""
        return tuple(dict.fromkeys(step.location for step in self.steps if step.location))

    def of(self, region: str) -> list[Call]:
        """The calls of one region; "" for what they share."""
        return [step.call for step in self.steps if step.location == region]

    def tried(self, region: str) -> dict[str, Any] | None:
        """How a region ended in this deployment, if it did."""
        return next((one for one in self.attempts if one["region"] == region), None)

    def remember(self, **facts: Any) -> None:
        """Write down facts and attempts."""
        self.maker.ledger.remember(self.plan.deployment, {**facts, "attempts": self.attempts})


def begin(
    plan: DeploymentPlan,
    maker: Maker,
    now: Callable[[], datetime],
    pause: Callable[[float], None],
    undoing: Undo,
    awaited: Call,
) -> Run:
    """Take up what an earlier run left, with the end that it promised; start anew where it had come to its end."""
    promised = promise.taken_up(maker.ledger.facts(plan.deployment), now(), plan.spec.ttl_hours)
    attempts = [dict(one) for one in promised.attempts]
    steps = binding.bind(plan, promised.end)
    run = Run(maker, plan, steps, promised.end, now, pause, undoing, awaited, attempts)
    if not promised.going_on:
        if any(step.state in {"intent", "done"} for step in maker.ledger.steps(plan.deployment)):
            undo(run, [step.call for step in steps])
        run.remember(expires=tags.stamp(promised.end), ended=False, doomed=False)
    return run


def carry_out(run: Run, up: Callable[[Run, str], None]) -> str:
    """Returns the region in which it is up. Raises what the last region said when none has it.

    `up` waits until it is, and raises NoCapacity, QuotaTooSmall or NotOffered to go on elsewhere, else StartFailed.
    """
    _make(run, "", everything=True)
    for region in run.regions:
        earlier = run.tried(region)
        if earlier is not None:
            if not earlier["undone"]:
                _give_up(run, region, earlier)
            continue
        try:
            _make(run, region)
            run.token = run.maker.begin(run.awaited)
            up(run, region)
            _check_not_over(run)
        except TRY_ELSEWHERE as error:
            attempt = _attempt(run, region, error)
            run.attempts.append(attempt)
            run.remember()
            _give_up(run, region, attempt)
        except StartFailed as error:
            _end(run)
            raise error.cause from None
        except Cancelled:
            _end(run)
            raise
        else:
            return region
    removed = undo(run, run.of(""))
    run.remember(ended=removed.gone and all(one["undone"] for one in run.attempts))
    raise nowhere(run, removed)


def _make(run: Run, region: str, *, everything: bool = False) -> None:
    """Make parts. What refuses for another reason than room takes back what was made, then is raised."""
    run.remember(**({"location": run.location_of(region)} if region else {}))
    try:
        for call in run.of(region):
            run.maker.progress.report(f"{region or 'first'}: {call.service.rsplit('/', 1)[-1]}")
            run.before(call)
            try:
                found = run.maker.make(call)
            except CloudError as error:
                run.explain(call, error)
                raise
            if call.service == ending.WORKFLOW:
                run.maker.words[ending.PRINCIPAL] = ending.principal_of(found.resource)
    except TRY_ELSEWHERE as error:
        if not everything:
            raise
        _taken_back(run, error)
        raise
    except CloudError as error:
        _taken_back(run, error)
        raise
    except Cancelled:
        _end(run)
        raise


def _taken_back(run: Run, error: CloudError) -> None:
    removed = _end(run)
    left = ", ".join(f"{part.part} ({part.detail})" for part in removed.parts if part.outcome == "still there")
    if left:
        error.fix = f"{error.fix} Not seen to be gone: {left}."[:900]
    error.sent = error.sent or bool(run.maker.begun([step.call for step in run.steps]))


def _end(run: Run) -> removal.Removed:
    removed = undo(run, [step.call for step in run.steps])
    run.remember(ended=removed.gone, doomed=bool(removed.later))
    return removed


def undo(run: Run, calls: Sequence[Call]) -> removal.Removed:
    """Remove what these calls made. Never raises a CloudError: what is left is in the answer."""
    try:
        steady = run.maker.steady(run.pause)
        steady.drop(str(run.awaited))
        return run.undoing(steady, run.maker.begun(calls))
    except CloudError as error:
        part = DeletedPart(part="what was made", outcome="still there", detail=str(error)[:300])
        return removal.Removed((part,))


def _check_not_over(run: Run) -> None:
    """Raises StartFailed when the promised end came before it was up."""
    if run.end > run.now():
        return
    raise StartFailed(
        Conflict(
            f"deploying {run.plan.spec.name}",
            answered=f"it was up only after its own end ({tags.stamp(run.end)})",
            fix="Deploy it again with more ttl_hours.",
        )
    )


def _give_up(run: Run, region: str, attempt: dict[str, Any]) -> None:
    """Take a region's parts away. Raises Unexpected when they stay: the next place needs the same names."""
    removed = undo(run, run.of(region))
    attempt["undone"] = removed.gone
    attempt["left"] = [f"{part.part}: {part.detail}" for part in removed.parts if part.outcome == "still there"]
    run.remember(**({"doomed": True} if removed.later else {}))
    if not removed.gone:
        raise Unexpected(
            f"deploying {run.plan.spec.name}",
            answered=f"{region}: {_said(attempt)}. It could not be taken back: {'; '.join(attempt['left'])}",
            code=str(attempt["code"]),
            fix="Repeat this call: it takes that back first, then goes on elsewhere. delete_endpoint ends it.",
        )


def _attempt(run: Run, region: str, error: CloudError) -> dict[str, Any]:
    hardware, where = run.plan.hardware, run.location_of(region)
    kind = hardware.instance_type if hardware else ""
    return {
        "region": region,
        "types": [kind if where == region else region],
        "waited_seconds": _waited(run) if isinstance(error, NoCapacity) else 0,
        "kind": error.kind,
        "code": error.code,
        "said": error.answered,
        "undone": False,
    }


def _waited(run: Run) -> float:
    """Seconds since the newest call of what bills was written down."""
    rows = run.maker.ledger.steps(run.plan.deployment)
    at = [row.at for row in rows if str(row.call) in parts.KINDS and parts.kind_of(row.call).bills]
    try:
        return round((run.now() - datetime.fromisoformat(at[-1])).total_seconds(), 1) if at else 0.0
    except (ValueError, TypeError):
        return 0.0


def nowhere(run: Run, removed: removal.Removed) -> CloudError:
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
    left += [f"{part.part}: {part.detail}" for part in removed.parts if part.outcome == "still there"]
    rest = f"Not seen to be gone: {'; '.join(left)}." if left else "Nothing remains and nothing was billed."
    return kind(
        f"deploying {run.plan.spec.name}",
        answered=f"{words}. {rest}",
        code=str(run.attempts[-1]["code"]),
        fix="Name other regions or sizes (check_quota shows where there is quota), or try again later.",
    )


def _said(attempt: Mapping[str, Any]) -> str:
    """Azure's words, with its code where they do not hold it already."""
    code, words = str(attempt["code"]), str(attempt["said"]).rstrip(".")
    return words if code in words else f"{code}: {words}"


def patiently(blind: int, error: CloudError) -> int:
    """How many readings failed in a row; raises the error when it is none that passes, or has not passed."""
    if not isinstance(error, Throttled | Unreachable | Unexpected) or blind + 1 >= BLIND_TRIES:
        raise error
    return blind + 1
