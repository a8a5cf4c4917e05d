"""Changes a managed online endpoint that is held: another end, or another model or engine settings on its machine.

Azure ML replaces a deployment's machines one by one and starts a new one first, so that another model needs quota for
one more machine.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from clouds.azure import sizes
from clouds.azure.api import AzureApi
from clouds.azure.endpoints import asking, belongings, ending, ids, parts, preflight, serving, tags, values
from clouds.azure.endpoints import model as models
from clouds.azure.endpoints.making import Maker
from clouds.azure.endpoints.ml import calls, invoke, plan, view
from clouds.azure.endpoints.ml import settings as options
from clouds.azure.endpoints.web import Web
from clouds.base import Ledger, Progress
from clouds.errors import CloudError, Conflict, InvalidInput, Unexpected
from clouds.models import Call, Change, EndpointRef, Scope, Setting

_FIXED = {"workspace", "image", "engine", "scheduled_end", "hf_token_from", "startup_seconds"}
_READ_ONLY = ("provisioningState", "properties")


@dataclass(frozen=True)
class Changer:
    """One change of one endpoint."""

    api: AzureApi
    web: Web
    ledger: Ledger
    progress: Progress
    now: Callable[[], datetime]

    def change(self, ref: EndpointRef, change: Change) -> None:
        """Raises NotFound, InvalidInput, and Conflict where quota does not allow the second machine it needs."""
        endpoint = view.find(self.api, ref)
        deployment = tags.deployment_of(endpoint)
        if not deployment:
            raise Conflict(
                f"changing {ref}", answered="modelrig did not make this endpoint", fix="Change it where it was made."
            )
        maker = Maker(self.api, self.ledger, self.progress, deployment)
        rows = view.deployments(self.api, endpoint)
        changed = None
        if change.model is not None or change.settings:
            changed = self._changed(ref, rows, change)
        if change.ttl_hours is not None:
            self._end(ref, endpoint, rows, maker, change.ttl_hours)
        if changed is not None:
            self._replace(ref, endpoint, rows[0], maker, changed)

    def _end(
        self, ref: EndpointRef, endpoint: Mapping[str, Any], rows: list[Mapping[str, Any]], maker: Maker, hours: float
    ) -> None:
        """Move the scheduled end, where there is one, then the tags."""
        if not 1 / 12 <= hours <= 24 * 30:
            raise InvalidInput("ttl_hours", f"{hours:g} is not from 0.0834 to 720", fix="Give hours from now.")
        end, place = self.now() + timedelta(hours=hours), str(endpoint["id"])
        flow = ids.within(ids.group_of(place), ending.WORKFLOW, ending.name_of(ref.name))
        held = parts.look(self.api, belongings.of(ending.WORKFLOW, flow))
        pairs = {tags.EXPIRES: tags.stamp(end)}
        if held is not None and held.deployment == maker.deployment:
            begun = self.api.begin(ending.moved(held.resource, end, pairs), scope=invoke.scope_of(place))
            self.api.poll(begun, progress=self.progress, timeout=300.0)
        for resource in (place, *(str(row["id"]) for row in rows)):
            if said := maker.tag(resource, pairs):
                raise Unexpected(f"writing the new end of {ref}", answered=said, fix="Repeat this call.")
        self.ledger.remember(maker.deployment, {"expires": tags.stamp(end)})

    def _changed(self, ref: EndpointRef, rows: list[Mapping[str, Any]], change: Change) -> dict[str, Any]:
        """The deployment's body with what changes in it. Raises InvalidInput for what cannot change in place."""
        if not rows:
            raise Conflict(f"changing {ref}", answered="it has no deployment", fix="Deploy it again.")
        given: dict[str, Setting] = dict(change.settings or {})
        if fixed := sorted(given.keys() & _FIXED):
            raise InvalidInput(
                "settings", f"{', '.join(fixed)} cannot change in place", fix="Delete it and deploy again."
            )
        body = body_of(rows[0])
        properties = body["properties"]
        before = view.variables(rows[0])
        name = "vllm" if serving.ARGS_VARIABLE in before else "llama.cpp"
        model = change.model or serving.model_in(before)
        models.check(model, name)
        chosen = options.choose(given, model)
        size = sizes.find(str(properties.get("instanceType", "")))
        engine = replace(chosen.engine, name=name, accelerators=size.accelerators if size else 1)
        properties["environmentVariables"] = changed_variables(before, engine, model, given)
        asked = properties.setdefault("requestSettings", {})
        if "request_timeout_seconds" in given:
            asked["requestTimeout"] = calls.duration(chosen.request_timeout_seconds)
        if "concurrent_requests" in given:
            asked["maxConcurrentRequestsPerInstance"] = chosen.concurrent_requests
        return body

    def _replace(
        self,
        ref: EndpointRef,
        endpoint: Mapping[str, Any],
        row: Mapping[str, Any],
        maker: Maker,
        body: Mapping[str, Any],
    ) -> None:
        self._room(ref, row)
        place = str(row["id"])
        try:
            self._put(maker, place, body)
            wire = invoke.wire(self.api, endpoint, view.deployments(self.api, endpoint))
            if said := asking.first_token(self.web, wire, self.progress, seconds=options.LONGEST_REQUEST + 5.0):
                raise Unexpected(f"changing {ref}", answered=f"it gave no token: {said}", fix="Read its log.")
        except CloudError as error:
            try:
                self._put(maker, place, body_of(row))
            except CloudError as worse:
                error.fix = (
                    f"{error.fix} Going back to what it had failed too ({worse.code or worse.kind}): look at it."
                )
            else:
                error.fix = f"{error.fix} It is back at what it had."
            raise

    def _put(self, maker: Maker, place: str, body: Mapping[str, Any]) -> None:
        maker.change(Call(parts.SERVED, "put", {"id": place, "body": body}), within=7200.0)

    def _room(self, ref: EndpointRef, row: Mapping[str, Any]) -> None:
        """Raises Conflict where quota does not allow one more machine; an unread quota lets Azure decide."""
        size = sizes.find(str((row.get("properties") or {}).get("instanceType", "")))
        if size is None:
            return
        scope = Scope(values.region(ref.location), ids.subscription_of(str(row["id"])))
        family = plan.family_of(self.api, size, scope)
        quota = preflight.usage(self.api, plan.USAGES, scope, family)
        if quota.free is not None and quota.free < size.vcpus:
            raise Conflict(
                f"changing {ref}",
                answered=f"Azure ML starts a second machine first, and {quota}",
                fix="Delete it and deploy again with the new model or settings.",
            )


