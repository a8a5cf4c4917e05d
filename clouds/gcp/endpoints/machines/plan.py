"""Plans a machine: reads only, every place in its order, the worst price. Both APIs are planned alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from clouds.base import IdentityReader, PriceBook, QuotaReader
from clouds.errors import CloudError, InvalidInput, NotOffered
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import commands, hardware, images, late, preflight
from clouds.gcp.endpoints import model as models
from clouds.gcp.endpoints.hardware import Shape
from clouds.gcp.endpoints.machines import calls, quota, selfrun, view
from clouds.gcp.endpoints.machines import serving as engines
from clouds.gcp.endpoints.machines.calls import Build
from clouds.gcp.endpoints.machines.common import Chosen
from clouds.gcp.endpoints.parts import kind_of
from clouds.models import Call, DeploymentPlan, DeploymentSpec, EndpointRef, EngineFacts, PlanStep, Price, Setting

MOST_PLACES, MOST_HOURS = 8, 168.0
"""Places that are tried; hours that a machine may run (Compute Engine's and the TPU API's run duration is 7 days)."""


class Builder(Protocol):
    """What differs between Compute Engine and the TPU API when a machine is planned."""

    @property
    def service(self) -> str:
        """Gce or tpu."""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """What it makes."""

    @property
    def default(self) -> str:
        """The accelerator where none is named."""

    @property
    def elsewhere(self) -> Mapping[str, str]:
        """Accelerators that another service makes, with the words that say so."""

    def chosen(self, settings: Mapping[str, Setting], ttl_hours: float) -> Chosen:
        """The settings. Raises InvalidInput."""

    def zones(self, spec: DeploymentSpec, chosen: Chosen, shape: Shape, project: str) -> tuple[list[str], list[str]]:
        """Zones with the hardware in order, and why others are left out. Raises NotOffered, or what is unreadable."""

    def prepare(self, build: Build, shape: Shape) -> Callable[[str, int], Sequence[Call]]:
        """Reads what all zones share; then the calls of one zone, by its name and number."""

    def warnings(self, build: Build, shape: Shape, zones: Sequence[str]) -> tuple[str, ...]:
        """What a person should know."""


@dataclass(frozen=True)
class Planner:
    """Makes plans. `digest` reads an image's digest: it asks outside Google Cloud."""

    api: GcpApi
    identity: IdentityReader
    quotas: QuotaReader
    prices: PriceBook
    builder: Builder
    digest: Callable[[str], str]

    def plan(self, spec: DeploymentSpec, now: datetime) -> DeploymentPlan:
        """No side effects. Raises InvalidInput before anything is sent, then what the project does not allow."""
        builder = self.builder
        chosen = builder.chosen(spec.settings, spec.ttl_hours)
        preflight.check_name(spec.name, calls.LONGEST_NAME)
        preflight.check_numbers(spec, MOST_HOURS)
        shapes = hardware.candidates(spec, builder.shapes, builder.default, builder.elsewhere)
        image = chosen.image or engines.IMAGES[shapes[0].tpu]
        late.check_image(image)
        serving = engines.of(
            spec.model, shapes[0].count, spec.settings, tpu=shapes[0].tpu, image=image, secret=chosen.hf_token_from,
            prepared=f"{chosen.prepare} sha256:{chosen.prepare_sha256}" if chosen.prepare else "",
        )  # fmt: skip
        warnings = list(engines.check(serving))
        for _, arm in selfrun.arms(serving, chosen.run_arms) if chosen.results else ():
            engines.check(arm)
        if word := hardware.fits(models.weights_gib(spec.model), shapes[0]):
            warnings.append(word)
        who = preflight.caller(self.api, self.identity)
        places, left, worst = self._places(spec, chosen, shapes, who.project, warnings)
        serving = replace(serving, image=images.pinned(image, self.digest))
        wait = timedelta(hours=chosen.waits)
        build = Build(
            builder.service, spec.name, who.project, who.owner, now + wait + timedelta(hours=spec.ttl_hours),
            round(spec.ttl_hours * 3600), serving, chosen,
        )  # fmt: skip
        zones = [zone for zone, _, _ in places]
        buckets = [spec.model, chosen.compile_cache, chosen.prepare, chosen.results, chosen.run_code]
        crossing = preflight.crossing(self.api, buckets, [preflight.region_of(zone) for zone in zones])
        steps = self._steps(build, places)
        zone, shape, price = places[0]
        return DeploymentPlan(
            spec=spec,
            ref=EndpointRef("gcp", builder.service, zone, spec.name),
            steps=tuple(steps),
            price=price,
            worst_usd_per_hour=worst,
            hardware=shape.record(),
            engine=EngineFacts(**engines.facts(serving)),
            left_out=tuple(left),
            warnings=(*warnings, *crossing, *builder.warnings(build, shape, zones)),
            ends=_ends(spec.ttl_hours, chosen),
        )

    def _places(
        self, spec: DeploymentSpec, chosen: Chosen, shapes: tuple[Shape, ...], project: str, warnings: list[str]
    ) -> tuple[list[tuple[str, Shape, Price]], list[str], float]:
        """Zone, shape and price of each place in order; what is left out and why; the dearest price."""
        found: list[tuple[str, Shape, Price]] = []
        left: list[str] = []
        refused: CloudError | None = None
        over: list[tuple[float, str]] = []
        for shape in shapes:
            try:
                zones, words = self.builder.zones(spec, chosen, shape, project)
            except NotOffered as error:
                left.append(f"{shape.type}: {error.answered}")
                refused = refused or error
                continue
            left += words
            allowed = quota.of(self.quotas, shape, zones, chosen.market)
            for zone in zones:
                price = view.price(self.prices, self.builder.service, shape, chosen.market, zone)
                if price is None:
                    left.append(
                        f"{shape.type} in {zone}: no {chosen.market} price known, so the ceiling cannot be kept"
                    )
                    continue
                if price.amount > spec.max_usd_per_hour:
                    left.append(f"{shape.type} in {zone}: ${price.amount:g} an hour is over ${spec.max_usd_per_hour:g}")
                    over.append((price.amount, left[-1]))
                    continue
                if len(found) >= MOST_PLACES:
                    left.append(f"{shape.type} in {zone}: {MOST_PLACES} places are tried at most")
                    continue
                allowance = allowed[zone]
                if allowance.refused is not None:
                    left.append(f"{shape.type} in {zone}: {allowance.refused.answered}")
                    refused = refused if isinstance(refused, type(allowance.refused)) else allowance.refused
                    continue
                warnings.append(f"{shape.type} in {zone}: ${price.amount:g}/h ({price.basis}, {price.as_of}); "
                                f"{allowance.words}")  # fmt: skip
                found.append((zone, shape, price))
        if found:
            return _cheapest_first(spec, found), left, max(price.amount for _, _, price in found)
        raise _nowhere(refused, over, left, chosen)

    def _steps(self, build: Build, places: list[tuple[str, Shape, Price]]) -> list[PlanStep]:
        rule = calls.rule(build)
        text = "let Google's relay (35.235.240.0/20) reach the model's port of this machine; nothing else is opened"
        steps = [_step(text, rule, "global", build)]
        made: dict[str, Callable[[str, int], Sequence[Call]]] = {}
        for number, (zone, shape, _) in enumerate(places):
            if shape.type not in made:
                made[shape.type] = self.builder.prepare(build, shape)
            steps.extend(
                _step(_words(build, shape, zone, number, call), call, zone, build)
                for call in made[shape.type](zone, number + 1)
            )
        return steps


