"""Changes an app that is held: another end, another model or engine settings, or no replica kept up any more.

A change of the template makes a new revision, which Azure starts before it lets the old one go: while a replica is up
that needs a second GPU of quota. At no replica it needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import asking, belongings, ending, ids, parts, serving, tags, values
from clouds.azure.endpoints import model as models
from clouds.azure.endpoints.containerapps import calls, delete, invoke, probes, room, state, view
from clouds.azure.endpoints.containerapps import settings as options
from clouds.azure.endpoints.making import Maker
from clouds.azure.endpoints.web import Web
from clouds.base import Ledger, Progress
from clouds.errors import CloudError, Conflict, InvalidInput, Unexpected
from clouds.models import Call, Change, EndpointRef, Scope, Setting, Wire

_SCALE = {"concurrent_requests", "cooldown_seconds", "min_replicas"}
_ENGINE = {"max_model_len", "gpu_memory_utilization", "tool_calls", "parallel", "file", "startup_seconds"}
POLL, LONGEST = 15.0, 3600.0


@dataclass(frozen=True)
class Changer:
    """One change of one app."""

    api: AzureApi
    web: Web
    ledger: Ledger
    progress: Progress
    now: Callable[[], datetime]
    wire: Callable[[EndpointRef], Wire]

    def change(self, ref: EndpointRef, change: Change) -> None:
        """Raises NotFound, InvalidInput, and Conflict where quota does not allow the second replica it needs."""
        app = view.find(self.api, ref)
        deployment = tags.deployment_of(app)
        if not deployment:
            raise Conflict(
                f"changing {ref}", answered="modelrig did not make this app", fix="Change it where it was made."
            )
        maker = Maker(self.api, self.ledger, self.progress, deployment)
        body = self._template(app, change) if change.model is not None or change.settings else None
        if change.ttl_hours is not None:
            self._end(ref, app, maker, change.ttl_hours)
        if body is not None:
            self._replace(ref, app, maker, body)

    def _end(self, ref: EndpointRef, app: Mapping[str, Any], maker: Maker, hours: float) -> None:
        """Move the scheduled end, where there is one, then the tags."""
        if not 1 / 12 <= hours <= 24 * 30:
            raise InvalidInput("ttl_hours", f"{hours:g} is not from 0.0834 to 720", fix="Give hours from now.")
        end, group = self.now() + timedelta(hours=hours), ids.group_of(str(app["id"]))
        place = ids.within(group, ending.WORKFLOW, ending.name_of(ref.name))
        held = parts.look(self.api, belongings.of(ending.WORKFLOW, place))
        if held is not None and held.deployment == maker.deployment:
            moved = ending.moved(held.resource, end, {tags.EXPIRES: tags.stamp(end)})
            self.api.poll(self.api.begin(moved, scope=Scope()), progress=self.progress, timeout=300.0)
        said = maker.tag(str(app["id"]), {tags.EXPIRES: tags.stamp(end)})
        if said:
            raise Unexpected(f"writing the new end of {ref}", answered=said, fix="Repeat this call.")
        self.ledger.remember(maker.deployment, {"expires": tags.stamp(end)})

    def _template(self, app: Mapping[str, Any], change: Change) -> dict[str, Any]:
        """The app's template with what changes in it. Raises InvalidInput for what cannot change in place."""
        given: dict[str, Setting] = dict(change.settings or {})
        fixed = {name for name in given if name not in _SCALE | _ENGINE and not name.startswith("-")}
        if fixed or given.get("min_replicas", 0) != 0:
            wrong = sorted(fixed) or ["min_replicas above 0"]
            raise InvalidInput(
                "settings", f"{', '.join(wrong)} cannot change in place", fix="Delete it and deploy again."
            )
        template = deepcopy((app.get("properties") or {}).get("template") or {})
        container = next(one for one in template["containers"] if one.get("name") == calls.CONTAINER)
        words = [str(word) for word in container.get("args") or []]
        name, before = serving.engine_of(words), serving.served(words)
        chosen = options.choose(given)
        model = change.model or before
        models.check(model, name)
        container["args"] = serving.rearranged(words, replace(chosen.engine, name=name), model, given)
        seconds = probes.window(model, chosen.startup_seconds)
        if change.model is not None or chosen.startup_seconds:
            container["probes"] = probes.make(seconds)
        scale = template.setdefault("scale", {})
        if "min_replicas" in given:
            scale["minReplicas"] = 0
        if "cooldown_seconds" in given:
            scale["cooldownPeriod"] = chosen.cooldown_seconds
        if "concurrent_requests" in given:
            scale["rules"] = calls.scale(model, chosen)["rules"]
        return template

    def _replace(self, ref: EndpointRef, app: Mapping[str, Any], maker: Maker, template: dict[str, Any]) -> None:
        seen = view.seen(self.api, app)
        if not tags.moment(tags.read(app).get(tags.READY, "")):
            raise Conflict(f"changing {ref}", answered="it has not been ready yet", fix="Wait until it is ready.")
        if seen.count != 0:
            self._room(ref, app)
        before = deepcopy((app.get("properties") or {}).get("template") or {})
        old = str(seen.properties.get("latestRevisionName", ""))
        self._sent(maker, app, template)
        try:
            self._until_new(ref, app, old)
            self._first_token(ref)
        except CloudError as error:
            self._back(maker, app, before, error)
            raise
        maker.tag(str(app["id"]), {tags.READY: tags.stamp(self.now())})

    def _first_token(self, ref: EndpointRef) -> None:
        self.progress.report(f"{ref.name}: the new revision answers; asking for one token")
        said = asking.first_token(self.web, self.wire(ref), self.progress, seconds=invoke.LONGEST)
        if said:
            raise Unexpected(f"changing {ref}", answered=f"it gave no token: {said}", fix="Read its log.")

    def _back(self, maker: Maker, app: Mapping[str, Any], before: Mapping[str, Any], error: CloudError) -> None:
        """As long as a new revision is not up the old one serves; then the template is made what it was."""
        try:
            self._sent(maker, app, before)
        except CloudError as worse:
            error.fix = f"{error.fix} Going back to what it had failed too ({worse.code or worse.kind}): look at it."
        else:
            error.fix = f"{error.fix} It is back at what it had."

    def _sent(self, maker: Maker, app: Mapping[str, Any], template: Mapping[str, Any]) -> None:
        call = Call(parts.APP, "patch", {"id": str(app["id"]), "body": {"properties": {"template": template}}})
        maker.change(call, within=900.0)

    def _room(self, ref: EndpointRef, app: Mapping[str, Any]) -> None:
        """Raises Conflict where quota does not allow one more replica; an unread quota lets Azure decide."""
        hardware = view.hardware_of(app)
        if hardware is None:
            return
        subscription, environment = ids.subscription_of(str(app["id"])), delete.environment_of(app)
        region = values.region(ref.location)
        quota = room.of(self.api, hardware.accelerators[0], region, subscription, environment)
        if quota.free is not None and quota.free < 1:
            raise Conflict(
                f"changing {ref}",
                answered=f"Azure starts a second replica first, and {quota}",
                fix="Wait until it has scaled to zero, or delete it and deploy again with the new model or settings.",
            )

    def _until_new(self, ref: EndpointRef, app: Mapping[str, Any], old: str) -> None:
        """Wait until another revision than the old one is up. Raises what it says when it does not come up."""
        waited, broken = 0.0, 0
        while True:
            seen = view.read(self.api, str(app["id"]))
            fresh = str(seen.properties.get("latestRevisionName", "")) != old
            if fresh and seen.up:
                return
            broken = broken + 1 if fresh and seen.broken else 0
            if broken > 1 or waited >= LONGEST:
                raise state.failure(seen, f"changing {ref}")
            self.progress.report(f"{ref.name}: {seen.status} since {waited:.0f} s")
            if fresh and not seen.count:
                invoke.wake(self.web, seen)
            self.progress.sleep(POLL)
            waited += POLL
