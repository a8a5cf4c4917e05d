"""Changes an endpoint that is held: another end moves its schedules, another model goes in beside the old one.

SageMaker's own update starts a second instance before it lets the first one go (seen by others, 2026-11-29), so it
needs quota and capacity for one more of every pooled type. With a quota of 1 the way is to delete and deploy again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from clouds.aws import instances
from clouds.aws.api import AwsApi
from clouds.aws.endpoints import model as models
from clouds.aws.endpoints import shapes, tags
from clouds.aws.endpoints.making import Maker
from clouds.aws.endpoints.sagemaker import (
    container,
    delete,
    invoke,
    pools,
    removal,
    schedule,
    state,
    view,
    watch,
)
from clouds.aws.endpoints.sagemaker import settings as options
from clouds.base import Ledger, Progress, QuotaReader
from clouds.errors import CloudError, Conflict, InvalidInput, Unexpected
from clouds.models import Call, Change, EndpointRef, Scope, Setting


@dataclass(frozen=True)
class Changer:
    """One change of one endpoint."""

    api: AwsApi
    quotas: QuotaReader
    ledger: Ledger
    progress: Progress
    now: Callable[[], datetime]
    pause: Callable[[float], None]

    def change(self, ref: EndpointRef, change: Change) -> None:
        """Raises NotFound, InvalidInput, and Conflict where quota does not allow the second instance it needs."""
        answer = view.describe(self.api, ref.location, ref.name)
        mine = view.tags_of(self.api, ref.location, str(answer["EndpointArn"]))
        if not mine.get(tags.DEPLOYMENT):
            raise Conflict(
                f"changing {ref}", answered="modelrig did not make this endpoint", fix="Change it where it was made."
            )
        maker = Maker(self.api, self.ledger, self.progress, mine[tags.DEPLOYMENT])
        if change.ttl_hours is not None:
            self._end(ref, answer, mine, change.ttl_hours)
        if change.model is not None or change.settings:
            self._replace(ref, answer, mine, maker, change)

    def _end(self, ref: EndpointRef, answer: Mapping[str, Any], mine: Mapping[str, str], hours: float) -> None:
        """Move the schedules, then the tags; the endpoint's schedule first, since it is the one that costs."""
        if not 1 / 12 <= hours <= 24 * 30:
            raise InvalidInput("ttl_hours", f"{hours:g} is not from 0.0834 to 720", fix="Give hours from now.")
        end, scope = self.now() + timedelta(hours=hours), Scope(ref.location)
        pairs = tags.make(mine[tags.DEPLOYMENT], end, mine.get(tags.OWNER, ""))
        found = delete.find(self.api, ref)
        moments = schedule.moments(end, found.settle)
        for part, when in moments.items():
            held = delete.schedule_of(self.api, ref, part)
            if held is not None:
                self.api.send(schedule.moved(held, when, pairs), scope=scope)
                continue
            made = self._schedule(ref, answer, part, when, pairs)
            if made is not None:
                Maker(self.api, self.ledger, self.progress, mine[tags.DEPLOYMENT]).make(made, ref.location)
        arns = [str(answer["EndpointArn"]), *self._part_arns(ref, answer)]
        for arn in arns:
            self.api.send(Call("sagemaker", "AddTags", {"ResourceArn": arn, "Tags": [_expires(end)]}), scope=scope)
        self.ledger.remember(mine[tags.DEPLOYMENT], {"expires": tags.stamp(end)})

    def _schedule(
        self, ref: EndpointRef, answer: Mapping[str, Any], part: str, when: datetime, pairs: list[dict[str, str]]
    ) -> Call | None:
        """A schedule that somebody removed, made again."""
        config = str(answer.get("EndpointConfigName", ref.name))
        named = {"endpoint": ref.name, "again": ref.name, "config": config, "model": self._model_name(ref, config)}
        account = str(answer["EndpointArn"]).split(":")[4]
        if not named[part]:
            return None
        return schedule.create(ref.name, part, named[part], when, account=account, region=ref.location, pairs=pairs)

    def _model_name(self, ref: EndpointRef, config: str) -> str:
        held, _ = view.parts_of(self.api, ref.location, config)
        variants = held.get("ProductionVariants") or [{}]
        return str(variants[0].get("ModelName", ""))

    def _part_arns(self, ref: EndpointRef, answer: Mapping[str, Any]) -> list[str]:
        base = str(answer["EndpointArn"]).rsplit(":", 1)[0]
        config = str(answer.get("EndpointConfigName", ref.name))
        model = self._model_name(ref, config)
        return [f"{base}:endpoint-config/{config}", *([f"{base}:model/{model}"] if model else [])]

    def _replace(
        self, ref: EndpointRef, answer: Mapping[str, Any], mine: Mapping[str, str], maker: Maker, change: Change
    ) -> None:
        if answer["EndpointStatus"] != "InService":
            raise Conflict(
                f"changing {ref}",
                answered=f"it is {answer['EndpointStatus']}",
                fix="Wait until it is InService (get_endpoint).",
            )
        config, image = view.parts_of(self.api, ref.location, str(answer["EndpointConfigName"]))
        self._room(ref, state.asked_types(config))
        model, made = self._calls(ref, answer, mine, config, image, change)
        steps = [maker.make(call, ref.location) for call in made]
        new = str(made[1].parameters["EndpointConfigName"])
        update = Call("sagemaker", "UpdateEndpoint", {"EndpointName": ref.name, "EndpointConfigName": new})
        step = self.ledger.intent(mine[tags.DEPLOYMENT], update)
        try:
            self.api.send(update, scope=Scope(ref.location), once=True)
        except CloudError as error:
            self.ledger.failed(step, str(error))
            removal.remove(maker, made, ref.location, now=self.now(), settle=delete.LONGEST)
            raise
        self.ledger.done(step, {"region": ref.location, "config": new, "parts": len(steps)})
        self._settled(ref, maker, new, made, str(answer["EndpointConfigName"]), model)

    def _settled(self, ref: EndpointRef, maker: Maker, new: str, made: tuple[Call, Call], old: str, model: str) -> None:
        """Wait for the change, ask for a token, then take the older parts away; the new ones where it rolled back."""
        waited = 0.0
        while (answer := view.describe(self.api, ref.location, ref.name))["EndpointStatus"] in state.UPDATING:
            self.progress.report(f"{ref.location}: updating since {waited:.0f} s; the old instance serves meanwhile")
            self.progress.sleep(watch.POLL)
            waited += watch.POLL
        if answer["EndpointConfigName"] != new:
            removal.remove(maker, made, ref.location, now=self.now(), settle=delete.LONGEST)
            raise Unexpected(
                f"changing {ref} to {model}",
                answered=str(answer.get("FailureReason", "")) or f"it is {answer['EndpointStatus']} with what it had",
                fix="It still serves what it did. Read its log, or delete it and deploy again.",
            )
        said = invoke.first_token(self.api, ref.location, ref.name, self.progress)
        moment = "" if said else tags.stamp(self.now())
        ready = {"ResourceArn": str(answer["EndpointArn"]), "Tags": [{"Key": tags.READY, "Value": moment}]}
        self.api.send(Call("sagemaker", "AddTags", ready), scope=Scope(ref.location))
        before = [
            Call("sagemaker", "CreateEndpointConfig", {"EndpointConfigName": old}),
            Call("sagemaker", "CreateModel", {"ModelName": old}),
        ]
        removal.remove(maker, before, ref.location, now=self.now(), settle=delete.LONGEST)
        self._retarget(ref, answer, str(made[0].parameters["ModelName"]), new)

    def _retarget(self, ref: EndpointRef, answer: Mapping[str, Any], model: str, config: str) -> None:
        """The schedules of configuration and model delete the new ones now."""
        account = str(answer["EndpointArn"]).split(":")[4]
        for part, resource in (("config", config), ("model", model)):
            held = delete.schedule_of(self.api, ref, part)
            when = schedule.end_of(str(held.parameters["ScheduleExpression"])) if held is not None else None
            if held is None or when is None:
                continue
            fresh = schedule.create(ref.name, part, resource, when, account=account, region=ref.location, pairs=[])
            body = {**held.parameters, "Target": fresh.parameters["Target"]}
            self.api.send(Call("scheduler", "UpdateSchedule", body), scope=Scope(ref.location))

    def _room(self, ref: EndpointRef, types: tuple[str, ...]) -> None:
        """Raises Conflict where quota does not allow one more of every type; an unread quota lets AWS decide."""
        read = self.quotas.read(None, list(types), [Scope(ref.location)])
        for quota in read.found:
            if word := pools.shortage(quota):
                raise Conflict(
                    f"changing {ref}",
                    answered=f"SageMaker starts a second instance first, and for {quota.name} {word}",
                    code=quota.code,
                    fix="Delete it and deploy again with the new model or settings.",
                )

    def _calls(
        self,
        ref: EndpointRef,
        answer: Mapping[str, Any],
        mine: Mapping[str, str],
        config: Mapping[str, Any],
        image: Mapping[str, Any],
        change: Change,
    ) -> tuple[str, tuple[Call, Call]]:
        """The new model and configuration, made from the old ones with what changes."""
        variant = dict(config["ProductionVariants"][0])
        held = view.describe_model(self.api, ref.location, str(variant["ModelName"]))
        types = [row for row in map(instances.find, state.asked_types(config)) if row is not None]
        accelerators = min((row.accelerators for row in types), default=options.MOST_COPIES)
        environment = _changed(dict(image.get("Environment", {})), change, accelerators)
        model = environment.get(f"{options.PREFIX}SERVED_MODEL_NAME", "")
        suffix = _suffix(str(answer["EndpointConfigName"]), ref.name)
        pairs = tags.make(mine[tags.DEPLOYMENT], tags.moment(mine.get(tags.EXPIRES, "")), mine.get(tags.OWNER, ""))
        name = ref.name + suffix
        made = (
            Call(
                "sagemaker",
                "CreateModel",
                {
                    "ModelName": name,
                    "ExecutionRoleArn": held["ExecutionRoleArn"],
                    "PrimaryContainer": {**image, "Environment": environment},
                    "Tags": pairs,
                },
            ),
            Call(
                "sagemaker",
                "CreateEndpointConfig",
                {"EndpointConfigName": name, "ProductionVariants": [{**variant, "ModelName": name}], "Tags": pairs},
            ),
        )
        for call in made:
            shapes.check(call)
        return model, made


