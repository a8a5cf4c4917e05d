"""Rebuilds the price table from the Cloud Billing Catalog, and refuses to write one that lost a section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from clouds.gcp.catalogue import Sku, rows, skus
from clouds.gcp.prices import BUNDLED, refreshed_path
from clouds.gcp.skus import SERVING, STORED
from clouds.pricetable import Place, Refreshed, Row, join, refuse_a_loss, rows_of, told

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi

MOVES = frozenset({"spot"})
"""Markets whose price moves by itself: v6e spot was read at 0.34 and at 1.78 within weeks. No jump is suspect there."""
_NOWHERE = frozenset({"unstated", "tier-1-region"})
"""Locations of rows whose source names no region: the catalogue cannot bring them back."""


def refresh(
    api: GcpApi,
    home: Path,
    *,
    target: Path | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Refreshed:
    """Read every service's SKUs, join with what no meter covers, write all or nothing.

    The table is written to `target`, by default into the data directory, where it answers beside the bundled one.
    Raises CloudError when a service cannot be read, and Unexpected when a meter lost rows; then nothing is written.
    """
    target = target or refreshed_path(home)
    old = rows_of(target if target.is_file() else BUNDLED)
    every = (*SERVING, *STORED)
    listed: dict[str, tuple[Sku, ...]] = {}
    for service in dict.fromkeys(meter.service for meter in every):
        report(service)
        listed[service] = tuple(skus(api, service))
    fresh: dict[Place, Row] = {}
    read: Counter[str] = Counter()
    for meter in every:
        found = tuple(rows(meter, listed[meter.service]))
        if found or meter.seen:
            refuse_a_loss(
                f"{meter.key} from {meter.service}",
                (row for row in old if row.key == meter.key and row.location not in _NOWHERE),
                found,
                "Google renamed the SKU and its pattern must follow.",
            )
        fresh.update({row.place: row for row in found})
        read[meter.section] += len(found)
    covered = {meter.section for meter in every}
    return join(target, old, fresh, read, covered, moves=lambda row: row.key.rsplit("/", 1)[-1] in MOVES)


def serving(api: GcpApi) -> tuple[Row, ...]:
    """What chips, GPUs, cores and memory cost now. Raises CloudError."""
    listed = tuple(skus(api, "Compute Engine"))
    return tuple(row for meter in SERVING for row in rows(meter, listed))


def command(home: Path, *, bundled: bool, report: Callable[[str], None]) -> tuple[str, ...]:
    """What `server.py refresh-prices gcp` does; the lines to print when it is done."""
    from clouds.gcp import connect

    return told(refresh(cast("GcpApi", connect(home).api), home, target=BUNDLED if bundled else None, report=report))
