"""What the backups of a cleanup bill: they stay after it, and nobody looks at them again by themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clouds.models.removal import CleanupStep, From
from tools.waste.price import Rates, total
from tools.waste.report.words import money


@dataclass(frozen=True)
class Kept:
    """One backup that stands, or may. `id` "": the cloud's answer was lost. `usd_per_month`: at most; None: unknown."""

    id: str
    state: str
    usd_per_month: float | None


@dataclass(frozen=True)
class Bill:
    """What some backups cost together: at most so much for those with a price, and how many have none."""

    count: int
    usd_per_month: float
    unpriced: int

    def __str__(self) -> str:
        """ "2 backups bill at most $10.00 a month until they are deleted"."""
        one = self.count == 1
        priced = f"at most {money(self.usd_per_month)} a month"
        if self.unpriced == self.count:
            cost = "an unknown amount"
        else:
            cost = f"{priced}, and {self.unpriced} of them an unknown amount," if self.unpriced else priced
        what, end = ("backup bills", "it is") if one else ("backups bill", "they are")
        return f"{self.count:,} {what} {cost} until {end} deleted"


def bill(costs: Iterable[float | None]) -> Bill:
    """The sum over some backups."""
    every = list(costs)
    known = [each for each in every if each is not None]
    return Bill(len(every), round(sum(known), 2), len(every) - len(known))


def at_most(step: CleanupStep, rates: Rates, location: str) -> float | None:
    """US dollars a month that what a step makes bills at most; None where its size or its rate is not known."""
    lines = tuple(rates.priced(meter, location) for meter in step.bills)
    usd, partly = total(lines)
    return None if usd is None or partly else round(usd, 2)


def made(step: CleanupStep) -> tuple[str, str]:
    """The id of what a step makes, and the path of its answer that says it: one of both is empty."""
    return ("", step.makes.path) if isinstance(step.makes, From) else (step.makes, "")
