"""Amazon Web Services. Connecting imports no SDK and sends nothing: both happen at the first question."""

from __future__ import annotations

from pathlib import Path

from clouds.base import Cloud


def connect(home: Path) -> Cloud:
    """The ports of AWS; `home` is the data directory. With `--replay` recorded answers take the network's place."""
    from clouds.aws.api import AwsApi
    from clouds.aws.capacity import AwsCapacity
    from clouds.aws.identity import AwsIdentity
    from clouds.aws.prices import AwsPrices
    from clouds.aws.quotas import AwsQuotas
    from clouds.aws.session import build, recorded
    from clouds.readonly import ReadOnly
    from clouds.replay import Tap, replay_of

    player = replay_of("aws")
    taps: tuple[Tap, ...] = () if player is None else (player,)
    source = build if player is None else recorded

    def reading(allow: frozenset[str]) -> AwsApi:
        return AwsApi(build=source, taps=(ReadOnly(allow), *taps))

    api = AwsApi(build=source, taps=taps)
    return Cloud(
        name="aws",
        identity=AwsIdentity(api),
        endpoints={},
        quotas=AwsQuotas(api),
        capacity=AwsCapacity(api),
        prices=AwsPrices(api, home),
        api=api,
        reading=reading,
    )
