"""A line without a rate says why, and names the rate of the home region without using it."""

from __future__ import annotations

import pytest

from clouds.models import Price
from clouds.models.waste import Meter
from tools.waste.price import Rates


class Listed:
    """A price book with one rate, in one place."""

    def price(self, key: str, location: str) -> Price | None:
        if (key, location) != ("broker/large", "north"):
            return None
        return Price(amount=0.288, unit="hour", as_of="2026-09-21", source="a list")


RATES = Rates(Listed(), why=lambda key: "ask for it" if key == "broker/large" else "", home="north")


@pytest.mark.parametrize(
    ("key", "place", "usd", "source"),
    [
        ("broker/large", "north", 210.24, "a list"),
        ("broker/large", "south", None, "ask for it; north lists $0.288 per hour"),
        ("broker/small", "south", None, ""),
        ("broker/small", "north", None, ""),
    ],
)
def test_another_places_rate_is_named_and_never_used(key: str, place: str, usd: float | None, source: str) -> None:
    line = RATES.priced(Meter(key, "hour"), place)
    assert (line.usd_per_month, line.source) == (usd, source)


def test_without_a_home_and_a_reason_a_line_says_nothing_more() -> None:
    assert Rates(Listed()).priced(Meter("broker/large", "hour"), "south").source == ""
