"""Since when a machine is off: by the time of that stop, and not since it was made or was stopped before."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.clouds.gcp.checks.stage import DENIED, Account, Scenario, waste

MACHINES, DISKS = "compute.instances.aggregatedList", "compute.disks.aggregatedList"
UNKNOWN = "Google does not say since when its machine is off: it may have been yesterday"


def off(check: str, **fields: Any) -> Scenario:
    """The scenario of a check whose machines say these times; None leaves one out."""
    answer = deepcopy(waste(check).answers[MACHINES])
    for place in answer["items"].values():
        for row in place.get("instances", ()):
            row.update(fields)
            for name in [name for name, value in fields.items() if value is None]:
                del row[name]
    return waste(check).but(**{MACHINES: answer})


@pytest.mark.parametrize("check", ["vm-stopped", "disk-of-stopped", "ip-on-stopped"])
def test_a_machine_that_does_not_say_when_it_was_stopped_is_not_judged(check: str, account: Account) -> None:
    result = account.scan(check, off(check, lastStopTimestamp=None))
    assert (result.findings, result.complete) == ((), False)
    assert [gap.reason for gap in result.unresolved] == [UNKNOWN]


@pytest.mark.parametrize(("since", "found"), [("2026-11-28T08:00:00Z", 0), ("2026-07-01T08:00:00Z", 1)])
def test_a_suspended_machine_is_off_since_it_was_suspended(since: str, found: int, account: Account) -> None:
    scenario = off("vm-stopped", status="SUSPENDED", lastSuspendedTimestamp=since)
    result = account.scan("vm-stopped", scenario)
    assert (len(result.findings), result.complete) == (found, True)


def test_a_machine_is_off_whether_its_disks_can_be_read_or_not(account: Account) -> None:
    result = account.scan("vm-stopped", waste("vm-stopped").but(**{DISKS: DENIED}))
    (found,) = result.findings
    assert (found.usd_per_month, found.bound, found.removable) == (None, "at least", False)
    assert found.stays == "its disks could not be read, so nobody knows what goes with it"
    assert [gap.call for gap in result.unread] == [DISKS]
