"""Plans a managed online endpoint: reads only, and everything that Azure would refuse late is refused here first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from clouds.azure import sizes
from clouds.azure.api import AzureApi
from clouds.azure.endpoints import cli, ending, ids, parts, preflight, rates, serving, values
from clouds.azure.endpoints import model as models
from clouds.azure.endpoints.ml import calls, view
from clouds.azure.endpoints.ml import settings as options
from clouds.azure.endpoints.ml.calls import Build
from clouds.azure.endpoints.web import Web
from clouds.azure.prices import AzurePrices
from clouds.azure.sizes import Size
from clouds.errors import CloudError, Conflict, InvalidInput, NotFound, NotOffered, QuotaTooSmall
from clouds.models import Call, DeploymentPlan, DeploymentSpec, EndpointRef, PlanStep, Price, Scope

PROVIDER = "Microsoft.MachineLearningServices"
USAGES, SIZES = Call(f"{PROVIDER}/locations/usages", "list"), Call(f"{PROVIDER}/locations/vmSizes", "list")
MOST_SIZES = 3
UPGRADES = (
    "{room}: for most sizes Azure ML keeps a fifth on top for upgrades (Microsoft Learn), which is one more machine "
    "here; it may refuse"
)


@dataclass(frozen=True)
class Candidate:
    """One size: its price and what to say, or why it cannot be used."""

    size: Size
    price: Price | None = None
    warning: str = ""
    refused: CloudError | None = None


@dataclass(frozen=True)
class Planner:
    """Makes plans from what the subscription, its quotas and the prices say now."""

    api: AzureApi
    web: Web
    prices: AzurePrices

    def plan(self, spec: DeploymentSpec, now: datetime) -> DeploymentPlan:
        """No side effects. Raises InvalidInput before anything is sent, then what the subscription does not allow."""
        chosen = options.choose(spec.settings, spec.model)
        values.check_name(spec.name, 3, 32)
        values.check_numbers(spec)
        warnings = list(models.check(spec.model, chosen.engine.name))
        serving.arguments(chosen.engine, spec.model)
        options.check_image(chosen)
        rows = candidates(spec)
        default = ids.subscription_of(chosen.workspace) or self.api.directory.default()
        preflight.registered(self.api, default, (PROVIDER, *(("Microsoft.Logic",) if chosen.scheduled_end else ())))
        workspace = self._workspace(spec, chosen, default)
        place, region = str(workspace["id"]), values.place(str(workspace["location"]))
        self._check_free(calls.endpoint_id(place, spec.name))
        # the workflow is made in the workspace's group, and may act on the endpoint alone
        why = ending.why_not(self.api, ids.group_of(place)) if chosen.scheduled_end else "scheduled_end is false"
        chosen = replace(chosen, scheduled_end=not why)
        warnings.append(ending.NONE.format(why=why) if why else _ENDS)
        image = self.web.digest_of(chosen.image or serving.IMAGES[chosen.engine.name])
        found = self._sizes(spec, rows, region, default)
        usable = [one for one in found if one.refused is None][:MOST_SIZES]
        if not usable:
            raise _nowhere(found)
        owner = preflight.owner(self.api, default)
        end = now + timedelta(hours=spec.ttl_hours)
        builds = [
            Build(spec.name, spec.model, region, place, owner, end, image, one.size, _sharing(chosen, one.size))
            for one in usable
        ]
        first = usable[0].size
        said = (
            _REFERENCED if chosen.hf_token_from else "",
            models.fits(spec.model, f"{first.accelerators} x {first.accelerator}", _memory(first)),
            models.on_old_card(chosen.engine.name, first.accelerator),
        )
        warnings += [word for word in said if word]
        prices = [one.price for one in usable if one.price is not None]
        return DeploymentPlan(
            spec=spec,
            ref=EndpointRef("azure", "ml", region, spec.name),
            steps=tuple(_steps(builds)),
            price=usable[0].price,
            worst_usd_per_hour=max((price.amount for price in prices), default=None),
            hardware=view.hardware_of(first.size),
            engine=builds[0].chosen.engine.facts(image, spec.model),
            expected_seconds=calls.expected_start(spec.model),
            left_out=tuple(f"{one.size.size}: {one.refused}" for one in found if one.refused is not None),
            warnings=(*warnings, *(one.warning for one in usable if one.warning)),
            ends="NO end in the cloud" if why else "",
        )

    def _workspace(self, spec: DeploymentSpec, chosen: options.Chosen, subscription: str) -> Mapping[str, Any]:
        """The workspace that was named, else the only one in the places that were asked for."""
        if chosen.workspace:
            try:
                call = Call(parts.WORKSPACE, "get", {"id": chosen.workspace})
                held: Mapping[str, Any] = self.api.send(call, scope=Scope(account=subscription))
            except NotFound:
                raise InvalidInput("workspace", "there is none with this id", fix="Give its whole id.") from None
            return held
        answer = self.api.send(Call(parts.WORKSPACE, "list"), scope=Scope(account=subscription))
        named = {values.region(one) for one in ((spec.location,) if spec.location else spec.regions) if one}
        rows = [row for row in (answer or {}).get("value", []) if str(row.get("kind") or "Default") == "Default"]
        rows = [row for row in rows if not named or values.place(str(row["location"])) in named]
        if len(rows) == 1:
            found: Mapping[str, Any] = rows[0]
            return found
        where = f" in {', '.join(sorted(named))}" if named else ""
        if not rows:
            raise InvalidInput(
                "workspace",
                f"there is no Azure ML workspace{where}",
                fix="Make one (`az ml workspace create`, free by itself), or use service=containerapps.",
            )
        raise InvalidInput(
            "workspace",
            f"there are {len(rows)} workspaces{where}",
            fix="Give the id of one.",
            allowed=tuple(str(row["id"]) for row in rows[:10]),
        )

    def _check_free(self, place: str) -> None:
        found = parts.look(self.api, Call(parts.ENDPOINT, "put", {"id": place}))
        if found is not None and not found.deployment:
            raise Conflict(
                f"planning {place.rsplit('/', 1)[-1]}",
                answered=f"{found.id} exists already and modelrig did not make it",
                fix="Choose another name.",
            )

    def _sizes(self, spec: DeploymentSpec, rows: Sequence[Size], region: str, subscription: str) -> list[Candidate]:
        scope = Scope(region, subscription)
        answer = self.api.send(SIZES, scope=scope)
        known = {str(row.get("name", "")).lower(): row for row in _rows(answer)}
        told = rates.estimates(list(known.values()))
        return [self._size(spec, row, known.get(row.size.lower()), told, scope) for row in rows]

    def _size(
        self,
        spec: DeploymentSpec,
        row: Size,
        offered: Mapping[str, Any] | None,
        told: Mapping[str, float],
        scope: Scope,
    ) -> Candidate:
        """One size; one that is not for endpoints, has no quota or costs too much is left out."""
        region = str(scope.location)
        try:
            if offered is None or "MIR" not in (offered.get("supportedComputeTypes") or ()):
                raise NotOffered(
                    f"{row.size} in {region}",
                    answered="Azure ML does not list it for managed online endpoints there",
                    fix="Take another size or a workspace in another region.",
                )
            quota = preflight.usage(self.api, USAGES, scope, _family(str(offered.get("family") or "")))
            warning = check_quota(quota, row, region)
            price = rates.machine(self.prices, row.size, region, told, fresh=True)
            if price is not None and price.amount > spec.max_usd_per_hour:
                raise InvalidInput(
                    "max_usd_per_hour",
                    f"{row.size} in {region} is ${price.amount:.2f} an hour",
                    fix="Allow that much, or take a smaller size.",
                )
            return Candidate(row, price, warning)
        except CloudError as error:
            return Candidate(row, refused=error)


_ENDS = (
    "its end is kept by a Logic App, which deletes the endpoint then and asks again every hour if it has to; it has "
    "no right on anything else"
)


_REFERENCED = (
    "the endpoint's own identity has to be allowed to read that Key Vault secret; that Azure ML puts it into the "
    "container is a preview of Azure's, and not verified here (2026-11-29)"
)


def candidates(spec: DeploymentSpec) -> list[Size]:
    """The sizes to try, in order: as they were named, else all that carry the accelerator. Raises InvalidInput."""
    if spec.instance_types:
        found = [sizes.find(kind) for kind in spec.instance_types]
        unknown = [kind for kind, row in zip(spec.instance_types, found, strict=True) if row is None]
        if unknown:
            raise InvalidInput(
                "instance_types", f"{', '.join(unknown)[:80]} is not in the table of GPU sizes",
                fix="Give one like Standard_NC24ads_A100_v4.",
            )  # fmt: skip
        rows = [row for row in found if row is not None]
    else:
        rows = list(sizes.carrying(spec.accelerator or "T4"))
    sliced = [row.size for row in rows if not row.whole]
    if sliced:
        raise InvalidInput(
            "instance_types", f"{', '.join(sliced)} has a slice of an accelerator", fix="Take one with a whole one."
        )
    return rows


def check_quota(quota: preflight.Room, row: Size, region: str) -> str:
    """What to say of a quota. Raises QuotaTooSmall where the machine surely does not fit."""
    if quota.free is None:
        return f"the quota for {row.size} could not be told ({quota.name}); Azure decides when it is asked"
    if quota.free < row.vcpus:
        raise QuotaTooSmall(
            f"{row.size} in {region} ({row.vcpus} vCPUs)",
            answered=str(quota),
            code="NoMlQuota",
            fix="Ask for it in the Azure ML studio under Quota: it is another pool than that of virtual machines.",
        )
    return UPGRADES.format(room=quota) if quota.free < math.ceil(1.2) * row.vcpus else ""


def _family(name: str) -> str:
    """A pattern for a family's quota: its name is spelt with and without spaces and in several cases."""
    letters = [char for char in name.lower() if char.isalnum()]
    return r"^(?!.*low.?priority).*" + r"[^a-z0-9]*".join(letters) if letters else r"(?!)"


