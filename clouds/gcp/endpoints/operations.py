"""Long operations of the three APIs, read as plain answers: their name, and the error that they ended with.

Never `.result()`: Compute Engine's goes to the real host whatever endpoint was set, and the TPU API's breaks on any
field that the SDK does not know (google-cloud-compute 1.57.0 and google-cloud-tpu 1.28.0, run 2026-11-29).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.base import Api
from clouds.errors import CloudError, NotFound
from clouds.gcp.endpoints.parts import Polled
from clouds.gcp.errors import of_operation
from clouds.models import Call, Scope


def name_of(answer: object) -> str:
    """The operation's name in an answer; empty when it holds none."""
    return str(answer.get("name", "")) if isinstance(answer, Mapping) else ""


def read(api: Api, polled: Polled, name: str, scope: Scope, project: str = "") -> dict[str, Any] | None:
    """The operation as it is now; None when it is not kept any more."""
    try:
        answer: dict[str, Any] = api.send(_call(polled, name, scope, project), scope=scope)
    except NotFound:
        return None
    return answer


def error_of(api: Api, polled: Polled, name: str, scope: Scope, tried: str, project: str = "") -> CloudError | None:
    """What a finished operation ended with; None while it runs, when it went well, and when it cannot be read.

    Not being able to read an operation says nothing about what it made: that is read by itself.
    """
    if not name or not polled:
        return None
    try:
        answer = read(api, polled, name, scope, project)
    except CloudError:
        return None
    return None if answer is None else failure(answer, tried)


def failure(answer: Mapping[str, Any], tried: str) -> CloudError | None:
    """The error of an operation that has ended; None while it runs and when it went well."""
    return of_operation(answer, tried) if finished(answer) else None


def finished(answer: Mapping[str, Any]) -> bool:
    """Whether it has ended, well or not: `done` of the one kind, `status` of the other."""
    return answer.get("done") is True or answer.get("status") == "DONE"


def _call(polled: Polled, name: str, scope: Scope, project: str) -> Call:
    if polled == "compute-zone":
        asked = {"zone": scope.location or "", "operation": name}
        return Call("compute", "zoneOperations.get", {**({"project": project} if project else {}), **asked})
    if polled == "compute-global":
        return Call("compute", "globalOperations.get", {**({"project": project} if project else {}), "operation": name})
    return Call("run" if polled == "run" else "tpu", "projects.locations.operations.get", {"name": name})
