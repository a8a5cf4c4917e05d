"""What deployments are made of: for each creating call, how to find its resource, whose it is, how to remove it.

A name is enough to find each: nothing of ours is made under a name that Google chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from clouds.base import Api
from clouds.errors import NotFound
from clouds.gcp.endpoints import labels as tags
from clouds.models import Call, Scope

Params = Mapping[str, Any]
Polled = Literal["", "compute-zone", "compute-global", "tpu", "run"]


@dataclass(frozen=True)
class Found:
    """A resource as the cloud shows it. `deployment` is empty for what is not ours.

    `dead`: it will not serve again, and a new one of its name cannot be made until it is deleted. `leaving`: it is
    being deleted.
    """

    id: str
    deployment: str
    status: str = ""
    dead: bool = False
    leaving: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """One kind of part. `remove` takes the creating call's parameters; `polled` says how its operation is read."""

    word: str
    name: Callable[[Params], str]
    look: Callable[[Api, Scope, Params], Found | None]
    remove: Callable[[Params], Call]
    polled: Polled = ""
    bills: bool = False

    def of(self, params: Params) -> str:
        """ "instance modelrig-gemma": what a person reads."""
        return f"{self.word} {self.name(params)}"


def read(api: Api, scope: Scope, call: Call) -> dict[str, Any] | None:
    """The answer, or None where there is nothing of that name."""
    try:
        answer: dict[str, Any] = api.send(call, scope=scope)
    except NotFound:
        return None
    return answer


def _instance(api: Api, scope: Scope, params: Params) -> Found | None:
    row = read(api, scope, Call("compute", "instances.get", _of_zone(params)))
    if row is None:
        return None
    status = str(row.get("status", ""))
    return Found(
        str(row.get("name", "")),
        row.get("labels", {}).get(tags.DEPLOYMENT, ""),
        status,
        dead=status in {"TERMINATED", "STOPPED", "SUSPENDED", "SUSPENDING"},
        leaving=status in {"STOPPING", "DEPROVISIONING", "PENDING_STOP"},
        facts={"status": status},
    )


def _of_zone(params: Params) -> dict[str, Any]:
    return {"project": params["project"], "zone": params["zone"], "instance": params["body"]["name"]}


def _firewall(api: Api, scope: Scope, params: Params) -> Found | None:
    asked = {"project": params["project"], "firewall": params["body"]["name"]}
    row = read(api, scope, Call("compute", "firewalls.get", asked))
    if row is None:
        return None
    mine = tags.of_description(str(row.get("description", "")))
    return Found(str(row.get("name", "")), mine.get(tags.DEPLOYMENT, ""))


def _node(api: Api, scope: Scope, params: Params) -> Found | None:
    name = f"{params['parent']}/nodes/{params['nodeId']}"
    row = read(api, scope, Call("tpu", "projects.locations.nodes.get", {"name": name}))
    if row is None:
        return None
    status = str(row.get("state", ""))
    return Found(
        name,
        row.get("labels", {}).get(tags.DEPLOYMENT, ""),
        status,
        dead=status in {"PREEMPTED", "TERMINATED", "STOPPED", "STOPPING", "HIDDEN", "HIDING"},
        leaving=status == "DELETING",
        facts={"status": status},
    )


def _queued(service: str) -> Callable[[Api, Scope, Params], Found | None]:
    """A queued resource takes no labels: those of the node that it asks for say whose it is."""

    def look(api: Api, scope: Scope, params: Params) -> Found | None:
        name = f"{params['parent']}/queuedResources/{params['queuedResourceId']}"
        row = read(api, scope, Call(service, "projects.locations.queuedResources.get", {"name": name}))
        if row is None:
            return None
        status = str(row.get("state", {}).get("state", ""))
        specs = row.get("tpu", {}).get("nodeSpec", [])
        mine = specs[0].get("node", {}).get("labels", {}) if specs else {}
        return Found(
            name,
            mine.get(tags.DEPLOYMENT, ""),
            status,
            dead=status in {"FAILED", "SUSPENDED", "SUSPENDING"},
            leaving=status == "DELETING",
            facts={"status": status},
        )

    return look


def _job(api: Api, scope: Scope, params: Params) -> Found | None:
    name = str(params["body"]["name"])
    row = read(api, scope, Call("cloudscheduler", "projects.locations.jobs.get", {"name": name}))
    if row is None:
        return None
    mine = tags.of_description(str(row.get("description", "")))
    return Found(name, mine.get(tags.DEPLOYMENT, ""), str(row.get("state", "")))


def _service(api: Api, scope: Scope, params: Params) -> Found | None:
    name = f"{params['parent']}/services/{params['serviceId']}"
    row = read(api, scope, Call("run", "projects.locations.services.get", {"name": name}))
    if row is None:
        return None
    return Found(
        name,
        row.get("labels", {}).get(tags.DEPLOYMENT, ""),
        str(row.get("terminalCondition", {}).get("state", "")),
        leaving="deleteTime" in row,
    )


def _queued_kind(service: str) -> Kind:
    return Kind(
        "queued resource",
        lambda params: str(params["queuedResourceId"]),
        _queued(service),
        lambda params: Call(
            service,
            "projects.locations.queuedResources.delete",
            {"name": f"{params['parent']}/queuedResources/{params['queuedResourceId']}", "force": True},
        ),
        polled="tpu",
        bills=True,
    )


KINDS: Mapping[str, Kind] = {
    "compute.instances.insert": Kind(
        "instance",
        lambda params: str(params["body"]["name"]),
        _instance,
        lambda params: Call("compute", "instances.delete", _of_zone(params)),
        polled="compute-zone",
        bills=True,
    ),
    "compute.firewalls.insert": Kind(
        "firewall rule",
        lambda params: str(params["body"]["name"]),
        _firewall,
        lambda params: Call(
            "compute", "firewalls.delete", {"project": params["project"], "firewall": params["body"]["name"]}
        ),
        polled="compute-global",
    ),
    "tpu.projects.locations.nodes.create": Kind(
        "TPU node",
        lambda params: str(params["nodeId"]),
        _node,
        lambda params: Call(
            "tpu", "projects.locations.nodes.delete", {"name": f"{params['parent']}/nodes/{params['nodeId']}"}
        ),
        polled="tpu",
        bills=True,
    ),
    "tpu.projects.locations.queuedResources.create": _queued_kind("tpu"),
    "tpu-v2alpha1.projects.locations.queuedResources.create": _queued_kind("tpu-v2alpha1"),
    "cloudscheduler.projects.locations.jobs.create": Kind(
        "scheduler job",
        lambda params: str(params["body"]["name"]).rsplit("/", 1)[-1],
        _job,
        lambda params: Call("cloudscheduler", "projects.locations.jobs.delete", {"name": params["body"]["name"]}),
    ),
    "run.projects.locations.services.create": Kind(
        "service",
        lambda params: str(params["serviceId"]),
        _service,
        lambda params: Call(
            "run",
            "projects.locations.services.delete",
            {"name": f"{params['parent']}/services/{params['serviceId']}"},
        ),
        polled="run",
        bills=True,
    ),
}
"""By the call that creates, in `service.operation`."""


def kind_of(call: Call) -> Kind:
    """The kind that a creating call makes. Raises KeyError for a call that creates nothing we know."""
    return KINDS[str(call)]
