"""Rebuilds the price table from the public Retail Prices API, and refuses to write one that lost a section."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clouds.azure.meters import ALL, WASTE
from clouds.azure.prices import BUNDLED, refreshed_path
from clouds.azure.rates import Rate
from clouds.azure.retail import SOURCE, offers, read, rows
from clouds.pricetable import Place, Refreshed, Row, join, refuse_a_loss, rows_of, told

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

PLACES = (
    *("eastus", "eastus2", "southcentralus", "westus2", "westus3", "northeurope", "westeurope", "swedencentral"),
    *("uksouth", "japaneast", "southeastasia", "australiaeast"),
)
"""The regions of the table; a rate that is asked for all of them at once brings no others."""


def refresh(
    api: AzureApi,
    home: Path,
    *,
    target: Path | None = None,
    report: Callable[[str], None] = lambda _: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    rates: Iterable[Rate] = ALL,
) -> Refreshed:
    """Ask for every rate, join with what no rate covers, write all or nothing.

    The table is written to `target`, by default into the data directory, where it answers beside the bundled one.
    Raises CloudError when a rate cannot be read, and Unexpected when it lost rows; then nothing is written.
    """
    target = target or refreshed_path(home)
    old = rows_of(target if target.is_file() else BUNDLED)
    known = {row.key for row in old}
    fresh: dict[Place, Row] = {}
    count: Counter[str] = Counter()
    for rate, listed in _read(api, rates, now(), report):
        found = [row for row in listed if _wanted(row, known)]
        refuse_a_loss(
            f"{rate.key} from Azure's price list",
            (row for row in old if rate.covers(row.key)),
            found,
            "Azure renamed the meter and its pattern must follow.",
        )
        fresh.update({row.place: row for row in found})
        count[rate.section] += len(found)
    return join(target, old, fresh, count, {rate.section for rate in rates})


def _read(
    api: AzureApi, rates: Iterable[Rate], now: datetime, report: Callable[[str], None]
) -> Iterator[tuple[Rate, list[Row]]]:
    """The rows of each rate, dated today: the API says when a price began, and that it is in force now.

    Rates with one condition share its answer: the machines of one region are several pages.
    """
    groups: dict[tuple[str, bool], list[Rate]] = {}
    for rate in rates:
        groups.setdefault((rate.asking(), rate.each_region), []).append(rate)
    for group in groups.values():
        found: list[list[Row]] = [[] for _ in group]
        for rate in group:
            report(f"{rate.section}: {rate.key}")
        for place in PLACES if group[0].each_region else ("",):
            listed = tuple(offers(read(api, group[0].asking(place)), now))
            for rate, held in zip(group, found, strict=True):
                held.extend(rows(rate, listed))
        for rate, held in zip(group, found, strict=True):
            yield rate, [replace(row, as_of=f"{now:%Y-%m-%d}", source=SOURCE) for row in held]


def _wanted(row: Row, known: set[str]) -> bool:
    """Rows of keys that the table has or the waste checks need, and accelerated machines, in the table's regions."""
    accelerated = row.key.startswith(("vm/Standard_NC", "vm/Standard_ND", "vm/Standard_NV", "container-apps/"))
    wanted = row.key in known or accelerated or any(rate.covers(row.key) for rate in WASTE)
    return wanted and row.location in (*PLACES, "global")


def command(home: Path, *, bundled: bool, report: Callable[[str], None]) -> tuple[str, ...]:
    """What `server.py refresh-prices azure` does; the lines to print when it is done. No sign-in is needed."""
    from clouds.azure import taps_of
    from clouds.azure.api import AzureApi

    # the list throttles by the minute, and nobody waits at a prompt of a model: this may take its time
    api = AzureApi(taps=taps_of(), attempts=8, patience=300.0, sleep=time.sleep)
    return told(refresh(api, home, target=BUNDLED if bundled else None, report=report))
