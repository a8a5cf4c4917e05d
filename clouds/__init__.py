"""The clouds we know, by name. Nothing of a cloud is imported before it is connected."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from clouds.errors import InvalidInput

if TYPE_CHECKING:
    from clouds.base import Cloud

_NAMES = ("local", "aws", "gcp", "azure")


def names() -> tuple[str, ...]:
    """Every cloud, in the order a person reads them."""
    return _NAMES


def connect(name: str, home: Path) -> Cloud:
    """Connect one cloud by name; `home` is the data directory. No network is used yet."""
    return cast("Cloud", import_module(f"clouds.{name}").connect(home))


def refresh_prices(name: str, home: Path, *, bundled: bool, report: Callable[[str], None]) -> tuple[str, ...]:
    """Rebuild one cloud's price table from its public price API: all or nothing; what changed, in lines.

    `bundled` writes the table in the checkout instead of the one in the data directory. Raises InvalidInput for a
    cloud without prices, CloudError where a section could not be read or lost rows (nothing is written then).
    """
    priced = tuple(each for each in _NAMES if find_spec(f"clouds.{each}.refresh") is not None)
    if name not in priced:
        raise InvalidInput(
            "cloud", f"{name[:40]!r} has no price table", fix=f"Name one of {', '.join(priced)}.", allowed=priced
        )
    lines: tuple[str, ...] = import_module(f"clouds.{name}.refresh").command(home, bundled=bundled, report=report)
    return lines
