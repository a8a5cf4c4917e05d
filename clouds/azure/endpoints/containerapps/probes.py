"""Probes sized from how long a start is expected to take: without them a slow load is restarted, or gets the traffic.

Limits of a probe (Microsoft.App published types, read 2026-08-20): first after 1 to 60 s, every 1 to 240 s, failing 1
to 10 times, so that the longest start that a startup probe allows is 60 + 10 x 240 = 2,460 s.
"""

from __future__ import annotations

import math
from typing import Any

from clouds.azure.endpoints import model as models
from clouds.azure.endpoints.serving import PORT

FIRST, TIMES, LONGEST, SHORTEST = 60, 10, 2460, 600
DOWNLOAD_MIB_PER_S = 60.0
"""A careful rate from Hugging Face into a replica; 200 MiB/s and more have been seen elsewhere."""
LOAD_SECONDS = 240.0
"""Loading, compiling and warming up: 3 to 4 minutes for 9.75 GiB (article of 2026-09-26)."""


def expected_start(model: str) -> float | None:
    """Seconds from the container's start to its first answer; None when the model's name tells no size."""
    size = models.weights_gib(model)
    return None if size is None else round(size * 1024 / DOWNLOAD_MIB_PER_S + LOAD_SECONDS, 0)


def window(model: str, chosen: int = 0) -> int:
    """Seconds that the startup probe allows: twice what is expected, or all there is where nothing is known."""
    if chosen:
        return chosen
    expected = expected_start(model)
    return LONGEST if expected is None else int(min(max(2 * expected, SHORTEST), LONGEST))


def cool_down(model: str, chosen: int = 0) -> int:
    """Seconds without a request until the last replica goes: never sooner than a start takes.

    What is loading answers nobody, so that a shorter cool-down could end it before it is up.
    """
    return chosen or int(min(max(expected_start(model) or 600, 300), 3600))


def too_slow(model: str) -> str:
    """A warning where even the longest window is hardly enough; empty otherwise."""
    expected = expected_start(model)
    if expected is None or expected * 1.2 < LONGEST:
        return ""
    return (
        f"{model} is expected to need {expected:.0f} s to start and Container Apps restarts what needs more than "
        f"{LONGEST} s; put the weights into the image, or use service=ml"
    )


def make(seconds: int) -> list[dict[str, Any]]:
    """The three probes of the engine's container; /health is open and costs no token."""
    get = {"path": "/health", "port": PORT}
    period = min(max(math.ceil((seconds - FIRST) / TIMES), 1), 240)
    startup = {"initialDelaySeconds": FIRST, "periodSeconds": period, "failureThreshold": TIMES, "timeoutSeconds": 5}
    return [
        {"type": "Startup", "httpGet": get, **startup},
        {"type": "Readiness", "httpGet": get, "periodSeconds": 10, "failureThreshold": 3, "timeoutSeconds": 5},
        # a busy engine answers late: only two minutes of silence are an end
        {"type": "Liveness", "httpGet": get, "periodSeconds": 30, "failureThreshold": 4, "timeoutSeconds": 30},
    ]
