"""What creating a machine was answered is remembered: no API says whether a provisioning model is offered in a zone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clouds.base import Ledger, Progress
from clouds.gcp.endpoints.gce import Gce
from clouds.gcp.endpoints.machines.service import MachineService
from clouds.gcp.endpoints.tpu import Tpu
from clouds.gcp.refusals import Memory, Outcome
from clouds.models import DeploymentPlan, Endpoint, EndpointRef

DEFAULT_MARKET = "on-demand"
_OUTCOMES: Mapping[str, Outcome] = {"not_offered": "not offered", "no_capacity": "stockout"}


class Learns(MachineService):
    """Creates as its class does; afterwards every place that refused and the one that granted are in the memory."""

    memory: Memory

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """As the service it is mixed into."""
        market = str(plan.spec.settings.get("market", DEFAULT_MARKET))
        known = len(_attempts(ledger, plan))
        try:
            made = super().create(plan, ledger, progress)
        finally:
            learn(self.memory, _attempts(ledger, plan)[known:], market)
        if made.hardware is not None and made.hardware.instance_type:
            self.memory.granted(made.hardware.instance_type, EndpointRef.parse(made.ref).location, market)
        return made


class LearningGce(Learns, Gce):
    """Compute Engine."""


class LearningTpu(Learns, Tpu):
    """The TPU API."""


def learn(memory: Memory, attempts: Sequence[Mapping[str, Any]], market: str) -> None:
    """Remember what each place said; only "not offered" and "no capacity" say anything about the place."""
    for one in attempts:
        if outcome := _OUTCOMES.get(str(one.get("kind", ""))):
            where = (str(one.get("type", "")), str(one.get("zone", "")), market)
            memory.said(*where, outcome, str(one.get("said", "")), tuple(one.get("elsewhere", ())))


def _attempts(ledger: Ledger, plan: DeploymentPlan) -> list[Mapping[str, Any]]:
    return list(ledger.facts(plan.deployment).get("attempts") or ())
