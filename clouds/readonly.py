"""Refuses every operation that is not on an allow-list. The list is derived from what checks and ports read.

The comparison is exact and on the name that goes over the wire: a guard that compares another spelling (`DeleteVolume`
with `delete_volume`) can never fail and protects nothing. A rule by prefix would let `GetSecretValue` through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from clouds.errors import CloudError, InvalidInput
from clouds.models import Call
from clouds.replay.seam import Answer, Request

_ENTRY = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9]+(?:/[A-Za-z0-9]+)+)?\.[A-Za-z0-9_.-]+")
_WRITES = re.compile(
    r"(abort|accept|add|allocate|apply|assign|associate|attach|authorize|batch-delete|begin|cancel|copy"
    r"|create|deallocate|delete|deregister|detach|disable|disassociate|enable|execute|import|insert|invoke"
    r"|kill|modify|move|patch|post|power-off|purchase|put|reboot|register|reject|release|remove|replace"
    r"|reset|resize|restart|restore|revoke|run|schedule|send|set|start|stop|suspend|tag|terminate|unassign"
    r"|unregister|untag|update|upload|write)"
)
_SECRETS = frozenset({"getsecretvalue", "batchgetsecretvalue", "getpassworddata", "getauthorizationtoken"})
_SECRET_LISTS = re.compile(r"(\w+_L|l)ist(Keys|AccountSas|Credentials|Secrets)")
"""Azure's POST actions that read out keys; AWS's kms.ListKeys lists the names of keys and is a plain read."""


class Forbidden(CloudError):
    """The read-only guard refused an operation; nothing was sent."""


def reads(calls: Iterable[Call]) -> frozenset[str]:
    """The allow-list of some calls: `service.Operation` of each."""
    return frozenset(str(call) for call in calls)


class ReadOnly:
    """A tap that lets only listed operations pass, whoever sends them and however the SDK spells its methods."""

    def __init__(self, allow: frozenset[str]) -> None:
        """Raises InvalidInput for a list that holds anything which changes something or reads out a secret."""
        for entry in sorted(allow):
            if not _ENTRY.fullmatch(entry):
                raise InvalidInput("allow", f"{entry!r} is not service.Operation", fix="List exact operation names.")
            if changes(entry):
                raise InvalidInput("allow", f"{entry} is not a read", fix="Keep it out of what checks and ports read.")
        self.allow = allow
        self.refused: list[Request] = []

    def before(self, request: Request) -> Answer | None:
        """Raises Forbidden for everything that is not listed."""
        if request.name in self.allow:
            return None
        self.refused.append(request)
        raise Forbidden(
            f"{request}",
            answered="this is a read-only connection and the operation is not on its list",
            fix="Use a tool that is meant to change things, or report a missing read as a bug of modelrig.",
            sent=False,
        )

    def after(self, request: Request, answer: Answer) -> None:
        """Nothing to hear: only listed reads were sent."""


def changes(name: str) -> bool:
    """Whether a name says, in any spelling, that the operation writes or reads out a secret (a second look only)."""
    last = name.rsplit(".", 1)[-1]
    if _SECRET_LISTS.fullmatch(last):
        return True
    last = re.split(r"_(?=[A-Z])", last)[-1]  # Azure: VirtualMachines_Delete
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", last)]
    if not words:
        return True
    return bool(_WRITES.fullmatch(words[0]) or _WRITES.fullmatch("-".join(words[:2])) or "".join(words) in _SECRETS)
