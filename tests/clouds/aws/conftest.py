"""No test of this cloud sees the credentials, files or settings of whoever runs it, or waits for a metadata service."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _nobody_is_signed_in(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "MODELRIG_"))]:
        monkeypatch.delenv(name)
    nowhere: Path = tmp_path_factory.getbasetemp() / "nobody"
    monkeypatch.setenv("AWS_CONFIG_FILE", str(nowhere / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(nowhere / "credentials"))
    monkeypatch.setenv("AWS_LOGIN_CACHE_DIRECTORY", str(nowhere / "login"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
