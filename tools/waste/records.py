"""The records of a scan: what is kept, reported and published. One definition makes files, schema and checks.

Amounts are US dollars; a month is 730 hours. Times are ISO 8601 in UTC. `None` is unknown, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA_VERSION: Literal[1] = 1
Billing = Literal["billed", "saving", "free", "prepaid", "unpriced", "booked elsewhere"]
Fact = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Priced:
    """One line of a price. `usd_per_month` None: no rate is known for `key` there."""

    key: str
    quantity: float
    unit: str
    usd_per_unit: float | None
    usd_per_month: float | None
    as_of: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why a finding is left out of the totals, who said so, and until when."""

    by: str
    reason: str
    expires: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One resource that costs and serves nothing. `id` is stable: made of the check and the resource's full id.

    `months` times `usd_per_month` is what it costs in the coming year where it ends by itself; None: nothing ends it.
    """

    id: str
    check: str
    title: str
    category: str
    cloud: str
    account: str
    location: str
    kind: str
    resource: str
    name: str
    reason: str
    billing: Billing
    usd_per_month: float | None
    bound: str
    meters: tuple[Priced, ...]
    reversal: str
    removable: bool
    fingerprint: str
    created: str = ""
    age_days: float | None = None
    owner: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, Fact] = field(default_factory=dict)
    holds: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    booked_with: str = ""
    stays: str = ""
    notes: tuple[str, ...] = ()
    suppressed: Suppression | None = None
    months: float | None = None

    @property
    def our_ref(self) -> str:
        """The endpoint of ours that it is a part of, as `delete_endpoint` takes it; empty for all else."""
        return str(self.evidence.get("endpoint", "")) if self.category == "own" else ""

    @property
    def stays_because(self) -> str:
        """Why no cleanup removes it, and of a deployment of ours the call that does."""
        return f'{self.stays}: `delete_endpoint("{self.our_ref}")`' if self.stays and self.our_ref else self.stays


@dataclass(frozen=True, slots=True)
class Gap:
    """Resources or whole reads that are not known. `resources` 0: a whole listing, of nobody knows how many."""

    cloud: str
    account: str
    location: str
    check: str
    reason: str
    call: str = ""
    resources: int = 0
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScopeEnd:
    """How one scope ended. Pairs are checks in this scope."""

    cloud: str
    account: str
    location: str
    ended: Literal["done", "skipped", "denied"]
    reason: str
    attempted: int
    judged: int
    not_applicable: int
    unread: int
    resources: int
    findings: int = 0
    usd_per_month: float = 0.0


@dataclass(frozen=True, slots=True)
class Who:
    """As whom one cloud was scanned."""

    cloud: str
    principal: str
    account: str
    account_kind: str


@dataclass(frozen=True, slots=True)
class Sum:
    """Findings of one group: how many, and what those with a price cost.

    Of that amount `at_most` is an upper and `at_least` a lower bound; the rest is exact.
    """

    findings: int
    usd_per_month: float
    unpriced: int = 0
    at_most: float = 0.0
    at_least: float = 0.0


@dataclass(frozen=True, slots=True)
class Totals:
    """Every sum of a scan. Suppressed findings are in none of them but `suppressed`.

    `saving` counts what is in use and would cost less as something else; the amounts that end in `at_most` and
    `at_least` are the parts of `usd_per_month` that are an upper and a lower bound.
    """

    findings: int
    usd_per_month: float
    usd_per_year: float
    priced: int
    unpriced: int
    free: int
    prepaid: int
    booked_elsewhere: int
    suppressed: int
    suppressed_usd_per_month: float
    cheapest_usd_per_month: float | None
    dearest_usd_per_month: float | None
    by_check: Mapping[str, Sum]
    by_scope: Mapping[str, Sum]
    by_category: Mapping[str, Sum]
    usd_per_month_at_most: float = 0.0
    usd_per_month_at_least: float = 0.0
    saving: int = 0
    saving_usd_per_month: float = 0.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was looked at. A pair is one check in one scope."""

    checks: int
    scopes: int
    pairs_attempted: int
    pairs_judged: int
    pairs_not_applicable: int
    pairs_unread: int
    resources: int
    too_new: int
    unresolved: int
    unread: int
    managed: int


@dataclass(frozen=True, slots=True)
class Pricing:
    """Which rates priced the findings, and what they leave out."""

    basis: str
    hours_per_month: int
    oldest: str
    newest: str
    excludes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Effort:
    """What the scan itself took and cost."""

    seconds: float
    requests: int
    by_operation: Mapping[str, int]
    usd: float
    charges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BillLine:
    """One service on the bill that no check of this scan looks at."""

    cloud: str
    service: str
    usd: float


@dataclass(frozen=True, slots=True)
class BillView:
    """What the bill shows beside the findings."""

    days: int
    usd: float
    covered_usd: float
    usd_of_query: float
    not_covered: tuple[BillLine, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """One scan over one or several clouds, with one total. `complete` is false when anything was unread."""

    id: str
    started: str
    complete: bool
    who: tuple[Who, ...]
    scopes: tuple[ScopeEnd, ...]
    totals: Totals
    coverage: Coverage
    pricing: Pricing
    effort: Effort
    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    unread: tuple[Gap, ...]
    unresolved: tuple[Gap, ...]
    too_new: tuple[Gap, ...]
    managed: tuple[Gap, ...]
    not_applicable: tuple[Gap, ...]
    checks: tuple[str, ...]
    filters: Mapping[str, str] = field(default_factory=dict)
    exceptions: tuple[str, ...] = ()
    """Exceptions that did not apply: expired, or without reason or end."""
    below_minimum: int = 0
    """Findings that a scan before 0.5.0 left out of the list and of the totals for costing less than was asked for."""
    below_minimum_usd_per_month: float = 0.0
    bill: BillView | None = None
    not_run: tuple[str, ...] = ()
    """Checks that were asked for and had no place to run in: of global services, where `scopes` names places only."""
    schema_version: Literal[1] = SCHEMA_VERSION
    tool: str = "modelrig"


@lru_cache(maxsize=1)
def adapter() -> TypeAdapter[Scan]:
    """Reads, writes and describes scans; built when first needed."""
    from pydantic import ConfigDict, TypeAdapter

    Scan.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]
    return TypeAdapter(Scan)


def schema() -> dict[str, object]:
    """The published JSON Schema of a scan (docs/scan.schema.json)."""
    found = adapter().json_schema(mode="serialization")
    about = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "modelrig scan",
        "description": "One scan for what nobody uses. Amounts are US dollars, a month is 730 hours, times are in UTC; "
        "null is unknown and never zero. A field is only ever added within a schema_version.",
    }
    return {**about, **{key: value for key, value in found.items() if key not in about}}
