"""One account for all tests of the checks."""

from __future__ import annotations

import pytest

from tests.clouds.gcp.checks.stage import Account


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory) -> Account:
    return Account(tmp_path_factory.mktemp("home"))
