"""Watches an endpoint from CreateEndpoint until it serves or has failed; a reading may fail now and then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from clouds import enginelog
from clouds.aws.endpoints.making import Maker
from clouds.aws.endpoints.sagemaker import state, streams, view
from clouds.base import Step
from clouds.errors import CloudError, NoCapacity, NotFound, QuotaTooSmall, Throttled, Unexpected, Unreachable

POLL = 15.0
BLIND_TRIES = 8
"""Readings in a row that may fail before the watch is given up; the endpoint itself goes on."""


class StartFailed(Exception):
    """It will not start here, for another reason than room: what was made has to be taken back."""

    def __init__(self, cause: CloudError) -> None:
        super().__init__(str(cause))
        self.cause = cause


def until_in_service(maker: Maker, region: str, name: str, now: Callable[[], datetime]) -> None:
    """Returns when AWS says InService. Raises NoCapacity or QuotaTooSmall as its reason says, else StartFailed."""
    api, blind = maker.api, 0
    while True:
        try:
            answer = view.describe(api, region, name)
            blind = 0
        except (Throttled, Unreachable, Unexpected):
            blind += 1
            if blind >= BLIND_TRIES:
                raise
            maker.progress.sleep(POLL)
            continue
        except NotFound:
            raise StartFailed(_deleted(name, region)) from None
        status = answer["EndpointStatus"]
        if status == "InService":
            return
        found = streams.of(api, region, name, answer["CreationTime"]) if status in {"Creating", "Failed"} else ()
        lines = [text for _, text in streams.head(api, region, name, found or ())]
        if status == "Failed":
            error = state.failure(answer, region, enginelog.errors(lines))
            raise error if isinstance(error, NoCapacity | QuotaTooSmall) else StartFailed(error)
        if status == "Deleting":
            raise StartFailed(_deleted(name, region))
        logged = None if found is None else bool(found)
        standing = state.standing(answer, logged=logged, generated=False, words=enginelog.progress_words(lines))
        seconds = (now() - answer["CreationTime"]).total_seconds()
        maker.progress.report(f"{region}: {standing.state.replace('_', ' ')} since {seconds:.0f} s; {standing.reason}")
        maker.progress.sleep(POLL)


def _deleted(name: str, region: str) -> NotFound:
    return NotFound(
        f"starting {name} in {region}",
        answered="it was deleted meanwhile, by its own end or by somebody",
        fix="Deploy it again if that was not meant.",
    )


def waited(steps: Sequence[Step], now: datetime) -> float:
    """Seconds since the newest CreateEndpoint was written down."""
    made = [step.at for step in steps if str(step.call) == "sagemaker.CreateEndpoint"]
    try:
        return round((now - datetime.fromisoformat(made[-1])).total_seconds(), 1) if made else 0.0
    except (ValueError, TypeError):
        return 0.0