def family_of(api: AzureApi, row: Size, scope: Scope) -> str:
    """A pattern for the quota of a size's family, as Azure ML names it there; one that matches nothing else."""
    try:
        answer = api.send(SIZES, scope=scope)
    except CloudError:
        return _family("")
    names = [str(one.get("family") or "") for one in _rows(answer) if str(one.get("name")).lower() == row.size.lower()]
    return _family(names[0] if names else "")


def _rows(answer: Any) -> list[Mapping[str, Any]]:
    """`value`, or the older `amlCompute` of vmSizes."""
    held = answer or {}
    return list(held.get("value") or held.get("amlCompute") or [])


def _sharing(chosen: options.Chosen, size: Size) -> options.Chosen:
    """All accelerators of the machine share one copy."""
    return replace(chosen, engine=replace(chosen.engine, accelerators=size.accelerators))


def _memory(size: Size) -> float:
    return size.accelerators * size.accelerator_mib / 1024


_WORDS: Mapping[str, str] = {
    parts.IMAGE: "name the image to Azure ML: {image}; it costs nothing",
    ending.WORKFLOW: "have a Logic App delete it at its end, {end}",
    parts.ENDPOINT: "make the endpoint {name}, with keys of its own; it costs nothing by itself",
    ending.ASSIGNMENT: "give that Logic App the right to do so, on this endpoint alone",
    parts.SERVED: "make the deployment on {size} with {model}; it bills from its machine on until it is deleted",
}


