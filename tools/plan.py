"""plan_deployment, and the way from a client's words to a plan that deploy_endpoint shares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from clouds.base import Cloud, EndpointService, Missing
from clouds.errors import CloudError, InvalidInput
from clouds.models import DeploymentPlan, DeploymentSpec, Price, Record, Setting
from clouds.models import accelerator as known_accelerator
from tools.alternatives import alternatives, service_with
from tools.context import Clouds
from tools.figures import duration, rate
from tools.registry import Effect, Tool
from tools.result import Result
from tools.settings import Settings

Model = Annotated[
    str, Field(description="model id, catalogue name or GGUF path; empty: from settings; local has one", max_length=400)
]
Name = Annotated[
    str, Field(description="a-z 0-9 -; empty: from the model", pattern=r"^([a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?)?$")
]
Words = tuple[Annotated[str, Field(max_length=60, pattern=r"^[A-Za-z0-9._-]+$")], ...]
EngineSettings = Annotated[
    dict[str, str | int | float | bool], Field(description="engine settings; plan_deployment lists them")
]
Ceiling = Annotated[float, Field(ge=0, le=10_000, description="ceiling in $/h; 0: from settings (1.50)")]
Hours = Annotated[float, Field(ge=0, le=720, description="ends by itself after this; 0: from settings (4 h)")]
SHORTEST_HOURS = 10 / 3600
"""Ten seconds: an end that is nearer comes before anything could be served."""
_SETTING = re.compile(r"(?<![\w.])settings\.")
"""How a service names one of its settings."""


class Planned(Record):
    """One step of a plan, and the cloud's own command for it."""

    step: str
    command: str
    reversal: str


class PlanView(Result):
    """What a deployment would do and cost. Nothing has been changed."""

    endpoint: str
    model: str
    ends_after_seconds: float | None = None
    usd_per_hour: float | None = None
    worst_usd_per_hour: float | None = None
    price_of: str = ""
    expected_seconds: float | None = None
    weights_bytes: int | None = None
    kv_cache_bytes: int | None = None
    planned: tuple[Planned, ...]
    left_out: tuple[str, ...] = ()
    settings_taken: Mapping[str, str] = {}


def plan_deployment(
    cloud: Cloud,
    clouds: Clouds,
    settings: Settings,
    model: Model = "",
    service: Annotated[str, Field(max_length=40)] = "",
    name: Name = "",
    location: Annotated[str, Field(max_length=60)] = "",
    regions: Words = (),
    accelerator: Annotated[str, Field(max_length=40)] = "",
    instance_types: Words = (),
    max_usd_per_hour: Ceiling = 0,
    ttl_hours: Hours = 0,
    engine_settings: EngineSettings = {},  # noqa: B006 - never changed
) -> PlanView:
    """Show what deploy_endpoint would do and cost, with the cloud's own commands, without doing it."""
    chosen, spec = specify(
        cloud,
        settings,
        model,
        service,
        name,
        location,
        regions,
        accelerator,
        instance_types,
        max_usd_per_hour,
        ttl_hours,
        engine_settings,
    )
    plan = priced(cloud, planned(chosen, spec))
    spec = plan.spec
    elsewhere, cheaper = alternatives(clouds, cloud, plan)
    return PlanView(
        headline=f"Would deploy `{plan.ref}`: {price_words(plan.price, cloud)}, "
        f"{plan.ends or f'ends {spec.ttl_hours:g} h after it was asked for'}. Nothing has been changed.",
        endpoint=str(plan.ref),
        model=spec.model,
        ends_after_seconds=None if plan.ends else spec.ttl_hours * 3600,
        usd_per_hour=plan.price.amount if plan.price else None,
        worst_usd_per_hour=plan.worst_usd_per_hour,
        price_of=f"{plan.price.basis}, {plan.price.source}, {plan.price.as_of}" if plan.price else "",
        expected_seconds=plan.expected_seconds,
        weights_bytes=plan.engine.weights_bytes if plan.engine else None,
        kv_cache_bytes=plan.engine.kv_cache_bytes if plan.engine else None,
        planned=tuple(Planned(step=step.text, command=step.command, reversal=step.reversal) for step in plan.steps),
        left_out=plan.left_out,
        settings_taken=dict(chosen.settings),
        notes=(*plan.warnings, *elsewhere),
        next=f"deploy_endpoint with the same arguments. {cheaper}".strip(),
    )


