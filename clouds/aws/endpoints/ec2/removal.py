"""Takes a machine and what was made for it away, read back: machine, group, then profile and role."""

from __future__ import annotations

from collections.abc import Sequence

from clouds.aws.endpoints.ec2 import machine
from clouds.aws.endpoints.making import Maker
from clouds.aws.endpoints.parts import kind_of
from clouds.errors import CloudError, Conflict, NotFound, Unexpected
from clouds.models import Call, DeletedPart, Scope

POLL, ENDED_WITHIN, FREE_WITHIN = 5.0, 900.0, 120.0
ORDER = (
    "ec2.RunInstances",
    "ec2.CreateSecurityGroup",
    "iam.AddRoleToInstanceProfile",
    "iam.CreateInstanceProfile",
    "iam.PutRolePolicy",
    "iam.CreateRole",
)


def remove(maker: Maker, calls: Sequence[Call], region: str) -> tuple[DeletedPart, ...]:
    """Remove what these creating calls made. While a machine is there, nothing of it is taken away."""
    done: list[DeletedPart] = []
    for kind in ORDER:
        mine = [call for call in calls if str(call) == kind]
        if kind == "ec2.RunInstances":
            mine = mine[:1]  # all of them are one machine, found by its tag
        for call in mine:
            part = _part(maker, call, region)
            done.append(part)
            if kind == "ec2.RunInstances" and part.outcome == "still there":
                return tuple(done)
    for call in calls:
        if str(call) == "ec2.AuthorizeSecurityGroupIngress":
            maker.forget(call, region)
    return tuple(done)


def _part(maker: Maker, call: Call, region: str) -> DeletedPart:
    word = kind_of(call).of(call.parameters)
    waited = 0.0
    while True:
        try:
            outcome = maker.remove(call, region, gone=lambda found: _ended(maker, call, region, found))
        except Conflict as error:
            # a group is free some seconds after its machine has ended
            if error.code != "DependencyViolation" or waited >= FREE_WITHIN:
                return DeletedPart(part=word, outcome="still there", detail=str(error)[:300])
            maker.progress.sleep(POLL)
            waited += POLL
        except CloudError as error:
            return DeletedPart(part=word, outcome="still there", detail=str(error)[:300])
        else:
            return DeletedPart(part=word, outcome="deleted" if outcome == "deleted" else "was not there")


def _ended(maker: Maker, call: Call, region: str, instance: str) -> None:
    """Read until a machine has ended. Raises Unexpected when that takes longer than ever seen."""
    if str(call) != "ec2.RunInstances":
        return
    waited = 0.0
    while True:
        try:
            answer = maker.api.send(Call("ec2", "DescribeInstances", {"InstanceIds": [instance]}), scope=Scope(region))
        except NotFound:
            return
        if all(row["State"]["Name"] == "terminated" for row in machine.rows_of(answer)):
            return
        if waited >= ENDED_WITHIN:
            raise Unexpected(
                f"ending {instance} in {region}", answered=f"it has not ended after {waited:.0f} s",
                fix="Ask again in some minutes (get_endpoint); then delete_endpoint once more.",
            )  # fmt: skip
        maker.progress.report(f"ending {instance} in {region}: {waited:.0f} s")
        maker.progress.sleep(POLL)
        waited += POLL
