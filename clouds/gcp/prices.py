"""Prices by key and location. Tables answer without a network; `live` reads the catalogue; each has date and source.

A key is `tpu/v6e/flex-start` (a chip-hour, its host included), `gce-gpu/l4/spot`, `gce-core/g2/on-demand`,
`cloud-run/gpu-l4-no-zonal-redundancy`, `disk/pd-ssd` and so on. A whole machine is asked for by its type,
`gce/ct6e-standard-4t/spot` or `gce/n2-standard-8/on-demand`: its own row, else its chips, else the sum of GPU, core and
memory, each of which Google prices apart. Of several rows the newest answers. A suspect row never does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from clouds.errors import CloudError
from clouds.gcp import machines
from clouds.gcp.places import is_zone, region_of
from clouds.gcp.shapes import shape
from clouds.gcp.table import index
from clouds.models import Price
from clouds.pricetable import Row, indexed

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi

BUNDLED = Path(__file__).parent / "prices.json"
WASTE = Path(__file__).parent / "waste_prices.json"
"""Rates of what only the waste checks ask for."""
MARKETS: Mapping[str, str] = {
    "on-demand": "on demand",
    "spot": "spot",
    "flex-start": "flex-start",
    "calendar": "calendar mode",
    "cud-1yr": "1-year commitment",
    "cud-3yr": "3-year commitment",
}
"""The last part of a key, and how a price of it is called."""
_GPU = {"RTX-PRO-6000": "rtx-pro-6000"}


class GcpPrices:
    """The price book of Google Cloud. `home` is the data directory, where a refreshed table may be."""

    def __init__(
        self, api: GcpApi | None, home: Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Without an `api` only the tables answer."""
        self._api, self._now = api, now
        self._refreshed = (refreshed_path(home), refreshed_waste_path(home))
        self._live: Mapping[tuple[str, str], tuple[Row, ...]] | None = None
        self._lock = Lock()

    def price(self, key: str, location: str) -> Price | None:
        """The newest of the tables for that region or zone, else for everywhere. None is unknown, and never $0."""
        return self._answer(key, location, self._tables())

    def live(self, key: str, location: str) -> Price | None:
        """What the catalogue says now, read once a process (some megabytes). Raises CloudError; None: not listed.

        Chips, GPUs, cores, memory and the machines made of them are in it.
        """
        if self._api is None:
            return None
        with self._lock:
            if self._live is None:
                from clouds.gcp.refresh import serving

                self._live = indexed(serving(self._api))
        return self._answer(key, location, (self._live,))

    def current(self, key: str, location: str) -> Price | None:
        """The live price, else the table's: for what is about to be created. Never raises."""
        try:
            found = self.live(key, location)
        except CloudError:
            found = None
        return found or self.price(key, location)

    def many(self, keys: Sequence[str], location: str) -> Mapping[str, Price | None]:
        """`current` of several keys."""
        return {key: self.current(key, location) for key in keys}

    def locations(self) -> frozenset[str]:
        """Every place that a table has a row of."""
        return frozenset(place for table in self._tables() for _, place in table) - {"global", "unstated"}

    def _tables(self) -> tuple[Mapping[tuple[str, str], tuple[Row, ...]], ...]:
        there = (BUNDLED, WASTE, *(path for path in self._refreshed if path.is_file()))
        return tuple(index(path, path.stat().st_mtime_ns) for path in there)

    def _answer(
        self, key: str, location: str, tables: Sequence[Mapping[tuple[str, str], tuple[Row, ...]]]
    ) -> Price | None:
        places = dict.fromkeys((location, region_of(location) if is_zone(location) else location, "global"))

        def newest(wanted: str) -> Row | None:
            for place in places:
                rows = [row for table in tables for row in table.get((wanted, place), ())]
                if rows:
                    return max(rows, key=lambda row: row.as_of)
            return None

        found = [row for row in (_machine(key, newest), newest(key)) if row is not None]
        return _price(max(found, key=lambda row: row.as_of)) if found else None


def refreshed_path(home: Path) -> Path:
    """Where a refresh leaves its table."""
    return home / "gcp" / "prices.json"


def refreshed_waste_path(home: Path) -> Path:
    """Where it leaves that of the waste checks."""
    return home / "gcp" / "waste_prices.json"


def per_million(usd_per_hour: float, tokens_per_second: float) -> float:
    """USD of a million output tokens at a price and a rate."""
    return usd_per_hour / 3600 / tokens_per_second * 1e6


def parts(key: str, newest: Callable[[str], Row | None] = lambda _: None) -> list[tuple[str, float]]:
    """The keys that a machine is billed by, and how much of each; none for a key of no type that is known.

    `newest` finds the row of a key: a host that has a price of its own is taken apart only where its parts are newer.
    """
    match key.split("/"):
        case ["gce" | "tpu", kind, market]:
            machine, plain = machines.find(kind), shape(kind)
        case _:
            return []
    if machine is None:
        return _host(plain.family, market, plain.vcpus, plain.memory_gib) if plain is not None else []
    if machine.accelerator in machines.TPUS:
        return [(f"tpu/{machine.accelerator.lower()}/{market}", float(machine.count))]
    gpu = _GPU.get(machine.accelerator, machine.accelerator.lower())
    cards = (f"gce-gpu/{gpu}/{market}", float(machine.count))
    made = _host(machine.family, market, float(machine.vcpus), float(machine.memory_gib))
    host = newest(f"gce-host/{kind}/{market}")
    fresh = [row.as_of for row in (newest(part) for part, _ in made) if row is not None]
    if host is None or (len(fresh) == len(made) and min(fresh) > host.as_of):
        return [cards, *made]
    return [cards, (host.key, 1.0)]


def _host(family: str, market: str, vcpus: float, gib: float) -> list[tuple[str, float]]:
    return [(f"gce-core/{family}/{market}", vcpus), (f"gce-ram/{family}/{market}", gib)]


def _machine(key: str, newest: Callable[[str], Row | None]) -> Row | None:
    """A whole machine from its parts; its date is the oldest part's."""
    rows = [(newest(part), amount) for part, amount in parts(key, newest)]
    known = [(row, amount) for row, amount in rows if row is not None]
    if not known or len(known) < len(rows):
        return None
    usd = sum(row.usd * amount for row, amount in known)
    made = " + ".join(f"{amount:g} x {row.key} {row.usd:g}" for row, amount in known)
    source = f"{made}: {'; '.join(dict.fromkeys(row.source for row, _ in known))}"
    as_of = min(row.as_of for row, _ in known)
    return Row(key, "hour", known[0][0].location, round(usd, 9), as_of, source)


def _price(row: Row) -> Price:
    basis = MARKETS.get(row.key.rsplit("/", 1)[-1], "on demand")
    unit = "hour" if row.unit.endswith("-chip-hour") else row.unit
    return Price(amount=row.usd, unit=unit, as_of=row.as_of, source=row.source, basis=basis)
