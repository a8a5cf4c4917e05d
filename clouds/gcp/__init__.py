"""Google Cloud. Connecting imports no SDK and sends nothing: both happen at the first question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clouds.base import Cloud, EndpointService
from clouds.lazily import Services

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi
    from clouds.gcp.identity import GcpIdentity
    from clouds.gcp.prices import GcpPrices
    from clouds.gcp.quotas import GcpQuotas
    from clouds.gcp.refusals import Memory
    from clouds.models.waste_pack import WastePack


def connect(home: Path) -> Cloud:
    """The ports of Google Cloud; `home` is the data directory. With `--replay` recorded answers are the network."""
    from clouds.gcp.api import GcpApi
    from clouds.gcp.capacity import GcpCapacity
    from clouds.gcp.identity import GcpIdentity
    from clouds.gcp.prices import GcpPrices
    from clouds.gcp.quotas import GcpQuotas
    from clouds.gcp.session import build, recorded
    from clouds.readonly import ReadOnly
    from clouds.replay import Tap, replay_of

    player = replay_of("gcp")
    taps: tuple[Tap, ...] = () if player is None else (player,)
    source = build if player is None else recorded

    @cache
    def reading(allow: frozenset[str]) -> GcpApi:
        return GcpApi(build=source, taps=(ReadOnly(allow), *taps))

    api = GcpApi(build=source, taps=taps)
    identity, quotas, prices = GcpIdentity(api), GcpQuotas(api), GcpPrices(api, home)
    capacity = GcpCapacity(api, home, prices)
    return Cloud(
        name="gcp",
        identity=identity,
        endpoints=_services(api, identity, quotas, prices, capacity.memory, live=player is None),
        quotas=quotas,
        capacity=capacity,
        prices=prices,
        api=api,
        waste_pack=_pack,
        reading=reading,
        signed_out=api.signed_out,
    )


def _pack() -> WastePack:
    from clouds.gcp.checks import PACK

    return PACK


def _services(
    api: GcpApi, identity: GcpIdentity, quotas: GcpQuotas, prices: GcpPrices, memory: Memory, *, live: bool
) -> Mapping[str, EndpointService]:
    """Three ways to serve. Where answers are recorded, what leads past Google's own API is refused and not sent."""

    def recorded_only(*names: str) -> dict[str, Any]:
        from clouds.gcp.replayed import not_recorded

        return dict.fromkeys(names, not_recorded)

    def tpu() -> EndpointService:
        from clouds.gcp.learning import LearningTpu

        outside = {} if live else recorded_only("open_tunnel", "digest")
        made = LearningTpu(api, identity, quotas, prices, **outside)
        made.memory = memory
        return made

    def gce() -> EndpointService:
        from clouds.gcp.learning import LearningGce

        outside = {} if live else recorded_only("open_tunnel", "digest")
        made = LearningGce(api, identity, quotas, prices, **outside)
        made.memory = memory
        return made

    def run() -> EndpointService:
        from clouds.gcp.endpoints.run import CloudRun

        outside = {} if live else recorded_only("tokens", "digest")
        return CloudRun(api, identity, quotas, prices, **outside)

    return Services({"tpu": tpu, "gce": gce, "run": run})
