"""Long-running operations: where to look, and what an answer of them says.

A failed operation is an HTTP 200 whose body says Failed (azure-core 1.41.0, read 2026-11-29). With an
Azure-AsyncOperation the body's `status` decides; with only a Location the HTTP status; with neither the resource's own
provisioningState.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

How = Literal["operation", "location", "resource", "done"]
State = Literal["running", "succeeded", "failed"]
DONE = frozenset({"succeeded", "ready", "completed"})
FAILED = frozenset({"failed", "canceled", "cancelled", "timedout"})
WAIT = 10.0


@dataclass(frozen=True)
class Begun:
    """A write that was accepted: its answer, where its end can be seen. `url` may carry a signature: never shown."""

    method: str
    status: int
    body: Any
    how: How
    tried: str
    resource: str = ""
    url: str = field(default="", repr=False)
    wait: float = WAIT
    subscription: str = ""

    @property
    def gone(self) -> bool:
        """Whether a DELETE was told that nothing was there."""
        return self.method == "DELETE" and self.status in (204, 404)


@dataclass(frozen=True)
class Look:
    """One look at an operation: its state, Azure's own word, the answer, and how long to wait before the next."""

    state: State
    word: str
    body: Any
    wait: float


def follow(status: int, headers: Mapping[str, str], body: Any, *, own: str, resource: str) -> tuple[How, str]:
    """How to wait for the end of a write, and at which address. `own` is the address that was written to."""
    given = {key.lower(): value for key, value in headers.items()}
    operation = given.get("azure-asyncoperation") or given.get("operation-location") or ""
    if operation:
        return "operation", operation
    place = given.get("location", "")
    if place and status in (201, 202) and place != own:
        return "location", place
    if resource and word_of(body) and judged(word_of(body)) == "running":
        return "resource", ""
    return ("resource", "") if status == 202 and resource else ("done", "")


def word_of(body: Any) -> str:
    """What a body says about its own state: `status`, else `properties.provisioningState`; "" for nothing."""
    if not isinstance(body, Mapping):
        return ""
    status = body.get("status")
    if isinstance(status, str):
        return status
    properties = body.get("properties")
    state = properties.get("provisioningState") if isinstance(properties, Mapping) else None
    return state if isinstance(state, str) else ""


def judged(word: str) -> State:
    """The state that a word of Azure's means; words that are neither an end nor a failure mean running."""
    low = word.lower()
    return "succeeded" if low in DONE else "failed" if low in FAILED else "running"


def looked(how: How, status: int, body: Any, wait: float) -> Look:
    """What one answer of an operation says."""
    word = word_of(body)
    if how == "location":
        failed = bool(word) and judged(word) == "failed"
        state: State = "running" if status == 202 else "failed" if failed else "succeeded"
        return Look(state, word or f"HTTP {status}", body, wait)
    if how == "operation" and not word:
        return Look("running" if status == 202 else "succeeded", f"HTTP {status}", body, wait)
    return Look(judged(word) if word else "succeeded", word or f"HTTP {status}", body, wait)
