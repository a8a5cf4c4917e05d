"""What a meter is: which rows of the Price List make which rows of our table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from clouds.aws.pricelist import Offer
from clouds.pricetable import Row

HOURS = ("Hrs", "hrs", "Hours", "hours", "Hour", "hour", "DSU-Hours")
"""How the services spell an hour: MSK and Fargate write `hours`, most others `Hrs`."""
GB_MONTHS = ("GB-Mo", "GB-month", "GB-Month", "GB-mo")
_VOLUMES = {"piops": "io1", "": "standard"}


@dataclass(frozen=True)
class Meter:
    """One kind of row. `usage` matches a whole usage type without its prefix; its groups fill `key`."""

    key: str
    service: str
    usage: str
    listed: tuple[str, ...]
    """The units under which AWS lists it; a row in another unit is another thing."""
    unit: str
    where: Mapping[str, str] = field(default_factory=dict)
    """Filters of the question. Meters with the same service and filters share one answer."""
    each_region: bool = False
    """Ask region by region, where all regions at once would be hundreds of pages."""
    having: Mapping[str, str] = field(default_factory=dict)
    """Attributes that an offer must have, as patterns of their whole value; an absent one is empty."""
    said: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)
    """Parts of the key that an attribute says: part -> (attribute, its value -> our word); no words take the value.

    An instance type is taken from its attribute where a usage type shortens it (`db.r5d.2xl`)."""
    every_kind: bool = True
    """False keeps only kinds that the table has or that are accelerated, of hundreds that nobody asks for."""
    share: float = 1.0
    """How much of the listed unit one of ours is: a MiB/s is 1/1024 of a GiB/s."""

    @property
    def section(self) -> str:
        """The first part of its keys."""
        return self.key.split("/", 1)[0]

    def covers(self, key: str) -> bool:
        """Whether a key of the table is one that this meter makes: what an attribute says is one of its words."""
        return self._keys.fullmatch(key) is not None

    @cached_property
    def _keys(self) -> re.Pattern[str]:
        words = {part: "|".join(map(re.escape, said.values())) for part, (_, said) in self.said.items()}
        pieces = re.split(r"\{(\w+)\}", self.key)
        for odd in range(1, len(pieces), 2):
            pieces[odd] = f"(?:{words.get(pieces[odd]) or '[^/]+'})"
        pieces[::2] = map(re.escape, pieces[::2])
        return re.compile("".join(pieces))

    def key_of(self, offer: Offer) -> str | None:
        """The key that an offer makes; None for one that this meter must not take."""
        match = re.fullmatch(self.usage, offer.usage)
        if match is None or offer.unit not in self.listed:
            return None
        if any(not re.fullmatch(must, offer.attributes.get(name, "")) for name, must in self.having.items()):
            return None
        parts = {name: _VOLUMES.get(value or "", value or "") for name, value in match.groupdict().items()}
        for part, (name, words) in self.said.items():
            value = offer.attributes.get(name, "")
            word = words.get(value) if words else value
            if not word:
                return None
            parts[part] = word
        return self.key.format(**parts)


def maker(key: str, meters: Iterable[Meter]) -> Meter | None:
    """The meter that makes a key: of those that cover it the one that says most of it (`ebs/{kind}-iops`)."""
    covering = [meter for meter in meters if meter.covers(key)]
    return max(covering, key=lambda meter: len(re.sub(r"\{\w+\}", "", meter.key)), default=None)


def rows(meter: Meter, offers: Iterable[Offer]) -> Iterator[Row]:
    """The rows of a meter; where AWS lists two prices for one key and place, neither is taken."""
    found: dict[tuple[str, str], dict[float, Offer]] = {}
    for offer in offers:
        region, key = offer.attributes.get("regionCode", ""), meter.key_of(offer)
        if key is not None and region:
            found.setdefault((key, region), {})[offer.usd] = offer
    for (key, region), prices in found.items():
        if len(prices) == 1:
            usd, offer = next(iter(prices.items()))
            yield Row(key, meter.unit, region, round(usd * meter.share, 12), offer.as_of, "AWS Price List API")
