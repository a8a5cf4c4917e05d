"""Decisions per second and what a million of them cost, by the hour or by the token."""

from __future__ import annotations

from clouds.errors import InvalidInput
from clouds.models import Record

BUSY = "holds only while at least this many are kept in flight; the machine costs the same when idle"


class DecisionRate(Record):
    """Throughput at a stated number in flight, and its price."""

    decisions: int
    in_flight: int
    wall_seconds: float
    per_second: float
    usd_per_million: float | None = None
    basis: str = ""


def rate(
    decisions: int,
    wall_seconds: float,
    in_flight: int,
    *,
    usd_per_hour: float | None = None,
    usd_per_million_tokens: float | None = None,
    tokens_per_decision: float | None = None,
) -> DecisionRate:
    """A machine is priced by the hour; a hosted service by tokens, whatever its speed. Without a price: no cost."""
    if decisions < 1 or wall_seconds <= 0 or in_flight < 1:
        raise InvalidInput("decisions", "a rate needs decisions and time", fix="Read at least one item.")
    per_second = decisions / wall_seconds
    cost, basis = None, ""
    if usd_per_million_tokens is not None and tokens_per_decision is not None:
        cost = usd_per_million_tokens * tokens_per_decision
        basis = f"{tokens_per_decision:g} tokens a decision at ${usd_per_million_tokens:g} per million tokens"
    elif usd_per_hour is not None:
        cost = usd_per_hour / 3600 / per_second * 1e6
        basis = f"${usd_per_hour:g} an hour at {per_second:.4g} a second, {in_flight} in flight; {BUSY}"
    return DecisionRate(
        decisions=decisions,
        in_flight=in_flight,
        wall_seconds=wall_seconds,
        per_second=per_second,
        usd_per_million=cost,
        basis=basis,
    )
