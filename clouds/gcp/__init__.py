"""Google Cloud. Connecting imports no SDK and sends nothing: both happen at the first question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from clouds.base import Cloud, EndpointService
from clouds.lazily import Services

if TYPE_CHECKING:
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
    quotas, prices = GcpQuotas(api), GcpPrices(api, home)
    return Cloud(
        name="gcp",
        identity=GcpIdentity(api),
        endpoints=_services(),
        quotas=quotas,
        capacity=GcpCapacity(api, home, prices),
        prices=prices,
        api=api,
        waste_pack=_pack,
        reading=reading,
        signed_out=api.signed_out,
    )


def _pack() -> WastePack:
    from clouds.gcp.checks import PACK

    return PACK


def _services() -> Mapping[str, EndpointService]:
    return Services({})
