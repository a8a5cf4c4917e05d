"""Each resource is booked once, every price is a known one or unknown, and every sum adds up."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from clouds.models.waste import Meter, Waste
from tests.tools.waste import toy
from tests.tools.waste.toy import disk, look, machine
from tools.waste.exceptions import Keep
from tools.waste.price import Rates, months
from tools.waste.scan import Wanted

TAGS = {"tags": []}


def test_what_a_holders_finding_prices_is_not_priced_again() -> None:
    pack = replace(toy.PACK, checks=(*toy.PACK.checks, toy.HELD_DISK))
    found = look(
        {
            "north": {
                "ListMachines": {"machines": [machine("m1")]},
                "ReadMetric": {"points": {}},
                "ListDisks": {"disks": [disk("d1", machine="m1")]},
                "ListTags": TAGS,
            }
        },
        pack=pack,
    )
    by_name = {each.name: each for each in found.findings}
    assert by_name["m1"].usd_per_month == 740.0
    assert by_name["d1"].billing == "booked elsewhere"
    assert by_name["d1"].booked_with == "toy://42/north/machine/m1"
    assert found.totals.usd_per_month == 740.0
    assert found.totals.booked_elsewhere == 1


def test_a_holder_without_a_price_does_not_hide_the_price_of_what_it_holds() -> None:
    pack = replace(toy.PACK, checks=(*toy.PACK.checks, toy.HELD_DISK))
    places = {
        "north": {
            "ListMachines": {"machines": [machine("m1")]},
            "ReadMetric": {"points": {}},
            "ListDisks": {"disks": [disk("d1", machine="m1")]},
            "ListTags": TAGS,
        }
    }
    found = look(places, pack=pack, rates={"disk": (0.1, "GiB-month")})
    by_name = {each.name: each for each in found.findings}
    assert by_name["m1"].usd_per_month == 10.0
    assert by_name["m1"].bound == "at least"
    assert found.totals.usd_per_month == 10.0


@pytest.mark.parametrize(
    ("hours", "usd", "year", "told"),
    [
        (73.0, 1.0, 1.0, "; ends by itself in 73 h, and only that is priced"),
        (730.0, 10.0, 10.0, ""),
        (2_190.0, 10.0, 30.0, ""),
        (9_999.0, 10.0, 120.0, ""),
        (-1.0, 0.0, 0.0, "; ends by itself in 0 s, and only that is priced"),
        (None, 10.0, 120.0, ""),
    ],
)
def test_what_ends_by_itself_is_priced_until_then(hours: float | None, usd: float, year: float, told: str) -> None:
    end = None if hours is None else toy.NOW + timedelta(hours=hours)
    waste = Waste("not attached", (Meter("disk", "GiB-month", 100),), until=end)
    ending = replace(toy.FREE_DISK, judge=lambda row, seen: waste)
    places = {"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": TAGS}}
    scan = look(places, pack=replace(toy.PACK, checks=(ending,)), rates={"disk": (0.1, "GiB-month")})
    (found,) = scan.findings
    assert (found.usd_per_month, found.reason) == (usd, "not attached" + told)
    assert (scan.totals.usd_per_month, scan.totals.usd_per_year) == (usd, year)


@pytest.mark.parametrize(("rates", "usd"), [({"disk": 0.1}, None), ({"disk": 0.1, "new": 0.08}, 2.0)])
def test_what_another_sort_would_save_is_not_known_while_that_one_has_no_price(
    rates: dict[str, float], usd: float | None
) -> None:
    meters = (Meter("disk", "GiB-month", 100), Meter("new", "GiB-month", -100))
    cheaper = replace(toy.FREE_DISK, judge=lambda row, seen: Waste("dearer than needed", meters, saving=True))
    places = {"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": TAGS}}
    book = {key: (rate, "GiB-month") for key, rate in rates.items()}
    (found,) = look(places, pack=replace(toy.PACK, checks=(cheaper,)), rates=book).findings
    assert found.usd_per_month == usd
    assert found.billing == ("unpriced" if usd is None else "saving")


def test_a_row_that_came_twice_is_priced_once() -> None:
    held = disk("d1", machine="m1")
    places = {
        "north": {
            "ListMachines": {"machines": [machine("m1"), machine("m1")]},
            "ReadMetric": {"points": {}},
            "ListDisks": {"disks": [held, dict(held), disk("d2", machine="m1")]},
        }
    }
    found = look(places, wanted=Wanted(checks=("machine-idle",)))
    assert [(each.name, each.usd_per_month) for each in found.findings] == [("m1", 750.0)]


def test_a_price_that_holds_what_another_holds_too_is_an_upper_bound() -> None:
    both = replace(
        toy.IDLE_MACHINE,
        judge=lambda row, seen: Waste(
            "idle", (Meter("machine", "hour"), Meter("disk", "GiB-month", 100)), holds=("d",)
        ),
        reads=(),
    )
    places = {"north": {"ListMachines": {"machines": [machine("m1"), machine("m2")]}}}
    found = look(places, pack=replace(toy.PACK, checks=(both,)))
    assert sorted((each.bound, len(each.notes)) for each in found.findings) == [("at most", 1), ("exact", 0)]


def test_two_checks_on_one_resource_make_one_finding() -> None:
    twin = replace(toy.FREE_DISK, id="disk-free-too", judge=lambda row, seen: Waste("again", free=True))
    pack = replace(toy.PACK, checks=(toy.FREE_DISK, twin))
    found = look({"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": TAGS}}, pack=pack)
    assert [(each.check, each.also, each.usd_per_month) for each in found.findings] == [
        ("disk-free", ("disk-free-too",), 10.0)
    ]


def test_one_resource_that_one_check_met_in_two_places_is_one_finding_that_names_no_check_beside_its_own() -> None:
    world = replace(toy.FREE_DISK, kind=replace(toy.FREE_DISK.kind, id=lambda row, _at: f"toy://{row['id']}"))
    there = {"ListDisks": {"disks": [disk("d1")]}, "ListTags": TAGS}
    found = look({"north": there, "south": there}, pack=replace(toy.PACK, checks=(world,)))
    assert [(each.resource, each.also) for each in found.findings] == [("toy://d1", ())]
    assert found.totals.usd_per_month == 10.0


@pytest.mark.parametrize(
    "rates",
    [{}, {"disk": (0.0, "GiB-month")}, {"disk": (0.1, "hour")}, {"disk": (-1.0, "GiB-month")}],
    ids=["no rate", "a rate of zero", "a rate of another unit", "a rate below zero"],
)
def test_a_price_that_is_not_known_is_unpriced_counted_and_never_zero(rates: dict[str, tuple[float, str]]) -> None:
    found = look({"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": TAGS}}, rates=rates)
    assert [(each.billing, each.usd_per_month) for each in found.findings] == [("unpriced", None)]
    assert (found.totals.unpriced, found.totals.priced, found.totals.usd_per_month) == (1, 0, 0.0)


def test_what_costs_something_is_never_shown_as_nothing() -> None:
    found = look({"north": {"ListDisks": {"disks": [disk("d1", size=0.001)]}, "ListTags": TAGS}})
    assert found.findings[0].usd_per_month == 0.01


def test_all_sums_are_those_of_the_rows_added_by_hand() -> None:
    disks = [disk(f"d{n}", size=n * 3.333) for n in range(1, 60)]
    places = {place: {"ListDisks": {"disks": disks}, "ListTags": TAGS} for place in ("north", "south")}
    found = look(places)
    by_hand = round(sum(each.usd_per_month or 0 for each in found.findings), 2)
    totals = found.totals
    assert totals.usd_per_month == by_hand
    assert totals.usd_per_year == round(by_hand * 12, 2)
    assert round(sum(each.usd_per_month for each in totals.by_check.values()), 2) == by_hand
    assert round(sum(each.usd_per_month for each in totals.by_scope.values()), 2) == by_hand
    assert sum(each.findings for each in totals.by_scope.values()) == totals.findings == 118
    assert round(sum(scope.usd_per_month for scope in found.scopes), 2) == by_hand
    amounts = [each.usd_per_month or 0 for each in found.findings]
    assert (totals.cheapest_usd_per_month, totals.dearest_usd_per_month) == (min(amounts), max(amounts))
    assert amounts == sorted(amounts, reverse=True)


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("hour", 730), ("GiB-month", 1), ("month", 1), ("unit-hour", 730), ("GB-second", 2_628_000), ("day", 730 / 24)],
)
def test_a_month_is_730_hours(unit: str, factor: float) -> None:
    assert months(unit) == pytest.approx(factor)


def test_a_unit_without_a_time_prices_nothing() -> None:
    rates = Rates(toy.Prices({"query": (5.0, "query")}))
    assert rates.priced(Meter("query", "query", 3), "north").usd_per_month is None


def test_a_kept_finding_is_out_of_the_totals_and_in_the_report() -> None:
    keep = Keep("*disk/d1", "", "audit", date(2027, 3, 31))
    found = look({"north": {"ListDisks": {"disks": [disk("d1"), disk("d2")]}, "ListTags": TAGS}}, keeps=(keep,))
    assert [each.name for each in found.findings] == ["d2"]
    assert [(each.name, each.suppressed.reason if each.suppressed else "") for each in found.suppressed] == [
        ("d1", "audit")
    ]
    assert (found.totals.suppressed, found.totals.suppressed_usd_per_month, found.totals.usd_per_month) == (
        1,
        10.0,
        10.0,
    )


def test_a_tag_keeps_until_its_date_and_names_an_exception_that_has_ended() -> None:
    def tagged(value: str) -> dict[str, object]:
        return {"tags": [{"key": "modelrig-keep", "value": value}]}

    def with_tag(value: str) -> tuple[int, int, tuple[str, ...]]:
        found = look({"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": tagged(value)}})
        return len(found.findings), len(found.suppressed), found.exceptions

    assert with_tag("2027-03-31 restore drill") == (0, 1, ())
    assert with_tag("2026-11-29_last_day") == (0, 1, ())
    assert with_tag("2026-11-28 yesterday") == (1, 0, ("d1: the tag modelrig-keep ended on 2026-11-28",))
    findings, kept, words = with_tag("please do not delete")
    assert (findings, kept) == (0, 1)
    assert "holds no date and reason" in words[0]
