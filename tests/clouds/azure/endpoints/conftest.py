"""A simulated subscription with everything an endpoint needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clouds.azure.endpoints import rig as rigs
from tests.clouds.azure.endpoints.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """One GPU of each kind free and allowed in each of two regions, and a workspace in the first."""
    made = rigs.rig(tmp_path)
    yield made
    made.book.close()
