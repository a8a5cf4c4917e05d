"""The clouds we know, by name. Nothing of a cloud is imported before it is connected."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from clouds.base import Cloud

_NAMES = ("local", "aws")


def names() -> tuple[str, ...]:
    """Every cloud, in the order a person reads them."""
    return _NAMES


def connect(name: str, home: Path) -> Cloud:
    """Connect one cloud by name; `home` is the data directory. No network is used yet."""
    return cast("Cloud", import_module(f"clouds.{name}").connect(home))
