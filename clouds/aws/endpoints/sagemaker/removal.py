"""Takes one region's parts away in order, read back: endpoint, configuration, model, then the schedules.

The schedules go last: as long as anything that bills may exist, its end exists too. An endpoint that is still Creating
refuses; then its deletion is asked for every minute by a schedule, until it settles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from clouds.aws.endpoints.making import Maker
from clouds.aws.endpoints.parts import kind_of
from clouds.aws.endpoints.sagemaker import schedule, view
from clouds.errors import CloudError, Conflict, Unexpected
from clouds.models import Call, DeletedPart, Scope

POLL, GONE_WITHIN = 5.0, 900.0
LATER = (
    "AWS refuses to delete an endpoint that is still Creating. A schedule asks for its deletion every minute from now; "
    "it bills from the moment an instance is placed until then"
)


@dataclass(frozen=True)
class Removed:
    """How each part ended. `later` is set when the endpoint settles first."""

    parts: tuple[DeletedPart, ...]
    later: str = ""

    @property
    def gone(self) -> bool:
        """Nothing is left but what is shared."""
        return not self.later and all(part.outcome != "still there" for part in self.parts)


def remove(maker: Maker, calls: Sequence[Call], region: str, *, now: datetime, settle: timedelta) -> Removed:
    """Remove what these creating calls made. One part that cannot be removed does not keep the others from going."""
    by = {kind: [call for call in calls if str(call) == kind] for kind in dict.fromkeys(map(str, calls))}
    schedules = by.get("scheduler.CreateSchedule", [])
    done: list[DeletedPart] = []
    for call in by.get("sagemaker.CreateEndpoint", []):
        part, later = _endpoint(maker, call, schedules, region, now, settle)
        done.append(part)
        if later:
            kept = [other for other in calls if str(other) != "sagemaker.CreateEndpoint" and _ours(other)]
            done += [DeletedPart(part=_word(other), outcome="kept", detail="goes with the endpoint") for other in kept]
            return Removed(tuple(done), later)
        if part.outcome == "still there":
            return Removed(tuple(done))
    order = ("sagemaker.CreateEndpointConfig", "sagemaker.CreateModel", "scheduler.CreateSchedule", "iam.PutRolePolicy")
    for kind in order:
        done += [_part(maker, call, region) for call in by.get(kind, [])]
    return Removed(tuple(done))


def _ours(call: Call) -> bool:
    return str(call) not in {"iam.CreateRole", "iam.PutRolePolicy"}


def _word(call: Call) -> str:
    return kind_of(call).of(call.parameters)


def _part(maker: Maker, call: Call, region: str) -> DeletedPart:
    try:
        outcome = maker.remove(call, region)
    except CloudError as error:
        return DeletedPart(part=_word(call), outcome="still there", detail=str(error)[:300])
    return DeletedPart(part=_word(call), outcome="deleted" if outcome == "deleted" else "was not there")


def _endpoint(
    maker: Maker, call: Call, schedules: Sequence[Call], region: str, now: datetime, settle: timedelta
) -> tuple[DeletedPart, str]:
    name = str(call.parameters["EndpointName"])
    try:
        outcome = maker.remove(call, region, gone=lambda _: wait_until_gone(maker, region, name))
    except Conflict as error:
        if "in-progress" not in error.answered:
            return DeletedPart(part=_word(call), outcome="still there", detail=str(error)[:300]), ""
        answer = view.describe(maker.api, region, name)
        if answer["EndpointStatus"] == "Deleting":
            wait_until_gone(maker, region, name)
            maker.forget(call, region)
            return DeletedPart(part=_word(call), outcome="deleted"), ""
        later = _ask_every_minute(maker, schedules, region, now, settle)
        detail = f"{answer['EndpointStatus']}; {later}"
        return DeletedPart(part=_word(call), outcome="still there", detail=detail), later
    except CloudError as error:
        return DeletedPart(part=_word(call), outcome="still there", detail=str(error)[:300]), ""
    return DeletedPart(part=_word(call), outcome="deleted" if outcome == "deleted" else "was not there"), ""


def _ask_every_minute(maker: Maker, schedules: Sequence[Call], region: str, now: datetime, settle: timedelta) -> str:
    """Turn the endpoint's schedule; bring those of configuration and model forward to when it is surely gone."""
    moments = schedule.moments(now, settle)
    for call in schedules:
        part = str(call.parameters["Name"]).rsplit("-", 1)[-1]
        if part == "endpoint":
            turned = schedule.when_settled(call, now, settle)
        elif part in moments:
            turned = schedule.moved(call, moments[part], [])
            turned = Call(
                turned.service, turned.operation, {**turned.parameters, "Description": call.parameters["Description"]}
            )
        else:
            continue
        maker.api.send(turned, scope=Scope(region))
    return LATER


def wait_until_gone(maker: Maker, region: str, name: str) -> None:
    """Read until AWS no longer knows it. Raises Unexpected when that takes longer than ever seen."""
    waited = 0.0
    while not view.gone(maker.api, region, name):
        if waited >= GONE_WITHIN:
            raise Unexpected(
                f"deleting {name} in {region}", answered=f"it is still there after {waited:.0f} s",
                fix="Ask again in some minutes (get_endpoint); then delete_endpoint once more.",
            )  # fmt: skip
        maker.progress.report(f"deleting {name} in {region}: {waited:.0f} s")
        maker.progress.sleep(POLL)
        waited += POLL
