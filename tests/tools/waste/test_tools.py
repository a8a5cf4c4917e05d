"""The tools as a client calls them: computed figures, filters echoed, steps and a token."""

from __future__ import annotations

from pathlib import Path

import pytest

from clouds.base import Cloud, Missing
from clouds.errors import InvalidInput, NotFound, NotInstalled
from tests.tools.cleanup.world import Ticking, World, disks
from tests.tools.waste import toy
from tests.tools.waste.toy import disk
from tools import binding, calling, confirm, schemas
from tools.calling import Question, Ready
from tools.cleanup import APPLY_CLEANUP, PLAN_CLEANUP
from tools.cleanup.tools import apply_cleanup, plan_cleanup
from tools.context import Clouds, Session
from tools.ledger import Book
from tools.progress import CallProgress
from tools.settings import Settings
from tools.waste import EXPLAIN_FINDING, LIST_CHECKS, SCAN_WASTE, SUMMARIZE_FINDINGS
from tools.waste.checklist import list_checks
from tools.waste.explaining import explain_finding
from tools.waste.scanning import ScanResult, scan_waste
from tools.waste.summarizing import summarize_findings

TOOLS = (SCAN_WASTE, LIST_CHECKS, EXPLAIN_FINDING, SUMMARIZE_FINDINGS, PLAN_CLEANUP, APPLY_CLEANUP)


class Desk:
    """A session with one cloud."""

    def __init__(self, home: Path, network: object, project: Path | None = None, **given: object) -> None:
        one = toy.cloud(network, **given)  # type: ignore[arg-type]
        self.session = Session(Settings.load({}, project or home), home, ("toy",), lambda name, where: one)
        self.book = Book(home, clock=lambda: toy.NOW)
        self.session.__dict__["book"] = self.book
        self.clouds: Clouds = self.session.clouds
        self.settings = self.session.settings

    def scan(self, **given: object) -> ScanResult:
        return scan_waste(self.clouds, self.settings, self.book, CallProgress(), **given)  # type: ignore[arg-type]


def many(count: int) -> toy.Network:
    rows = [disk(f"d{n:04}", size=10 + n % 7) for n in range(count)]
    return toy.Network({"north": {"ListDisks": {"disks": rows}, "ListTags": {"tags": []}}})


def test_the_first_lines_say_what_who_and_how_much_was_looked_at(tmp_path: Path) -> None:
    result = Desk(tmp_path, many(2)).scan()
    text = result.text()
    assert result.headline == "$2.10 a month ($25.20 a year) in 2 resources that nothing uses; all 2 checks looked."
    assert text.splitlines()[2] == "toy: ana (user), account 42"
    assert "without discounts" in text
    assert Path(result.files["html"]).is_file()
    assert sorted(result.files) == ["csv", "html", "json", "sarif"]


def test_the_next_step_of_a_scan_is_a_call_that_works(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(2))
    found = desk.scan()
    one = found.rows[0].finding
    assert found.next == f'explain_finding("{one}"), or plan_cleanup(scan="{found.scan}", findings=["{one}", …]).'
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), scan=found.scan, findings=(one,))
    assert plan.findings == 1


def test_a_cloud_without_waste_checks_is_refused_by_name(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(1))
    desk.clouds.get("toy").__dict__["waste_pack"] = Missing("it has none")
    with pytest.raises(InvalidInput, match="`cloud`: toy has no waste checks"):
        desk.scan(cloud=("toy",))


def test_a_scan_that_could_look_at_nothing_says_why_and_how_to_go_on(tmp_path: Path) -> None:
    def connect(name: str, where: Path) -> Cloud:
        del where
        raise NotInstalled(f"loading [{name}]", answered="absent: boto3", fix="Install requirements-aws.txt.")

    desk = Desk(tmp_path, many(0))
    desk.session = Session(Settings.load({}, tmp_path), tmp_path, ("toy",), connect)
    desk.clouds = desk.session.clouds
    text = desk.scan(cloud=("toy",)).text()
    assert "No account was looked at." in text
    assert "not installed: absent: boto3. Install requirements-aws.txt." in text
    assert "Places: denied 1. No check ran." in text
    assert "without nothing" not in text


def test_thirteen_hundred_findings_are_one_row_and_a_short_answer(tmp_path: Path) -> None:
    result = Desk(tmp_path, many(1300)).scan()
    assert len(result.rows) == 1
    assert result.rows[0].resource.startswith("1,300 x disk, e.g. ")
    assert result.rows[0].usd_per_month == result.usd_per_month
    assert len(result.text()) < 2_500


