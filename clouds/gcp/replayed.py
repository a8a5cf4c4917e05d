"""What a replay of Google Cloud does with all that goes to a network without passing the seam of the api."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from clouds.replay import NotRecorded, Replay, Request


def not_recorded(*about: Any) -> NoReturn:
    """Stands for a tunnel to a machine and a token for a service of Cloud Run."""
    what = ", ".join(str(part)[:80] for part in about if isinstance(part, str))
    raise NotRecorded(
        f"asking the network outside Google's API{f' about {what}' if what else ''}",
        answered="only Google's own API is recorded",
        fix="Start the server without --replay to reach a real machine.",
        sent=False,
    )


def digests(player: Replay) -> Callable[[str], str]:
    """The digest of an image as it was recorded under `registry.manifests.get`. What it returns raises NotRecorded."""

    def digest(image: str) -> str:
        answer = player.before(Request("registry", "manifests.get", parameters={"image": image}))
        return str(answer.body["digest"])

    return digest
