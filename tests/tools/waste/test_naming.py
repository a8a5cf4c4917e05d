"""A finding is found by whatever a person calls it; what is not found is said without calling it in use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.errors import InvalidInput, NotFound
from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk
from tests.tools.waste.toy import days_ago, disk
from tools.waste import store
from tools.waste.explaining import explain_finding
from tools.waste.naming import find
from tools.waste.records import Scan

LABELLED = replace(toy.DISK, label=lambda row: f"{row['id']} ({row['label']})" if row.get("label") else row["id"])
PACK = replace(toy.PACK, checks=(replace(toy.FREE_DISK, kind=LABELLED), toy.IDLE_MACHINE))


def scanned(*rows: dict[str, object], **more: object) -> Scan:
    north = {"ListDisks": {"disks": list(rows)}, "ListTags": {"tags": []}, **more}
    return toy.look({"north": north}, pack=PACK)


def network(*rows: dict[str, object]) -> toy.Network:
    return toy.Network({"north": {"ListDisks": {"disks": list(rows)}, "ListTags": {"tags": []}}})


@pytest.mark.parametrize(
    "word",
    ["vol-1 (data)", "vol-1", "VOL-1", "data", " vol-1 ", "disk/vol-1", "toy://42/north/disk/vol-1", "{id}", "{start}"],
)
def test_a_finding_is_found_by_its_label_its_bare_id_its_name_its_full_id_and_the_start_of_its_own(
    word: str, tmp_path: Path
) -> None:
    scan = scanned(disk("vol-1", label="data"), disk("vol-10", label="more data"))
    one = next(each for each in scan.findings if each.name == "vol-1 (data)")
    assert find(scan, word.format(id=one.id, start=one.id[:5]), tmp_path) is one


def test_several_with_one_name_are_listed_with_their_ids(tmp_path: Path) -> None:
    scan = scanned(disk("vol-1", label="data"), disk("vol-2", label="data"))
    with pytest.raises(InvalidInput, match="'data' is the name of 2 findings") as refused:
        find(scan, "data", tmp_path)
    assert all(f'{each.id} ("{each.name}", north)' in refused.value.fix for each in scan.findings)


@pytest.mark.parametrize("word", ["vol", "dat", "ol-1", "toy:", "north"])
def test_a_part_of_a_name_is_no_name(word: str, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        find(scanned(disk("vol-1", label="data")), word, tmp_path)


def test_what_was_seen_and_not_judged_says_why_and_what_is_nowhere_is_not_called_in_use(tmp_path: Path) -> None:
    scan = scanned(disk("new", created=days_ago(0.1)), disk("hers", manager="a service"))
    for word, answer in (
        ("new", "it is too new to be judged"),
        ("hers", "a service manages it, so that it is never touched"),
        ("nowhere", "no finding of this scan, or of the last ten, has that id or name"),
    ):
        with pytest.raises(NotFound) as refused:
            find(scan, word, tmp_path)
        assert refused.value.answered == answer
    assert refused.value.fix.startswith("That does not mean that it is in use: not everything has a check. ")


def test_what_is_priced_with_another_finding_names_that_one(tmp_path: Path) -> None:
    machines = {"ListMachines": {"machines": [toy.machine("m1")]}, "ReadMetric": {"points": {}}}
    scan = scanned(disk("d1", machine="m1"), **machines)
    with pytest.raises(NotFound, match="it is part of another finding") as refused:
        find(scan, "d1", tmp_path)
    assert refused.value.fix == f'"m1" holds it: explain_finding("{scan.findings[0].id}").'


def test_another_scan_is_named_only_where_the_word_finds_it_there(tmp_path: Path) -> None:
    older = Desk(tmp_path, network(disk("d1", label="job")), pack=PACK).scan().scan
    # In this one the word stands too, but as a part of what something is called.
    store.save(tmp_path, replace(scanned(disk("x", label="in job")), id="2026-11-29T130000-toy-0001"))
    newest = Desk(tmp_path, network(), pack=PACK)
    empty = newest.scan().scan
    with pytest.raises(NotFound) as refused:
        explain_finding(newest.clouds, newest.book, "job", scan=empty)
    assert refused.value.fix == f'Another one has it: give scan="{older}".'
    assert explain_finding(newest.clouds, newest.book, "job", scan=older).resource == "toy://42/north/disk/d1"


def test_a_scan_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "2026-11-29T130000-toy-0002.json").write_text('{"job": 1}')
    with pytest.raises(NotFound, match="no finding of this scan"):
        find(scanned(), "job", tmp_path)
