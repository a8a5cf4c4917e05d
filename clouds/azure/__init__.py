"""Microsoft Azure. Connecting imports no SDK and sends nothing: both happen at the first question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from clouds.base import Cloud, EndpointService
from clouds.lazily import Services, later

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi
    from clouds.azure.capacity import AzureCapacity
    from clouds.azure.prices import AzurePrices
    from clouds.azure.quotas import AzureQuotas
    from clouds.models import Hourly
    from clouds.models.waste_pack import WastePack
    from clouds.replay import Tap


def connect(home: Path) -> Cloud:
    """The ports of Azure; `home` is the data directory. With `--replay` recorded answers take the network's place."""
    from clouds.azure.api import OWN_READS, AzureApi
    from clouds.azure.identity import AzureIdentity
    from clouds.readonly import ReadOnly

    taps = taps_of()

    api = AzureApi(taps=taps, recorded=bool(taps))

    @cache
    def reading(allow: frozenset[str]) -> AzureApi:
        return AzureApi(taps=(ReadOnly(allow | OWN_READS), *taps), recorded=bool(taps), tokens=api.tokens)

    quotas, prices = later(lambda: _quotas(api)), later(lambda: _prices(api, home))
    return Cloud(
        name="azure",
        identity=AzureIdentity(api),
        endpoints=_services(api, prices, home),
        quotas=quotas,
        capacity=later(lambda: _capacity(api, quotas)),
        prices=prices,
        api=api,
        waste_pack=_pack,
        reading=reading,
        signed_out=api.signed_out,
        hourly=lambda accelerator, count: _hourly(home, accelerator, count),
    )


def taps_of() -> tuple[Tap, ...]:
    """The replay that this process answers from, if any."""
    from clouds.replay import replay_of

    player = replay_of("azure")
    return () if player is None else (player,)


def _quotas(api: AzureApi) -> AzureQuotas:
    from clouds.azure.quotas import AzureQuotas

    return AzureQuotas(api)


def _prices(api: AzureApi, home: Path) -> AzurePrices:
    from clouds.azure.prices import AzurePrices

    return AzurePrices(api, home)


def _capacity(api: AzureApi, quotas: AzureQuotas) -> AzureCapacity:
    from clouds.azure.capacity import AzureCapacity

    return AzureCapacity(api, quotas.skus)


def _pack() -> WastePack:
    from clouds.azure.checks import PACK

    return PACK


def _hourly(home: Path, accelerator: str, count: int) -> tuple[Hourly, ...]:
    from clouds.azure.hourly import hourly

    return hourly(home, accelerator, count)


def _services(api: AzureApi, prices: AzurePrices, home: Path) -> Mapping[str, EndpointService]:
    """Every way to serve. Where answers are recorded, models and registries answer from the recordings too."""

    def containerapps() -> EndpointService:
        from clouds.azure.endpoints.containerapps import ContainerApps
        from clouds.azure.endpoints.web import Web

        return ContainerApps(api, prices, home, Web(api.taps))

    def ml() -> EndpointService:
        from clouds.azure.endpoints.ml import Ml
        from clouds.azure.endpoints.web import Web

        return Ml(api, prices, Web(api.taps))

    return Services({"containerapps": containerapps, "ml": ml})