def body_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """What to PUT to have a deployment as it is now: without what Azure adds."""
    held = deepcopy({name: row[name] for name in ("location", "tags", "sku", "identity") if row.get(name)})
    properties = {name: value for name, value in (row.get("properties") or {}).items() if name not in _READ_ONLY}
    return {**held, "properties": deepcopy(properties)}


def changed_variables(
    before: Mapping[str, str], engine: serving.Engine, model: str, given: Mapping[str, Setting]
) -> dict[str, str]:
    """The container's environment with another model, and with only those settings changed that were given."""
    if serving.ARGS_VARIABLE in before:
        words = serving.rearranged(shlex.split(before[serving.ARGS_VARIABLE]), engine, model, given)
        return {**before, serving.ARGS_VARIABLE: shlex.join(words)}
    fresh = serving.environment(engine, model)
    names = {
        "max_model_len": ("LLAMA_ARG_CTX_SIZE",),
        "parallel": ("LLAMA_ARG_N_PARALLEL", "LLAMA_ARG_CTX_SIZE"),
        "file": ("LLAMA_ARG_HF_FILE",),
    }
    wanted = {"LLAMA_ARG_HF_REPO", "LLAMA_ARG_ALIAS"}
    wanted |= {name for setting in given for name in names.get(setting, ())}
    wanted |= {serving.variable_of(setting) for setting in given if setting.startswith("-")}
    return {**before, **{name: value for name, value in fresh.items() if name in wanted}}
