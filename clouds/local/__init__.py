"""One's own machine as a cloud. The supervisor passes through here, so everything heavy is inside `connect`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clouds.base import Cloud


def connect(home: Path) -> Cloud:
    """The local cloud, with its files under `home`. Nothing is started and nothing is looked at yet."""
    from clouds.base import Cloud, Missing
    from clouds.local.capacity import ThisMachine
    from clouds.local.endpoints.llama import Llama
    from clouds.local.identity import User

    return Cloud(
        name="local",
        identity=User(),
        endpoints={"llama": Llama(home)},
        quotas=Missing("your own machine has no quota"),
        capacity=ThisMachine(),
        prices=Missing("your own machine: nobody bills for it"),
        api=Missing("local endpoints are processes, not calls to a cloud"),
        waste_pack=Missing("nobody bills for your own machine"),
    )