def test_a_group_without_any_price_has_no_sum_and_never_zero(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(2), rates={})
    result = desk.scan()
    assert [(each.usd_per_month, each.without_price) for each in result.by_check] == [(None, 2)]
    assert "$0.00" not in result.text()
    summed = summarize_findings(desk.book)
    assert [(each.usd_per_month, each.without_price) for each in summed.groups] == [(None, 2)]
    planned = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))
    assert "none of them with a known price" in planned.headline


def test_an_incomplete_scan_says_so_in_its_first_line_and_names_what_was_not_read(tmp_path: Path) -> None:
    network = toy.Network({"north": {"ListDisks": toy.denied()}})
    result = Desk(tmp_path, network).scan()
    assert result.headline.startswith("No waste found in what could be looked at:")
    assert result.complete is False
    assert result.structured()["complete"] is False
    # Both checks need the disks: one lists them, one joins over them.
    assert [row.what for row in result.not_read] == ["toy.ListDisks, for 2 checks"]
    assert result.notes == ("Not read: 1 pair of check and place, 1 pair in part, for 1 reason.",)
    assert "permission missing: Denied: no" in result.text()


def test_a_summary_computes_counts_and_sums_over_any_filter(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(70))
    whole = desk.scan()
    summary = summarize_findings(desk.book, group_by="location")
    assert (summary.count, summary.total_usd_per_month) == (70, whole.usd_per_month)
    assert (summary.min_usd_per_month, summary.max_usd_per_month) == (1.0, 1.6)
    assert [(row.value, row.findings) for row in summary.groups] == [("north", 70)]
    some = summarize_findings(desk.book, filters={"contains": "d000"})
    assert some.count == 10
    assert some.filter == {"contains": "d000"}


def test_a_filter_that_matches_nothing_says_so_and_what_there_is(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(2))
    desk.scan()
    summary = summarize_findings(desk.book, filters={"location": "nroth"})
    assert summary.count == 0
    assert summary.notes[0] == "no_such_location: 'nroth'; there are north. Did you mean north?"
    with pytest.raises(InvalidInput) as refused:
        summarize_findings(desk.book, filters={"colour": "red"})
    assert "location" in refused.value.allowed


def test_a_finding_is_explained_by_its_id_its_full_id_and_its_name(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(1))
    finding = desk.scan().rows[0].finding
    for word in (finding, "toy://42/north/disk/d0000", "TOY://42/NORTH/disk/d0000", "d0000"):
        told = explain_finding(desk.clouds, desk.book, word)
        assert told.finding == finding
    assert told.evidence["GiB"] == "10"
    assert told.not_checked == ("what is on it",)
    assert told.recovery == "A backup is made first."
    assert told.price[0].usd_per_unit == 0.1
    with pytest.raises(NotFound):
        explain_finding(desk.clouds, desk.book, "toy://42/north/disk/other")


def test_a_finding_of_an_older_scan_is_told_where_it_is(tmp_path: Path) -> None:
    first = Desk(tmp_path, many(1)).scan()
    later = Desk(tmp_path, many(0))
    later.scan()
    with pytest.raises(NotFound, match="it is none of this scan") as refused:
        explain_finding(later.clouds, later.book, first.rows[0].finding)
    assert refused.value.fix == f'Another one has it: give scan="{first.scan}".'
    with pytest.raises(NotFound) as unknown:
        explain_finding(later.clouds, later.book, "0000000000")
    with pytest.raises(InvalidInput, match=r"^`finding`: names nothing$"):
        explain_finding(later.clouds, later.book, " ")
    assert unknown.value.fix.startswith("That does not mean that it is in use: not everything has a check. ")


def test_one_finding_is_said_as_one(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(1))
    desk.scan()
    told = desk.scan(checks=("disk-free",))
    assert told.headline == (
        "$1.00 a month ($12.00 a year) in 1 resource that nothing uses (checks disk-free); the one check looked."
    )
    assert told.notes[0].startswith("1 check in 1 place: 1 of 1 pairs of check and place were judged")
    assert " reads, each with all its pages, in " in told.scan_cost


def test_a_kept_finding_can_be_explained(tmp_path: Path) -> None:
    (tmp_path / "modelrig.toml").write_text('[[waste.keep]]\nresource="d0000"\nreason="drill"\nexpires=2027-01-01\n')
    desk = Desk(tmp_path, many(1))
    result = desk.scan()
    assert (result.findings, result.kept) == (0, 1)
    assert explain_finding(desk.clouds, desk.book, "d0000").kept == "drill (modelrig.toml, until 2027-01-01)"


