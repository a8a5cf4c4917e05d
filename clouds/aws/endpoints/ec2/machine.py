"""One machine as EC2 shows it: found by its name and our tags, and what its state means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clouds.aws.api import AwsApi
from clouds.aws.endpoints import tags
from clouds.aws.endpoints.ec2.calls import label
from clouds.enginelog import progress_words
from clouds.errors import CloudError, NotFound
from clouds.models import Call, EndpointRef, Scope, State

GONE = frozenset({"shutting-down", "terminated"})
READS = (
    Call("ec2", "DescribeInstances"),
    Call("ec2", "DescribeSecurityGroups"),
    Call("ec2", "DescribeSubnets"),
    Call("ec2", "DescribeInstanceTypeOfferings"),
    Call("ec2", "DescribeImages"),
    Call("ec2", "DescribeSpotPriceHistory"),
    Call("ec2", "GetConsoleOutput"),
    Call("iam", "GetInstanceProfile"),
    Call("iam", "GetRole"),
    Call("iam", "GetRolePolicy"),
    Call("sts", "GetCallerIdentity"),
    Call("pricing", "GetProducts"),
)
"""What looking at machines sends, for the read-only allow-list."""


@dataclass(frozen=True)
class Standing:
    """Our word, whether it bills (None: nobody knows), and why."""

    state: State
    billing: bool | None
    reason: str = ""


def find(api: AwsApi, ref: EndpointRef, *, ended: bool = False) -> dict[str, Any]:
    """The machine of that name; one that has ended only when asked for. Raises NotFound."""
    filters = [
        {"Name": "tag:Name", "Values": [label(ref.name)]},
        {"Name": "tag-key", "Values": [tags.DEPLOYMENT]},
    ]
    rows = rows_of(api.send(Call("ec2", "DescribeInstances", {"Filters": filters}), scope=Scope(ref.location)))
    alive = [row for row in rows if row["State"]["Name"] not in GONE]
    found = alive or (rows if ended else [row for row in rows if row["State"]["Name"] == "shutting-down"])
    if not found:
        raise NotFound(
            f"looking for {ref}", answered="there is no such machine", fix="list_endpoints shows what there is."
        )
    return max(found, key=lambda row: str(row["LaunchTime"]))


def rows_of(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The machines of a DescribeInstances, each with its account."""
    return [
        {**row, "OwnerId": group.get("OwnerId", "")}
        for group in answer.get("Reservations", [])
        for row in group["Instances"]
    ]


def console(api: AwsApi, region: str, instance: str) -> tuple[str, ...] | None:
    """The lines of its console, oldest first; None when they could not be read."""
    call = Call("ec2", "GetConsoleOutput", {"InstanceId": instance, "Latest": True})
    try:
        text = str(api.send(call, scope=Scope(region)).get("Output", ""))
    except CloudError:
        return None
    lines = ("".join(char if char.isprintable() else " " for char in line).strip() for line in text.splitlines())
    return tuple(line[:2000] for line in lines if line)


def standing(row: Mapping[str, Any], lines: tuple[str, ...] | None) -> Standing:
    """What a state means. `ready` only by our own tag: a token came once."""
    name, mine = str(row["State"]["Name"]), tags.read(row.get("Tags"))
    why = str(row.get("StateReason", {}).get("Message", ""))
    if name == "running":
        if tags.moment(mine.get(tags.READY, "")):
            return Standing("ready", True)
        words = progress_words(lines or ())
        return Standing("loading", True, f"last seen: {words}" if words else "it runs; its console shows no phase yet")
    known: dict[str, Standing] = {
        "pending": Standing("creating", True, "it is being started; it bills from running on"),
        "stopping": Standing("stopping", True, why),
        "stopped": Standing("stopped", True, why or "its disk still bills"),
        "shutting-down": Standing("deleting", False, why),
        "terminated": Standing("deleted", False, why),
    }
    return known.get(name, Standing("unknown", None, f"EC2 says {name[:40]!r}, which is new"))


def host_key(lines: tuple[str, ...] | None) -> str:
    """The machine's ed25519 host key from its console, where cloud-init prints it; empty when it is not there."""
    for line in lines or ():
        start = line.find("ssh-ed25519 ")
        if start >= 0:
            return " ".join(line[start:].split()[:2])
    return ""
