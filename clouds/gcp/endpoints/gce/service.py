"""Compute Engine as one way to serve a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.base import IdentityReader, Ledger, PriceBook, QuotaReader
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import permissions
from clouds.gcp.endpoints.gce import settings, world
from clouds.gcp.endpoints.gce.plan import GceBuilder
from clouds.gcp.endpoints.machines.service import MachineService
from clouds.gcp.endpoints.machines.update import end_is_fixed
from clouds.models import EndpointRef


class Gce(MachineService):
    """TPU v6e and v5p, and GPUs, each machine deleted by Google when its run duration is over."""

    reads = world.READS
    writes = permissions.GCE

    def __init__(
        self, api: GcpApi, identity: IdentityReader, quotas: QuotaReader, prices: PriceBook, **outside: Any
    ) -> None:
        """`outside` as in MachineService: the clock, the tunnel, the registry."""
        super().__init__(api, identity, quotas, prices, world.Machines(api), GceBuilder(api), **outside)

    @property
    def settings(self) -> Mapping[str, str]:
        """What `plan` takes."""
        return settings.SETTINGS

    def _end(self, ref: EndpointRef, hours: float, ledger: Ledger) -> None:  # noqa: ARG002 - the port's own arguments
        """Raises Conflict: setScheduling takes a stopped machine alone (discovery compute v1, 2026-11-29)."""
        raise end_is_fixed(ref, "Compute Engine changes a run duration of a stopped machine alone, and this one runs")
