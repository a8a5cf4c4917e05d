"""What a scan's answer says beside its figures: counts that add up, what did not run, the bill, and how to go on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.base import Cloud
from clouds.errors import InvalidInput, NotSignedIn
from tests.tools.waste import toy
from tests.tools.waste.test_bill import COSTS, PACK
from tests.tools.waste.test_tools import Desk, many
from tests.tools.waste.toy import disk
from tools.context import Session
from tools.progress import CallProgress
from tools.settings import Settings
from tools.waste.checklist import list_checks
from tools.waste.scan import scan
from tools.waste.summarizing import summarize_findings

WORLD = replace(toy.DISK, of=replace(toy.DISKS, once=True), tags_read=None)
BOTH = replace(toy.PACK, checks=(replace(toy.FREE_DISK, kind=WORLD), toy.IDLE_MACHINE))


def test_checks_and_places_multiply_to_the_pairs_and_a_check_without_a_place_is_named(tmp_path: Path) -> None:
    network = toy.Network({"north": {"ListDisks": {"disks": [disk("d1")]}}, "south": {}, "east": {}})
    desk = Desk(tmp_path, network, pack=BOTH)
    whole = desk.scan()
    assert whole.notes[0].startswith("1 check in each of 4 places: 4 of 4 pairs")
    some = desk.scan(scopes=("north", "south"))
    assert "1 check in each of 2 places: 2 of 2 pairs" in some.headline
    (note,) = some.notes
    assert note == (
        "1 check of global services did not run (disk-free): the scopes asked for hold no global; add it to look at "
        "that too."
    )
    assert {row.check: row.applies for row in list_checks(desk.clouds, desk.book).rows} == {
        "disk-free": "", "machine-idle": "everywhere",
    }  # fmt: skip


def test_a_scan_that_left_checks_out_does_not_say_that_all_looked(tmp_path: Path) -> None:
    network = toy.Network({"north": {"ListMachines": {"machines": [toy.machine("m1")]}, "ReadMetric": {"points": {}}}})
    desk = Desk(tmp_path, network, pack=BOTH)
    assert desk.scan(scopes=("north",)).headline.endswith("; 1 of 2 checks looked.")
    assert desk.scan().headline.endswith("; all 2 checks looked.")


def test_a_bill_is_told_also_where_nothing_is_on_it(tmp_path: Path) -> None:
    def told(lines: dict[str, float], pack: object = PACK) -> str:
        network = toy.Network({"north": {"GetBill": {"lines": lines}}})
        return Desk(tmp_path, network, pack=pack).scan(bill=True).notes[-1]

    assert told({}) == (
        "The bill of 30 days: $0.00, of it $0.00 for services that a check of this scan looks at and $0.00 for others; "
        "asking cost $0.01."
    )
    assert told(COSTS).startswith("The bill of 30 days: $82.35, of it $70.00 for services that a check of this scan ")
    assert told({}, toy.PACK) == "No bill was asked: none of these clouds has one that can be."
    assert Desk(tmp_path, many(0)).scan().notes == ()


def test_a_scan_that_could_look_at_nothing_is_an_error_with_its_reason_first_and_what_to_do(tmp_path: Path) -> None:
    def connect(name: str, where: Path) -> Cloud:
        raise NotSignedIn("signing in", fix="Sign in.", code="NoCredential")

    desk = Desk(tmp_path, many(0))
    desk.clouds = Session(Settings.load({}, tmp_path), tmp_path, ("toy",), connect).clouds
    told = desk.scan()
    assert told.is_error
    assert told.headline.startswith("Nothing was looked at, so nothing is known: toy: not signed in: NoCredential")
    assert told.next == "check_setup says what is missing and how to sign in; then the same call again."
    denied = Desk(tmp_path, toy.Network({"north": {"ListDisks": toy.denied(), "ListMachines": toy.denied()}})).scan()
    assert denied.is_error
    partly = Desk(tmp_path, toy.Network({"north": {"ListMachines": toy.denied()}})).scan()
    assert (partly.is_error, partly.complete) == (False, False)
    assert not Desk(tmp_path, many(0)).scan().is_error


def test_a_cloud_is_named_in_any_case_and_a_wrong_one_is_answered_with_those_that_can_be_scanned(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path, many(1))
    assert desk.scan(cloud=("TOY", "toy")).findings == 1
    assert list_checks(desk.clouds, desk.book, cloud="Toy").count == 2
    with pytest.raises(InvalidInput, match=r"tyo is not on offer\. Did you mean toy\?") as refused:
        desk.scan(cloud=("tyo",))
    assert refused.value.allowed == ("toy",)


def test_a_misspelt_place_or_check_is_answered_with_the_one_that_is_near(tmp_path: Path) -> None:
    desk = Desk(tmp_path, toy.Network({"north": {}, "south": {}}))
    with pytest.raises(InvalidInput, match=r"Did you mean north\?"):
        desk.scan(scopes=("nroth",))
    with pytest.raises(InvalidInput, match=r"Did you mean disk-free\?"):
        desk.scan(checks=("disk-fre",))
    with pytest.raises(InvalidInput, match=r"Did you mean machine-idle\?"):
        list_checks(desk.clouds, desk.book, check="machine-idel")
    with pytest.raises(InvalidInput, match=r"is not a region that this account can use\.$"):
        desk.scan(scopes=("xyz",))


def test_findings_by_stack_say_what_a_stack_is_and_the_older_word_is_still_taken(tmp_path: Path) -> None:
    tags = {"tags": [{"key": "stack", "value": "shop"}, {"key": "Owner", "value": "bob"}]}
    desk = Desk(tmp_path, toy.Network({"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": tags}}))
    desk.scan()
    for word in ("stack", "owner"):
        told = summarize_findings(desk.book, group_by=word)  # type: ignore[arg-type]
        assert (told.by, [row.value for row in told.groups]) == ("stack", ["stack shop"])
        assert summarize_findings(desk.book, filters={word: "stack shop"}).count == 1
    assert "an owner that a tag names is found with" in told.notes[0]
    assert summarize_findings(desk.book, filters={"contains": "Owner=bob"}).count == 1
    without = Desk(tmp_path, many(1))
    without.scan()
    assert [row.value for row in summarize_findings(without.book, group_by="stack").groups] == ["in no stack"]
    assert [summarize_findings(without.book, filters={"owner": word}).count for word in ("none", "in no stack")] == [
        1,
        1,
    ]


def test_the_places_and_the_files_are_in_the_text_each_once(tmp_path: Path) -> None:
    places = {
        f"p{n:02}": {"ListDisks": {"disks": [disk(f"d{n}", size=10)]}, "ListTags": {"tags": []}} for n in range(13)
    }
    told = Desk(tmp_path, toy.Network(places)).scan()
    assert "By place: toy/p00 $1.00 · " in told.text()
    assert told.by_place["3 more"] == 3.0
    assert round(sum(told.by_place.values()), 2) == told.usd_per_month
    assert f"Report: {told.files['html']} (beside it json, csv, sarif)" in told.text()


def test_progress_says_which_cloud_is_looked_at_where_there_are_several() -> None:
    def told(*names: str) -> set[str]:
        said: list[str] = []
        network = toy.Network({"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": {"tags": []}}})
        there = dict.fromkeys(names, toy.cloud(network))
        scan(there, toy.EVERYTHING, (), toy.NOW, CallProgress(lambda message, *_: said.append(message)), "an id")
        return {message.partition(": ")[0] for message in said}

    assert told("toy", "other") == {"toy", "other"}
    assert all("requests answered" in message for message in told("toy"))
