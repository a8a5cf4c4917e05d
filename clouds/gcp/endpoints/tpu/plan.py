"""What a plan for the TPU API reads: zones that have the accelerator, and who ends the node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clouds.errors import CloudError, NotOffered
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import ending, preflight
from clouds.gcp.endpoints.hardware import TPU, Shape
from clouds.gcp.endpoints.machines.calls import Build
from clouds.gcp.endpoints.machines.common import Chosen
from clouds.gcp.endpoints.tpu import calls, places, settings
from clouds.models import Call, DeploymentSpec, Setting

MOST_ZONES = 6


@dataclass(frozen=True)
class TpuBuilder:
    """Plans of nodes of the TPU API."""

    api: GcpApi
    service: str = "tpu"
    shapes: tuple[Shape, ...] = TPU
    default: str = "v5e"

    @property
    def elsewhere(self) -> Mapping[str, str]:
        """GPUs are Compute Engine's."""
        gpus = ("L4", "A100-40GB", "A100-80GB", "H100", "RTX-PRO-6000")
        return dict.fromkeys(gpus, ": it is a GPU; the service `gce` (or `run` for an L4) has it")

    def chosen(self, given: Mapping[str, Setting], ttl_hours: float) -> Chosen:
        """The settings. Raises InvalidInput."""
        return settings.chosen(given, ttl_hours)

    def zones(self, spec: DeploymentSpec, chosen: Chosen, shape: Shape, project: str) -> tuple[list[str], list[str]]:
        """Zones that have the accelerator, each asked by itself: a zone that cannot be read is left out with words."""
        seen = places.FLEX_SEEN if chosen.market == "flex-start" else places.DEFAULT
        asked = preflight.asked(spec, chosen.zones, seen.get(shape.accelerator, ()))
        found, left = list[str](), list[str]()
        last: CloudError | None = None
        lacking = False
        for place in asked:
            zones, unread = places.zones(self.api, project, place)
            left += [f"{place}: {word.reason}" for word in unread]
            for zone in zones:
                if len(found) >= MOST_ZONES:
                    break
                try:
                    has = places.offers(self.api, project, zone, shape.type)
                except CloudError as error:
                    last = error
                    left.append(f"{shape.type} in {zone}: {str(error)[:200]}")
                    continue
                if has:
                    found.append(zone)
                else:
                    lacking = True
                    left.append(f"{shape.type}: {zone} does not have it")
        if not found and last is not None and not isinstance(last, NotOffered) and not lacking:
            raise last  # what no zone answered is not known to be missing
        if not found:
            raise NotOffered(
                f"looking for a zone with {shape.type}", answered="; ".join(left)[:600] or "no zone was named",
                fix="Name another zone (check_capacity shows which have the hardware).",
            )  # fmt: skip
        return found, left

    def prepare(self, build: Build, shape: Shape) -> Callable[[str, int], Sequence[Call]]:
        """Who deletes a node that the TPU API would leave running: a service account that may."""
        end_by = ""
        if build.chosen.market != "flex-start":
            end_by = str(build.chosen.extra.get("end_by") or ending.default_account(self.api, build.project))
        return lambda zone, number: calls.in_zone(build, shape, zone, number, end_by)

    def warnings(self, build: Build, shape: Shape, zones: Sequence[str]) -> tuple[str, ...]:
        """What a person should know."""
        found = list[str]()
        if build.chosen.market == "flex-start":
            seen = places.FLEX_SEEN.get(shape.accelerator, ())
            found += [
                f"{zone}: flex-start of {shape.accelerator} was not seen to be granted there (seen: {', '.join(seen)})"
                for zone in zones
                if zone not in seen
            ]
            found.append(
                "when its run is over the queued resource stays as a husk that holds quota until it is deleted"
            )
        else:
            found.append(
                "the TPU API has no run duration for this market: a Cloud Scheduler job deletes the node; the job's "
                "service account needs roles/tpu.admin, and you need iam.serviceAccounts.actAs on it"
            )
        if shape.accelerator in {"v6e", "v5p"}:
            found.append(f"Google prefers Compute Engine for {shape.accelerator}: the service `gce` makes it too")
        return tuple(found)
