"""The quota that a request spends: what it says, and whether it is plainly too small. Permission to ask, no more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from clouds.base import QuotaReader
from clouds.errors import CloudError, QuotaTooSmall
from clouds.gcp.endpoints.hardware import Shape
from clouds.gcp.endpoints.preflight import region_of
from clouds.models import Quota, Scope

_PREEMPTIBLE = re.compile(r"preemptible", re.IGNORECASE)
_OTHER = re.compile(r"committed|reserv|serving", re.IGNORECASE)
_COUNTED = frozenset({"chips", "GPUs"})
"""Units that a machine is held against; vCPUs are only shown, since not every type spends the same ones."""


@dataclass(frozen=True)
class Allowance:
    """`words` for a person; `refused` when every pool that the request could draw from is too small."""

    words: str
    refused: QuotaTooSmall | None = None


def of(quotas: QuotaReader, shape: Shape, zones: Iterable[str], market: str) -> Mapping[str, Allowance]:
    """Zone -> its allowance, read at once. Never raises: what cannot be read is said and refuses nothing."""
    asked = tuple(zones)
    try:
        read = quotas.read(None, [shape.type], [Scope(zone) for zone in asked])
    except CloudError as error:
        return {zone: _unread(zone, str(error)) for zone in asked}
    why = read.unread[0].reason if read.unread else "no row was recognised"
    found: dict[str, Allowance] = {}
    for zone in asked:
        rows = [row for row in read.found if row.scope in {zone, region_of(zone), "global"}]
        found[zone] = _allowance(rows, shape, zone, market) or _unread(zone, why)
    return found


def _unread(zone: str, why: str) -> Allowance:
    return Allowance(f"the quota in {zone} could not be read ({why[:160]}): Google may refuse it")


def _allowance(rows: Sequence[Quota], shape: Shape, zone: str, market: str) -> Allowance | None:
    pools = _pools([row for row in rows if not _OTHER.search(row.code)], shape, market)
    if not pools:
        return None
    words = "; ".join(dict.fromkeys(worded(row) for pool in pools for row in pool))
    short = [_short(pool, shape) for pool in pools]
    if any(row is None for row in short):
        return Allowance(f"quota read: {words}")
    first = next(row for row in short if row is not None)
    refusal = QuotaTooSmall(
        f"planning {shape.type} ({market}) in {zone}",
        answered=f"{shape.count} are needed; {words}",
        code=first.code,
        fix="Ask for more of it in the console's quota page, delete dead queued resources that hold it, ask for fewer "
        "chips, or use another region. A queued request without quota would wait as if for capacity.",
    )
    return Allowance(f"quota read: {words}", refusal)


def _short(pool: Sequence[Quota], shape: Shape) -> Quota | None:
    """The row of a pool that is too small: all rows of a pool have to do (zone and region are counted apart)."""
    return next((row for row in pool if row.unit in _COUNTED and left(row) < shape.count), None)


def _pools(rows: Sequence[Quota], shape: Shape, market: str) -> list[list[Quota]]:
    """What the request may draw from: preemptible quota for spot and flex-start, which on Compute Engine falls back."""
    preemptible = [row for row in rows if _PREEMPTIBLE.search(row.code)]
    usual = [row for row in rows if row not in preemptible]
    if market == "on-demand":
        return [usual] if usual else []
    pools = [preemptible] if preemptible else []
    # Compute Engine's flex-start takes the family quota when the preemptible one does not do (gemma4-dev, 2026-08)
    if market == "flex-start" and shape.type.startswith("ct") and usual:
        pools.append(usual)
    return pools


def left(row: Quota) -> float:
    """What may still be asked for; without a limit there is no end of it."""
    return float("inf") if row.limit is None else row.limit - (row.used or 0)


def worded(row: Quota) -> str:
    """One row for a person."""
    used = "unknown" if row.used is None else f"{row.used:g}"
    limit = "unknown" if row.limit is None else f"{row.limit:g}"
    return f"{row.name or row.code} in {row.scope}: limit {limit}, used {used}"
