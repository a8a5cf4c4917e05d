"""The settings that a node of the TPU API takes, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import settings as options
from clouds.gcp.endpoints.machines import serving
from clouds.gcp.endpoints.machines.common import COMMON, COMMON_CHECKS, Chosen, choose
from clouds.models import Setting

MARKETS = ("on-demand", "spot", "flex-start")
SETTINGS: Mapping[str, str] = {
    "market": "on-demand, spot or flex-start (waits up to 2 h, runs 10 minutes to 7 days); default on-demand",
    "queued": "true asks by a queued resource, which waits; flex-start always does; default false",
    **{name: text for name, text in serving.SETTINGS.items() if name != "--*"},
    **COMMON,
    "runtime": "runtime version; default: the one of the accelerator, e.g. v2-alpha-tpuv5-lite",
    "end_by": "service account that a scheduler job deletes the node as, where the TPU API has no run duration",
    "--*": serving.SETTINGS["--*"],
}
CHECKS: Mapping[str, options.Check] = {
    "market": options.one_of(*MARKETS),
    "queued": options.switch,
    **serving.CHECKS,
    **COMMON_CHECKS,
    "runtime": options.like(r"[a-z0-9][a-z0-9.-]{2,60}", "a runtime version"),
    "end_by": options.EMAIL,
}


def chosen(settings: Mapping[str, Setting], ttl_hours: float) -> Chosen:
    """Raises InvalidInput for an unknown setting, a wrong value, and a time that flex-start does not take."""
    found = choose(settings, SETTINGS, CHECKS, "tpu", ttl_hours)
    if found.market == "flex-start" and "end_by" in found.extra:
        raise InvalidInput("end_by", "flex-start is ended by the TPU API itself", fix="Leave it out.")
    return found


def queued(chosen: Chosen) -> bool:
    """Whether it is asked for by a queued resource."""
    return chosen.market == "flex-start" or bool(chosen.extra.get("queued", False))
