"""Every scenario of every check gives exactly what its `expected.json` says, through the real SDK.

UPDATE_EXPECTED=1 pytest tests/clouds/aws/checks/test_scenarios.py    writes them anew; read the difference before
committing it.
"""

from __future__ import annotations

import json
import os

import pytest

from tests.clouds.aws.checks.stage import CHECKS, FIXTURES, Account, scenario, seen

SCENARIOS = sorted(path.parent for path in FIXTURES.rglob("origin.json") if path.parent.parent.name != "account")
PAGED = [path for path in SCENARIOS if path.name == "two_pages_the_first_one_empty"]
ALL = bool(os.environ.get("MODELRIG_ALL") == "1" or os.environ.get("UPDATE_EXPECTED"))
DENIED = [path for path in SCENARIOS if path.name == "denied"]
LEFT = set() if ALL else (set(PAGED) - set(PAGED[::6])) | (set(DENIED) - set(DENIED[::3]))
"""Pages are joined in one place for all checks, and a refused listing is told in one: by default of every sixth and of
every third check."""


@pytest.mark.parametrize("check", sorted({path.parent.name for path in SCENARIOS}))
def test_every_scenario_of_a_check_gives_exactly_what_is_expected_of_it(check: str, account: Account) -> None:
    results, wanted = {}, {}
    for path in (path for path in SCENARIOS if path.parent.name == check and path not in LEFT):
        results[path.name] = seen(account.scan(check, scenario(path)))
        assert [str(each) for each in account.stage.replay.missed] == []
        file = path / "expected.json"
        if os.environ.get("UPDATE_EXPECTED"):
            file.write_text(json.dumps(results[path.name], indent=2, ensure_ascii=False) + "\n", "utf-8")
        wanted[path.name] = json.loads(file.read_text("utf-8"))
    assert results == wanted


def test_every_check_has_a_waste_a_healthy_twin_and_a_denied_scenario() -> None:
    lacking = {}
    for check in CHECKS:
        found = {
            path.name: json.loads((path / "expected.json").read_text("utf-8")) for path in (FIXTURES / check).iterdir()
        }
        waste = [word for word, each in found.items() if each["findings"]]
        healthy = [word for word, each in found.items() if not each["findings"] and each["complete"]]
        denied = found.get("denied", {"complete": True})
        if not waste or not healthy or denied["complete"] or denied["findings"]:
            lacking[check] = (waste, healthy, denied)
    assert lacking == {}


def test_a_denied_listing_is_never_reported_as_no_waste() -> None:
    wrong = {
        check
        for check in CHECKS
        if json.loads((FIXTURES / check / "denied" / "expected.json").read_text("utf-8")).get("unread", []) == []
    }
    assert wrong == set()


def test_every_check_that_lists_with_pages_finds_what_is_behind_an_empty_first_page() -> None:
    without = {check for check in CHECKS if not (FIXTURES / check / "two_pages_the_first_one_empty").is_dir()}
    do_not_page = {"eip-on-stopped", "eip-unassociated", "vpn-idle", "opensearch-idle", "lightsail-container-idle"}
    assert without == do_not_page
    wrong = {
        check
        for check in CHECKS.keys() - without
        if len(
            json.loads((FIXTURES / check / "two_pages_the_first_one_empty" / "expected.json").read_text())["findings"]
        )
        != 1
    }
    assert wrong == set()
