"""Plans a Container App: reads only, and everything that Azure would refuse late is refused here first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import ending, ids, parts, preflight, rates, serving, values
from clouds.azure.endpoints import model as models
from clouds.azure.endpoints.containerapps import calls, probes, room, steps
from clouds.azure.endpoints.containerapps import settings as options
from clouds.azure.endpoints.containerapps.calls import Build
from clouds.azure.endpoints.web import Web
from clouds.azure.prices import AzurePrices
from clouds.azure.sizes import Profile
from clouds.errors import CloudError, Conflict, InvalidInput, NotFound
from clouds.models import (
    Call,
    DeploymentPlan,
    DeploymentSpec,
    EndpointRef,
    Hardware,
    Price,
    Scope,
    accelerator,
)

LONGEST_NAME = 32
DEFAULT_REGIONS = ("swedencentral",)
"""Where T4 and A100 were both offered from the beginning (Microsoft Learn, read 2026-09)."""
ENDS = (
    "its end: with no request for {seconds} s its last replica goes and nothing bills; the app itself stays until "
    "delete_endpoint, and a request with its key wakes it again"
)


@dataclass(frozen=True)
class Place:
    """One region: what can be made there, or why nothing can."""

    region: str
    price: Price | None = None
    existing: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    refused: CloudError | None = None


@dataclass(frozen=True)
class Planner:
    """Makes plans from what the subscription, its quotas and the prices say now."""

    api: AzureApi
    web: Web
    prices: AzurePrices

    def plan(self, spec: DeploymentSpec, now: datetime) -> DeploymentPlan:
        """No side effects. Raises InvalidInput before anything is sent, then what the subscription does not allow."""
        chosen = options.choose(spec.settings)
        values.check_name(spec.name, 2, LONGEST_NAME)
        values.check_numbers(spec)
        warnings = list(models.check(spec.model, chosen.engine.name))
        serving.arguments(chosen.engine, spec.model)
        gpu = gpu_of(spec)
        regions = self._regions(spec, chosen)
        warnings += [word for word in (models.fits(spec.model, gpu.accelerator, gpu.accelerator_mib / 1024),) if word]
        said = (probes.too_slow(spec.model), models.on_old_card(chosen.engine.name, gpu.accelerator))
        warnings += [word for word in said if word]
        subscription = self._subscription(chosen)
        preflight.registered(self.api, subscription, ("Microsoft.App", *_providers(chosen)))
        image = self.web.digest_of(chosen.image or serving.IMAGES[chosen.engine.name])
        group = ids.group(subscription, chosen.resource_group or calls.group_name(spec.name))
        self._check_free(spec, chosen, group)
        if chosen.scheduled_end and (why := ending.why_not(self.api, f"/subscriptions/{subscription}")):
            raise _endless(chosen, why)
        places = [self._place(spec, chosen, gpu, region, subscription) for region in regions]
        usable = [place for place in places if place.refused is None]
        if not usable:
            raise _nowhere(places)
        end = now + timedelta(hours=spec.ttl_hours)
        owner = preflight.owner(self.api, subscription)
        first = Build(
            spec.name, spec.model, usable[0].region, subscription, owner, end, image, gpu, chosen, usable[0].existing
        )
        builds = [replace(first, region=place.region, existing=place.existing) for place in usable]
        prices = [place.price for place in usable if place.price is not None]
        return DeploymentPlan(
            spec=spec,
            ref=EndpointRef("azure", "containerapps", usable[0].region, spec.name),
            steps=tuple(steps.of(first, builds)),
            price=usable[0].price,
            worst_usd_per_hour=max(price.amount for price in prices) * chosen.max_replicas if prices else None,
            hardware=_hardware(gpu),
            engine=chosen.engine.facts(image, spec.model),
            expected_seconds=probes.expected_start(spec.model),
            left_out=tuple(f"{place.region}: {place.refused}" for place in places if place.refused is not None),
            warnings=(
                *warnings,
                *(word for place in usable for word in place.warnings),
                _about_end(spec.model, chosen),
            ),
            ends=_without_end(chosen),
        )

    def _regions(self, spec: DeploymentSpec, chosen: options.Chosen) -> tuple[str, ...]:
        named = (spec.location,) if spec.location else spec.regions
        if chosen.environment:
            held = self._environment(chosen.environment)
            there = calls.region_of(held)
            if named and there not in {values.region(one) for one in named}:
                raise InvalidInput("environment", f"it is in {there}", fix=f"Give location={there}, or leave it out.")
            return (there,)
        return tuple(dict.fromkeys(values.region(one) for one in named or DEFAULT_REGIONS))

    def _subscription(self, chosen: options.Chosen) -> str:
        default = self.api.directory.default()
        if chosen.environment and ids.subscription_of(chosen.environment) != default:
            raise InvalidInput(
                "environment", "it is in another subscription than the one that is set",
                fix=f"Run `az account set --subscription {ids.subscription_of(chosen.environment)}`.",
            )  # fmt: skip
        return default

    def _environment(self, place: str) -> Mapping[str, Any]:
        try:
            held: Mapping[str, Any] = self.api.send(Call(parts.ENVIRONMENT, "get", {"id": place}), scope=Scope())
        except NotFound:
            raise InvalidInput("environment", "there is none with this id", fix="Give its whole id.") from None
        return held

    def _check_free(self, spec: DeploymentSpec, chosen: options.Chosen, group: str) -> None:
        """Raises Conflict where somebody else's things have our names: ARM would overwrite them."""
        wanted = [Call(parts.APP, "put", {"id": ids.within(group, parts.APP, spec.name)})]
        if not chosen.resource_group:
            wanted.append(Call(parts.GROUP, "put", {"id": group}))
        elif parts.look(self.api, Call(parts.GROUP, "put", {"id": group})) is None:
            raise InvalidInput("resource_group", "there is none of that name", fix="Make it, or leave it out.")
        for call in wanted:
            found = parts.look(self.api, call)
            if found is not None and not found.deployment:
                raise Conflict(
                    f"planning {spec.name}",
                    answered=f"{found.id} exists already and modelrig did not make it",
                    fix="Choose another name.",
                )

    def _place(
        self, spec: DeploymentSpec, chosen: options.Chosen, gpu: Profile, region: str, subscription: str
    ) -> Place:
        """One region; one that does not offer the GPU, has no quota for it or costs too much is left out."""
        try:
            existing = self._environment(chosen.environment) if chosen.environment else None
            _check_profiles(existing, gpu)
            room.check_offered(self.api, gpu, region, subscription)
            quota = room.of(self.api, gpu.accelerator, region, subscription, chosen.environment)
            room.check(quota, gpu.accelerator, region)
            warnings = (room.UNSURE.format(room=quota.name),) if quota.free is None else ()
            price = rates.replica(self.prices, gpu.accelerator, gpu.vcpus, gpu.memory_gib, region, fresh=True)
            if price is not None and price.amount * chosen.max_replicas > spec.max_usd_per_hour:
                raise InvalidInput(
                    "max_usd_per_hour",
                    f"{chosen.max_replicas} x {gpu.accelerator} in {region} is "
                    f"${price.amount * chosen.max_replicas:.2f} an hour",
                    fix="Allow that much, or take the smaller GPU or fewer replicas.",
                )
            return Place(region, price, existing, warnings)
        except CloudError as error:
            return Place(region, refused=error)


