"""What a gate says beside its exit status: a finding without a price is in no amount, and never silently so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk, many
from tools import shell
from tools.waste.gate import verdict

UNPRICED = "3 findings have no price and are not counted, so the true amount may be higher"
PARTLY = "not everything could be looked at"
ONE = "1 finding has no price and is not counted, so the true amount may be higher"


def test_a_gate_says_what_it_counted_and_how_many_findings_it_could_not_count() -> None:
    rows = [
        (
            {"usd_per_month": 42.1, "without_price": 3, "complete": True},
            100.0,
            f"Gate passed: $42.10 a month is below $100.00; {UNPRICED}; everything was looked at.",
        ),
        (
            {"usd_per_month": 1200.0, "without_price": 1, "complete": True},
            1000.0,
            f"Gate failed with 5: $1,200.00 a month reaches $1,000.00; {ONE}; everything was looked at.",
        ),
        (
            {"usd_per_month": 171.0, "usd_at_most": 171.0, "complete": True},
            100.0,
            "Gate failed with 5: $171.00 a month at most reaches $100.00; everything was looked at.",
        ),
        (
            {"usd_per_month": 9.0, "usd_at_most": 1.0, "usd_at_least": 2.0},
            10.0,
            f"Gate failed with 6: $9.00 a month, of it $1.00 at most and $2.00 at least, is below $10.00; {PARTLY}.",
        ),
        (
            {"usd_per_month": 0.0, "complete": False},
            100.0,
            "Gate failed with 6: $0.00 a month is below $100.00; not everything could be looked at.",
        ),
        (
            {"usd_per_month": 5.0, "without_price": 3},
            None,
            f"Gate failed with 6: {UNPRICED}; not everything could be looked at.",
        ),
    ]
    said = [(answer, gate, verdict(answer, fail_on_usd=gate, fail_on_incomplete=True)) for answer, gate, _ in rows]
    assert said == rows


def test_without_a_gate_nothing_is_said() -> None:
    assert verdict({"without_price": 3}, fail_on_usd=None, fail_on_incomplete=False) == ""


def test_what_is_no_answer_of_a_scan_fails_the_gate_and_is_said() -> None:
    words = verdict({"findings": 3}, fail_on_usd=1.0, fail_on_incomplete=False)
    assert words == "Gate failed with 6: $0.00 a month is below $1.00; not everything could be looked at."


@pytest.mark.parametrize(
    ("network", "gate", "status", "said"),
    [
        (
            toy.Network({"north": {"ListDisks": toy.denied(), "ListMachines": toy.denied()}}),
            ["--fail-on-usd=1"],
            6,
            True,
        ),
        (toy.Network({"north": {"ListDisks": toy.denied(), "ListMachines": toy.denied()}}), [], 1, False),
        (many(2), ["--fail-on-usd=2"], 5, True),
        (many(2), ["min_usd=1000", "--fail-on-usd=2"], 5, True),
        (many(2), ["checks=none-such", "--fail-on-usd=2"], 1, False),
        (many(0), ["--fail-on-incomplete"], 0, True),
    ],
)
def test_a_gate_judges_a_scan_of_nothing_too_and_no_answer_that_is_none_of_a_scan(
    network: toy.Network, gate: list[str], status: int, said: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = shell.arguments(["call", "scan_waste", *gate])
    assert (shell.run(Desk(tmp_path, network).session, options), options.error) == (status, "")
    assert ("Gate " in capfd.readouterr().err) == said
