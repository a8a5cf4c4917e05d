"""A result carries the filter that it applied, in its text too; sums say what they span."""

from __future__ import annotations

from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk, many
from tests.tools.waste.toy import disk
from tools.cleanup.tools import plan_cleanup
from tools.progress import CallProgress
from tools.waste.checklist import list_checks
from tools.waste.summarizing import summarize_findings


def test_a_scan_says_in_its_first_line_and_its_text_to_what_it_was_narrowed(tmp_path: Path) -> None:
    result = Desk(tmp_path, many(3)).scan(category="classic", checks=("disk",), min_usd=1.1)
    assert result.headline == (
        "$2.30 a month ($27.60 a year) in 2 resources that nothing uses (checks disk, category classic, "
        "at least $1.1 a month); the one check looked."
    )
    assert "Filter: checks disk · category classic · min_usd 1.1" in result.text().splitlines()
    assert "(checks disk, category classic, at least $1.1 a month)" in Path(result.files["html"]).read_text()
    assert "1 finding below the least amount was left out ($1.00 a month)." in result.notes


def test_a_scan_of_everything_says_no_filter(tmp_path: Path) -> None:
    result = Desk(tmp_path, many(2)).scan()
    assert result.headline == "$2.10 a month ($25.20 a year) in 2 resources that nothing uses; all 2 checks looked."
    assert "Filter" not in result.text()


def test_a_narrowed_scan_that_finds_nothing_does_not_speak_of_everything(tmp_path: Path) -> None:
    result = Desk(tmp_path, many(0)).scan(category="ai")
    assert result.headline.startswith("No waste found (category ai): 1 check, 1 place")


def test_a_long_filter_is_cut_in_the_first_line_and_whole_in_the_text(tmp_path: Path) -> None:
    result = Desk(tmp_path, many(1)).scan(checks=("disk-free",) * 20)
    assert result.headline.endswith("disk-free, di…); the one check looked.")
    assert ", ".join(["disk-free"] * 20) in result.text()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "2 checks look for what nobody uses."),
        ({"category": "ai"}, "1 check looks for what nobody uses (ai)."),
        ({"cloud": "toy"}, "2 checks look for what nobody uses (toy)."),
    ],
)
def test_a_list_of_checks_says_which_it_left_out(tmp_path: Path, given: dict[str, str], words: str) -> None:
    desk = Desk(tmp_path, many(0))
    assert list_checks(desk.clouds, desk.book, **given).headline == words  # type: ignore[arg-type]


def test_a_plan_of_some_checks_names_them_and_the_scan(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(2))
    scan = desk.scan()
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))
    assert f"Filter: all findings of disk-free in {scan.scan}." in plan.notes


def test_a_plan_takes_the_words_that_a_scan_takes(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(2))
    desk.scan(checks=("disk",))
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk",))
    assert (plan.findings, plan.usd_per_month) == (2, 2.1)
    with pytest.raises(InvalidInput, match="has no finding of 'dis'"):
        plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk", "dis"))


def test_what_is_named_twice_is_planned_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(2))
    row = desk.scan().rows[0]
    twice = (row.finding, row.finding, row.resource)
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), findings=twice, checks=("disk-free",))
    assert (plan.findings, plan.usd_per_month, len(plan.rows)) == (2, 2.1, 2)


def test_a_summary_of_everything_has_no_filter(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(1))
    desk.scan()
    summary = summarize_findings(desk.book)
    assert (dict(summary.filter), "filter: none\n" in summary.text()) == ({}, True)


def test_the_least_of_a_summary_is_the_least_of_what_it_lists(tmp_path: Path) -> None:
    desk = Desk(tmp_path, toy.Network({"north": {"ListDisks": {"disks": [disk("a", size=0), disk("b", size=20)]}}}))
    desk.scan()
    summary = summarize_findings(desk.book)
    assert [row.usd_per_month for row in summary.rows] == [2.0, 0.0]
    assert (summary.min_usd_per_month, summary.max_usd_per_month) == (0.0, 2.0)


def test_groups_that_are_not_shown_are_summed_in_a_last_row(tmp_path: Path) -> None:
    places = {f"p{n:02}": {"ListDisks": {"disks": [disk(f"d{n}", size=10)]}} for n in range(13)}
    desk = Desk(tmp_path, toy.Network(places))
    desk.scan()
    summary = summarize_findings(desk.book, group_by="location")
    last = summary.groups[-1]
    assert (len(summary.groups), summary.groups_showing) == (11, "10 of 13")
    assert (last.value, last.findings, last.usd_per_month, last.without_price) == ("3 more", 3, 3.0, 0)
    assert sum(each.findings for each in summary.groups) == summary.count
