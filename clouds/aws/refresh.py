"""Rebuilds the price table from the Price List API, and refuses to write one that lost a section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from clouds.aws import instances
from clouds.aws.meters import METERS, Meter, maker, rows
from clouds.aws.pricelist import HOME, Offer, offers, products
from clouds.aws.prices import BUNDLED, refreshed_path
from clouds.aws.regions import DEFAULT
from clouds.pricetable import Place, Refreshed, Row, join, refuse_a_loss, rows_of, told

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi

_Listed = dict[tuple[str, tuple[tuple[str, str], ...]], tuple[Offer, ...]]


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
    fresh: dict[Place, Row] = {}
    read: Counter[str] = Counter()
    listed: _Listed = {}
    empty: list[str] = []
    for meter in meters:
        report(f"{meter.service}: {meter.key}")
        found = [row for row in _read(api, meter, listed) if meter.every_kind or row.key in known or _fast(row.key)]
        refuse_a_loss(
            f"{meter.key} from {meter.service}",
            (row for row in old if maker(row.key, meters) is meter),
            found,
            "AWS renamed the meter and its filter must follow.",
        )
        fresh.update({row.place: row for row in found})
        read[meter.section] += len(found)
        empty += [] if found else [meter.key]
    return join(target, old, fresh, read, {meter.section for meter in meters}, empty=empty)


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


def command(home: Path, *, bundled: bool, report: Callable[[str], None]) -> tuple[str, ...]:
    """What `server.py refresh-prices aws` does; the lines to print when it is done."""
    from clouds.aws import connect

    return told(refresh(cast("AwsApi", connect(home).api), home, target=BUNDLED if bundled else None, report=report))
