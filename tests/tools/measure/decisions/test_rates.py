import pytest

from clouds.errors import InvalidInput
from tools.measure.decisions.rates import rate


@pytest.mark.parametrize(
    ("per_second", "on_demand", "flex"),
    # decisions a second are printed without decimals: the costs follow within that rounding
    [(274, 3.01, 1.37), (206, 4.00, 1.82), (101, 8.19, 3.72), (80, 10.37, 4.71)],
)
def test_the_costs_of_a_million_decisions_on_one_v6e_follow_from_their_rates(
    per_second: int, on_demand: float, flex: float
) -> None:
    for price, printed in ((2.97, on_demand), (1.35, flex)):
        low, high = (
            rate(1000, 1000 / speed, 8, usd_per_hour=price).usd_per_million or 0
            for speed in (per_second + 0.5, per_second - 0.5)
        )
        assert low - 0.005 <= printed <= high + 0.005


def test_a_hosted_service_is_priced_by_its_tokens() -> None:
    found = rate(100, 10, 1, usd_per_million_tokens=0.042, tokens_per_decision=132)
    assert round(found.usd_per_million or 0, 2) == 5.54
    assert found.basis == "132 tokens a decision at $0.042 per million tokens"


def test_an_hourly_price_says_that_it_holds_only_while_busy() -> None:
    assert "holds only while at least this many" in rate(100, 10, 8, usd_per_hour=1.0).basis


def test_without_a_price_there_is_no_cost_and_never_zero() -> None:
    found = rate(100, 10, 8)
    assert (found.per_second, found.usd_per_million) == (10.0, None)


@pytest.mark.parametrize("wrong", [(0, 1.0, 1), (1, 0.0, 1), (1, 1.0, 0)])
def test_a_rate_of_nothing_is_refused(wrong: tuple[int, float, int]) -> None:
    with pytest.raises(InvalidInput):
        rate(*wrong)
