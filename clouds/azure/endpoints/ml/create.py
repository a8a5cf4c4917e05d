"""Makes a managed online endpoint from a plan: size after size, until a token came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from clouds import enginelog
from clouds.azure.api import AzureApi
from clouds.azure.endpoints import asking, carrying, parts, tags
from clouds.azure.endpoints.carrying import Run
from clouds.azure.endpoints.making import Maker
from clouds.azure.endpoints.ml import delete, invoke, logs, view
from clouds.azure.endpoints.ml import settings as options
from clouds.azure.endpoints.web import Web
from clouds.azure.prices import AzurePrices
from clouds.base import Ledger, Progress
from clouds.errors import CloudError, Unexpected
from clouds.models import Call, DeploymentPlan, Endpoint, State


@dataclass(frozen=True)
class Creator:
    """What a creation works with."""

    api: AzureApi
    web: Web
    prices: AzurePrices
    now: Callable[[], datetime]
    pause: Callable[[float], None]

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """Carry it out until a token came, or every size said no."""
        chosen = options.choose(plan.spec.settings, plan.spec.model)
        maker = Maker(self.api, ledger, progress, plan.deployment)
        place = next(str(step.call.parameters["id"]) for step in plan.steps if step.call.service == parts.ENDPOINT)
        run = carrying.begin(
            plan,
            maker,
            self.now,
            self.pause,
            lambda undoing, made: delete.take_away(undoing, tuple(made), self.now),
            delete.awaited(place),
        )
        run.explain = self._explained
        run.location_of = lambda _: plan.ref.location
        carrying.carry_out(run, lambda _run, _size: None)  # a deployment that Succeeded is up
        progress.report(f"{plan.ref.location}: the deployment answers its probes; asking for one token")
        endpoint = self.api.send(Call(parts.ENDPOINT, "get", {"id": place}), scope=invoke.scope_of(place))
        wire = invoke.wire(self.api, endpoint, view.deployments(self.api, endpoint))
        said = asking.first_token(self.web, wire, progress, seconds=chosen.request_timeout_seconds + 5.0)
        if said:
            return self._seen(
                place, plan, "loading", f"its deployment Succeeded, but asked for a token it said: {said}"
            )
        return self._ready(run, place)

    def _explained(self, call: Call, error: CloudError) -> None:
        """Azure ML says that a container did not start; what it said itself is in its log, which goes with it."""
        if call.service != parts.SERVED or not isinstance(error, Unexpected):
            return
        lines = logs.tail(self.api, str(call.parameters["id"]), 200)
        said = enginelog.errors([text for _, text in lines or ()])
        if said:
            error.answered = f"{error.answered} Its log ends with: {' | '.join(said)}"
            error.args = (f"{error.tried}: {error.code}: {error.answered}",)

    def _ready(self, run: Run, place: str) -> Endpoint:
        """Remember in Azure and in the ledger that it gave a token; whoever looks later asks it nothing."""
        plan, moment = run.plan, tags.stamp(self.now())
        run.remember(ready_at=moment, location=plan.ref.location)
        run.maker.ledger.done(run.token, {"region": plan.ref.location, "at": moment})
        unmarked = run.maker.tag(place, {tags.READY: moment})
        said = f"it gave a token; the tag that says so could not be written ({unmarked})" if unmarked else ""
        endpoint = self._seen(place, plan, "ready", said)
        hardware = endpoint.hardware
        image = plan.engine.image if plan.engine else ""
        run.remember(placed=hardware.instance_type if hardware else "", image_digest=image)
        return endpoint

    def _seen(self, place: str, plan: DeploymentPlan, state: State, reason: str) -> Endpoint:
        """What was just made, as far as it can be read: it exists and bills, whatever a last reading says."""
        try:
            endpoint = self.api.send(Call(parts.ENDPOINT, "get", {"id": place}), scope=invoke.scope_of(place))
            found = view.of(self.api, self.prices, endpoint)
            return found.model_copy(update={"state": state, "billing": True, "reason": reason})
        except CloudError as error:
            return Endpoint(
                ref=str(plan.ref),
                state=state,
                cloud_status="Succeeded",
                billing=True,
                model=plan.spec.model,
                deployment=plan.deployment,
                reason="; ".join(part for part in (reason, f"it could not be read again: {error}"[:300]) if part),
            )
