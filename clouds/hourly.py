"""What an hour of one machine costs in each service, from the tables on disk: to compare before anything is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from clouds.models import Hourly, Price


def cheapest(
    service: str, machines: Iterable[str], locations: Iterable[str], price: Callable[[str, str], Price | None]
) -> Iterator[Hourly]:
    """The cheapest of these machines in these places, if any has a price; of equals the first by name."""
    places = sorted(locations)
    found = [
        Hourly(service, machine, place, known)
        for machine in machines
        for place in places
        if (known := price(machine, place)) is not None
    ]
    if found:
        yield min(found, key=lambda each: each.price.amount)
