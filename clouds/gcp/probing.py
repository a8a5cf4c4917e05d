"""The spot probe: the one real answer to "is one free now", sent only when asked for and with its cost named.

A spot machine is made where the plan says, and deleted as soon as it runs. Where there is none the create fails within
seconds and costs nothing (article of 2026-10-25: "check capacity with a spot request").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from clouds.errors import InvalidInput
from clouds.gcp.words import hourly
from clouds.models import DeploymentPlan, DeploymentSpec, Price, Setting

SETTING = "probe"
WORDS = "true only asks whether one is free: a spot machine is made, and deleted as soon as it runs; default false"
MINUTES = 2
"""What is counted for: a minute is the least that is billed, and deleting takes some of the next."""
_HOURS = 0.25
"""How long Google lets it run where nobody deletes it any more."""


def asked(settings: Mapping[str, Setting]) -> bool:
    """Whether a deployment is a probe. Raises InvalidInput for a value that is neither yes nor no."""
    value = settings.get(SETTING, False)
    if not isinstance(value, bool):
        raise InvalidInput(SETTING, f"{str(value)[:20]!r} is neither true nor false", fix="Give true, or leave it out.")
    return value


def without(spec: DeploymentSpec) -> DeploymentSpec:
    """What a probe deploys: the same on spot, with an end that Google keeps. Raises InvalidInput for another market."""
    settings = {key: value for key, value in spec.settings.items() if key != SETTING}
    market = settings.get("market", "spot")
    if market != "spot":
        raise InvalidInput(
            SETTING, f"only a spot request fails at once where there is none, and {market} was asked for",
            fix="Leave market out: flex-start would wait, and on-demand costs more.", allowed=("spot",),
        )  # fmt: skip
    return replace(spec, settings={**settings, "market": "spot"}, ttl_hours=min(spec.ttl_hours, _HOURS))


def marked(plan: DeploymentPlan) -> DeploymentPlan:
    """The plan of a probe, which says what it costs."""
    spec = replace(plan.spec, settings={**plan.spec.settings, SETTING: True})
    told = (
        f"This only asks whether one is free now, and costs {cost(plan.price)} where there is one. It is deleted as "
        "soon as it runs: `deleted` afterwards means that it was granted. Where there is none it costs nothing."
    )
    return replace(plan, spec=spec, warnings=(told, *plan.warnings))


def cost(price: Price | None) -> str:
    """In words, with the date of the price."""
    if price is None:
        return "an unknown sum"
    return f"about ${price.amount / 60 * MINUTES:.4f} ({MINUTES} minutes at {hourly(price.amount)}, {price.as_of})"
