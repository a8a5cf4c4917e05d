"""Connects to a scenario of `fixtures/aws`: the real botocore answers from it, and what was not recorded fails."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import botocore.session

from clouds.aws.api import AwsApi
from clouds.aws.prices import BUNDLED
from clouds.aws.session import frugal, recorded
from clouds.errors import CloudError
from clouds.pricetable import Row, rows_of
from clouds.replay import Answer, Replay, Request, Scenario, Tap, ask, load, tell

FIXTURES = Path(__file__).parents[3] / "fixtures" / "aws"
NOW = datetime(2026, 11, 29, 15, 0, tzinfo=UTC)


@functools.cache
def bundled_rows() -> tuple[Row, ...]:
    """Every row of the bundled table, read once: there are fourteen thousand."""
    return rows_of(BUNDLED)


class Stage:
    """A tap that asks those which the test that runs has put on stage."""

    def __init__(self) -> None:
        self.taps: Sequence[Tap] = ()

    def before(self, request: Request) -> Answer | None:
        return ask(self.taps, request)

    def after(self, request: Request, answer: Answer) -> None:
        tell(self.taps, request, answer)


STAGE = Stage()


def build() -> botocore.session.Session:
    """A session of its own; the service models are those that another one has read, as in the product."""
    return frugal(recorded())


@functools.cache
def _shared() -> AwsApi:
    return AwsApi(build=build, taps=(STAGE,), attempts=1)


def on_stage(*taps: Tap) -> AwsApi:
    """An account that answers from these taps until the next call of this: making clients is what costs time."""
    STAGE.taps = taps
    return _shared()


class Recorded:
    """One scenario: `api` answers from it, `replay` knows what was sent, `expected` is the whole expected result."""

    def __init__(self, scenario: str) -> None:
        self.scenario: Scenario = load(FIXTURES / scenario)
        self.replay = Replay([self.scenario])
        self.api = on_stage(self.replay)

    def check(self, result: Any) -> None:
        """The result is what was expected, whole, and nothing was asked that is not recorded."""
        assert json.loads(json.dumps(result, default=plain)) == self.scenario.expected
        assert self.replay.missed == []

    def check_error(self, error: CloudError) -> None:
        """The error is what was expected, in all that a person reads of it."""
        said = {"error": error.kind, "says": str(error), "fix": error.fix, "sent": error.sent}
        assert said == self.scenario.expected
        assert self.replay.missed == []


def plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return {key: item for key, item in value.model_dump().items() if item not in (None, "", {})}
    fields = {key: getattr(value, key) for key in value.__dataclass_fields__}
    return {key: item for key, item in fields.items() if key != "notes" or item}
