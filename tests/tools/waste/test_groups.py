"""The id of a row that holds several findings means all of them, wherever an id is taken."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.errors import NotFound
from clouds.models.waste import Meter, Row, Seen, Waste
from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk, many
from tools.cleanup.choosing import MOST, choose
from tools.cleanup.tools import plan_cleanup
from tools.progress import CallProgress
from tools.waste import store
from tools.waste.explaining import explain_finding
from tools.waste.summarizing import summarize_findings


def test_a_row_of_several_has_an_id_of_its_own_that_is_the_same_in_the_next_scan(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(8))
    first, again = desk.scan(), desk.scan()
    assert [len(each.rows) for each in (first, again)] == [1, 1]
    assert first.rows[0].finding == again.rows[0].finding
    assert first.rows[0].finding.startswith("g-")
    assert first.showing == "1 row, 8 findings"
    assert first.next.startswith(f'explain_finding("{first.rows[0].finding}"), or plan_cleanup(')
    assert not Desk(tmp_path / "few", many(3)).scan().rows[0].finding.startswith("g-")


def test_a_plan_of_a_row_takes_all_that_the_row_holds(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(8))
    row = desk.scan().rows[0]
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), findings=(row.finding,))
    assert (plan.findings, plan.usd_per_month) == (8, row.usd_per_month)


def test_explaining_a_row_says_how_many_it_holds_what_they_cost_and_explains_the_dearest(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(8))
    scan = desk.scan()
    row = scan.rows[0]
    told = explain_finding(desk.clouds, desk.book, row.finding)
    assert told.headline == (
        f"{row.finding} is 8 findings of disk-free in toy north: $10.10 a month together, $1.00 to $1.60 each. "
        "The dearest: d0006 (disk, north): belongs to nothing; $1.60 a month."
    )
    assert told.finding == store.load(tmp_path, scan.scan).findings[0].id
    assert dict(told.group) == {
        "findings": 8, "without_price": 0, "usd_per_month": 10.1, "least_usd": 1.0, "greatest_usd": 1.6,
    }  # fmt: skip
    assert f'plan_cleanup(scan="{scan.scan}", findings=["{row.finding}"])' in told.next
    listed = summarize_findings(desk.book, filters={"group": row.finding})
    assert (listed.count, listed.total_usd_per_month) == (8, 10.1)


def test_an_id_of_a_row_that_no_scan_has_is_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(8))
    desk.scan()
    with pytest.raises(NotFound):
        explain_finding(desk.clouds, desk.book, "g-00000000")
    assert summarize_findings(desk.book, filters={"group": "g-00000000"}).notes[0] == "no_such_group: 'g-00000000'"


def test_a_row_of_an_older_scan_names_that_scan(tmp_path: Path) -> None:
    older = Desk(tmp_path, many(8)).scan()
    later = Desk(tmp_path, many(0))
    later.scan()
    with pytest.raises(NotFound) as refused:
        explain_finding(later.clouds, later.book, older.rows[0].finding)
    assert refused.value.fix == f'Another one has it: give scan="{older.scan}".'


@pytest.mark.parametrize("given", ["row", "check"])
def test_of_more_than_a_plan_takes_the_dearest_are_planned_and_what_is_left_is_said(tmp_path: Path, given: str) -> None:
    scan = store.load(tmp_path, Desk(tmp_path, many(MOST + 30)).scan().scan)
    row = Desk(tmp_path, many(MOST + 30)).scan().rows[0].finding
    chosen = choose(scan, (row,) if given == "row" else (), () if given == "row" else ("disk-free",), tmp_path)
    assert (len(chosen.findings), chosen.part) == (200, "200 of 230")
    assert min(each.usd_per_month or 0 for each in chosen.findings) >= max(
        each.usd_per_month or 0 for each in chosen.left
    )
    assert chosen.words == (
        "200 of 230 are planned, the dearest that can go first; 30 are left ($30.00 a month). When these are gone, "
        'scan_waste(checks=["disk-free"]) and this call on the new scan plan the next.'
    )


def test_what_cannot_go_takes_no_place_of_what_can(tmp_path: Path) -> None:
    def judged(row: Row, _seen: Seen) -> Waste:
        stays = "protected" if row["size"] > 12 else ""
        return Waste("belongs to nothing", (Meter("disk", "GiB-month", row["size"]),), blocked=stays)

    pack = replace(toy.PACK, checks=(replace(toy.FREE_DISK, judge=judged),))
    scan = store.load(tmp_path, Desk(tmp_path, many(MOST + 200), pack=pack).scan().scan)
    chosen = choose(scan, (), ("disk-free",), tmp_path)
    assert sum(each.removable for each in chosen.findings) == sum(each.removable for each in scan.findings) == 172
    assert choose(scan, (scan.findings[0].id,), ("disk-free",), tmp_path).findings[0] == scan.findings[0]
