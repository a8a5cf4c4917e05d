from __future__ import annotations

import gc
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from clouds.base import Cloud, Missing
from clouds.errors import (
    ApiDisabled,
    Cancelled,
    CloudError,
    InvalidInput,
    NotSignedIn,
    PermissionMissing,
    Throttled,
    Unreachable,
)
from clouds.models import Call, Scope
from tests.tools.waste import toy
from tests.tools.waste.toy import denied, disk, look, machine
from tools.progress import CallProgress
from tools.waste.scan import RARELY, ReadsOnly, Wanted, scan


def test_a_cloud_whose_places_cannot_be_listed_is_denied_and_none_of_its_checks_ran() -> None:
    class Closed(toy.Network):
        def send(self, call: Call, *, scope: Scope) -> Any:
            if call.operation == "ListPlaces":
                raise PermissionMissing("listing places", code="Denied", fix="Ask for it.")
            return super().send(call, scope=scope)

    found = look({}, network=Closed({}), wanted=Wanted(checks=("disk-free",)))
    assert (found.complete, [end.ended for end in found.scopes], found.checks) == (False, ["denied"], ())


@pytest.mark.parametrize(
    "failure",
    [None, InvalidInput("scopes", "no such place", fix="Name another."), NotSignedIn("listing places", fix="Sign in.")],
)
def test_garbage_is_looked_for_seldom_while_a_scan_reads_and_as_usual_after_it(failure: CloudError | None) -> None:
    usual, met = gc.get_threshold(), []

    class Watched(toy.Network):
        def send(self, call: Call, *, scope: Scope) -> Any:
            met.append(gc.get_threshold())
            if failure is not None:
                raise failure
            return super().send(call, scope=scope)

    places = {"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": {"tags": []}}}
    with suppress(InvalidInput):
        look(places, network=Watched(places))
    assert set(met) == {RARELY}
    assert gc.get_threshold() == usual != RARELY


def test_a_free_disk_is_found_named_priced_and_dated() -> None:
    found = look({"north": {"ListDisks": {"disks": [disk("d1"), disk("d2", machine="m1")]}, "ListTags": {"tags": []}}})
    assert [(each.resource, each.usd_per_month, each.reason, each.billing) for each in found.findings] == [
        ("toy://42/north/disk/d1", 10.0, "belongs to nothing", "billed")
    ]
    assert found.totals.usd_per_month == 10.0
    assert found.totals.usd_per_year == 120.0
    assert (found.pricing.oldest, found.pricing.newest, found.pricing.hours_per_month) == (
        "2026-09-21",
        "2026-09-21",
        730,
    )
    assert found.complete


def test_one_bad_scope_never_stops_the_rest_and_makes_the_scan_incomplete() -> None:
    found = look(
        {
            "north": {"ListDisks": denied(), "ListMachines": denied()},
            "south": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": {"tags": []}},
            "east": {
                "ListDisks": ApiDisabled("x", fix="", code="Off"),
                "ListMachines": ApiDisabled("x", fix="", code="Off"),
            },
        }
    )
    assert {scope.location: scope.ended for scope in found.scopes} == {
        "north": "denied",
        "south": "done",
        "east": "skipped",
    }
    assert [each.name for each in found.findings] == ["d1"]
    assert not found.complete
    assert {gap.location for gap in found.unread} == {"north"}


def test_a_scope_that_does_not_apply_keeps_the_scan_complete() -> None:
    off = ApiDisabled("x", fix="", code="Off")
    found = look({"east": {"ListDisks": off, "ListMachines": off}})
    assert found.complete
    assert found.coverage.pairs_not_applicable == 2
    assert {gap.location for gap in found.not_applicable} == {"east"}


def test_twenty_nine_pairs_that_worked_do_not_make_a_scan_complete_when_the_thirtieth_failed() -> None:
    places = {f"p{n}": {"ListDisks": {"disks": []}, "ListMachines": {"machines": []}} for n in range(15)}
    places["p0"]["ListMachines"] = denied("toy:ListMachines")
    found = look(places)
    assert (found.coverage.pairs_judged, found.coverage.pairs_unread) == (29, 1)
    assert not found.complete


def test_a_read_that_two_checks_need_is_sent_once() -> None:
    network = toy.Network({"north": {"ListDisks": {"disks": []}, "ListMachines": {"machines": []}}})
    look({}, network=network)
    assert sorted(network.operations("north")) == ["ListDisks", "ListMachines", "ListPlaces"]


