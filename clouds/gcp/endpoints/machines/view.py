"""One machine as an endpoint: state, bills, engine, phases. Pure: everything was read before."""

from __future__ import annotations

from collections.abc import Sequence

from clouds import enginelog
from clouds.base import PriceBook
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.hardware import Shape, find
from clouds.gcp.endpoints.machines import marks
from clouds.gcp.endpoints.machines import serving as engines
from clouds.gcp.endpoints.machines.held import Held, Standing
from clouds.models import Endpoint, EndpointRef, EngineFacts, Hardware, Phase, Price

ALIKE = "a request without quota and one without capacity look alike while they wait: neither is answered"


def price_key(service: str, kind: str, market: str) -> str:
    """The price table's key of a machine: `gce/ct6e-standard-1t/flex-start`."""
    return f"{service}/{kind}/{market}"


def region_of(zone: str) -> str:
    """`europe-west4-a` -> `europe-west4`."""
    return zone.rsplit("-", 1)[0] if zone.count("-") > 1 else zone


def price(prices: PriceBook, service: str, shape: Shape, market: str, zone: str) -> Price | None:
    """The price of one machine in its region, else None: unknown, never $0."""
    return prices.price(price_key(service, shape.type, market), region_of(zone))


def standing(held: Held, lines: Sequence[str] | None) -> Standing:
    """What the cloud's state means, with the engine's own progress where the machine runs."""
    if held.standing.state != "loading":
        return held.standing
    if tags.moment(held.labels.get(tags.READY, "")):
        return Standing("ready", True, held.standing.reason)
    words = marks.progress(lines or ())
    return Standing("loading", True, f"last seen: {words}" if words else "it runs; its log shows no phase yet")


def build(
    ref: EndpointRef,
    held: Held,
    lines: Sequence[str] | None,
    prices: PriceBook,
    shapes: tuple[Shape, ...],
    quota: str = "",
) -> Endpoint:
    """The record from what was read. `quota` is the quota as it was read while it waits."""
    now, serving = standing(held, lines), held.serving
    shape = find(shapes, held.type)
    facts = enginelog.read(lines or ())
    model = serving.model if serving else ""
    reason = now.reason
    if now.state == "waiting_for_capacity":
        reason = "; ".join(word for word in (now.reason, ALIKE, quota) if word)
    return Endpoint(
        ref=str(ref),
        state=now.state,
        cloud_status=f"{held.status} ({held.market}, {held.zone})",
        billing=now.billing,
        model=model,
        reason=reason,
        created=tags.iso(held.created) if held.created else "",
        expires=tags.iso(held.ends) if held.ends else tags.end_of(held.labels),
        deployment=held.deployment,
        account=held.project,
        engine=_engine(facts, held),
        hardware=shape.record() if shape else Hardware(instance_type=held.type),
        price=price(prices, ref.service, shape, held.market, held.zone) if shape else None,
        phases=_phases(held, lines or (), facts),
    )


def _phases(held: Held, lines: Sequence[str], facts: EngineFacts | None) -> tuple[Phase, ...]:
    """The stretches of its start, the compile told apart from the rest of the engine's start where the log says it."""
    found = marks.phases(held.created, lines) if lines else ()
    compiled = facts.settings.get("compile_seconds") if facts is not None else None
    if not isinstance(compiled, int | float) or not found or found[-1].name != marks.LOADING:
        return found
    rest = found[-1].seconds - compiled
    if rest < 0:
        return found
    return (
        *found[:-1],
        Phase(name="loading and warming up", seconds=round(rest, 1)),
        Phase(name="XLA compile", seconds=round(float(compiled), 1)),
    )


def _engine(facts: EngineFacts | None, held: Held) -> EngineFacts | None:
    """What the log says, with what the machine was told where the log is silent."""
    serving = held.serving
    if serving is None:
        return facts
    told = engines.facts(serving)
    if facts is None:
        return EngineFacts(**told)
    named = serving.model if not facts.model or facts.model.startswith("/models/") else facts.model
    settings = {**told["settings"], **facts.settings}
    return facts.model_copy(update={"model": named, "image": serving.image, "settings": settings})
