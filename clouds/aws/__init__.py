"""Amazon Web Services. Connecting imports no SDK and sends nothing: both happen at the first question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from clouds.base import Cloud, EndpointService
from clouds.lazily import Services, later

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi
    from clouds.aws.capacity import AwsCapacity
    from clouds.aws.prices import AwsPrices
    from clouds.aws.quotas import AwsQuotas
    from clouds.models import Hourly
    from clouds.models.waste_pack import WastePack


def connect(home: Path) -> Cloud:
    """The ports of AWS; `home` is the data directory. With `--replay` recorded answers take the network's place."""
    from clouds.aws.api import AwsApi
    from clouds.aws.identity import AwsIdentity
    from clouds.aws.session import build, recorded
    from clouds.readonly import ReadOnly
    from clouds.replay import Tap, replay_of

    player = replay_of("aws")
    taps: tuple[Tap, ...] = () if player is None else (player,)
    source = build if player is None else recorded

    @cache
    def reading(allow: frozenset[str]) -> AwsApi:
        return AwsApi(build=source, taps=(ReadOnly(allow), *taps))

    api = AwsApi(build=source, taps=taps)
    quotas, prices = later(lambda: _quotas(api)), later(lambda: _prices(api, home))
    return Cloud(
        name="aws",
        identity=AwsIdentity(api),
        endpoints=_services(api, quotas, prices, live=player is None),
        quotas=quotas,
        capacity=later(lambda: _capacity(api)),
        prices=prices,
        api=api,
        waste_pack=_pack,
        reading=reading,
        signed_out=api.signed_out,
        hourly=lambda accelerator, count: _hourly(home, accelerator, count),
    )


def _quotas(api: AwsApi) -> AwsQuotas:
    from clouds.aws.quotas import AwsQuotas

    return AwsQuotas(api)


def _prices(api: AwsApi, home: Path) -> AwsPrices:
    from clouds.aws.prices import AwsPrices

    return AwsPrices(api, home)


def _capacity(api: AwsApi) -> AwsCapacity:
    from clouds.aws.capacity import AwsCapacity

    return AwsCapacity(api)


def _pack() -> WastePack:
    from clouds.aws.checks import PACK

    return PACK


def _hourly(home: Path, accelerator: str, count: int) -> tuple[Hourly, ...]:
    from clouds.aws.hourly import hourly

    return hourly(home, accelerator, count)


def _services(api: AwsApi, quotas: AwsQuotas, prices: AwsPrices, *, live: bool) -> Mapping[str, EndpointService]:
    """Both ways to serve. Where answers are recorded, what leads past AWS's own API is refused and not sent."""

    def sagemaker() -> EndpointService:
        if live:
            from clouds.aws.endpoints.sagemaker import SageMaker

            return SageMaker(api, quotas, prices)
        from clouds.aws.replayed import RecordedSageMaker

        return RecordedSageMaker(api, quotas, prices)

    def ec2() -> EndpointService:
        from clouds.aws.endpoints.ec2 import Ec2

        if live:
            return Ec2(api, quotas, prices)
        from clouds.aws.replayed import not_recorded

        return Ec2(api, quotas, prices, connect=not_recorded, digest=not_recorded, address=not_recorded)

    return Services({"sagemaker": sagemaker, "ec2": ec2})