def test_metrics_are_asked_in_batches_only_for_what_the_listing_has_not_cleared() -> None:
    machines = [machine(f"m{n}") for n in range(5)] + [
        machine("off", state="stopped"),
        machine("new", created=toy.days_ago(1)),
    ]
    network = toy.Network({"north": {"ListMachines": {"machines": machines}, "ReadMetric": {"points": {}}}})
    found = look({}, network=network)
    asked = [parameters["ids"] for _, operation, parameters in network.sent if operation == "ReadMetric"]
    assert sorted(asked) == [["m0", "m1"], ["m2", "m3"], ["m4"]]
    assert found.effort.usd == pytest.approx(0.05)
    assert found.effort.charges == ("$10 for 1,000 metrics (2026-11-29)",)


def test_the_scan_never_waits_for_a_service_that_answers_too_often_asked_but_asks_again() -> None:
    answers = iter([Throttled("x", fix="", retry_after=0.01), {"disks": [disk("d1")]}])
    found = look({"north": {"ListDisks": lambda _: next(answers), "ListTags": {"tags": []}}})
    assert [each.name for each in found.findings] == ["d1"]
    assert found.complete
    assert found.effort.by_operation["toy.ListDisks"] == 2


def test_a_service_that_a_place_does_not_have_does_not_apply_although_no_answer_came() -> None:
    pack = replace(toy.PACK, offered=lambda service, place: place != "islands")
    away = Unreachable("x", fix="")
    found = look({"islands": {"ListDisks": away, "ListMachines": away}, "north": {}}, pack=pack)
    assert found.complete
    assert [scope.ended for scope in found.scopes] == ["skipped", "done"]
    gone = look({"north": {"ListDisks": away, "ListMachines": away}}, pack=pack)
    assert not gone.complete


def test_a_cloud_that_is_not_signed_in_is_unread_and_the_others_are_scanned() -> None:
    good = toy.cloud(toy.Network({"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": {"tags": []}}}))
    bad = NotSignedIn("signing in", fix="Sign in.", code="NoCredential")
    clouds: dict[str, Cloud | NotSignedIn] = {"toy": good, "other": bad}
    found = scan(clouds, Wanted(), (), toy.NOW, CallProgress(), "s")  # type: ignore[arg-type]
    assert [each.name for each in found.findings] == ["d1"]
    assert not found.complete
    assert [(gap.cloud, gap.reason) for gap in found.unread] == [
        ("other", "not signed in: NoCredential: signing in. Sign in.")
    ]


def test_an_unknown_check_and_an_unknown_place_are_refused_before_anything_is_read() -> None:
    network = toy.Network({"north": {}})
    with pytest.raises(InvalidInput, match="disk-fre"):
        look({}, network=network, wanted=Wanted(checks=("disk-fre",)))
    with pytest.raises(InvalidInput) as refused:
        look({}, network=network, wanted=Wanted(scopes=("nroth",)))
    assert refused.value.allowed == ("north",)
    assert set(network.operations()) == {"ListPlaces"}


def test_what_a_global_service_lists_counts_there_wherever_it_lies() -> None:
    world = replace(toy.DISK, of=replace(toy.DISKS, once=True), tags_read=None, place=lambda row, at: row["where"])
    pack = replace(toy.PACK, checks=(replace(toy.FREE_DISK, kind=world), toy.IDLE_MACHINE))
    places = {"north": {"ListDisks": {"disks": [disk("d1", where="north"), disk("d2", where="far away")]}}}
    found = look(places, pack=pack)
    assert {end.location: (end.findings, end.usd_per_month) for end in found.scopes} == {
        "north": (0, 0.0),
        "global": (2, 20.0),
    }
    assert {key: each.usd_per_month for key, each in found.totals.by_scope.items()} == {
        "toy/north": 10.0,
        "toy/far away": 10.0,
    }


