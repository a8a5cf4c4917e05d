"""Connects to a scenario of `fixtures/aws`: the real botocore answers from it, and what was not recorded fails."""

from __future__ import annotations

import functools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import botocore.loaders
import botocore.session

from clouds.aws.api import AwsApi
from clouds.aws.session import recorded
from clouds.errors import CloudError
from clouds.replay import Replay, Scenario, load

FIXTURES = Path(__file__).parents[3] / "fixtures" / "aws"
NOW = datetime(2026, 11, 29, 15, 0, tzinfo=UTC)


@functools.cache
def loader() -> botocore.loaders.Loader:
    """One loader for all tests: reading a service's model is what making a client costs."""
    return botocore.loaders.Loader()


def shared_models(session: botocore.session.Session) -> None:
    session.register_component("data_loader", loader())


def build() -> botocore.session.Session:
    session = recorded()
    shared_models(session)
    return session


class Recorded:
    """One scenario: `api` answers from it, `replay` knows what was sent, `expected` is the whole expected result."""

    def __init__(self, scenario: str) -> None:
        self.scenario: Scenario = load(FIXTURES / scenario)
        self.replay = Replay([self.scenario])
        self.api = AwsApi(build=build, taps=(self.replay,), attempts=1)

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