def _steps(builds: Sequence[Build]) -> list[PlanStep]:
    steps = [_step(call, builds[0], "") for call in calls.shared(builds[0])]
    for build in builds:
        steps += [_step(call, build, build.size.size) for call in calls.of_size(build)]
    return steps


def _step(call: Call, build: Build, location: str) -> PlanStep:
    head, _, digest = build.image.partition("@")
    text = _WORDS[call.service].format(
        name=build.name,
        end=f"{build.end:%Y-%m-%d %H:%M} UTC",
        image=f"{head} ({digest[:15]}…)",
        size=build.size.size,
        model=build.model,
    )
    if calls.changes_traffic(call):
        text = "send all traffic to it"
    return PlanStep(text=text, call=call, command=cli.command(call), creates=True, location=location)


def _nowhere(found: Sequence[Candidate]) -> CloudError:
    """The one error of all sizes: the ceiling's where it decides, else the first one's; with every size's words."""
    refusals = [one.refused for one in found if one.refused is not None]
    if len(found) == 1:
        return refusals[0]
    words = "; ".join(f"{one.size.size}: {one.refused}" for one in found)[:1500]
    # a ceiling is looked at last: what only it forbids is there and allowed
    first = next((one for one in refusals if getattr(one, "field", "") == "max_usd_per_hour"), refusals[0])
    if isinstance(first, InvalidInput):
        return InvalidInput(first.field, f"no size can be used: {words}", fix=first.fix)
    return type(first)("planning over all sizes", answered=words, code=first.code, fix=first.fix)
