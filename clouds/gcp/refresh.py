"""Rebuilds both price tables from the Cloud Billing Catalog, and refuses to write where one lost a section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from clouds.gcp.catalogue import Meter, Sku, rows, skus
from clouds.gcp.prices import BUNDLED, WASTE, refreshed_path, refreshed_waste_path
from clouds.gcp.skus import SERVING, STORED, WASTED
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
    return _read(api, target or refreshed_path(home), BUNDLED, (*SERVING, *STORED), report).write()


def refresh_both(
    api: GcpApi, home: Path, *, bundled: bool = False, report: Callable[[str], None] = lambda _: None
) -> tuple[Refreshed, Refreshed]:
    """The table of `refresh` and that of the waste checks, whose rates are in three other services.

    Both are read before either is written. Raises as `refresh` does; then neither changed.
    """
    prices, waste = (BUNDLED, WASTE) if bundled else (refreshed_path(home), refreshed_waste_path(home))
    read = (
        _read(api, prices, BUNDLED, (*SERVING, *STORED), report),
        _read(api, waste, WASTE, WASTED, report),
    )
    return read[0].write(), read[1].write()


@dataclass
class _Read:
    """What the catalogue listed for one table, before it is written."""

    target: Path
    old: tuple[Row, ...]
    covered: frozenset[str]
    fresh: dict[Place, Row] = field(default_factory=dict)
    read: Counter[str] = field(default_factory=Counter)

    def write(self) -> Refreshed:
        """Put it in the place of the table before."""
        return join(self.target, self.old, self.fresh, self.read, self.covered, moves=_moves)


def _moves(row: Row) -> bool:
    return row.key.rsplit("/", 1)[-1] in MOVES


def _read(api: GcpApi, target: Path, bundled: Path, meters: Iterable[Meter], report: Callable[[str], None]) -> _Read:
    meters = tuple(meters)
    found = _Read(
        target, rows_of(target if target.is_file() else bundled), frozenset(meter.section for meter in meters)
    )
    listed: dict[str, tuple[Sku, ...]] = {}
    for service in dict.fromkeys(meter.service for meter in meters):
        report(service)
        listed[service] = tuple(skus(api, service))
    for meter in meters:
        fresh = tuple(rows(meter, listed[meter.service]))
        if fresh or meter.seen:
            refuse_a_loss(
                f"{meter.key} from {meter.service}",
                (row for row in found.old if row.key == meter.key and row.location not in _NOWHERE),
                fresh,
                "Google renamed the SKU and its pattern must follow.",
            )
        found.fresh.update({row.place: row for row in fresh})
        found.read[meter.section] += len(fresh)
    return found


def serving(api: GcpApi) -> tuple[Row, ...]:
    """What chips, GPUs, cores and memory cost now. Raises CloudError."""
    listed = tuple(skus(api, "Compute Engine"))
    return tuple(row for meter in SERVING for row in rows(meter, listed))


def command(home: Path, *, bundled: bool, report: Callable[[str], None]) -> tuple[str, ...]:
    """What `server.py refresh-prices gcp` does; the lines to print when it is done."""
    from clouds.gcp import connect

    both = refresh_both(cast("GcpApi", connect(home).api), home, bundled=bundled, report=report)
    return tuple(line for each in both for line in told(each))
