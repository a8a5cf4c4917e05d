"""How sure an amount is stands beside it, and what is in use is not counted as unused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clouds.models.waste import Meter, Row, Seen, Waste
from tests.tools.waste import toy
from tests.tools.waste.test_tools import Desk
from tests.tools.waste.toy import disk, look
from tools.cleanup.tools import plan_cleanup
from tools.progress import CallProgress
from tools.waste.explaining import explain_finding
from tools.waste.records import Scan, Sum
from tools.waste.report.words import amount_words, headline
from tools.waste.summarizing import summarize_findings
from tools.waste.summing import bound, joined

SIZES = {"sure": 10, "most": 20, "least": 30, "dear": 40}


def _judged(row: Row, _seen: Seen) -> Waste:
    meters = (Meter("disk", "GiB-month", row["size"]),)
    if row["id"] == "dear":
        return Waste("would cost less as another", meters, saving=True)
    if row["id"] == "least":
        return Waste("belongs to nothing", (*meters, Meter("no such rate", "hour")))
    return Waste("belongs to nothing", meters, bound="at most" if row["id"] == "most" else "exact")


JUDGED = replace(toy.PACK, checks=(replace(toy.FREE_DISK, judge=_judged),))


def scanned(*names: str) -> Scan:
    rows = [disk(name, size=SIZES[name]) for name in names]
    return look({"north": {"ListDisks": {"disks": rows}, "ListTags": {"tags": []}}}, pack=JUDGED)


def test_every_sum_says_how_much_of_it_is_an_upper_and_a_lower_bound() -> None:
    totals = scanned(*SIZES).totals
    assert (totals.usd_per_month, totals.usd_per_month_at_most, totals.usd_per_month_at_least) == (10.0, 2.0, 3.0)
    assert totals.by_check == {"disk-free": Sum(4, 10.0, 0, 2.0, 3.0)}
    assert totals.by_scope == {"toy/north": Sum(4, 10.0, 0, 2.0, 3.0)}
    exact = scanned("sure").totals
    assert (exact.usd_per_month_at_most, exact.usd_per_month_at_least) == (0.0, 0.0)


def test_what_could_cost_less_is_counted_apart_from_what_nothing_uses() -> None:
    scan = scanned(*SIZES)
    assert (scan.totals.saving, scan.totals.saving_usd_per_month) == (1, 4.0)
    assert headline(scan) == (
        "$10.00 a month, of it $2.00 at most and $3.00 at least ($120.00 a year) in 3 resources that nothing uses "
        "and 1 in use that could cost less; the one check looked."
    )
    assert " in 1 resource in use that could cost less; " in headline(scanned("dear"))
    assert " in 1 resource that nothing uses; " in headline(scanned("sure"))


@pytest.mark.parametrize(
    ("one", "word", "amount"),
    [
        (Sum(2, 9.0), "", "$9.00 a month"),
        (Sum(2, 9.0, 0, 9.0), "at most", "$9.00 a month at most"),
        (Sum(2, 9.0, 0, 0.0, 9.0), "at least", "$9.00 a month at least"),
        (Sum(2, 9.0, 0, 4.0), "at most", "$9.00 a month, of it $4.00 at most"),
        (Sum(2, 9.0, 0, 4.0, 1.0), "in part at most and in part at least",
         "$9.00 a month, of it $4.00 at most and $1.00 at least"),
    ],
)  # fmt: skip
def test_a_bound_is_said_in_words(one: Sum, word: str, amount: str) -> None:
    assert (bound(one), amount_words(one.usd_per_month, one.at_most, one.at_least)) == (word, amount)


def test_several_sums_are_one_with_their_bounds() -> None:
    assert joined([Sum(2, 9.0, 1, 4.0), Sum(1, 0.5, 0, 0.0, 0.5)]) == Sum(3, 9.5, 1, 4.0, 0.5)


def test_an_upper_bound_of_a_part_says_that_the_rest_has_no_price() -> None:
    meters = (Meter("disk", "GiB-month", 100), Meter("no such rate", "hour"))
    check = replace(toy.FREE_DISK, judge=lambda row, seen: Waste("not attached", meters, bound="at most"))
    places = {"north": {"ListDisks": {"disks": [disk("d1")]}, "ListTags": {"tags": []}}}
    (found,) = look(places, pack=replace(toy.PACK, checks=(check,))).findings
    assert (found.bound, found.notes) == ("at most", ("a part of it has no price, so that it may cost more than that",))
    (whole,) = look(
        places,
        pack=replace(
            toy.PACK,
            checks=(replace(check, judge=lambda row, seen: Waste("not attached", meters[:1], bound="at most")),),
        ),
    ).findings
    assert whole.notes == ()


def test_a_plan_its_script_and_each_row_say_how_sure_the_saving_is(tmp_path: Path) -> None:
    rows = [disk(name, size=SIZES[name]) for name in ("sure", "most", "least")]
    desk = Desk(tmp_path, toy.Network({"north": {"ListDisks": {"disks": rows}, "ListTags": {"tags": []}}}), pack=JUDGED)
    desk.scan()
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))
    said = "$6.00 a month (of it $2.00 at most and $3.00 at least)"
    assert f"3 findings, {said}; " in plan.headline
    assert f"Saves {said}." in Path(plan.script).read_text()
    assert {row.resource: row.bound for row in plan.rows} == {"sure": "", "most": "at most", "least": "at least"}


def test_a_row_and_a_sum_of_an_answer_say_how_sure_they_are(tmp_path: Path) -> None:
    rows = [disk(name, size=SIZES[name]) for name in ("sure", "most", "least")]
    desk = Desk(tmp_path, toy.Network({"north": {"ListDisks": {"disks": rows}, "ListTags": {"tags": []}}}), pack=JUDGED)
    told = desk.scan()
    assert [(row.usd_per_month, row.bound) for row in told.rows] == [(3.0, "at least"), (2.0, "at most"), (1.0, "")]
    assert [each.bound for each in told.by_check] == ["in part at most and in part at least"]
    assert (told.usd_at_most, told.usd_at_least) == (2.0, 3.0)
    summary = summarize_findings(desk.book, filters={"contains": "most"})
    assert summary.headline.startswith("1 finding, $2.00 a month at most")
    assert ([row.bound for row in summary.rows], [each.bound for each in summary.groups]) == (["at most"], ["at most"])
    assert explain_finding(desk.clouds, desk.book, "least").headline.endswith("; $3.00 a month at least.")
