"""Tables of prices on disk: rows, and an index that also knows one chip's share of a row for several."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

_GROUPS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"tpu/v6e-(?P<n>\d+)/(?P<market>.+)"), "tpu/v6e/{market}", "chip-hour"),
    (re.compile(r"tpu/v5litepod-(?P<n>\d+)/(?P<market>.+)"), "tpu/v5e/{market}", "chip-hour"),
    (re.compile(r"tpu/v5p-8/(?P<market>.+)"), "tpu/v5p/{market}", "chip-hour"),
    (re.compile(r"gce-gpu/(?P<gpu>.+)-x(?P<n>\d+)/(?P<market>.+)"), "gce-gpu/{gpu}/{market}", "GPU-hour"),
)
_V5P_8 = 4
"""`v5p-8` counts cores: four chips."""


@dataclass(frozen=True)
class Row:
    """One line of a table. `suspect` says why it must not be used."""

    key: str
    unit: str
    location: str
    usd: float
    as_of: str
    source: str
    suspect: str = ""


def rows_of(path: Path) -> tuple[Row, ...]:
    """Every row of a table, the suspect ones too."""
    data = json.loads(path.read_text("utf-8"))
    sources = data["sources"]
    return tuple(
        Row(key, unit, location, usd, as_of, sources[source], *suspect)
        for key, unit, location, usd, as_of, source, *suspect in data["rows"]
    )


@cache
def index(path: Path, changed: int) -> Mapping[tuple[str, str], tuple[Row, ...]]:
    """The usable rows by key and location; `changed` makes an edited file another one."""
    del changed
    found: dict[tuple[str, str], tuple[Row, ...]] = {}
    for row in rows_of(path):
        if row.suspect or row.usd <= 0:
            continue
        for each in (row, _share(row)):
            if each is not None:
                place = (each.key, each.location)
                found[place] = (*found.get(place, ()), each)
    return found


def _share(row: Row) -> Row | None:
    """One chip or GPU of a row that prices several together."""
    for pattern, key, unit in _GROUPS:
        if found := pattern.fullmatch(row.key):
            groups = found.groupdict()
            count = int(groups.pop("n", _V5P_8))
            source = f"{row.source}; one of {count} in {row.key.split('/')[1]}"
            return replace(row, key=key.format(**groups), unit=unit, usd=round(row.usd / count, 9), source=source)
    return None
