"""An index of a price table that also knows one chip's share of a row for several."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from clouds.pricetable import Place, Row, indexed, rows_of

_GROUPS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"tpu/v6e-(?P<n>\d+)/(?P<market>.+)"), "tpu/v6e/{market}", "chip-hour"),
    (re.compile(r"tpu/v5litepod-(?P<n>\d+)/(?P<market>.+)"), "tpu/v5e/{market}", "chip-hour"),
    (re.compile(r"tpu/v5p-8/(?P<market>.+)"), "tpu/v5p/{market}", "chip-hour"),
    (re.compile(r"gce-gpu/(?P<gpu>.+)-x(?P<n>\d+)/(?P<market>.+)"), "gce-gpu/{gpu}/{market}", "GPU-hour"),
)
_V5P_8 = 4
"""`v5p-8` counts cores: four chips."""


@cache
def index(path: Path, changed: int) -> Mapping[Place, tuple[Row, ...]]:
    """The usable rows by key and location; `changed` makes an edited file another one."""
    del changed
    usable = (row for row in rows_of(path) if not row.suspect and row.usd > 0)
    return indexed(each for row in usable for each in (row, _share(row)) if each is not None)


def _share(row: Row) -> Row | None:
    """One chip or GPU of a row that prices several together."""
    for pattern, key, unit in _GROUPS:
        if found := pattern.fullmatch(row.key):
            groups = found.groupdict()
            count = int(groups.pop("n", _V5P_8))
            source = f"{row.source}; one of {count} in {row.key.split('/')[1]}"
            return replace(row, key=key.format(**groups), unit=unit, usd=round(row.usd / count, 9), source=source)
    return None
