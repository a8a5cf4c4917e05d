"""Every scenario of every check gives exactly what its `expected.json` says, through the real transport.

UPDATE_EXPECTED=1 pytest tests/clouds/azure/checks/test_scenarios.py    writes them anew; read the difference before
committing it.
"""

from __future__ import annotations

import json
import os

import pytest

from clouds.azure.checks import PACK
from tests.clouds.azure.checks.stage import FIXTURES, Account, seen

SCENARIOS = sorted(path.parent for path in FIXTURES.rglob("origin.json") if path.parent.parent.name != "account")
CHECKS = {check.id: check for check in PACK.checks}


@pytest.mark.parametrize("check", sorted({path.parent.name for path in SCENARIOS}))
def test_every_scenario_of_a_check_gives_exactly_what_is_expected_of_it(check: str, account: Account) -> None:
    for path in SCENARIOS:
        if path.parent.name == check:
            known = account.known(path)
            assert known.missed == (), path.name
            result = seen(known.scan)
            file = path / "expected.json"
            if os.environ.get("UPDATE_EXPECTED"):
                file.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", "utf-8")
            assert result == json.loads(file.read_text("utf-8")), path.name


def test_every_check_has_a_waste_scenario_and_a_healthy_twin() -> None:
    lacking = {}
    for check in CHECKS:
        found = {
            path.name: json.loads((path / "expected.json").read_text("utf-8")) for path in (FIXTURES / check).iterdir()
        }
        waste = [word for word, each in found.items() if each["findings"]]
        healthy = [word for word, each in found.items() if not each["findings"] and each["complete"]]
        if not waste or not healthy:
            lacking[check] = (waste, healthy)
    assert lacking == {}
