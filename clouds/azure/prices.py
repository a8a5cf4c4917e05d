"""Prices by key and location. Tables answer without a network; `live` asks the public Retail Prices API.

A key is `vm/<size>/on-demand`, `vm/<size>/spot`, `container-apps/gpu-a100`, `disk/P10-LRS`, `ptu/global` and so on. Of
the bundled table and the one that a refresh left in the data directory the newer row answers. A row that is marked
suspect never answers: an implausible price is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clouds.errors import CloudError
from clouds.models import Price
from clouds.pricetable import Row, index

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

BUNDLED = Path(__file__).parent / "prices.json"
EXCLUDES = (
    *("savings plans and reserved instances", "Azure Hybrid Benefit", "dev/test rates"),
    *("enterprise and private pricing", "free tier and credits"),
)
"""What a list price leaves out (article of 2026-09-24), in the words of the other clouds where it is the same: a scan
of several says each once."""
_BASIS = {"on-demand": "on demand", "spot": "spot", "low-priority": "low priority"}


class AzurePrices:
    """The price book of Azure. `home` is the data directory, where a refreshed table may be."""

    def __init__(
        self, api: AzureApi | None, home: Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Without an `api` only the tables answer."""
        self._api, self._now = api, now
        self._refreshed = refreshed_path(home)
        self._live: dict[tuple[str, str], Price | None] = {}

    def price(self, key: str, location: str) -> Price | None:
        """The newest row of the tables for that place, else for everywhere. None is unknown, and never $0."""
        for place in (location.replace(" ", "").lower(), "global"):
            rows = [row for table in self._tables() for row in table.get((key, place), ())]
            if rows:
                return price_of(max(rows, key=lambda row: row.as_of))
        return None

    def live(self, key: str, location: str) -> Price | None:
        """What Azure's public price list says now, asked once a process. Raises CloudError; None for no such price."""
        from clouds.azure.retail import ask

        if self._api is None:
            return None
        if (key, location) not in self._live:
            self._live[key, location] = ask(self._api, key, location, self._now())
        return self._live[key, location]

    def current(self, key: str, location: str) -> Price | None:
        """The live price, else the table's: for what is about to be created. Never raises."""
        try:
            found = self.live(key, location)
        except CloudError:
            found = None
        return found or self.price(key, location)

    def many(self, keys: Sequence[str], location: str) -> Mapping[str, Price | None]:
        """`current` of several keys at once."""
        with ThreadPoolExecutor(max(1, min(8, len(keys)))) as pool:
            return dict(zip(keys, pool.map(lambda key: self.current(key, location), keys), strict=True))

    def locations(self) -> frozenset[str]:
        """Every place that a table has a row of."""
        return frozenset(place for table in self._tables() for _, place in table) - {"global"}

    def _tables(self) -> tuple[Mapping[tuple[str, str], tuple[Row, ...]], ...]:
        bundled = index(BUNDLED, BUNDLED.stat().st_mtime_ns)
        if not self._refreshed.is_file():
            return (bundled,)
        return (bundled, index(self._refreshed, self._refreshed.stat().st_mtime_ns))


def refreshed_path(home: Path) -> Path:
    """Where a refresh leaves its table."""
    return home / "azure" / "prices.json"


def price_of(row: Row) -> Price:
    """A row as the record that results hold."""
    basis = _BASIS.get(row.key.rsplit("/", 1)[-1], "on demand")
    return Price(amount=row.usd, unit=row.unit, as_of=row.as_of, source=row.source, basis=basis)
