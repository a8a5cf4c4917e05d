"""What a plan for Compute Engine reads: zones that list the type, and the boot image that a family names now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clouds.errors import InvalidInput, NotFound, NotOffered
from clouds.gcp import pages
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import preflight
from clouds.gcp.endpoints.gce import calls, settings
from clouds.gcp.endpoints.hardware import GCE, Shape
from clouds.gcp.endpoints.machines.calls import Build
from clouds.gcp.endpoints.machines.common import Chosen
from clouds.gcp.endpoints.tpu.places import FLEX_SEEN
from clouds.models import Call, DeploymentSpec, Scope, Setting

MOST_ZONES = 6
DISK_NOTE = "its boot disk and external address bill besides and go with the machine"


@dataclass(frozen=True)
class GceBuilder:
    """Plans of machines of Compute Engine."""

    api: GcpApi
    service: str = "gce"
    shapes: tuple[Shape, ...] = GCE
    default: str = "v6e"

    @property
    def elsewhere(self) -> Mapping[str, str]:
        """v5e is the TPU API's alone."""
        return {"v5e": ": Compute Engine refuses to create it; the service `tpu` makes it"}

    def chosen(self, given: Mapping[str, Setting], ttl_hours: float) -> Chosen:
        """The settings. Raises InvalidInput."""
        return settings.chosen(given, ttl_hours)

    def zones(self, spec: DeploymentSpec, chosen: Chosen, shape: Shape, project: str) -> tuple[list[str], list[str]]:
        """Zones that list the type, in one call over all of them: those asked for, else those near the default."""
        flex = chosen.market == "flex-start" and shape.accelerator in FLEX_SEEN
        default = FLEX_SEEN[shape.accelerator] if flex else (preflight.region_of(self.api.location),)
        asked = preflight.asked(spec, chosen.zones, default)
        call = Call("compute", "machineTypes.aggregatedList", {"project": project, "filter": f"name={shape.type}"})
        answer = self.api.send(call, scope=Scope(account=project))
        listed = sorted({zone for zone, _ in pages.scoped(answer, "machineTypes")})
        found = [zone for place in asked for zone in listed if zone == place or zone.startswith(f"{place}-")]
        left = [f"{shape.type}: {place} does not list it" for place in asked if not _any(listed, place)]
        if not found and not (spec.location or spec.regions or chosen.zones):
            found = listed
        if not found:
            raise NotOffered(
                f"looking for a zone with {shape.type}",
                answered=f"none of {', '.join(asked)} lists it; {_listing(listed)}",
                fix="Name one of those (a zone that lists a type may still have none free)."
                if listed
                else "Name another type or accelerator; check_capacity shows what is offered where.",
            )
        return list(dict.fromkeys(found))[:MOST_ZONES], left

    def prepare(self, build: Build, shape: Shape) -> Callable[[str, int], Sequence[Call]]:
        """The image is named exactly: a family is another image tomorrow."""
        family = str(build.chosen.extra.get("boot_image") or calls.FAMILIES[shape.tpu])
        owner, _, name = family.partition("/")
        call = Call("compute", "images.getFromFamily", {"project": owner, "family": name})
        try:
            row = self.api.send(call, scope=Scope(account=owner))
        except NotFound:
            raise InvalidInput(
                "boot_image", f"there is no image family {family}", fix="Name another as project/family."
            ) from None
        image = f"projects/{owner}/global/images/{row['name']}"
        return lambda zone, number: (calls.insert(build, shape, zone, image, number),)

    def warnings(self, build: Build, shape: Shape, zones: Sequence[str]) -> tuple[str, ...]:
        """What a person should know."""
        found = [DISK_NOTE]
        seen = FLEX_SEEN.get(shape.accelerator)
        if build.chosen.market == "flex-start" and seen:
            found += [
                f"{zone}: flex-start of {shape.accelerator} was not seen to be granted there (seen: {', '.join(seen)})"
                for zone in zones
                if zone not in seen
            ]
        if build.chosen.network == "default":
            found.append("inside the network `default` its own rules may let other machines reach the model's port")
        return tuple(found)


def _listing(zones: Sequence[str]) -> str:
    """Which zones list a type: "us-central1-a does"."""
    if not zones:
        return "no zone does"
    more = f" and {len(zones) - 12} more" if len(zones) > 12 else ""
    return f"{', '.join(zones[:12])}{more} do{'es' if len(zones) == 1 else ''}"


def _any(listed: Sequence[str], place: str) -> bool:
    return any(zone == place or zone.startswith(f"{place}-") for zone in listed)