def gpu_of(spec: DeploymentSpec) -> Profile:
    """The profile for what was asked: by accelerator, by its own name, else the smaller GPU. Raises InvalidInput."""
    wanted = accelerator(spec.accelerator) if spec.accelerator else ""
    found = [gpu for gpu in calls.gpus() if wanted in ("", gpu.accelerator)]
    if spec.instance_types:
        named = {kind.lower() for kind in spec.instance_types}
        found = [gpu for gpu in found if gpu.profile.lower() in named]
    if found:
        return found[0]
    raise InvalidInput(
        "accelerator" if spec.accelerator else "instance_types",
        f"{spec.accelerator or ', '.join(spec.instance_types)} is not a serverless GPU of Container Apps",
        fix=f"Use {' or '.join(gpu.accelerator for gpu in calls.gpus())}; service=ml has other sizes.",
        allowed=tuple(gpu.accelerator for gpu in calls.gpus()),
    )


def _endless(chosen: options.Chosen, why: str) -> InvalidInput:
    """Kept warm without an end in the cloud is refused: it would bill for ever when nobody deletes it."""
    return InvalidInput(
        "min_replicas" if chosen.min_replicas else "scheduled_end",
        f"nothing in Azure could end it: {why}",
        fix="Leave min_replicas at 0, get that right, or give scheduled_end=false and delete it yourself.",
    )


def _providers(chosen: options.Chosen) -> tuple[str, ...]:
    return ("Microsoft.Logic",) if chosen.scheduled_end else ()


def _check_profiles(existing: Mapping[str, Any] | None, gpu: Profile) -> None:
    """Raises InvalidInput for an environment that can have no GPU, or whose own profile has the name of ours."""
    if existing is None:
        return
    held = calls.profiles(existing)
    if not held:
        raise InvalidInput(
            "environment", "it is of the kind without workload profiles, which has no GPUs", fix="Leave it out."
        )
    if held.get(calls.PROFILE, gpu.profile).lower() != gpu.profile.lower():
        raise InvalidInput("environment", "its profile `gpu` is another one", fix="Use another environment.")


def _about_end(model: str, chosen: options.Chosen) -> str:
    if chosen.scheduled_end:
        return "its end is kept by a Logic App, which deletes the app then and asks again every hour if it has to"
    if chosen.min_replicas:
        return ending.NONE.format(why="scheduled_end is false and min_replicas above 0")
    return ENDS.format(seconds=probes.cool_down(model, chosen.cooldown_seconds))


def _without_end(chosen: options.Chosen) -> str:
    """How it ends in a few words, where no schedule of the cloud ends it."""
    if chosen.scheduled_end:
        return ""
    return "NO end in the cloud" if chosen.min_replicas else "scales to zero, and stays until delete_endpoint"


def _hardware(gpu: Profile) -> Hardware:
    return Hardware(
        instance_type=gpu.profile,
        accelerators=(gpu.accelerator,),
        cores=int(gpu.vcpus),
        memory_bytes=int(gpu.memory_gib * 1024**3),
        accelerator_memory_bytes=gpu.accelerator_mib * 1024**2,
    )


def _nowhere(places: Sequence[Place]) -> CloudError:
    """The one error of all regions: the ceiling's where it decides, else the first one's; with every region's words."""
    refusals = [place.refused for place in places if place.refused is not None]
    if len(places) == 1:
        return refusals[0]
    words = "; ".join(f"{place.region}: {place.refused}" for place in places)[:1500]
    # a ceiling is looked at last: what only it forbids is there and allowed
    first = next((one for one in refusals if getattr(one, "field", "") == "max_usd_per_hour"), refusals[0])
    if isinstance(first, InvalidInput):
        return InvalidInput(first.field, f"no region can be used: {words}", fix=first.fix)
    return type(first)("planning over all regions", answered=words, code=first.code, fix=first.fix)
