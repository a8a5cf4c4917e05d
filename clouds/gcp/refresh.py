"""Rebuilds the price table from the Cloud Billing Catalog, and refuses to write one that lost a section."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from clouds.errors import Unexpected
from clouds.gcp.catalogue import Meter, Sku, rows, skus
from clouds.gcp.prices import BUNDLED, refreshed_path
from clouds.gcp.skus import SERVING, STORED
from clouds.gcp.table import Row, rows_of

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi

KEEPS = 0.8
"""Share of a meter's known rows that must be there again; fewer means that the question was answered in part."""
JUMP = 3.0
"""A price that is so many times the old one, or so little of it, is kept as suspect until a person looked."""
MOVES = frozenset({"spot"})
"""Markets whose price moves by itself: v6e spot was read at 0.34 and at 1.78 within weeks. No jump is suspect there."""
_NOWHERE = frozenset({"unstated", "tier-1-region"})
"""Locations of rows whose source names no region: the catalogue cannot bring them back."""


@dataclass(frozen=True)
class Section:
    """How many rows of one section there were, were read now, and stand in the table."""

    name: str
    before: int
    read: int
    after: int


@dataclass(frozen=True)
class Refreshed:
    """Where the table was written, and what changed in it."""

    path: Path
    rows: int
    changed: int
    new: int
    sections: tuple[Section, ...]
    suspect: tuple[str, ...]
    kept: tuple[str, ...]
    """Sections that no meter covers: they stay with their own dates."""


def refresh(
    api: GcpApi,
    home: Path,
    *,
    target: Path | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Refreshed:
    """Read every service's SKUs, join with what no meter covers, write all or nothing.

    The table is written to `target`, by default into the data directory, where it answers beside the bundled one.
    Raises CloudError when a service cannot be read, and Unexpected when a meter lost rows; then nothing is written.
    """
    target = target or refreshed_path(home)
    old = rows_of(target if target.is_file() else BUNDLED)
    every = (*SERVING, *STORED)
    listed: dict[str, tuple[Sku, ...]] = {}
    for service in dict.fromkeys(meter.service for meter in every):
        report(service)
        listed[service] = tuple(skus(api, service))
    fresh: dict[tuple[str, str], Row] = {}
    read: Counter[str] = Counter()
    for meter in every:
        found = tuple(rows(meter, listed[meter.service]))
        _refuse_a_loss(meter, old, found)
        fresh.update({(row.key, row.location): row for row in found})
        read[meter.section] += len(found)
    return _joined(target, old, fresh, read, every)


def serving(api: GcpApi) -> tuple[Row, ...]:
    """What chips, GPUs, cores and memory cost now. Raises CloudError."""
    listed = tuple(skus(api, "Compute Engine"))
    return tuple(row for meter in SERVING for row in rows(meter, listed))


def indexed(found: Iterable[Row]) -> Mapping[tuple[str, str], tuple[Row, ...]]:
    """Rows by key and location."""
    return {(row.key, row.location): (row,) for row in found}


def _joined(
    target: Path,
    old: Sequence[Row],
    fresh: Mapping[tuple[str, str], Row],
    read: Mapping[str, int],
    every: Sequence[Meter],
) -> Refreshed:
    before = {(row.key, row.location): row for row in old if not row.suspect}
    judged = [_judged(row, before.get(place)) for place, row in fresh.items()]
    answered = {(row.key, row.location) for row in judged if not row.suspect}
    table = sorted(
        [*judged, *(row for row in old if (row.key, row.location) not in answered)],
        key=lambda row: (row.key, row.location, row.suspect, row.as_of),
    )
    table = list({(row.key, row.location, bool(row.suspect)): row for row in table}.values())
    _write(target, written(table))
    sizes, had = _sizes(table), _sizes(old)
    return Refreshed(
        path=target,
        rows=len(table),
        changed=sum(1 for place, row in fresh.items() if place in before and before[place].usd != row.usd),
        new=sum(1 for place in fresh if place not in before),
        sections=tuple(Section(name, had[name], read.get(name, 0), sizes[name]) for name in sorted(sizes)),
        suspect=tuple(f"{row.key} {row.location}: {row.suspect}" for row in judged if row.suspect),
        kept=tuple(sorted(set(sizes) - {meter.section for meter in every})),
    )


def _refuse_a_loss(meter: Meter, old: Iterable[Row], found: Sequence[Row]) -> None:
    had = {
        (row.key, row.location)
        for row in old
        if row.key == meter.key and not row.suspect and row.location not in _NOWHERE
    }
    again = len(had & {(row.key, row.location) for row in found})
    if had and (found or meter.seen) and again < KEEPS * len(had):
        missing = sorted(" in ".join(place) for place in had - {(row.key, row.location) for row in found})
        raise Unexpected(
            f"refreshing {meter.key} from {meter.service}",
            answered=f"{again} of {len(had)} known rows came back; missing {', '.join(missing[:5])}",
            fix="Nothing was written. Try again; if it stays so, Google renamed the SKU and its pattern must follow.",
        )


def _judged(row: Row, before: Row | None) -> Row:
    if before is None or row.key.rsplit("/", 1)[-1] in MOVES or before.usd / JUMP <= row.usd <= before.usd * JUMP:
        return row
    return replace(row, suspect=f"{row.usd:g} against {before.usd:g} on {before.as_of}")


def _sizes(table: Iterable[Row]) -> Counter[str]:
    return Counter(row.key.split("/", 1)[0] for row in table)


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


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_suffix(f".{os.getpid()}.part")
    half.write_text(text, "utf-8")
    half.replace(target)


def command(home: Path, *, bundled: bool, report: Callable[[str], None]) -> tuple[str, ...]:
    """What `server.py refresh-prices gcp` does; the lines to print when it is done."""
    from clouds.gcp import connect

    done = refresh(cast("GcpApi", connect(home).api), home, target=BUNDLED if bundled else None, report=report)
    lines = [f"{done.rows:,} rows in {done.path}: {done.changed:,} changed, {done.new:,} new."]
    lines += [f"{each.name}: {each.before:,} before, {each.read:,} read, {each.after:,} now" for each in done.sections]
    lines += [f"suspect, the old price was kept: {each}" for each in done.suspect]
    lines += [f"no meter covers {', '.join(done.kept)}: kept with their own dates"] if done.kept else []
    return tuple(lines)
