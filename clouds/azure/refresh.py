"""Rebuilds the price table from the public Retail Prices API, and refuses to write one that lost a section."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clouds.azure.meters import ALL, WASTE
from clouds.azure.prices import BUNDLED, Row, refreshed_path, rows_of
from clouds.azure.rates import Rate
from clouds.azure.retail import SOURCE, offers, read, rows
from clouds.errors import Unexpected

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

KEEPS = 0.8
"""Share of a rate's known rows that must be there again; fewer means that the question was answered in part."""
JUMP = 3.0
"""A price that is so many times the old one, or so little of it, is kept as suspect until a person looked."""
PLACES = (
    *("eastus", "eastus2", "southcentralus", "westus2", "westus3", "northeurope", "westeurope", "swedencentral"),
    *("uksouth", "japaneast", "southeastasia", "australiaeast"),
)
"""The regions of the table; a rate that is asked for all of them at once brings no others."""


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
    """Sections that no rate covers: they stay with their own dates."""


def refresh(
    api: AzureApi,
    home: Path,
    *,
    target: Path | None = None,
    report: Callable[[str], None] = lambda _: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    rates: Iterable[Rate] = ALL,
) -> Refreshed:
    """Ask for every rate, join with what no rate covers, write all or nothing.

    The table is written to `target`, by default into the data directory, where it answers beside the bundled one.
    Raises CloudError when a rate cannot be read, and Unexpected when it lost rows; then nothing is written.
    """
    target = target or refreshed_path(home)
    old = rows_of(target if target.is_file() else BUNDLED)
    known = {row.key for row in old}
    fresh: dict[tuple[str, str], Row] = {}
    count: Counter[str] = Counter()
    for rate, listed in _read(api, rates, now(), report):
        found = [row for row in listed if _wanted(row, known)]
        _refuse_a_loss(rate, old, found)
        fresh.update({(row.key, row.location): row for row in found})
        count[rate.section] += len(found)
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
        sections=tuple(Section(name, had[name], count[name], sizes[name]) for name in sorted(sizes)),
        suspect=tuple(f"{row.key} {row.location}: {row.suspect}" for row in judged if row.suspect),
        kept=tuple(sorted(set(sizes) - {rate.section for rate in rates})),
    )


def _read(
    api: AzureApi, rates: Iterable[Rate], now: datetime, report: Callable[[str], None]
) -> Iterator[tuple[Rate, list[Row]]]:
    """The rows of each rate, dated today: the API says when a price began, and that it is in force now.

    Rates with one condition share its answer: the machines of one region are several pages.
    """
    groups: dict[tuple[str, bool], list[Rate]] = {}
    for rate in rates:
        groups.setdefault((rate.asking(), rate.each_region), []).append(rate)
    for group in groups.values():
        found: list[list[Row]] = [[] for _ in group]
        for rate in group:
            report(f"{rate.section}: {rate.key}")
        for place in PLACES if group[0].each_region else ("",):
            listed = tuple(offers(read(api, group[0].asking(place)), now))
            for rate, held in zip(group, found, strict=True):
                held.extend(rows(rate, listed))
        for rate, held in zip(group, found, strict=True):
            yield rate, [replace(row, as_of=f"{now:%Y-%m-%d}", source=SOURCE) for row in held]


def _wanted(row: Row, known: set[str]) -> bool:
    """Rows of keys that the table has or the waste checks need, and accelerated machines, in the table's regions."""
    accelerated = row.key.startswith(("vm/Standard_NC", "vm/Standard_ND", "vm/Standard_NV", "container-apps/"))
    wanted = row.key in known or accelerated or any(rate.covers(row.key) for rate in WASTE)
    return wanted and row.location in (*PLACES, "global")


def _refuse_a_loss(rate: Rate, old: Iterable[Row], found: Iterable[Row]) -> None:
    had = {(row.key, row.location) for row in old if rate.covers(row.key) and not row.suspect}
    have = {(row.key, row.location) for row in found}
    again = len(had & have)
    if had and again < KEEPS * len(had):
        missing = sorted(" in ".join(place) for place in had - have)
        raise Unexpected(
            f"refreshing {rate.key} from Azure's price list",
            answered=f"{again} of {len(had)} known rows came back; missing {', '.join(missing[:5]) or 'all'}",
            fix="Nothing was written. Try again; if it stays so, Azure renamed the meter and its pattern must follow.",
        )


def _judged(row: Row, before: Row | None) -> Row:
    if before is None or before.usd / JUMP <= row.usd <= before.usd * JUMP:
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
    """What `server.py refresh-prices azure` does; the lines to print when it is done. No sign-in is needed."""
    from clouds.azure import taps_of
    from clouds.azure.api import AzureApi

    # the list throttles by the minute, and nobody waits at a prompt of a model: this may take its time
    api = AzureApi(taps=taps_of(), attempts=8, patience=300.0, sleep=time.sleep)
    done = refresh(api, home, target=BUNDLED if bundled else None, report=report)
    lines = [f"{done.rows:,} rows in {done.path}: {done.changed:,} changed, {done.new:,} new."]
    lines += [f"{each.name}: {each.before:,} before, {each.read:,} read, {each.after:,} now" for each in done.sections]
    lines += [f"suspect, the old price was kept: {each}" for each in done.suspect]
    lines += [f"no rate covers {', '.join(done.kept)}: kept with their own dates"] if done.kept else []
    return tuple(lines)
