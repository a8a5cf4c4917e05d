"""The TPU API as one way to serve a model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from clouds.base import IdentityReader, Ledger, PriceBook, QuotaReader
from clouds.errors import InvalidInput
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import ending, permissions
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.machines.plan import MOST_HOURS
from clouds.gcp.endpoints.machines.service import MachineService
from clouds.gcp.endpoints.machines.update import end_is_fixed
from clouds.gcp.endpoints.tpu import settings, world
from clouds.gcp.endpoints.tpu.plan import TpuBuilder
from clouds.models import EndpointRef, Scope


class Tpu(MachineService):
    """v5e, v6e and v5p nodes: flex-start ends by itself, the others by a scheduler job."""

    reads = world.READS
    writes = permissions.TPU

    def __init__(
        self, api: GcpApi, identity: IdentityReader, quotas: QuotaReader, prices: PriceBook, **outside: Any
    ) -> None:
        """`outside` as in MachineService: the clock, the tunnel, the registry."""
        super().__init__(api, identity, quotas, prices, world.Nodes(api), TpuBuilder(api), **outside)

    @property
    def settings(self) -> Mapping[str, str]:
        """What `plan` takes."""
        return settings.SETTINGS

    def _end(self, ref: EndpointRef, hours: float, ledger: Ledger) -> None:
        """Move the job first, then say so in the labels: they are never ahead of what ends the node."""
        held = self._world.find(ref)
        if held.market == "flex-start":
            raise end_is_fixed(ref, "the TPU API set the end of a flex-start node when it was made")
        if not 1 / 12 <= hours <= MOST_HOURS:
            raise InvalidInput(
                "ttl_hours", f"{hours:g} is not from 0.0834 to {MOST_HOURS:g}", fix="Give hours from now."
            )
        end = self._now() + timedelta(hours=hours)
        self._api.send(ending.moved(held.project, held.zone, f"{held.name}-{held.zone}", end), scope=Scope(held.zone))
        self._world.label(held, {tags.EXPIRES: tags.stamp(end)})
        if held.deployment:
            ledger.remember(held.deployment, {"expires": tags.iso(end)})
