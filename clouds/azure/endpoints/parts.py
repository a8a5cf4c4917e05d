"""What deployments are made of: for each call that makes a part, how it is found, whose it is, how it is removed.

ARM's PUT overwrites what is there without a word, so every part is read before it is sent: a name that somebody else
uses is refused, and what an earlier run made is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clouds.azure.endpoints import ending, ids, tags
from clouds.base import Api
from clouds.errors import NotFound
from clouds.models import Call, Scope

GROUP, ENVIRONMENT = "Microsoft.Resources/resourceGroups", "Microsoft.App/managedEnvironments"
APP, JOB = "Microsoft.App/containerApps", "Microsoft.App/jobs"
WORKSPACE = "Microsoft.MachineLearningServices/workspaces"
ENDPOINT, IMAGE = f"{WORKSPACE}/onlineEndpoints", f"{WORKSPACE}/environments/versions"
SERVED = f"{ENDPOINT}/deployments"
RUNNING = "running"
BAD = frozenset({"failed", "canceled", "cancelled"})
_SETTLED = frozenset({"", "succeeded", "provisioned", "running", "created", "ready", *BAD})
MINE = "(by its name)"


@dataclass(frozen=True)
class Found:
    """A resource as Azure shows it. `deployment` is empty for what is not ours; `state` is its own word."""

    id: str
    deployment: str
    state: str
    resource: Mapping[str, Any] = field(repr=False)

    @property
    def settled(self) -> bool:
        """No operation of Azure's is under way on it."""
        return self.state.lower() in _SETTLED

    @property
    def bad(self) -> bool:
        """It is there and was not made well."""
        return self.state.lower() in BAD


@dataclass(frozen=True)
class Kind:
    """One kind of part. `applied`: whether a resource is what the call asks for, as far as it matters to us.

    `removal` is the call that removes it, None where it goes with something else; `within` is how long making it may
    take, in seconds.
    """

    word: str
    whose: Callable[[Mapping[str, Any]], str] = tags.deployment_of
    applied: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] = lambda _resource, _body: True
    removal: Callable[[Call, Found], Call | None] = lambda call, _: Call(
        call.service, "delete", {"id": call.parameters["id"]}
    )
    bills: bool = False
    within: float = 1800.0

    def of(self, call: Call) -> str:
        """ "container app gemma": what a person reads."""
        return f"{self.word} {str(call.parameters['id']).rsplit('/', 1)[-1]}"


def read(api: Api, call: Call) -> Mapping[str, Any] | None:
    """The resource that a call would make, as it is now; None when it is not there. Raises CloudError."""
    place = str(call.parameters["id"])
    scope = Scope(account=ids.subscription_of(place))
    try:
        answer: Mapping[str, Any] = api.send(Call(call.service, "get", {"id": place}), scope=scope)
    except NotFound:
        return None
    return answer


def look(api: Api, call: Call) -> Found | None:
    """What is there of a part. Raises CloudError when nobody knows."""
    resource = read(api, call)
    if resource is None:
        return None
    return found_in(call, resource)


def found_in(call: Call, resource: Mapping[str, Any]) -> Found | None:
    """A resource that was read, as a part; None when it holds nothing of this part."""
    kind = kind_of(call)
    whose = kind.whose(resource)
    if str(call) == _ADDED and not whose:
        return None
    state = str((resource.get("properties") or {}).get("provisioningState") or "")
    return Found(str(resource.get("id") or call.parameters["id"]), whose, state, resource)


def applied(call: Call, resource: Mapping[str, Any]) -> bool:
    """Whether a resource already is what the call asks for."""
    return kind_of(call).applied(resource, call.parameters.get("body") or {})


def _traffic(resource: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    asked = (body.get("properties") or {}).get("traffic")
    return asked is None or (resource.get("properties") or {}).get("traffic") == asked


def _of_image(resource: Mapping[str, Any]) -> str:
    """A version's tags are among its properties."""
    return tags.deployment_of(resource.get("properties") or {})


def _archive(call: Call, found: Found) -> Call:
    """A version of an Azure ML environment can be put away and not deleted."""
    held = dict(found.resource.get("properties") or {})
    kept = {name: held[name] for name in ("image", "osType", "inferenceConfig", "tags") if name in held}
    body = {"properties": {**kept, "isArchived": True}}
    return Call(call.service, "put", {"id": call.parameters["id"], "body": body})


def profile_of(resource: Mapping[str, Any]) -> tuple[str, str]:
    """The workload profile that we added to somebody's environment, and for which deployment; empty where none."""
    name, _, deployment = tags.read(resource).get(tags.PROFILE, "").partition(" ")
    held = (resource.get("properties") or {}).get("workloadProfiles") or []
    there = any(profile.get("name") == name for profile in held)
    return (name, deployment) if there else ("", "")


def _take_profile_out(call: Call, found: Found) -> Call:
    """What was added is taken out again; the rest stays as it is now."""
    name, _ = profile_of(found.resource)
    held = (found.resource.get("properties") or {}).get("workloadProfiles") or []
    left = {key: value for key, value in (found.resource.get("tags") or {}).items() if key.lower() != tags.PROFILE}
    body = {
        "tags": left,
        "properties": {"workloadProfiles": [profile for profile in held if profile.get("name") != name]},
    }
    return Call(ENVIRONMENT, "patch", {"id": call.parameters["id"], "body": body})


_ADDED = f"{ENVIRONMENT}.patch"
KINDS: Mapping[str, Kind] = {
    f"{GROUP}.put": Kind("resource group", within=300.0),
    f"{ENVIRONMENT}.put": Kind("environment"),
    _ADDED: Kind(
        "workload profile in environment",
        whose=lambda resource: profile_of(resource)[1],
        removal=_take_profile_out,
    ),
    f"{APP}.put": Kind("container app", bills=True),
    f"{ending.WORKFLOW}.put": Kind("scheduled end", within=300.0),
    f"{ending.ASSIGNMENT}.put": Kind("right of the scheduled end on", whose=lambda _: MINE, within=300.0),
    f"{IMAGE}.put": Kind("environment version", whose=_of_image, removal=_archive, within=600.0),
    f"{ENDPOINT}.put": Kind("endpoint", applied=_traffic, within=1800.0),
    f"{SERVED}.put": Kind("deployment", bills=True, within=7200.0),
}
"""By the call that makes it, in `type.verb`."""


def kind_of(call: Call) -> Kind:
    """The kind that a call makes. Raises KeyError for a call that makes nothing we know."""
    return KINDS[str(call)]
