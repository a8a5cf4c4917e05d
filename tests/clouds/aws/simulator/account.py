"""The state of one simulated account: what exists where, what is allowed, and what bills."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.clouds.aws.simulator.clock import Clock
from tests.clouds.aws.simulator.seam import Operation, Refused

ID = "123456789012"
IAM_SETTLES_AFTER = timedelta(seconds=8)
"""A new role is not known everywhere at once."""


@dataclass
class Quota:
    """One row of Service Quotas. `value` None: the type is not offered, so there is no row."""

    name: str
    code: str
    value: float
    service: str = "sagemaker"
    adjustable: bool = True


@dataclass
class Stream:
    """One log stream: lines with their time."""

    name: str
    created: datetime
    events: list[tuple[datetime, str]] = field(default_factory=list)


@dataclass
class Bill:
    """One thing that cost money: from when to when (None: it still does)."""

    what: str
    type: str
    region: str
    start: datetime
    end: datetime | None = None


@dataclass
class Region:
    """What one region holds."""

    name: str
    capacity: dict[str, int] = field(default_factory=dict)
    """Free instances by `ml.` type, or by `type@zone` for EC2. A type that is not a key is not offered."""
    quotas: dict[str, Quota] = field(default_factory=dict)
    denied: bool = False
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    configs: dict[str, dict[str, Any]] = field(default_factory=dict)
    endpoints: dict[str, Any] = field(default_factory=dict)
    streams: dict[str, dict[str, Stream]] = field(default_factory=dict)
    schedules: dict[str, dict[str, Any]] = field(default_factory=dict)
    instances: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    pushed: list[dict[str, Any]] = field(default_factory=list)


class Account:
    """One account with a clock. Tests set its tables, then talk to it through boto3."""

    def __init__(self, clock: Clock | None = None) -> None:
        from tests.clouds.aws.simulator import OPERATIONS, boot, runtime

        self.clock = clock or Clock()
        self.operations: Mapping[str, Operation] = OPERATIONS
        self.regions: dict[str, Region] = {}
        self.roles: dict[str, dict[str, Any]] = {}
        self.profiles: dict[str, dict[str, Any]] = {}
        self.secrets: dict[str, str] = {}
        self.tags: dict[str, dict[str, str]] = {}
        self.bills: list[Bill] = []
        self.misuse: list[str] = []
        """What AWS accepts and its documentation forbids."""
        self.boot: Any = boot.VLLM
        self.model: Any = runtime.Script()
        self.console: Any = boot.CONSOLE
        self.address = "127.0.0.1"
        self.default_vpc = True
        self.enabled: tuple[str, ...] = ("us-east-1", "us-east-2", "us-west-2")
        self.prices: dict[tuple[str, str], float] = {}
        self.gives_up_after: float | None = None
        """Seconds after which AWS says that it has no capacity, where that is sooner than the time-out."""
        self.throttled_above: int = 4
        self.answer_after: float = 0.0
        self.scheduler_retries: bool = True
        self._number = 0

    def __getitem__(self, region: str) -> Region:
        if region not in self.regions:
            self.regions[region] = Region(region)
        return self.regions[region]

    def copy(self) -> Account:
        """The same account at the same moment, without what was to happen later by itself."""
        made = Account(Clock(self.clock.time))
        fixed = {"clock", "operations"}
        # all at once: an endpoint and the list of bills hold the same bill
        vars(made).update(deepcopy({name: value for name, value in vars(self).items() if name not in fixed}))
        return made

    def now(self) -> datetime:
        return self.clock.now()

    def id(self, prefix: str) -> str:
        """A fresh id in AWS's form: `i-0000000000000001a`."""
        self._number += 1
        return f"{prefix}-{self._number:017x}"

    def arn(self, service: str, region: str, resource: str) -> str:
        return f"arn:aws:{service}:{region}:{ID}:{resource}"

    def bill(self, what: str, kind: str, region: str) -> Bill:
        row = Bill(what, kind, region, self.now())
        self.bills.append(row)
        return row

    def billing(self) -> list[str]:
        """What costs money now."""
        return [f"{row.what} ({row.type}, {row.region})" for row in self.bills if row.end is None]

    def set_tags(self, arn: str, tags: list[dict[str, str]]) -> None:
        self.tags.setdefault(arn, {}).update({tag["Key"]: tag["Value"] for tag in tags})

    def tag_list(self, arn: str) -> list[dict[str, str]]:
        return [{"Key": key, "Value": value} for key, value in self.tags.get(arn, {}).items()]

    def role_settled(self, arn: str, service: str) -> bool:
        """Whether a role exists, trusts this service, and has been known long enough to be assumed."""
        role = self.roles.get(arn.rsplit("/", 1)[-1])
        trusted = role is not None and service in role["AssumeRolePolicyDocument"]
        return role is not None and trusted and self.now() - role["CreateDate"] >= IAM_SETTLES_AFTER


def page(
    items: list[Any],
    params: Mapping[str, Any],
    size: int,
    *,
    token: str = "NextToken",  # noqa: S107 - of a page
    limit: str = "MaxResults",
) -> tuple[list[Any], dict[str, str]]:
    """One page of a list and the token of the next, as every AWS listing has it."""
    start = int(params.get(token) or 0)
    end = start + min(size, int(params.get(limit) or size))
    return items[start:end], ({token: str(end)} if end < len(items) else {})


def validation(message: str) -> Refused:
    """SageMaker's one code for almost everything."""
    return Refused("ValidationException", message)
