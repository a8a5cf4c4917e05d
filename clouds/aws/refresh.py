"""Rebuilds the price table from the Price List API, and refuses to write one that lost a section."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from clouds.aws import instances
from clouds.aws.meters import METERS, Meter, maker, rows
from clouds.aws.pricelist import HOME, Offer, offers, products
from clouds.aws.prices import BUNDLED, Row, refreshed_path, rows_of
from clouds.aws.regions import DEFAULT
from clouds.errors import Unexpected

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi

_Listed = dict[tuple[str, tuple[tuple[str, str], ...]], tuple[Offer, ...]]
KEEPS = 0.8
"""Share of a meter's known rows that must be there again; fewer means that the question was answered in part."""
JUMP = 3.0
"""A price that is so many times the old one, or so little of it, is kept as suspect until a person looked."""


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
    empty: tuple[str, ...] = ()
    """Meters that found nothing and had nothing: their filter may be wrong, and what they would price is unpriced."""


def refresh(
    api: AwsApi,
    home: Path,
    *,
    target: Path | None = None,
    meters: Sequence[Meter] = METERS,
    report: Callable[[str], None] = lambda _: None,
) -> Refreshed:
    """Ask for every meter, join with what no meter covers, write all or nothing.

    The table is written to `target`, by default into the data directory, where it answers beside the bundled one.
    Raises CloudError when a meter cannot be read, and Unexpected when it lost rows; then nothing is written.
    """
    target = target or refreshed_path(home)
    old = rows_of(target if target.is_file() else BUNDLED)
    known = {row.key for row in old}
    fresh: dict[tuple[str, str], Row] = {}
    read: Counter[str] = Counter()
    listed: _Listed = {}
    empty: list[str] = []
    for meter in meters:
        report(f"{meter.service}: {meter.key}")
        found = [row for row in _read(api, meter, listed) if meter.every_kind or row.key in known or _fast(row.key)]
        _refuse_a_loss(meter, [row for row in old if maker(row.key, meters) is meter], found)
        fresh.update({(row.key, row.location): row for row in found})
        read[meter.section] += len(found)
        empty += [] if found else [meter.key]
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
        sections=tuple(Section(name, had[name], read[name], sizes[name]) for name in sorted(sizes)),
        suspect=tuple(f"{row.key} {row.location}: {row.suspect}" for row in judged if row.suspect),
        kept=tuple(sorted(set(sizes) - {meter.section for meter in meters})),
        empty=tuple(empty),
    )


def _read(api: AwsApi, meter: Meter, listed: _Listed) -> list[Row]:
    """A meter's rows; what several meters read is asked once."""
    places = DEFAULT if meter.each_region else ("",)
    found: list[Row] = []
    for region in places:
        where = {**meter.where, "regionCode": region} if region else dict(meter.where)
        question = (meter.service, tuple(sorted(where.items())))
        if question not in listed:
            answer = api.send(products(meter.service, **where), scope=HOME)
            listed[question] = tuple(_bare(offer) for offer in offers(answer.get("PriceList", [])))
        found += rows(meter, listed[question])
    return found


_NEEDED = frozenset(
    ["regionCode", *(name for meter in METERS for name in (*meter.having, *(said[0] for said in meter.said.values())))]
)


def _bare(offer: Offer) -> Offer:
    """Without the thirty attributes that no meter reads: a service lists tens of thousands of offers."""
    return replace(offer, attributes={name: offer.attributes[name] for name in _NEEDED if name in offer.attributes})


def _fast(key: str) -> bool:
    kind = key.split("/")[1] if key.count("/") == 2 else ""
    return instances.find(kind) is not None


def _refuse_a_loss(meter: Meter, old: Iterable[Row], found: Iterable[Row]) -> None:
    had = {(row.key, row.location) for row in old if not row.suspect}
    have = {(row.key, row.location) for row in found}
    again = len(had & have)
    if had and again < KEEPS * len(had):
        missing = sorted(" in ".join(place) for place in had - have)
        raise Unexpected(
            f"refreshing {meter.key} from {meter.service}",
            answered=f"{again} of {len(had)} known rows came back; missing {', '.join(missing[:5]) or 'all'}",
            fix="Nothing was written. Try again; if it stays so, AWS renamed the meter and its filter must follow.",
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
    """What `server.py refresh-prices aws` does; the lines to print when it is done."""
    from clouds.aws import connect

    done = refresh(cast("AwsApi", connect(home).api), home, target=BUNDLED if bundled else None, report=report)
    lines = [f"{done.rows:,} rows in {done.path}: {done.changed:,} changed, {done.new:,} new."]
    lines += [f"{each.name}: {each.before:,} before, {each.read:,} read, {each.after:,} now" for each in done.sections]
    lines += [f"nothing listed for {', '.join(done.empty)}: unpriced"] if done.empty else []
    lines += [f"suspect, the old price was kept: {each}" for each in done.suspect]
    lines += [f"no meter covers {', '.join(done.kept)}: kept with their own dates"] if done.kept else []
    return tuple(lines)
