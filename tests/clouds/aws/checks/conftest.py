"""One account for all tests of the checks: making the SDK's clients is what costs time."""

from __future__ import annotations

import pytest

from tests.clouds.aws.checks.stage import Account


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory) -> Account:
    return Account(tmp_path_factory.mktemp("home"))
