"""What a run is about to do, in plain words by name, and where that is not what the plan says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tools.measure.comparing.differences import AGAIN, BASE
from tools.measure.job import Job
from tools.measure.lines import line
from tools.measure.record import Departure, PlanCited
from tools.measure.registering.plans import Planned

OF_THE_ENGINE = ("engine ", "model")
"""What a variant changes on purpose."""
UNPLANNED = ""


def intended(job: Job, variants: Sequence[str], options: Mapping[str, str]) -> dict[str, str]:
    """Everything that is known before the first request, in the order in which it will happen."""
    ask, engine = job.ask, job.engine
    says = {
        "endpoint": job.subject.ref,
        "model": job.subject.model,
        "variants": ", ".join(variants),
        "profile": ask.profile.name,
        "measurements": ", ".join(each.name for each in job.measurements),
        "levels": ", ".join(map(str, ask.at)),
        "objective": f"TTFT {ask.objective.ttft_ms}, per token {ask.objective.tpot_ms} ms" if ask.objective else "",
    }
    if engine is not None:
        facts = engine.model_dump(include={"engine", "version", "image", "model_sha256", "quantization"})
        says |= {f"engine {name}".replace("engine engine", "engine name"): str(value) for name, value in facts.items()}
        flags = engine.settings.get("flags")
        says["engine flags"] = "" if flags is None else str(flags)
    for each in job.measurements:
        for name, value in each.plan(ask).settings.items():
            says[f"{each.name} {name}"] = _text(value)
    says |= {f"option {name}": value for name, value in options.items()}
    return {name: value for name, value in says.items() if value}


def cited(planned: Planned, now: Mapping[str, str], variant: str, at: str) -> PlanCited:
    """The plan as a run cites it. A variant's own engine is no departure; one that was not planned is."""
    of_variant = variant not in {"", BASE, BASE + AGAIN}
    found = []
    for what in dict.fromkeys((*planned.says, *now)):
        if of_variant and what.startswith(OF_THE_ENGINE):
            continue
        was, is_now = planned.says.get(what, UNPLANNED), now.get(what, UNPLANNED)
        if was != is_now:
            points = {"what": line(what, 200), "planned": line(was, 500), "done": line(is_now, 500)}
            found.append(Departure(at=at, reason=planned.reason, **points))
    return PlanCited(file=planned.path.name, sha256=planned.sha256, written=planned.written, departures=tuple(found))


def unfinished(plan: PlanCited, missing: Sequence[str], failure: str, at: str) -> PlanCited:
    """The same with what was planned and is not there at the end: that is a departure too."""
    added = tuple(
        Departure(at=at, what=line(each, 200), planned="measured", done="missing", reason=line(failure, 500))
        for each in missing
    )
    return plan.model_copy(update={"departures": (*plan.departures, *added)})


def _text(value: Any) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
