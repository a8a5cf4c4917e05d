"""A result carries the filter that it applied, in its text too; sums say what they span."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk, many
from tests.tools.waste.toy import disk
from tools.cleanup.tools import plan_cleanup
from tools.progress import CallProgress
from tools.waste import store
from tools.waste.checklist import list_checks
from tools.waste.gate import exit_code
from tools.waste.summarizing import summarize_findings


def test_a_scan_says_in_its_first_line_and_its_text_to_what_it_was_narrowed(tmp_path: Path) -> None:
    result = Desk(tmp_path, many(3)).scan(category="classic", checks=("disk",))
    assert result.headline == (
        "$3.30 a month ($39.60 a year) in 3 resources that nothing uses (checks disk, category classic); "
        "the one check looked."
    )
    assert "Filter: checks disk · category classic" in result.text().splitlines()
    assert "(checks disk, category classic)" in Path(result.files["html"]).read_text()


def test_a_least_amount_leaves_rows_out_and_nothing_out_of_sums_files_and_gates(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(3))
    whole, least = desk.scan(), desk.scan(min_usd=1.1)
    assert [row.usd_per_month for row in least.rows] == [1.2, 1.1]
    assert (least.usd_per_month, least.findings, least.by_check) == (3.3, 3, whole.by_check)
    assert least.headline == whole.headline
    assert least.showing == "2 of 3 rows, 2 of 3 findings"
    assert (
        "1 finding in rows below $1.1 a month, $1.00 a month together, are in every sum and file, and not listed here."
        in least.notes
    )
    assert "Filter: min_usd 1.1" in least.text().splitlines()
    assert exit_code(least.structured(), fail_on_usd=3.3, fail_on_incomplete=False) == 5
    assert len(store.load(tmp_path, least.scan).findings) == 3


def test_a_least_amount_leaves_what_has_no_price_and_a_row_whose_findings_reach_it_together(tmp_path: Path) -> None:
    assert len(Desk(tmp_path / "a", many(2), rates={}).scan(min_usd=50).rows) == 2
    row = Desk(tmp_path / "b", many(70)).scan(min_usd=50).rows[0]
    assert (row.resource[:4], row.usd_per_month) == ("70 x", 91.0)


def test_a_summary_with_a_least_amount_leaves_what_has_no_price_too(tmp_path: Path) -> None:
    rows = {"disks": [disk("d1"), disk("d2", size=20)]}
    machines = {"ListMachines": {"machines": [toy.machine("m1")]}, "ReadMetric": {"points": {}}}
    network = toy.Network({"north": {**machines, "ListDisks": rows}})
    desk = Desk(tmp_path, network, rates={"disk": toy.RATES["disk"]})
    desk.scan()
    summary = summarize_findings(desk.book, min_usd=5)
    assert [row.usd_per_month for row in summary.rows] == [10.0, None]
    assert summary.headline == "2 findings, $10.00 a month, 1 without a price (min_usd 5)."


def test_a_scan_of_everything_says_no_filter(tmp_path: Path) -> None:
    result = Desk(tmp_path, many(2)).scan()
    assert result.headline == "$2.10 a month ($25.20 a year) in 2 resources that nothing uses; all 2 checks looked."
    assert "Filter" not in result.text()


def test_a_narrowed_scan_that_finds_nothing_does_not_speak_of_everything(tmp_path: Path) -> None:
    result = Desk(tmp_path, many(0)).scan(category="ai")
    assert result.headline.startswith("No waste found (category ai): 1 check in 1 place")


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


def test_a_check_of_which_all_is_kept_is_not_told_to_have_found_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(2))
    keep = '[[waste.keep]]\nresource = "d000*"\nreason = "audit"\nexpires = 2099-03-31\n'
    (tmp_path / "modelrig.toml").write_text(keep, "utf-8")
    assert desk.scan().kept == 2
    with pytest.raises(InvalidInput, match=r"no finding of 'disk' that is not kept on purpose \(2 are\)") as refused:
        plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk",))
    assert refused.value.fix == "See summarize_findings with kept=true."


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


def test_the_least_of_a_summary_is_that_of_the_scan_where_a_row_is_priced_with_its_holder(tmp_path: Path) -> None:
    pack = replace(toy.PACK, checks=(*toy.PACK.checks, toy.HELD_DISK))
    rows = {"disks": [disk("d1", machine="m1"), disk("d2", size=20)]}
    north = {"ListMachines": {"machines": [toy.machine("m1")]}, "ReadMetric": {"points": {}}, "ListDisks": rows}
    desk = Desk(tmp_path, toy.Network({"north": north}), pack=pack)
    scan = desk.scan()
    summary = summarize_findings(desk.book)
    assert [row.usd_per_month for row in summary.rows] == [740.0, 2.0, 0.0]
    assert summary.min_usd_per_month == store.load(tmp_path, scan.scan).totals.cheapest_usd_per_month == 2.0


def test_groups_that_are_not_shown_are_summed_in_a_last_row(tmp_path: Path) -> None:
    places = {f"p{n:02}": {"ListDisks": {"disks": [disk(f"d{n}", size=10)]}} for n in range(13)}
    desk = Desk(tmp_path, toy.Network(places))
    desk.scan()
    summary = summarize_findings(desk.book, group_by="location")
    last = summary.groups[-1]
    assert (len(summary.groups), summary.groups_showing) == (11, "10 of 13")
    assert (last.value, last.findings, last.usd_per_month, last.without_price) == ("3 more", 3, 3.0, 0)
    assert sum(each.findings for each in summary.groups) == summary.count
