"""What ends by itself is priced until then, and not for a month."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest

from clouds.replay import Fixture
from tests.clouds.aws.checks.stage import Account, waste
from tests.clouds.aws.checks.test_unknown import with_answer


@pytest.mark.parametrize(
    ("ended", "minutes", "left"),
    [("11:20", 20, "20 min"), ("11:29", 29, "29 min"), ("10:59", 60, "1 h"), ("", 60, "1 h")],
)
def test_a_warm_pool_is_priced_for_what_is_left_of_its_period(
    account: Account, ended: str, minutes: int, left: str
) -> None:
    """It is 12:00, and the pool is kept for an hour; past its end and still there it cannot stay for longer again."""

    def moved(each: Fixture) -> Fixture:
        body = deepcopy(each.answer.body)
        if ended:
            body["TrainingEndTime"] = f"2026-11-29T{ended}:00+00:00"
        else:
            del body["TrainingEndTime"]
        return replace(each, answer=replace(each.answer, body=body))

    scenario = with_answer(waste("sm-warm-pool"), "sagemaker.DescribeTrainingJob", moved)
    (found,) = account.scan("sm-warm-pool", scenario).findings
    assert found.reason.endswith(f"; ends by itself in {left}, and only that is priced")
    assert found.usd_per_month == pytest.approx(2 * 7.09 * minutes / 60, abs=0.01)


@pytest.mark.parametrize(("end", "hours"), [("2026-12-02T12:00:00+00:00", 72), (None, 730)])
def test_a_reservation_is_priced_until_its_end(account: Account, end: str | None, hours: int) -> None:
    def ending(each: Fixture) -> Fixture:
        body = deepcopy(each.answer.body)
        for row in body["CapacityReservations"]:
            row.pop("EndDate", None)
            row.update({} if end is None else {"EndDate": end, "EndDateType": "limited"})
        return replace(each, answer=replace(each.answer, body=body))

    scenario = with_answer(waste("capacity-reservation-unused"), "ec2.DescribeCapacityReservations", ending)
    found = account.scan("capacity-reservation-unused", scenario).findings
    assert found
    for each in found:
        (line,) = each.meters
        assert line.usd_per_unit is not None
        assert line.usd_per_month == pytest.approx(line.usd_per_unit * line.quantity * hours)
