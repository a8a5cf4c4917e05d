"""The waste checks against a real Azure sign-in: only with MODELRIG_LIVE=1. Nothing is changed; every call is a read.

MODELRIG_LIVE=1 python -m pytest tests/live/test_azure_waste.py -s
MODELRIG_AZURE_SUBSCRIPTION=ID    the one subscription to look into
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clouds.azure import connect
from clouds.azure.errors import RETIRED
from tools.progress import CallProgress
from tools.waste.records import Scan
from tools.waste.scan import Wanted, scan

NAMES = ("AZURE_", "MODELRIG_LIVE", "MODELRIG_AZURE", "IDENTITY_", "MSI_")
LIVE = {name: value for name, value in os.environ.items() if name.startswith(NAMES)}
"""Taken before the tests' own fixtures scrub the environment."""

if LIVE.get("MODELRIG_LIVE") != "1":
    pytest.skip("MODELRIG_LIVE is not 1: the real Azure subscription is not asked", allow_module_level=True)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Scan:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in LIVE.items():
            patch.setenv(name, value)
        cloud = connect(Path(tmp_path_factory.mktemp("home")))
        chosen = LIVE.get("MODELRIG_AZURE_SUBSCRIPTION") or cloud.identity.read().account
        wanted = Wanted(scopes=(chosen,))
        return scan({"azure": cloud}, wanted, (), datetime.now(UTC), CallProgress(), "live")


def test_no_check_sends_a_version_that_azure_has_retired(found: Scan) -> None:
    assert [(gap.check, gap.call) for gap in found.unread if any(code in gap.reason for code in RETIRED)] == []


def test_every_metric_that_a_check_reads_is_defined_where_there_is_a_resource_of_its_type(found: Scan) -> None:
    lacking = [(gap.check, gap.reason) for gap in found.unresolved if "this type defines" in gap.reason]
    assert lacking == []


def test_no_answer_has_another_form_than_the_checks_expect(found: Scan) -> None:
    assert [(gap.check, gap.reason) for gap in found.unread if "another form" in gap.reason] == []
