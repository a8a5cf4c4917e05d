"""Makes an app from a plan: carried out region after region, watched until a token came, its cold start measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import asking, carrying, ids, keys, parts, tags
from clouds.azure.endpoints.carrying import Run
from clouds.azure.endpoints.containerapps import calls, delete, invoke, logs, room, view, watch
from clouds.azure.endpoints.containerapps import settings as options
from clouds.azure.endpoints.making import Maker
from clouds.azure.endpoints.web import Web
from clouds.azure.prices import AzurePrices
from clouds.base import Ledger, Progress
from clouds.errors import CloudError
from clouds.models import Call, DeploymentPlan, Endpoint, EndpointRef, State


@dataclass(frozen=True)
class Creator:
    """What a creation works with."""

    api: AzureApi
    web: Web
    prices: AzurePrices
    home: Path
    now: Callable[[], datetime]
    pause: Callable[[float], None]

    def create(self, plan: DeploymentPlan, ledger: Ledger, progress: Progress) -> Endpoint:
        """Carry it out until a token came, or every region said no."""
        chosen = options.choose(plan.spec.settings)
        key = keys.make(self.home, plan.deployment)
        maker = Maker(self.api, ledger, progress, plan.deployment, {keys.API_KEY: key})
        place = next(str(step.call.parameters["id"]) for step in plan.steps if step.call.service == parts.APP)
        run = carrying.begin(
            plan,
            maker,
            self.now,
            self.pause,
            lambda undoing, made: delete.take_away(undoing, tuple(made), self.now),
            invoke.awaited(place),
        )
        marks = watch.Marks(self.now())

        def before(call: Call) -> None:
            if call.service != parts.APP:
                return
            marks.whole = parts.look(self.api, call) is None
            if marks.whole:
                self._check_room(call)
            # the app's own PUT counts: Azure begins to look for a replica while that still goes on
            marks.asked, marks.seen = self.now(), {}

        run.before = before
        ledger.remember(plan.deployment, {"key_file": str(keys.path(self.home, plan.deployment))})
        limits = watch.Limits.of(plan.spec.model, chosen.capacity_wait_seconds, chosen.startup_seconds)

        def up(run: Run, region: str) -> None:
            watch.until_up(run, self.web, place, region, limits, marks)

        region = carrying.carry_out(run, up)
        ref = EndpointRef("azure", "containerapps", region, plan.spec.name)
        progress.report(f"{region}: a replica answers; asking for one token")
        app = dict(view.find(self.api, ref))
        said = asking.first_token(self.web, invoke.wire(self.api, self.home, app), progress, seconds=invoke.LONGEST)
        if said:
            return self._seen(place, ref, plan, "loading", f"its probe answers, but asked for a token it said: {said}")
        marks.note("token", self.now())
        return self._ready(run, place, ref, marks)

    def _check_room(self, call: Call) -> None:
        """Azure shows the quota of serverless GPUs on the environment: read it before the app, while nothing bills."""
        body = call.parameters["body"]
        environment, cores = str(body["properties"]["environmentId"]), calls.cores_of(body)
        gpu = next(one for one in calls.gpus() if one.vcpus == cores)
        subscription = ids.subscription_of(environment)
        quota = room.of(self.api, gpu.accelerator, body["location"], subscription, environment)
        room.check(quota, gpu.accelerator, body["location"])

    def _ready(self, run: Run, place: str, ref: EndpointRef, marks: watch.Marks) -> Endpoint:
        """Remember in Azure and in the ledger that it gave a token; whoever looks later asks it nothing."""
        plan, moment, phases = run.plan, tags.stamp(self.now()), marks.phases() if marks.whole else ()
        seconds = round(sum(phase.seconds for phase in phases))
        run.remember(ready_at=moment, location=ref.location, **({"cold_start_seconds": seconds} if marks.whole else {}))
        run.maker.ledger.done(run.token, {"region": ref.location, "at": moment})
        cold = {view.COLD: str(seconds)} if marks.whole else {}
        unmarked = run.maker.tag(place, {tags.READY: moment, **cold})
        said = f"it gave a token; the tag that says so could not be written ({unmarked})" if unmarked else ""
        endpoint = self._seen(place, ref, plan, "ready", said).model_copy(update={"phases": phases})
        engine, hardware = endpoint.engine, endpoint.hardware
        facts = {"placed": hardware.instance_type if hardware else "", "image_digest": engine.image if engine else ""}
        run.remember(**facts)
        return endpoint

    def _seen(self, place: str, ref: EndpointRef, plan: DeploymentPlan, state: State, reason: str) -> Endpoint:
        """What was just made, as far as it can be read: it exists and bills, whatever a last reading says."""
        try:
            now = view.read(self.api, place)
            lines = [text for _, text in logs.tail(self.api, self.web, now, logs.KEPT)]
            found = view.build(now, self.prices, self.home, lines)
            return found.model_copy(update={"state": state, "billing": True, "reason": reason})
        except CloudError as error:
            return Endpoint(
                ref=str(ref),
                state=state,
                cloud_status="Succeeded",
                billing=True,
                model=plan.spec.model,
                deployment=plan.deployment,
                key_file=str(keys.path(self.home, plan.deployment)),
                reason="; ".join(part for part in (reason, f"it could not be read again: {error}"[:300]) if part),
            )