def _nowhere(refused: CloudError | None, over: list[tuple[float, str]], left: list[str], chosen: Chosen) -> CloudError:
    """Where a machine was found and only the ceiling forbids it, that is the reason; the others stand behind it."""
    if refused is not None and not (over and isinstance(refused, NotOffered)):
        return refused
    if not over:
        words = "; ".join(left)[:900] or "no zone is left"
        return InvalidInput(
            "location", words, fix=f"Use a zone or market with a known price ({chosen.market} has none)."
        )
    dear = [word for _, word in over]
    others = "; ".join(word for word in left if word not in dear)[:400]
    words = "; ".join(dear)[:500] + (f"; besides: {others}" if others else "")
    return InvalidInput("max_usd_per_hour", words, fix=f"Allow max_usd_per_hour={min(usd for usd, _ in over):g}.")


def _cheapest_first(spec: DeploymentSpec, found: list[tuple[str, Shape, Price]]) -> list[tuple[str, Shape, Price]]:
    """As asked where types or zones were named; else the cheapest first."""
    if spec.instance_types or spec.location:
        return found
    return sorted(found, key=lambda place: place[2].amount)


def _words(build: Build, shape: Shape, zone: str, number: int, call: Call) -> str:
    if not kind_of(call).bills:
        return f"a scheduler job deletes it at {build.end:%Y-%m-%d %H:%M} UTC: the TPU API would not"
    begin = "ask for" if number == 0 else "if none is free there: ask for"
    hours = build.ttl_seconds / 3600
    waits = f" waits up to {build.chosen.wait_hours:g} h and" if build.chosen.waits else ""
    ends = f"it{waits} is deleted {hours:g} h after it runs" if "jobs" not in call.operation else ""
    return f"{begin} one {shape.type} ({build.chosen.market}) in {zone}; {ends}"


def _step(text: str, call: Call, place: str, build: Build) -> PlanStep:
    command = commands.command(call, build.project)
    return PlanStep(text=text, call=call, command=command, creates=True, location=place)


def _ends(hours: float, chosen: Chosen) -> str:
    """Flex-start counts from when the machine runs; every other end from when it was asked for."""
    if chosen.market != "flex-start":
        return ""
    return f"ends {hours:g} h after it runs, for which it may wait {chosen.waits:g} h"
