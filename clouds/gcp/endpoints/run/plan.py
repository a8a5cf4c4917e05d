"""Plans a Cloud Run service: reads only, every region in its order, what an hour of its instance costs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from clouds.base import IdentityReader, PriceBook, QuotaReader
from clouds.errors import CloudError, InvalidInput, QuotaTooSmall
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import commands, ending, images, late, preflight
from clouds.gcp.endpoints import model as models
from clouds.gcp.endpoints.machines import quota
from clouds.gcp.endpoints.machines.serving import IMAGES
from clouds.gcp.endpoints.run import calls, settings, view
from clouds.gcp.endpoints.run.calls import Build
from clouds.gcp.endpoints.run.settings import Chosen
from clouds.models import (
    DeploymentPlan,
    DeploymentSpec,
    EndpointRef,
    EngineFacts,
    PlanStep,
    Price,
    Scope,
)

DEFAULT, MOST_HOURS = "us-central1", 720.0
_GPU, _MEMORY, _CPU = (re.compile(word) for word in ("GpuAllocNoZonalRedundancy", "^MemAlloc", "^CpuAlloc"))


@dataclass(frozen=True)
class Planner:
    """Makes plans. `digest` reads an image's digest: it asks outside Google Cloud."""

    api: GcpApi
    identity: IdentityReader
    quotas: QuotaReader
    prices: PriceBook
    digest: Callable[[str], str]

    def plan(self, spec: DeploymentSpec, now: datetime) -> DeploymentPlan:
        """No side effects. Raises InvalidInput before anything is sent, then what the project does not allow."""
        chosen = settings.choose(spec.settings)
        preflight.check_name(spec.name, calls.LONGEST_NAME)
        preflight.check_numbers(spec, MOST_HOURS)
        if spec.accelerator not in {None, "L4"} or spec.instance_types:
            raise InvalidInput(
                "accelerator", "Cloud Run has an L4 here and no machine types", fix="Leave it out, or use service gce."
            )
        image = chosen.image or IMAGES[False]
        late.check_image(image)
        warnings = [*models.check(spec.model)]
        calls.template(image, spec.model, chosen)
        gib = models.weights_gib(spec.model)
        if gib is not None and gib > view.L4_GIB * 0.9:
            warnings.append(f"the weights take about {gib:g} GiB; an L4 serves up to {view.L4_GIB * 0.9:.1f} GiB")
        regions = preflight.asked(spec, "", (DEFAULT,))
        regions = tuple(dict.fromkeys(preflight.region_of(region) for region in regions))
        who = preflight.caller(self.api, self.identity)
        places, left = self._places(spec, chosen, regions, warnings)
        pinned = images.pinned(image, self.digest)
        account = ""
        if chosen.end == "scheduler":
            account = chosen.end_by or ending.default_account(self.api, who.project)
        end = now + timedelta(hours=spec.ttl_hours)
        engine = {k: v for k, v in spec.settings.items() if k not in {"end", "end_by", "image"}}
        steps: list[PlanStep] = []
        for region, _ in places:
            build = Build(spec.name, who.project, region, who.owner, end, pinned, spec.model, chosen, engine)
            steps += _steps(build, account, len(places))
        warnings += preflight.crossing(self.api, [spec.model], [region for region, _ in places])
        region, price = places[0]
        return DeploymentPlan(
            spec=spec,
            ref=EndpointRef("gcp", "run", region, spec.name),
            steps=tuple(steps),
            price=price,
            worst_usd_per_hour=max(price.amount for _, price in places),
            hardware=view.hardware({"template": calls.template(pinned, spec.model, chosen)}),
            engine=EngineFacts(engine="vllm", model=spec.model, image=pinned, context_tokens=chosen.max_model_len),
            left_out=tuple(left),
            warnings=(*warnings, *_words(spec, chosen, price)),
        )

    def _places(
        self, spec: DeploymentSpec, chosen: Chosen, regions: tuple[str, ...], warnings: list[str]
    ) -> tuple[list[tuple[str, Price]], list[str]]:
        found, left = list[tuple[str, Price]](), list[str]()
        refused: CloudError | None = None
        for region in regions:
            price = view.price(self.prices, region, float(chosen.cpu), chosen.memory_gib)
            if price is None:
                left.append(f"{region}: no price known, so the ceiling could not be kept")
                continue
            if price.amount > spec.max_usd_per_hour:
                left.append(f"{region}: ${price.amount:g} an hour is over ${spec.max_usd_per_hour:g}")
                refused = refused or InvalidInput(
                    "max_usd_per_hour", left[-1], fix=f"Allow max_usd_per_hour={price.amount:g}."
                )
                continue
            short = self._quota(chosen, region, warnings)
            if short is not None:
                left.append(f"{region}: {short.answered}")
                refused = short
                continue
            found.append((region, price))
        if not found:
            raise refused or InvalidInput(
                "location", "; ".join(left)[:900], fix=f"Use {DEFAULT}, or refresh the prices first."
            )
        return found, left

    def _quota(self, chosen: Chosen, region: str, warnings: list[str]) -> QuotaTooSmall | None:
        """GPU, memory and CPU together: the last two refuse a service whose GPU would be allowed."""
        try:
            rows = self.quotas.read("L4", [], [Scope(region)]).found
        except CloudError as error:
            warnings.append(f"the quota in {region} could not be read ({str(error)[:160]}): Google may refuse it")
            return None
        needs = ((_GPU, 1.0), (_MEMORY, float(chosen.memory_gib)), (_CPU, float(chosen.cpu)))
        mine = [(row, need) for row in rows for pattern, need in needs if pattern.search(row.code)]
        if not mine:
            warnings.append(f"the quota in {region} could not be read: Google may refuse it")
            return None
        words = "; ".join(quota.worded(row) for row, _ in mine)
        warnings.append(f"quota read: {words}")
        short = next(((row, need) for row, need in mine if quota.left(row) < need), None)
        if short is None:
            return None
        return QuotaTooSmall(
            f"planning Cloud Run in {region}", answered=f"{short[1]:g} {short[0].unit} are needed; {words}",
            code=short[0].code, fix="Ask for more of it in the console's quota page, or use another region.",
        )  # fmt: skip


