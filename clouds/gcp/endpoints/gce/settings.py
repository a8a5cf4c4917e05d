"""The settings that a machine of Compute Engine takes, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping

from clouds.gcp.endpoints import settings as options
from clouds.gcp.endpoints.machines import serving
from clouds.gcp.endpoints.machines.common import COMMON, COMMON_CHECKS, Chosen, choose
from clouds.models import Setting

MARKETS = ("on-demand", "spot", "flex-start")
SETTINGS: Mapping[str, str] = {
    "market": "on-demand, spot or flex-start (waits up to 2 h, runs 10 minutes to 7 days); default on-demand",
    **{name: text for name, text in serving.SETTINGS.items() if name != "--*"},
    **COMMON,
    "disk_gib": "size of the boot disk, 60 to 2000; default 200",
    "boot_image": "image family as project/family; default: Google's Ubuntu for TPU, or with NVIDIA's driver",
    "--*": serving.SETTINGS["--*"],
}
CHECKS: Mapping[str, options.Check] = {
    "market": options.one_of(*MARKETS),
    **serving.CHECKS,
    **COMMON_CHECKS,
    "disk_gib": options.whole(60, 2000),
    "boot_image": options.like(r"[a-z][a-z0-9.:-]{3,60}/[a-z][a-z0-9-]{2,62}", "project/family"),
}


def chosen(settings: Mapping[str, Setting], ttl_hours: float) -> Chosen:
    """Raises InvalidInput for an unknown setting, a wrong value, and a time that flex-start does not take."""
    return choose(settings, SETTINGS, CHECKS, "gce", ttl_hours)