def specify(
    cloud: Cloud,
    settings: Settings,
    model: str,
    service: str,
    name: str,
    location: str,
    regions: tuple[str, ...],
    accelerator: str,
    instance_types: tuple[str, ...],
    max_usd_per_hour: float,
    ttl_hours: float,
    engine_settings: Mapping[str, Setting],
) -> tuple[EndpointService, DeploymentSpec]:
    """Fill in what was left out: without a service, the first that has the accelerator, else the first.

    Raises InvalidInput for a service that the cloud has not, and for an end that is too near.
    """
    if 0 < ttl_hours < SHORTEST_HOURS:
        raise InvalidInput(
            "ttl_hours", f"an end after {duration(ttl_hours * 3600)} comes before it could serve",
            fix="Give 0.003 (ten seconds) to 720 hours.",
        )  # fmt: skip
    services = cloud.endpoints
    chosen = service or (accelerator and service_with(cloud, accelerator)) or next(iter(services), "")
    if chosen not in services:
        raise InvalidInput(
            "service",
            f"{cloud.name} has no {service[:40]!r}",
            fix=f"It has {', '.join(services)}.",
            allowed=tuple(services),
        )
    wanted = model or settings["model"]
    return services[chosen], DeploymentSpec(
        cloud=cloud.name,
        service=chosen,
        name=name or (slug(wanted) if wanted else ""),
        model=wanted,
        location=location or None,
        regions=regions or settings["regions"],
        accelerator=known_accelerator(accelerator) if accelerator else None,
        instance_types=instance_types,
        max_usd_per_hour=max_usd_per_hour or settings["max_usd_per_hour"],
        ttl_hours=ttl_hours or settings["ttl_hours"],
        settings=dict(engine_settings),
    )


def planned(service: EndpointService, spec: DeploymentSpec) -> DeploymentPlan:
    """The service's plan. Where neither name nor model was given, the name comes from the model it chose.

    What it says of its settings is said with the name that the caller gave them under.
    """
    try:
        if spec.name:
            return service.plan(spec)
        chosen = service.plan(replace(spec, name="unnamed"))
        return service.plan(replace(spec, name=slug(chosen.spec.model)))
    except CloudError as error:
        error.fix = _SETTING.sub("engine_settings.", error.fix)
        if not isinstance(error, InvalidInput) or not _SETTING.match(error.field):
            raise
        problem = str(error).partition("`: ")[2]
        field = _SETTING.sub("engine_settings.", error.field)
        raise InvalidInput(field, problem, fix=error.fix, allowed=error.allowed) from None


def slug(model: str) -> str:
    """A name from a model id: `google/gemma-4-E2B-it` -> `gemma-4-e2b-it`; `model` when nothing is left."""
    last = model.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".gguf")
    return re.sub(r"[^a-z0-9]+", "-", last.lower()).strip("-")[:40].strip("-") or "model"


def priced(cloud: Cloud, plan: DeploymentPlan) -> DeploymentPlan:
    """The plan, once its price is known to be under the ceiling. A cloud without prices is exempt."""
    if isinstance(cloud.prices, Missing):
        return plan
    ceiling = plan.spec.max_usd_per_hour
    worst = (
        plan.worst_usd_per_hour if plan.worst_usd_per_hour is not None else plan.price.amount if plan.price else None
    )
    if worst is None:
        raise InvalidInput(
            "max_usd_per_hour",
            f"${ceiling:g} an hour cannot be kept: no price is known for what {plan.ref} would run on",
            fix="Choose an instance type with a known price.",
        )
    if worst > ceiling:
        raise InvalidInput(
            "max_usd_per_hour",
            f"${ceiling:g} is below the ${worst:g} an hour that {plan.ref} may cost",
            fix=f"Allow max_usd_per_hour={worst:g}, or choose a smaller type.",
        )
    return plan


def price_words(price: Price | None, cloud: Cloud) -> str:
    """ "$1.1267 an hour (…)", or why there is none."""
    if price is not None:
        return f"{rate(price.amount)} an hour ({price.basis}, list price of {price.as_of})"
    return "nothing by the hour" if isinstance(cloud.prices, Missing) else "at an unknown price"


PLAN_DEPLOYMENT = Tool(plan_deployment, title="Plan deployment", effect=Effect.READ)
