"""No test of this cloud sees the credentials or settings of whoever runs it, or waits for a metadata service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clouds.gcp import session
from tests.clouds.gcp.server import Google


@pytest.fixture(autouse=True)
def _nobody_is_signed_in(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    nowhere: Path = tmp_path_factory.getbasetemp() / "nobody"
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(nowhere))
    monkeypatch.setattr(session, "PRODUCT", nowhere / "product_name")


@pytest.fixture
def google() -> Iterator[Google]:
    """A server that speaks for every host of Google's; what its documents do not know fails the test."""
    with Google() as made:
        yield made
