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


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """One installation whose core is there, made by two starts at once, for tests that need one and leave one.

    It knows no extras, which are installed in test_first_start.py: here their installation would begin and be killed.
    """
    made = make(tmp_path_factory.mktemp("shared"), extras=())
    made.first = made.answers(2)
    made.kill_builders()
    yield made
    made.end()


@pytest.fixture
def built(shared: Rig) -> Iterator[Rig]:
    shared.settings = {}
    yield shared
    shared.end()
