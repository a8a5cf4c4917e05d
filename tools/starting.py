"""An endpoint of ours that still starts: who wants something of it waits, and is told so in words when it takes longer.

Nothing is asked of its cloud while it answers: only a request that failed makes anybody look at its state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from clouds.base import Progress
from clouds.errors import CloudError, Conflict, InvalidInput, Unexpected
from clouds.models import Endpoint
from tools.context import Target
from tools.figures import duration
from tools.history import STARTING

T = TypeVar("T")
LOOK_SECONDS, LOOK_LONGEST = 0.25, 5.0
"""Between two looks at its state: short at first, since an engine on this machine is there in a second or two."""
NOT_YET = {"HTTP 503", "HTTP 502"}
"""What an engine, or the proxy before it, answers until its model is loaded."""


def answered(target: Target, ask: Callable[[float], T], seconds: float, progress: Progress) -> T:
    """What `ask` returns; it is given the seconds that are left of `seconds`.

    Where it fails and the endpoint is one of ours that still starts, it is asked again once that is ready. Raises what
    `ask` raises, Conflict when it still starts at the end, Unexpected when its start failed, and Cancelled.
    """
    until, left, again = time.monotonic() + seconds, seconds, True
    while True:
        try:
            return ask(left)
        except InvalidInput:
            raise
        except CloudError as error:
            endpoint = _looked(target)
            if endpoint is None:
                raise
            if endpoint.state not in STARTING:
                if not (again and endpoint.state == "ready" and (isinstance(error, Conflict) or error.code in NOT_YET)):
                    raise
                again = False  # it became ready between the request and the look
            else:
                awaited(target, endpoint, until - time.monotonic(), progress)
            left = max(0.1, round(until - time.monotonic(), 1))


def ready(target: Target, seconds: float, progress: Progress) -> Endpoint | None:
    """The endpoint, waited for while it starts; None for a bare URL. Raises as `awaited`, and what looking raises."""
    endpoint = target.endpoint()
    return awaited(target, endpoint, seconds, progress) if endpoint and endpoint.state in STARTING else endpoint


def waited(target: Target, seconds: float, progress: Progress) -> bool:
    """Whether it was still starting, and is ready now. Raises as `awaited`."""
    endpoint = _looked(target)
    return endpoint is not None and endpoint.state in STARTING and bool(awaited(target, endpoint, seconds, progress))


def awaited(target: Target, endpoint: Endpoint, seconds: float, progress: Progress) -> Endpoint:
    """The endpoint once it no longer starts. Raises Conflict, Unexpected and Cancelled as `answered`."""
    service, place = target.ours()
    waited, pause = 0.0, LOOK_SECONDS
    while endpoint.state in STARTING:
        if waited >= seconds:
            raise Conflict(
                f"asking {target.ref}",
                answered=f"it is still {_word(endpoint)} after {duration(waited)} of waiting"
                if waited
                else f"it is still {_word(endpoint)}",
                fix=f'Call `get_endpoint("{target.ref}")` until it says ready, then ask again.',
            )
        progress.report(f"{target.ref} is {_word(endpoint)}, waited {duration(waited)}")
        pause = min(pause, max(0.05, seconds - waited))
        progress.sleep(pause)
        waited, pause = waited + pause, min(1.5 * pause, LOOK_LONGEST)
        endpoint = service.get(place)
    if endpoint.state != "ready":
        raise Unexpected(
            f"waiting until {target.ref} is ready",
            answered=f"{_word(endpoint)}: {endpoint.reason or endpoint.cloud_status}",
            fix=f'`get_endpoint_logs("{target.ref}")` shows why.',
        )
    return endpoint


def _looked(target: Target) -> Endpoint | None:
    """What its cloud says of it now; None for a bare URL, and where that cannot be read."""
    try:
        return target.endpoint()
    except CloudError:
        return None


def _word(endpoint: Endpoint) -> str:
    return endpoint.state.replace("_", " ")
