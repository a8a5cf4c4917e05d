"""What a replay of Google Cloud must refuse: everything that goes to a network without passing the seam of the api."""

from __future__ import annotations

from typing import Any, NoReturn

from clouds.replay import NotRecorded


def not_recorded(*about: Any) -> NoReturn:
    """Stands for a tunnel to a machine, a registry's manifest and a token for a service of Cloud Run."""
    what = ", ".join(str(part)[:80] for part in about if isinstance(part, str))
    raise NotRecorded(
        f"asking the network outside Google's API{f' about {what}' if what else ''}",
        answered="only Google's own API is recorded",
        fix="Start the server without --replay to reach a real machine.",
        sent=False,
    )
