"""The one query to Cost Explorer, through the real SDK."""

from __future__ import annotations

from clouds.aws.checks import PACK
from clouds.aws.checks.bill import BILL, COVERED
from clouds.models import Scope
from tests.clouds.aws.checks.stage import NOW


def test_thirty_days_are_asked_by_service_without_credits() -> None:
    call = BILL.ask(NOW, Scope())
    assert call.parameters["TimePeriod"] == {"Start": "2026-10-30", "End": "2026-11-29"}
    assert (BILL.charge.usd, BILL.charge.unit) == (0.01, "request")


def test_amounts_of_a_service_are_added_over_the_months() -> None:
    def month(**services: str) -> dict[str, object]:
        groups = [
            {"Keys": [name], "Metrics": {"UnblendedCost": {"Amount": amount, "Unit": "USD"}}}
            for name, amount in services.items()
        ]
        return {"Groups": groups}

    answer = {"ResultsByTime": [month(Bedrock="0.5", EKS="70"), month(Bedrock="1.25")]}
    assert BILL.lines(answer) == {"EKS": 70.0, "Bedrock": 1.75}


def test_every_check_belongs_to_a_service_of_the_bill() -> None:
    words = {word for each in COVERED.values() for word in each}
    lost = [
        check.id
        for check in PACK.checks
        if check.category != "own" and not any(check.id == word or check.id.startswith(f"{word}-") for word in words)
    ]
    assert lost == []
