"""Tables of dated prices on disk, the same for every cloud: rows, an index, a refresh that keeps what it cannot read.

A row that is marked suspect never answers: an implausible price is unknown.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from clouds.errors import Unexpected

Place = tuple[str, str]
"""Key and location."""
Line = list[Any]
"""A row as it stands in the file; `columns` beside the rows names its values."""
USD, SUSPECT = 3, 6
KEEPS = 0.8
"""Share of a meter's known rows that must be there again; fewer means that the question was answered in part."""
JUMP = 3.0
"""A price that is so many times the old one, or so little of it, is kept as suspect until a person looked."""


@dataclass(frozen=True)
class Row:
    """One line of a table, in US dollars. `suspect` says why it must not be used."""

    key: str
    unit: str
    location: str
    usd: float
    as_of: str
    source: str
    suspect: str = ""

    @property
    def place(self) -> Place:
        """What it is the price of, and where."""
        return self.key, self.location


@dataclass(frozen=True)
class Section:
    """How many rows of one section (the first part of a key) there were, were read now, and stand in the table."""

    name: str
    before: int
    read: int
    after: int


@dataclass(frozen=True)
class Refreshed:
    """Where a table was written, and what changed in it."""

    path: Path
    rows: int
    changed: int
    new: int
    sections: tuple[Section, ...]
    suspect: tuple[str, ...]
    kept: tuple[str, ...]
    """Sections that nothing asks for: they stay with their own dates."""
    empty: tuple[str, ...] = ()
    """What was asked for, found nothing and had nothing: its filter may be wrong, and it stays unpriced."""


def rows_of(path: Path) -> tuple[Row, ...]:
    """Every row of a table, the suspect ones too."""
    data = json.loads(path.read_text("utf-8"))
    sources = data["sources"]
    return tuple(_row(line, sources) for line in data["rows"])


def _row(line: Line, sources: Sequence[str]) -> Row:
    key, unit, location, usd, as_of, source, *suspect = line
    return Row(key, unit, location, usd, as_of, sources[source], *suspect)


class Table(Mapping[Place, tuple[Row, ...]]):
    """The usable rows of a file by key and location. A row is made when it is asked for: dozens are, of thousands."""

    def __init__(self, path: Path) -> None:
        data = json.loads(path.read_text("utf-8"))
        self._sources = data["sources"]
        self._lines: dict[Place, list[Line]] = {}
        for line in data["rows"]:
            if line[USD] > 0 and not any(line[SUSPECT:]):
                self._lines.setdefault((line[0], line[2]), []).append(line)

    def __getitem__(self, place: Place) -> tuple[Row, ...]:
        return tuple(_row(line, self._sources) for line in self._lines[place])

    def __iter__(self) -> Iterator[Place]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


@cache
def index(path: Path, changed: int) -> Mapping[Place, tuple[Row, ...]]:
    """The usable rows by key and location; `changed` makes an edited file another one."""
    del changed
    return Table(path)


def indexed(rows: Iterable[Row]) -> Mapping[Place, tuple[Row, ...]]:
    """Rows by key and location."""
    found: dict[Place, tuple[Row, ...]] = {}
    for row in rows:
        found[row.place] = (*found.get(row.place, ()), row)
    return found


UNLISTED = "not priced: no source with a date lists it"


def unpriced(key: str, *, fetched: bool, cloud: str, whom: str, reasons: Mapping[str, str]) -> str:
    """Why a key has no rate, for a person: a refresh asks for it, or the reason by how the key begins; else ""."""
    if fetched:
        return f"not in the bundled table for this place; `server.py refresh-prices {cloud}` asks {whom} for it"
    reason = next((why for start, why in reasons.items() if key.startswith(start)), "")
    return f"not priced: {reason}" if reason else ""