def test_checks_are_listed_with_how_they_ended_last_time(tmp_path: Path) -> None:
    desk = Desk(tmp_path, toy.Network({"north": {"ListDisks": toy.denied()}}))
    assert [row.applies for row in list_checks(desk.clouds, desk.book).rows] == ["", ""]
    desk.scan()
    listed = list_checks(desk.clouds, desk.book)
    assert {row.check: row.applies for row in listed.rows}["disk-free"] == "could not be read in 1 of 1 places"
    assert listed.by_category == {"ai": 1, "classic": 1}
    detail = list_checks(desk.clouds, desk.book, check="machine-idle").detail
    assert detail is not None
    assert detail.metrics == ("work over 7 d; no series means zero (made up)",)
    assert detail.permissions == ("toy:ListDisks", "toy:ListMachines", "toy:ReadMetric")


def test_a_plan_comes_with_a_token_that_carries_it_out(tmp_path: Path) -> None:
    world = World(disks("d1"))
    desk = Desk(tmp_path, world)
    scan = desk.scan()
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), findings=(scan.rows[0].finding,))
    assert plan.headline.endswith(
        "2 steps for 1 finding, $10.00 a month; every step can be undone or recovered; "
        "1 backup bills an unknown amount until it is deleted."
    )
    assert plan.steps == ("back up d1: can be undone", "delete d1: can be undone")
    assert world.writes == []
    ready = calling.prepare(APPLY_CLEANUP, {"plan": plan.plan, "confirm": plan.confirm}, desk.session)
    assert isinstance(ready, Ready)
    result = apply_cleanup(desk.clouds, desk.settings, desk.book, Ticking(), **ready.values)
    assert (result.done, result.saved_usd_per_month) == (1, 10.0)
    assert world.disks == {}


def test_without_the_token_the_steps_are_shown_and_nothing_is_done(tmp_path: Path) -> None:
    world = World(disks("d1"))
    desk = Desk(tmp_path, world)
    desk.scan()
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))
    question = calling.prepare(APPLY_CLEANUP, {"plan": plan.plan}, desk.session)
    assert isinstance(question, Question)
    assert question.preview.steps == ("d1 (north): back up d1: can be undone", "d1 (north): delete d1: can be undone")
    assert world.writes == []


@pytest.mark.parametrize("wrong", ["0000-0000", "not a token"])
def test_a_wrong_token_does_nothing(tmp_path: Path, wrong: str) -> None:
    world = World(disks("d1"))
    desk = Desk(tmp_path, world)
    desk.scan()
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))
    answer = calling.prepare(APPLY_CLEANUP, {"plan": plan.plan, "confirm": wrong}, desk.session)
    assert isinstance(answer, calling.Outcome)
    assert answer.failed
    assert world.writes == []


def test_a_token_is_void_when_the_plan_on_disk_is_another(tmp_path: Path) -> None:
    world = World(disks("d1"))
    desk = Desk(tmp_path, world)
    desk.scan()
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))
    file = tmp_path / "cleanups" / f"{plan.plan}.json"
    file.write_text(file.read_text().replace("DeleteDisk", "DeleteDisc"))
    answer = calling.prepare(APPLY_CLEANUP, {"plan": plan.plan, "confirm": plan.confirm}, desk.session)
    assert isinstance(answer, calling.Outcome)
    assert "state has changed" in answer.text
    assert confirm.stored(desk.book, plan.confirm) is not None


def test_a_plan_of_another_account_is_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path, World(disks("d1")))
    desk.scan()
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))
    other = toy.cloud(World(disks("d1")), who=toy.Somebody("43"))
    clouds = Clouds(("toy",), ("toy",), tmp_path, lambda name, where: other)
    with pytest.raises(InvalidInput, match="was made in account 42"):
        apply_cleanup(clouds, desk.settings, desk.book, CallProgress(), plan.plan)


def test_a_scan_that_is_not_there_and_a_name_that_is_a_path_are_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(1))
    with pytest.raises(NotFound, match="there is none yet"):
        summarize_findings(desk.book)
    desk.scan()
    with pytest.raises(NotFound):
        summarize_findings(desk.book, scan="2026-01-01T000000-toy-ffff")
    with pytest.raises(InvalidInput):
        summarize_findings(desk.book, scan="../../etc/passwd")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_what_a_model_is_shown_of_a_tool_is_short(tool: object) -> None:
    import json

    shown = json.dumps(
        {
            "name": tool.name,  # type: ignore[attr-defined]
            "description": tool.description,  # type: ignore[attr-defined]
            "inputSchema": binding.input_schema(tool, ("aws", "gcp", "azure", "local")),  # type: ignore[arg-type]
        }
    )
    assert len(shown) / 4 <= 350
    assert schemas.output_schema(tool)["type"] == "object"  # type: ignore[arg-type]
