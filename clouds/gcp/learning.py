"""What creating a machine was answered is remembered: no API says whether a provisioning model is offered in a zone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clouds.base import Ledger, Progress
from clouds.errors import Unexpected
from clouds.gcp import probing
from clouds.gcp.endpoints.gce import Gce
from clouds.gcp.endpoints.machines import create as creation
from clouds.gcp.endpoints.machines.service import MachineService
from clouds.gcp.endpoints.making import Maker
from clouds.gcp.endpoints.tpu import Tpu
from clouds.gcp.refusals import Memory, Outcome
from clouds.models import DeploymentPlan, DeploymentSpec, Endpoint, EndpointRef, Setting

DEFAULT_MARKET = "on-demand"
_OUTCOMES: Mapping[str, Outcome] = {"not_offered": "not offered", "no_capacity": "stockout"}


class Learns(MachineService):
    """Plans and creates as its class does, and knows the probe.

    After a create every place that refused and the one that granted are in the memory.
    """

    memory: Memory

    def plan(self, spec: DeploymentSpec) -> DeploymentPlan:
        """As the service it is mixed into. The plan of a probe says what it costs."""
        if not probing.asked(spec.settings):
            return super().plan(replace(spec, settings=_without_probe(spec.settings)))
        return probing.marked(super().plan(probing.without(spec)))

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """As the service it is mixed into; a probe that was granted is deleted at once and comes back `deleted`."""
        market = str(plan.spec.settings.get("market", DEFAULT_MARKET))
        known = len(_attempts(ledger, plan))
        try:
            made = (
                self._probed(plan, ledger, progress)
                if probing.asked(plan.spec.settings)
                else super().create(plan, ledger, progress)
            )
        finally:
            learn(self.memory, _attempts(ledger, plan)[known:], market)
        if made.hardware is not None and made.hardware.instance_type:
            self.memory.granted(made.hardware.instance_type, EndpointRef.parse(made.ref).location, market)
        return made

    def _probed(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        maker = Maker(self._api, ledger, progress, plan.deployment)
        run = creation.begin(plan, self._world, maker, self._now, self._pause)
        zone = creation.carry_out(run)
        began = self._now()
        try:
            found = self.get(run.ref(zone))
        finally:
            parts = creation.undo(run, [*run.zones, "global"])
            left = [f"{part.part} ({part.detail})" for part in parts if part.outcome == "still there"]
            run.remember(ended=not left)
        if left:
            raise Unexpected(
                f"giving the machine of the probe back in {zone}", answered=f"still there: {', '.join(left)}"[:600],
                fix=f"Run delete_endpoint with {run.ref(zone)}; it bills for {plan.spec.ttl_hours:g} h at most.",
            )  # fmt: skip
        seconds = (self._now() - began).total_seconds()
        words = f"{zone} granted one; it was deleted {seconds:.0f} s later"
        return found.model_copy(update={"state": "deleted", "cloud_status": words, "billing": False, "reason": words})


class LearningGce(Learns, Gce):
    """Compute Engine."""

    @property
    def settings(self) -> Mapping[str, str]:
        """What `plan` takes: the service's own settings, and the probe."""
        return {**super().settings, probing.SETTING: probing.WORDS}


class LearningTpu(Learns, Tpu):
    """The TPU API."""

    @property
    def settings(self) -> Mapping[str, str]:
        """What `plan` takes: the service's own settings, and the probe."""
        return {**super().settings, probing.SETTING: probing.WORDS}


def _without_probe(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    return {key: value for key, value in settings.items() if key != probing.SETTING}


def learn(memory: Memory, attempts: Sequence[Mapping[str, Any]], market: str) -> None:
    """Remember what each place said; only "not offered" and "no capacity" say anything about the place."""
    for one in attempts:
        if outcome := _OUTCOMES.get(str(one.get("kind", ""))):
            where = (str(one.get("type", "")), str(one.get("zone", "")), market)
            memory.said(*where, outcome, str(one.get("said", "")), tuple(one.get("elsewhere", ())))


def _attempts(ledger: Ledger, plan: DeploymentPlan) -> list[Mapping[str, Any]]:
    return list(ledger.facts(plan.deployment).get("attempts") or ())