def _expires(end: datetime) -> dict[str, str]:
    return {"Key": tags.EXPIRES, "Value": tags.stamp(end)}


def _suffix(config: str, name: str) -> str:
    found = re.fullmatch(rf"{re.escape(name)}-u(\d+)", config)
    return f"-u{int(found[1]) + 1 if found else 1}"


_TOOLS = f"{options.PREFIX}TOOL_CALL_PARSER"


def _changed(environment: dict[str, str], change: Change, accelerators: int) -> dict[str, str]:
    """The container's environment with another model and settings. Raises InvalidInput for what it cannot take."""
    settings: dict[str, Setting] = dict(change.settings or {})
    fixed = set(settings) & {"image", "role", "ami", "capacity_wait_seconds", "startup_seconds", "download_seconds"}
    if fixed:
        raise InvalidInput(
            "settings", f"{', '.join(sorted(fixed))} cannot change in place", fix="Delete it and deploy again."
        )
    before = environment.get(f"{options.PREFIX}SERVED_MODEL_NAME", "")
    parser = environment.get(_TOOLS, "")
    if change.model and parser and parser == models.known_parser(before) and _TOOLS not in settings:
        settings["tool_calls"] = settings.get("tool_calls", True)  # ours: each family of models has its own
    chosen = options.choose(settings)
    model = change.model or before
    models.check_for_vllm(model)
    fresh = container.environment(model, chosen, accelerators)
    keep = {f"{options.PREFIX}MODEL", f"{options.PREFIX}SERVED_MODEL_NAME"} if change.model else set()
    named = {
        "max_model_len": f"{options.PREFIX}MAX_MODEL_LEN",
        "gpu_memory_utilization": f"{options.PREFIX}GPU_MEMORY_UTILIZATION",
        "tensor_parallel_size": f"{options.PREFIX}TENSOR_PARALLEL_SIZE",
        "hf_token_from": container.SECRET,
    }
    keep |= {named[name] for name in settings if name in named}
    if "tool_calls" in settings:
        keep |= {f"{options.PREFIX}ENABLE_AUTO_TOOL_CHOICE", _TOOLS}
    # What was set before and is a default now has no variable any more.
    kept = {key: value for key, value in environment.items() if key not in keep or key in fresh}
    return {**kept, **{key: value for key, value in fresh.items() if key in keep or key in chosen.flags}}
