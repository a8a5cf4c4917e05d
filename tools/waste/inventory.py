"""An inventory of all places in one paged read: what it does not name in a place that it answers for is not asked for.

It only ever saves requests. A place that it says nothing of, and all places when it cannot be read, are read in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clouds.models.waste import Detail, Reading, Row, WasteCheck
from clouds.models.waste_pack import Inventory
from tools.waste.reading import ODD
from tools.waste.rows import extract

Held = frozenset[tuple[str, str]]
"""(sort, location) of everything in one place."""


def sorts(checks: Iterable[WasteCheck]) -> tuple[str, ...]:
    """What the inventory is asked for."""
    found = {word for check in checks for read in check.all_reads for word in _assets(read)}
    return tuple(sorted(found))


def read_off(inventory: Inventory, answers: Iterable[object], places: Mapping[str, Row]) -> dict[str, Held]:
    """What each place holds, for the places that the answers say they looked at; `places` are their own rows."""
    names = {inventory.number(row): place for place, row in places.items()}
    looked: set[str] = set()
    held: dict[str, set[tuple[str, str]]] = {}
    for answer in answers:
        for row in extract(answer, inventory.rows):
            try:
                looked.add(inventory.answers_for(row))
                number, sort, location = inventory.asset(row)
            except ODD:
                return {}  # an answer of another form: nothing is concluded from it
            held.setdefault(names.get(number, ""), set()).add((sort, location))
    return {place: frozenset(held.get(place, ())) for number, place in names.items() if number in looked}


def nothing(read: Reading, held: Held | None) -> bool:
    """Whether there is plainly nothing of a reading's sorts in a place."""
    assets = _assets(read)
    return held is not None and bool(assets) and not any(sort in assets for sort, _ in held)


def there(read: Detail, rows: Sequence[Row], held: Held | None) -> list[Row]:
    """The rows of a detail's parent at whose location there is something to ask for.

    A zone and its region are one place here, and what has no location of its own may be anywhere: rather asked for once
    too often than left out.
    """
    if held is None or not read.assets or read.spot is None:
        return list(rows)
    spots = {location for sort, location in held if sort in read.assets}
    found = []
    for row in rows:
        try:
            spot = read.spot(row)
        except ODD:
            spot = ""  # it is asked for, and noted where it has another form than expected
        if not spot or any(_same(spot, each) for each in spots):
            found.append(row)
    return found


def _same(one: str, other: str) -> bool:
    return other in ("", "global", one) or one.startswith(f"{other}-") or other.startswith(f"{one}-")


def _assets(read: Reading) -> tuple[str, ...]:
    return () if not hasattr(read, "assets") else read.assets
