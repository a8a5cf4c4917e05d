"""From meters to US dollars a month. A rate that is missing, zero or of another unit is unknown, and never $0."""

from __future__ import annotations

from collections.abc import Callable

from clouds.base import Missing, PriceBook
from clouds.models.waste import Meter
from tools.waste.records import Priced

HOURS = 730
"""Hours of a month."""
YEAR = 12.0
"""Months of a year."""
_PER_MONTH = {"second": HOURS * 3600.0, "hour": float(HOURS), "day": HOURS / 24, "month": 1.0}


def months(unit: str) -> float | None:
    """How many of a unit's time stands in a month: "hour" 730, "GiB-month" 1, "vCPU-second" 2,628,000; None if none."""
    return _PER_MONTH.get(unit.rsplit("-", 1)[-1])


class Rates:
    """Prices meters with one cloud's price book; remembers each rate, and between which dates they were read."""

    def __init__(
        self, book: PriceBook | Missing, *, why: Callable[[str], str] = lambda _key: "", home: str = ""
    ) -> None:
        """`why` says of a key why it has no rate; `home` is the place whose rate is named where there is none."""
        self._book, self._why, self._home = book, why, home
        self._known: dict[tuple[str, str, str], Priced] = {}
        self.dates: set[str] = set()

    def priced(self, meter: Meter, location: str, hours: float = HOURS) -> Priced:
        """One line of a price, of that many of a month's hours."""
        where = meter.location or location
        key = (meter.key, meter.unit, where)
        if key not in self._known:
            self._known[key] = self._one(meter, where)
        one = self._known[key]
        if one.as_of:
            self.dates.add(one.as_of)
        share = min(1.0, hours / HOURS)
        month = None if one.usd_per_month is None else round(one.usd_per_month * meter.quantity * share, 6)
        return Priced(meter.key, meter.quantity, meter.unit, one.usd_per_unit, month, one.as_of, one.source)

    def _one(self, meter: Meter, where: str) -> Priced:
        factor = months(meter.unit)
        price = None if isinstance(self._book, Missing) else self._book.price(meter.key, where)
        if price is None or factor is None or price.currency != "USD" or not price.amount > 0:
            return Priced(meter.key, 1.0, meter.unit, None, None, source=self._reason(meter.key, where))
        if _plain(price.unit) != _plain(meter.unit):
            return Priced(meter.key, 1.0, meter.unit, None, None, source=f"priced by the {price.unit}")
        return Priced(meter.key, 1.0, meter.unit, price.amount, price.amount * factor, price.as_of[:10], price.source)

    def _reason(self, key: str, where: str) -> str:
        """Why there is no rate. Another place's rate is named, and never used: places differ."""
        elsewhere = None
        if self._home and where != self._home and not isinstance(self._book, Missing):
            elsewhere = self._book.price(key, self._home)
        named = f"{self._home} lists ${elsewhere.amount:.10g} per {elsewhere.unit}" if elsewhere else ""
        return "; ".join(word for word in (self._why(key), named) if word)


def _plain(unit: str) -> str:
    """AWS writes GB and means GiB for volumes, snapshots and tables: one unit, two spellings."""
    return unit.replace("GiB", "GB")


def total(lines: tuple[Priced, ...]) -> tuple[float | None, bool]:
    """US dollars a month of what is priced (None when nothing is), and whether any line has no price.

    Where what is to be taken off has no price, nothing is known: the rest alone would promise too much.
    """
    if any(line.usd_per_month is None and line.quantity < 0 for line in lines):
        return None, True
    known = [line.usd_per_month for line in lines if line.usd_per_month is not None]
    return (round(sum(known), 6) if known else None), len(known) < len(lines)