def _steps(build: Build, account: str, regions: int) -> list[PlanStep]:
    where = f" in {build.region}" if regions > 1 else ""
    made: list[PlanStep] = []
    for call in calls.in_order(build, account):
        dry = call.parameters.get("validateOnly", False)
        if call.service == "cloudscheduler":
            text = f"a scheduler job deletes the service at {build.end:%Y-%m-%d %H:%M} UTC{where}"
        elif dry:
            text = f"let Google check the service without making it{where}"
        else:
            text = f"make the service {build.label}{where}: one L4, 0 to 1 instances, invoked with an ID token"
        command = commands.command(call, build.project)
        made.append(PlanStep(text=text, call=call, command=command, creates=not dry, location=build.region))
    return made


def _words(spec: DeploymentSpec, chosen: Chosen, price: Price) -> list[str]:
    hour = f"${price.amount:g} an hour while an instance lives ({price.as_of})"
    found = [f"{hour}; scaled to zero it costs nothing, and the next request waits for a cold start"]
    if chosen.min_instances:
        month = price.amount * 730
        found = [f"one instance is kept: ${price.amount:g} an hour, ${month:,.0f} a month, used or not"]
    if not spec.model.startswith("gs://"):
        found.append(
            f"{spec.model} is read from the Hub at every cold start; a bucket in the region is mounted instead"
        )
    if chosen.end == "reminder":
        found.append("nothing in the cloud deletes the service at its end: list_endpoints shows what is past it")
    else:
        found.append("the scheduler job's service account needs roles/run.developer, and you iam.serviceAccounts.actAs")
    return found
