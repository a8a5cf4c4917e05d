"""What could not be read is told by its reason: one line for one reason, however many reads it stopped."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.tools.waste import toy
from tools.waste.records import Gap
from tools.waste.unread import by_reason, plain

PLACES = ("north", "south", "east")


def _denied(place: str, call: str, check: str = "disk-free") -> Gap:
    action = call.replace(".", ":")
    reason = f"permission missing: ana of 123456789012 may not {action} in {place} (request 1f2e3d4c-{len(place)}bcd)"
    return Gap("toy", "123456789012", place, check, reason, call)


def test_gaps_with_one_reason_are_one_whatever_place_call_and_request_they_name() -> None:
    gaps = [_denied(place, call) for place in PLACES for call in ("toy.ListDisks", "toy.ListTags")]
    (one,) = by_reason(gaps)
    assert (one.times, one.places, one.calls) == (6, PLACES, ("toy.ListDisks", "toy.ListTags"))
    assert (one.where, one.what) == ("toy north, south and 1 more", "toy.ListDisks and 1 more call, disk-free")
    assert one.reason == gaps[0].reason


def test_another_reason_or_another_cloud_stays_apart_and_the_most_frequent_is_first() -> None:
    other = Gap("toy", "", "north", "disk-free", "unreachable: no route", "toy.ListDisks")
    cloud = Gap("sky", "", "north", "disk-free", _denied("north", "toy.ListDisks").reason, "toy.ListDisks")
    found = by_reason([other, cloud, _denied("north", "toy.ListDisks"), _denied("south", "toy.ListDisks", "disk-old")])
    assert [(each.cloud, each.times) for each in found] == [("toy", 2), ("sky", 1), ("toy", 1)]
    assert found[0].what == "toy.ListDisks, for 2 checks"


def test_single_resources_are_added_up_and_named_once() -> None:
    rows = [
        Gap("toy", "", "north", "disk-free", "no figure", "", 2, ("a", "b")),
        Gap("toy", "", "south", "disk-free", "no figure", "", 1, ("a",)),
    ]
    (one,) = by_reason(rows)
    assert (one.resources, one.named, one.what) == (3, ("a", "b"), "disk-free")
    assert by_reason([Gap("toy", "", "", "", "not installed")])[0].what == "everything"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("500: <!doctype html>\n<title>500 Server Error</title><h1>…", "500: a web page: 500 Server Error"),
        ("again: b'<!doctype html>\\n<html><title>502 Bad\\n</html>'", "again: a web page: 502 Bad"),
        ("500:<html><body>no title</body></html>", "500: a web page"),
        ("the size is < 5 GiB, and the html is fine", "the size is < 5 GiB, and the html is fine"),
    ],
)
def test_a_web_page_as_an_answer_is_told_by_its_title(reason: str, words: str) -> None:
    assert plain(reason) == words


def test_what_was_not_read_is_told_in_the_order_of_places_in_whatever_order_the_answers_came() -> None:
    later = threading.Event()

    def slow(_: Any) -> Exception:
        later.wait(10)
        return toy.denied()

    def quick(_: Any) -> Exception:
        later.set()
        return toy.denied()

    places = {"north": {"ListDisks": slow, "ListMachines": slow}, "south": {"ListDisks": quick, "ListMachines": quick}}
    found = toy.look(places)
    assert list(dict.fromkeys((gap.location, gap.check) for gap in found.unread)) == [
        ("north", "machine-idle"), ("north", "disk-free"), ("south", "machine-idle"), ("south", "disk-free"),
    ]  # fmt: skip
