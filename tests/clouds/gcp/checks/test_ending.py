"""What ends by itself is priced until then, and not for a month."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.clouds.gcp.checks.stage import Account, waste

END = "2026-12-02T12:00:00Z"
"""72 hours after the moment of the tests."""


@pytest.mark.parametrize(
    ("check", "operation", "rows", "ending"),
    [
        (
            "gpu-vm-idle", "compute.instances.aggregatedList", "instances",
            {"resourceStatus": {"scheduling": {"terminationTimestamp": END}}},
        ),
        ("gpu-vm-idle", "compute.instances.aggregatedList", "instances", {"scheduling": {"terminationTime": END}}),
        ("tpu-vm-idle", "compute.instances.aggregatedList", "instances", {"scheduling": {"terminationTime": END}}),
        ("vm-idle", "compute.instances.aggregatedList", "instances", {"scheduling": {"terminationTime": END}}),
        ("reservation-unused", "compute.reservations.aggregatedList", "reservations", {"deleteAtTime": END}),
    ],
)  # fmt: skip
def test_what_has_an_end_is_priced_until_then(
    account: Account, check: str, operation: str, rows: str, ending: dict[str, Any]
) -> None:
    usual = account.known(check).scan.findings
    answer = deepcopy(waste(check).answers[operation])
    for place in answer["items"].values():
        for row in place.get(rows, ()):
            row.update({key: {**row.get(key, {}), **new} if isinstance(new, dict) else new
                        for key, new in ending.items()})  # fmt: skip
    found = account.scan(check, waste(check).but(**{operation: answer})).findings
    assert [each.resource for each in found] == [each.resource for each in usual]
    for before, after in zip(usual, found, strict=True):
        assert after.reason == f"{before.reason}; ends by itself in 72 h, and only that is priced"
        for month, left in zip(before.meters, after.meters, strict=True):
            assert left.usd_per_unit == month.usd_per_unit
            assert month.usd_per_month is None or left.usd_per_month == pytest.approx(month.usd_per_month * 72 / 730)
