"""Google Cloud. Connecting imports no SDK and sends nothing: both happen at the first question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clouds.base import Cloud, EndpointService
from clouds.lazily import Services, later

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi
    from clouds.gcp.capacity import GcpCapacity
    from clouds.gcp.identity import GcpIdentity
    from clouds.gcp.prices import GcpPrices
    from clouds.gcp.quotas import GcpQuotas
    from clouds.models import Hourly
    from clouds.models.waste_pack import WastePack
    from clouds.replay import Replay


def connect(home: Path) -> Cloud:
    """The ports of Google Cloud; `home` is the data directory. With `--replay` recorded answers are the network."""
    from clouds.gcp.api import GcpApi
    from clouds.gcp.identity import GcpIdentity
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
    identity = GcpIdentity(api)
    quotas, prices = later(lambda: _quotas(api)), later(lambda: _prices(api, home))
    capacity = later(lambda: _capacity(api, home, prices))
    return Cloud(
        name="gcp",
        identity=identity,
        endpoints=_services(api, identity, quotas, prices, capacity, player),
        quotas=quotas,
        capacity=capacity,
        prices=prices,
        api=api,
        waste_pack=_pack,
        reading=reading,
        signed_out=api.signed_out,
        hourly=lambda accelerator, count: _hourly(home, accelerator, count),
    )


def _quotas(api: GcpApi) -> GcpQuotas:
    from clouds.gcp.quotas import GcpQuotas

    return GcpQuotas(api)


def _prices(api: GcpApi, home: Path) -> GcpPrices:
    from clouds.gcp.prices import GcpPrices

    return GcpPrices(api, home)


def _capacity(api: GcpApi, home: Path, prices: GcpPrices) -> GcpCapacity:
    from clouds.gcp.capacity import GcpCapacity

    return GcpCapacity(api, home, prices)


def _pack() -> WastePack:
    from clouds.gcp.checks import PACK

    return PACK


def _hourly(home: Path, accelerator: str, count: int) -> tuple[Hourly, ...]:
    from clouds.gcp.hourly import hourly

    return hourly(home, accelerator, count)


def _services(
    api: GcpApi,
    identity: GcpIdentity,
    quotas: GcpQuotas,
    prices: GcpPrices,
    capacity: GcpCapacity,
    player: Replay | None,
) -> Mapping[str, EndpointService]:
    """Three ways to serve. Where answers are recorded, what leads past Google's own API is refused and not sent."""

    def recorded_only(name: str) -> dict[str, Any]:
        if player is None:
            return {}
        from clouds.gcp.replayed import digests, not_recorded

        return {name: not_recorded, "digest": digests(player)}

    def tpu() -> EndpointService:
        from clouds.gcp.learning import LearningTpu

        made = LearningTpu(api, identity, quotas, prices, **recorded_only("open_tunnel"))
        made.memory = capacity.memory
        return made

    def gce() -> EndpointService:
        from clouds.gcp.learning import LearningGce

        made = LearningGce(api, identity, quotas, prices, **recorded_only("open_tunnel"))
        made.memory = capacity.memory
        return made

    def run() -> EndpointService:
        from clouds.gcp.endpoints.run import CloudRun

        return CloudRun(api, identity, quotas, prices, **recorded_only("tokens"))

    return Services({"tpu": tpu, "gce": gce, "run": run})
