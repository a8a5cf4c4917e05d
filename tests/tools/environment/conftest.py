"""A fresh installation for each test; no process outlives it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.environment.rig import Rig, make


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = make(tmp_path)
    yield made
    made.end()