def test_a_global_service_is_asked_once_at_home_and_only_when_it_is_wanted() -> None:
    listing = replace(toy.DISKS, once=True)
    check = replace(toy.FREE_DISK, kind=replace(toy.DISK, of=listing, tags_read=None))
    pack = replace(toy.PACK, checks=(check,))
    network = toy.Network({"north": {"ListDisks": {"disks": [disk("d1")]}}, "south": {}})
    found = look({}, network=network, pack=pack)
    assert network.operations().count("ListDisks") == 1
    assert [scope.location for scope in found.scopes] == ["global"]
    assert look({}, network=toy.Network({"south": {}}), pack=pack, wanted=Wanted(scopes=("south",))).scopes == ()


def test_a_resource_managed_by_a_service_is_counted_and_never_reported() -> None:
    found = look({"north": {"ListDisks": {"disks": [disk("d1", manager="backup")]}}})
    assert found.findings == ()
    assert found.coverage.managed == 1
    assert found.managed[0].named == ("d1 (backup)",)


def test_the_infrastructure_as_code_that_owns_a_resource_is_named() -> None:
    tags = {"tags": [{"key": "stack", "value": "shop"}]}
    found = look({"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": tags}})
    assert [each.owner for each in found.findings] == ["stack shop"]


def test_a_resource_whose_tags_cannot_be_read_is_reported_and_cannot_be_removed() -> None:
    found = look({"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": denied("toy:ListTags")}})
    assert [each.removable for each in found.findings] == [False]
    assert "may be marked to be kept" in found.findings[0].notes[0]
    assert not found.complete


def test_an_answer_of_another_form_is_unread_and_the_other_rows_are_judged() -> None:
    disks = [{"id": "odd", "created": toy.OLD}, disk("d1")]
    found = look({"north": {"ListDisks": {"disks": disks}, "ListTags": {"tags": []}}})
    assert [each.name for each in found.findings] == ["d1"]
    assert [(gap.resources, gap.named) for gap in found.unread] == [(1, ("odd",))]


def test_cancelling_ends_the_scan_at_once() -> None:
    progress = CallProgress()
    progress.cancel()
    with pytest.raises(Cancelled):
        scan({"toy": toy.cloud(toy.Network({"north": {}}))}, Wanted(), (), toy.NOW, progress, "s")


def test_dates_are_compared_in_utc_whatever_zone_they_are_written_in() -> None:
    at = datetime(2026, 11, 29, 12, tzinfo=UTC)
    just_old = "2026-11-28T20:59:00+09:00"  # 11:59 UTC, a day and a minute ago
    just_young = "2026-11-28T07:01:00-05:00"  # 12:01 UTC
    for created, count in ((just_old, 1), (just_young, 0)):
        places = {"north": {"ListDisks": {"disks": [disk("d", created=created)]}, "ListTags": {"tags": []}}}
        assert len(look(places, now=at).findings) == count


def test_the_guard_lets_only_declared_reads_pass() -> None:
    network = toy.Network({"north": {"DeleteDisk": {}}})
    guard = ReadsOnly(network, toy.PACK.reads)
    with pytest.raises(InvalidInput):
        guard.send(Call("toy", "DeleteDisk", {"disk": "d1"}), scope=Scope("north"))
    assert network.sent == []
    assert guard.send(Call("toy", "ListDisks"), scope=Scope("north")) == {}


def test_a_cloud_without_checks_is_not_applicable() -> None:
    empty = replace(toy.cloud(toy.Network({})), waste_pack=Missing("nothing to find on your own machine"))
    found = scan({"local": empty}, Wanted(), (), toy.NOW, CallProgress(), "s")
    assert found.complete
    assert [gap.reason for gap in found.not_applicable] == ["nothing to find on your own machine"]


def test_requests_to_one_place_never_exceed_its_limit() -> None:
    import time

    disks = [disk(f"d{n}") for n in range(40)]
    network = toy.Network(
        {"north": {"ListDisks": {"disks": disks}, "ListTags": {"tags": []}}}, delay=lambda: time.sleep(0.001)
    )
    look({}, network=network)
    assert 1 < network.most["north"] <= toy.PACK.in_flight


def test_an_odd_row_is_left_out_of_a_metric_and_the_scan_ends() -> None:
    odd = {"state": "running", "created": toy.OLD}  # without an id there is nothing to ask usage of
    network = toy.Network({"north": {"ListMachines": {"machines": [odd, machine("m1")]}, "ReadMetric": {"points": {}}}})
    found = look({}, network=network)
    assert [each.name for each in found.findings] == ["m1"]
    assert not found.complete
    assert sum(gap.resources for gap in found.unread) >= 1
