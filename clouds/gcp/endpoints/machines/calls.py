"""Calls that both machine services make: the rule that lets the tunnel in, and the metadata of the machine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import binding
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.hardware import Shape
from clouds.gcp.endpoints.machines import selfrun, startup
from clouds.gcp.endpoints.machines import serving as engines
from clouds.gcp.endpoints.machines.common import Chosen
from clouds.gcp.endpoints.machines.held import SERVE, SERVING, label
from clouds.gcp.endpoints.machines.serving import PORT, Serving
from clouds.gcp.endpoints.tunnel.relay import RANGE
from clouds.models import Call

LONGEST_NAME = 45
"""Names of Compute Engine have 63 characters at most; ours begin with `modelrig-` or `modelrig-gce-`."""


@dataclass(frozen=True)
class Build:
    """All that the calls of a deployment are made from."""

    service: str
    name: str
    project: str
    owner: str
    end: datetime
    ttl_seconds: int
    serving: Serving
    chosen: Chosen

    @property
    def labels(self) -> dict[str, str]:
        """The labels of every part."""
        return tags.make(tags.PLACEHOLDER, self.end, self.owner)

    def request(self, number: int) -> str:
        """A placeholder that becomes a request id."""
        return f"{binding.REQUEST}{number}"


def rule_name(service: str, name: str) -> str:
    """The firewall rule and network tag of one endpoint: `modelrig-gce-gemma`."""
    return f"modelrig-{service}-{name}"


def rule(build: Build) -> Call:
    """Google's relay alone may reach the model's port of this machine; nothing is open to the world."""
    name = rule_name(build.service, build.name)
    return Call(
        "compute",
        "firewalls.insert",
        {
            "project": build.project,
            "requestId": build.request(0),
            "body": {
                "name": name,
                "description": tags.described(build.labels),
                "network": f"projects/{build.project}/global/networks/{build.chosen.network}",
                "direction": "INGRESS",
                "priority": 900,
                "sourceRanges": [RANGE],
                "targetTags": [name],
                "allowed": [{"IPProtocol": "tcp", "ports": [str(PORT)]}],
            },
        },
    )


def metadata(build: Build, shape: Shape, zone: str, *, attributes: bool) -> dict[str, str]:
    """What the machine reads: its script, what it serves, and whether it may write guest attributes. No secret."""
    chosen = build.chosen
    machine = startup.Machine(
        image=build.serving.image,
        tpu=shape.tpu,
        secret=chosen.hf_token_from,
        cache=chosen.compile_cache,
        prepare=chosen.prepare,
        prepare_sha256=chosen.prepare_sha256,
        attributes=attributes,
        after=selfrun.script(build.serving, chosen),
        gone=selfrun.gone(build.service, build.name, zone, build.project, chosen),
    )
    found = {
        "startup-script": startup.render(machine),
        SERVING: build.serving.text(),
        SERVE: engines.script(build.serving),
    }
    if attributes:
        found["enable-guest-attributes"] = "TRUE"
    if chosen.results:
        found[selfrun.RESULTS] = chosen.results
    longest = max(len(text.encode()) for text in found.values())
    if longest > startup.MOST_BYTES:
        raise InvalidInput(
            "settings",
            f"make {longest:,} bytes of metadata, Google takes {startup.MOST_BYTES:,}",
            fix="Use fewer arms.",
        )
    return found


def account(chosen: Chosen) -> str:
    """The service account as both APIs take it."""
    return chosen.service_account or "default"


__all__ = ["LONGEST_NAME", "Build", "account", "label", "metadata", "rule", "rule_name"]