def refuse_a_loss(what: str, had: Iterable[Row], found: Iterable[Row], fix: str) -> None:
    """Raises Unexpected, with `fix`, where too few of the rows that `what` had came back; suspect ones do not count."""
    before = {row.place for row in had if not row.suspect}
    again = {row.place for row in found}
    if before and len(before & again) < KEEPS * len(before):
        missing = sorted(" in ".join(place) for place in before - again)
        raise Unexpected(
            f"refreshing {what}",
            answered=f"{len(before & again)} of {len(before)} known rows came back; missing {', '.join(missing[:5])}",
            fix=f"Nothing was written. Try again; if it stays so, {fix}",
        )


def join(
    target: Path,
    old: Iterable[Row],
    fresh: Mapping[Place, Row],
    read: Mapping[str, int],
    covered: Iterable[str],
    *,
    moves: Callable[[Row], bool] = lambda _: False,
    empty: Iterable[str] = (),
) -> Refreshed:
    """Write the old rows with the fresh ones in their place, all or nothing; `read` and `covered` are by section.

    A fresh price far from the old one is kept as suspect beside it, except where a price `moves` by itself.
    """
    old = tuple(old)
    before = {row.place: row for row in old if not row.suspect}
    judged = [_judged(row, None if moves(row) else before.get(place)) for place, row in fresh.items()]
    answered = {row.place for row in judged if not row.suspect}
    table = sorted(
        [*judged, *(row for row in old if row.place not in answered)],
        key=lambda row: (row.key, row.location, row.suspect, row.as_of),
    )
    table = list({(*row.place, bool(row.suspect)): row for row in table}.values())
    _write(target, written(table))
    sizes, had = _sizes(table), _sizes(old)
    return Refreshed(
        path=target,
        rows=len(table),
        changed=sum(1 for place, row in fresh.items() if place in before and before[place].usd != row.usd),
        new=sum(1 for place in fresh if place not in before),
        sections=tuple(Section(name, had[name], read.get(name, 0), sizes[name]) for name in sorted(sizes)),
        suspect=tuple(f"{row.key} {row.location}: {row.suspect}" for row in judged if row.suspect),
        kept=tuple(sorted(set(sizes) - {*covered})),
        empty=tuple(empty),
    )


def told(done: Refreshed) -> tuple[str, ...]:
    """What a person reads after a refresh, in lines."""
    lines = [f"{done.rows:,} rows in {done.path}: {done.changed:,} changed, {done.new:,} new."]
    lines += [f"{each.name}: {each.before:,} before, {each.read:,} read, {each.after:,} now" for each in done.sections]
    lines += [f"nothing listed for {', '.join(done.empty)}: unpriced"] if done.empty else []
    lines += [f"suspect, the old price was kept: {each}" for each in done.suspect]
    lines += [f"nothing asks for {', '.join(done.kept)}: kept with their own dates"] if done.kept else []
    return tuple(lines)


def written(table: Iterable[Row]) -> str:
    """The table as text, one row a line, sources once each."""
    sources: dict[str, int] = {}
    lines = []
    for row in table:
        source = sources.setdefault(row.source, len(sources))
        entry = [row.key, row.unit, row.location, row.usd, row.as_of, source]
        lines.append("  " + json.dumps([*entry, row.suspect] if row.suspect else entry))
    head = {
        "note": "Facts with their dates and sources; written by a script, refreshed by refresh-prices. Prices in USD.",
        "columns": ["key", "unit", "location", "usd", "as_of", "source", "suspect"],
        "sources": list(sources),
    }
    return json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + ",\n".join(lines) + "\n ]\n}\n"


def _judged(row: Row, before: Row | None) -> Row:
    if before is None or before.usd / JUMP <= row.usd <= before.usd * JUMP:
        return row
    return replace(row, suspect=f"{row.usd:g} against {before.usd:g} on {before.as_of}")


def _sizes(table: Iterable[Row]) -> Counter[str]:
    return Counter(row.key.split("/", 1)[0] for row in table)


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_suffix(f".{os.getpid()}.part")
    half.write_text(text, "utf-8")
    half.replace(target)
