"""What is past its end and bills is said in the headline, in its row and as the next step; so is what it has cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from clouds.base import Cloud, Missing
from clouds.errors import NotFound
from clouds.models import Endpoint, EndpointRef, Phase, Price, Read, Scope
from tools import history
from tools.context import Clouds, Session, Target
from tools.endpoints import EndpointList, EndpointView, get_endpoint, list_endpoints
from tools.ledger import Book
from tools.settings import Settings

PRICE = Price(amount=1.5, unit="hour", as_of="2026-11-01", source="a test")


@dataclass
class Holding:
    """A service that holds these endpoints."""

    found: tuple[Endpoint, ...]

    def list(self, *, scope: Scope) -> Read[Endpoint]:
        assert scope == Scope()
        return Read(self.found, ())

    def get(self, ref: EndpointRef) -> Endpoint:
        return next(each for each in self.found if each.ref == str(ref))


def cloud(*found: Endpoint) -> Cloud:
    no = Missing("endpoints alone")
    service: Any = Holding(found)
    return Cloud(name="local", identity=no, endpoints={"llama": service}, quotas=no, capacity=no, prices=no, api=no)  # type: ignore[arg-type]


def endpoint(name: str, *, ends_in: float, billing: bool | None = True, **values: Any) -> Endpoint:
    """Made ten hours ago."""
    now = datetime.now(UTC)
    return Endpoint(
        ref=f"local:llama:this-machine:{name}", state="ready", cloud_status="up", billing=billing, model="m",
        created=(now - timedelta(hours=10)).isoformat(), expires=(now + timedelta(hours=ends_in)).isoformat(),
        **{"price": PRICE} | values,
    )  # fmt: skip


def listed(home: Path, *found: Endpoint) -> EndpointList:
    with Book(home) as book:
        return list_endpoints(Clouds(("local",), ("local",), home, lambda _name, _home: cloud(*found)), book)


def shown(home: Path, one: Endpoint) -> EndpointView:
    ports, ref = cloud(one), EndpointRef.parse(one.ref)
    with Book(home) as book:
        return get_endpoint(Target(one.ref, ref, ports, ports.endpoints["llama"]), book)


def test_what_is_past_its_end_and_bills_comes_first(tmp_path: Path) -> None:
    late, young = endpoint("late", ends_in=-2), endpoint("young", ends_in=2)
    found = listed(tmp_path, young, late)
    assert found.headline == (
        f"2 endpoints, 2 billing by the hour at $3 an hour; past its end and billing: {late.ref}."
    )
    assert [(row.reason, row.spent_usd) for row in found.rows] == [
        ("over for 2 h, still billing", "about $15.00"), ("", "about $15.00"),
    ]  # fmt: skip
    assert found.next == (
        f'`delete_endpoint("{late.ref}")` ends its bill; `update_endpoint` with ttl_hours gives it more time.'
    )
    one = shown(tmp_path, late)
    assert one.headline.endswith("is ready. About $15.00 so far, its time has been over for 2 h, still billing.")
    assert one.next == found.next


def test_the_sum_holds_what_the_rows_show_whatever_the_filter(tmp_path: Path) -> None:
    now = datetime(2026, 11, 30, 3, tzinfo=UTC)
    old = endpoint("old", ends_in=2).model_copy(update={"created": "2026-11-29T15:00:00+00:00"})
    with Book(tmp_path) as book:
        assert history.totals(book, [old, old], now) == {"all": "about $36.00", "today": "about $9.00"}
        assert history.totals(book, [old.model_copy(update={"price": None})], now) == {}, "no price is no zero"
        assert history.totals(book, [], now) == {}
    assert listed(tmp_path, old, endpoint("b", ends_in=2)).spent_usd["all"].startswith("about $")
    with Book(tmp_path) as book:
        there = Clouds(("local",), ("local",), tmp_path, lambda _name, _home: cloud(endpoint("b", ends_in=2)))
        none = list_endpoints(there, book, state="failed")
    assert (none.count, none.spent_usd["all"]) == (0, "about $15.00")


@pytest.mark.parametrize("quiet", [{"ends_in": 2}, {"ends_in": -2, "billing": False}], ids=["in time", "bills nothing"])
def test_what_is_in_time_or_bills_nothing_is_not_called_late(quiet: dict[str, Any], tmp_path: Path) -> None:
    one = endpoint("one", **quiet)
    assert "past its end" not in listed(tmp_path, one).headline
    assert listed(tmp_path, one).next == ""
    assert shown(tmp_path, one).next == "`query_model`, `measure_model` or `delete_endpoint`."


def test_what_is_being_ended_is_not_called_late(tmp_path: Path) -> None:
    one = endpoint("one", ends_in=-2).model_copy(update={"state": "stopping"})
    assert "past its end" not in listed(tmp_path, one).headline


def test_where_nobody_knows_whether_it_bills_that_is_said(tmp_path: Path) -> None:
    found = listed(tmp_path, endpoint("one", ends_in=-2, billing=None))
    assert found.headline.endswith("past its end and perhaps billing: local:llama:this-machine:one.")
    assert (found.rows[0].reason, found.rows[0].spent_usd) == ("over for 2 h, perhaps still billing", "")


@pytest.mark.parametrize("unknown", [{"price": None}, {"created": ""}], ids=["no price", "no beginning"])
def test_what_cannot_be_computed_costs_no_zero(unknown: dict[str, Any], tmp_path: Path) -> None:
    one = endpoint("one", ends_in=2).model_copy(update=unknown)
    assert listed(tmp_path, one).rows[0].spent_usd == ""


def test_a_name_that_the_ledger_lacks_leads_to_the_list_of_full_refs(tmp_path: Path) -> None:
    session = Session(Settings.load({}, tmp_path), tmp_path, ("local",), lambda _name, _home: cloud())
    with pytest.raises(NotFound) as told:
        session.target("gemma-4-e2b")
    session.book.close()
    assert told.value.fix == (
        "It holds none now; list_endpoints shows what the clouds hold besides, by full ref: give that."
    )


@pytest.mark.parametrize(("state", "billing"), [("stopped", True), ("deleted", False), ("failed", False)])
def test_what_has_ended_has_no_end_before_it(state: str, billing: bool, tmp_path: Path) -> None:
    for ends_in in (-2, 2):
        one = endpoint("one", ends_in=ends_in).model_copy(update={"state": state, "billing": billing, "created": ""})
        seen = shown(tmp_path, one)
        assert seen.left_seconds is None
        assert "nds in" not in seen.headline


def test_what_failed_and_may_still_bill_ends_when_it_was_to(tmp_path: Path) -> None:
    one = endpoint("one", ends_in=2).model_copy(update={"state": "failed", "billing": None})
    assert "nds in 2 h" in shown(tmp_path, one).headline
    late = shown(tmp_path, endpoint("one", ends_in=-2))
    assert late.left_seconds == 0, "and not less than nothing"


def test_while_the_engine_is_replaced_the_times_of_the_old_one_are_not_shown(tmp_path: Path) -> None:
    one = endpoint("one", ends_in=2, phases=(Phase(name="loading weights", seconds=3.5),))
    assert "loading weights 3.5 s" in shown(tmp_path, one).headline
    updating = shown(tmp_path, one.model_copy(update={"state": "updating"}))
    assert updating.phases == ()
    assert "loading weights" not in updating.headline
