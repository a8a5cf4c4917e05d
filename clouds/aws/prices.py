"""Prices by key and location. Tables answer without a network; `live` asks AWS; every price has its date and source.

A key is `ec2/<type>/on-demand`, `ec2/<type>/spot`, `sagemaker-hosting/<ml.type>/on-demand`, `ebs/gp3` and so on. Of the
bundled table and the one that a refresh left in the data directory the newer row answers. A row that is marked suspect
never answers: an implausible price is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clouds.errors import CloudError
from clouds.models import Price
from clouds.pricetable import Row, index

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi

BUNDLED = Path(__file__).parent / "prices.json"
_BASIS = {"on-demand": "on demand", "spot": "spot"}


class AwsPrices:
    """The price book of AWS. `home` is the data directory, where a refreshed table may be."""

    def __init__(
        self, api: AwsApi | None, home: Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Without an `api` only the tables answer."""
        self._api, self._now = api, now
        self._refreshed = refreshed_path(home)
        self._live: dict[tuple[str, str], Price | None] = {}

    def price(self, key: str, location: str) -> Price | None:
        """The newest row of the tables for that place, else for everywhere. None is unknown, and never $0."""
        for place in (location, "global"):
            rows = [row for table in self._tables() for row in table.get((key, place), ())]
            if rows:
                return _price(max(rows, key=lambda row: row.as_of))
        return self._zones(key, location) if key.endswith("/spot") else None

    def live(self, key: str, location: str) -> Price | None:
        """What AWS says now, asked once a process. Raises CloudError; None when AWS lists no such price.

        Only instance types can be asked for: `ec2/<type>/on-demand|spot`, `sagemaker-hosting/<type>/on-demand`.
        """
        from clouds.aws.pricelist import ask

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

    def _zones(self, key: str, region: str) -> Price | None:
        """Spot differs by zone: the dearest zone of a region, so that a ceiling holds wherever it is placed."""
        own = re.compile(rf"{re.escape(zone_prefix(region))}-az\d+|{re.escape(region)}[a-z]")
        rows = [
            row
            for table in self._tables()
            for name, place in table
            if name == key and own.fullmatch(place)
            for row in table[name, place]
        ]
        if not rows:
            return None
        newest = [row for row in rows if row.as_of == max(row.as_of for row in rows)]
        dearest = max(newest, key=lambda row: row.usd)
        return _price(dearest).model_copy(update={"basis": f"spot, dearest of {len(newest)} zones"})


def refreshed_path(home: Path) -> Path:
    """Where a refresh leaves its table."""
    return home / "aws" / "prices.json"


def zone_prefix(region: str) -> str:
    """`use1` of `us-east-1`, `apse1` of `ap-southeast-1`: how zone ids begin."""
    area, *direction, number = region.split("-")
    words = re.findall(r"north|south|east|west|central", "".join(direction))
    return area + "".join(word[0] for word in words) + number


def _price(row: Row) -> Price:
    basis = _BASIS.get(row.key.rsplit("/", 1)[-1], "on demand")
    return Price(amount=row.usd, unit=row.unit, as_of=row.as_of, source=row.source, basis=basis)
