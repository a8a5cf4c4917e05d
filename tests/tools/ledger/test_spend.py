"""Spending: list price x time, as a range where a cloud does not say when billing began or ended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from clouds.errors import NotFound
from tools.ledger import Book, Day, Range, Totals

Begin = Callable[..., str]
RATE = 1.1267


def test_what_has_no_price_is_absent_and_not_zero(book: Book, begun: Begin) -> None:
    assert book.spend.spent(begun()) is None
    assert book.spend.totals() is None


def test_before_it_is_placed_it_cost_between_nothing_and_all_the_time(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=RATE)
    clock.forward(minutes=30)
    assert book.spend.spent(found) == pytest.approx((0.0, RATE / 2))


def test_seen_waiting_moves_the_earliest_start_and_seen_placed_the_latest(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=RATE)
    clock.forward(minutes=10)
    book.spend.waiting(found)
    clock.forward(minutes=5)
    book.spend.placed(found)
    clock.forward(hours=1)
    book.spend.placed(found)
    assert book.spend.spent(found) == pytest.approx((RATE, RATE * 65 / 60))


def test_48_minutes_on_demand_cost_what_the_article_says(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=2.99)
    book.spend.placed(found)
    clock.forward(minutes=48)
    book.spend.closed(found, earliest=clock())
    assert book.spend.spent(found) == pytest.approx((2.392, 2.392))
    clock.forward(days=3)
    assert book.spend.spent(found) == pytest.approx((2.392, 2.392))


def test_what_may_have_ended_unseen_is_a_range(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=1.0)
    book.spend.placed(found)
    clock.forward(hours=1)
    book.spend.placed(found)
    clock.forward(hours=2)
    assert book.spend.spent(found) == pytest.approx((1.0, 3.0))
    book.deployments.ended(found)
    clock.forward(hours=5)
    assert book.spend.spent(found) == pytest.approx((1.0, 3.0))


def test_what_never_billed_cost_nothing(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=1.0)
    clock.forward(hours=1)
    book.spend.never_billed(found)
    clock.forward(hours=1)
    assert book.spend.spent(found) == Range(0.0, 0.0)


def test_a_creation_that_failed_cost_at_most_the_time_it_took(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=1.0)
    clock.forward(minutes=6)
    book.deployments.failed(found, reason="no capacity")
    clock.forward(hours=9)
    assert book.spend.spent(found) == pytest.approx((0.0, 0.1))


def test_the_rate_of_what_was_placed_counts_and_not_the_planned_one(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=1.0)
    book.spend.placed(found, usd_per_hour=2.0, instance_type="ml.g6.2xlarge")
    clock.forward(hours=1)
    book.spend.placed(found)
    assert book.spend.spent(found) == pytest.approx((2.0, 2.0))


def test_an_earlier_start_than_seen_can_be_told(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=1.0)
    clock.forward(hours=1)
    book.spend.placed(found, earliest=clock() - timedelta(minutes=6))
    assert book.spend.spent(found) == pytest.approx((0.0, 0.1))


def test_stopped_and_started_again_are_two_stretches(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=1.0)
    book.spend.placed(found)
    clock.forward(hours=1)
    book.spend.placed(found)
    book.spend.waiting(found)
    clock.forward(hours=5)
    book.spend.waiting(found)
    book.spend.opened(found, 1.0)
    book.spend.opened(found, 7.0)  # one is open already
    book.spend.placed(found)
    clock.forward(hours=1)
    book.spend.placed(found)
    assert book.spend.spent(found) == pytest.approx((2.0, 2.0))


def test_started_again_unseen_began_between_two_looks(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=1.0)
    book.spend.placed(found)
    clock.forward(hours=1)
    book.spend.waiting(found)
    clock.forward(hours=5)
    book.spend.placed(found)
    assert book.spend.spent(found) == pytest.approx((0.0, 6.0))


def test_what_was_never_opened_stays_without_a_price(book: Book, begun: Begin) -> None:
    found = begun()
    book.spend.placed(found, usd_per_hour=1.0)
    book.spend.waiting(found)
    assert book.spend.spent(found) is None


def test_what_one_measurement_cost_is_a_part_of_it(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=RATE)
    book.spend.placed(found)
    start = clock()
    clock.forward(minutes=4, seconds=10)
    end = clock()
    clock.forward(hours=1)
    book.spend.placed(found)
    assert book.spend.between(found, start, end) == pytest.approx((0.0782, 0.0782), abs=1e-4)
    assert book.spend.between("d-20261129-0000", start, end) is None


def test_totals_are_by_day_and_name_what_has_no_known_rate(book: Book, begun: Begin, clock) -> None:
    found = begun(usd_per_hour=1.0)
    unpriced = begun("unpriced")
    begun("local")
    book.spend.opened(unpriced, None)
    book.spend.placed(found)
    clock.forward(hours=10)
    book.spend.placed(found)
    book.deployments.ended(found)
    clock.forward(days=2)
    assert book.spend.totals() == Totals(
        low=pytest.approx(10.0),
        high=pytest.approx(10.0),
        deployments=1,
        days=(
            Day("2026-11-29", pytest.approx(4 + 56 / 60), pytest.approx(4 + 56 / 60)),
            Day("2026-11-30", pytest.approx(5 + 4 / 60), pytest.approx(5 + 4 / 60)),
        ),
        unpriced=(unpriced,),
    )
    assert book.spend.spent(unpriced) is None


def test_a_price_that_is_not_by_the_hour_opens_nothing(book: Book, spec, plan) -> None:
    asked = spec()
    made = plan(asked, 0.3)
    by_token = made.price.model_copy(update={"unit": "million output tokens"})
    found = book.deployments.begin(asked, type(made)(asked, made.ref, made.steps, price=by_token))
    assert book.spend.spent(found) is None


def test_spending_needs_a_deployment(book: Book) -> None:
    with pytest.raises(NotFound, match="no such deployment"):
        book.spend.opened("d-20261129-0000", 1.0)
