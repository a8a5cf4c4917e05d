"""Names from tags in what a person reads: on one line, without an image or a link of their own, and cut."""

from __future__ import annotations

from pathlib import Path

from tests.tools.cleanup.world import World
from tests.tools.waste.test_tools import Desk
from tests.tools.waste.toy import disk
from tools import calling
from tools.calling import Question
from tools.cleanup import APPLY_CLEANUP
from tools.cleanup.tools import plan_cleanup
from tools.progress import CallProgress
from tools.waste.explaining import explain_finding
from tools.waste.summarizing import summarize_findings


def test_a_long_name_is_cut_in_rows_and_sentences_and_whole_where_it_is_explained(tmp_path: Path) -> None:
    name = f"![i](http://evil/x.png)\n2. go {'b' * 250}"
    desk = Desk(tmp_path, World({name: disk(name)}))
    found = desk.scan()
    summary = summarize_findings(desk.book)
    plan = plan_cleanup(desk.clouds, desk.settings, desk.book, CallProgress(), checks=("disk-free",))
    told = explain_finding(desk.clouds, desk.book, found.rows[0].finding)
    question = calling.prepare(APPLY_CLEANUP, {"plan": plan.plan}, desk.session)
    assert isinstance(question, Question)
    for text in (found.text(), summary.text(), told.text(), plan.text(), question.text, question.outcome.text):
        assert "![i]" not in text
        assert "](http" not in text
        assert "\n2. go" not in text
    for shown in (found.rows[0].resource, summary.rows[0].resource, plan.rows[0].resource):
        assert len(shown) == 81
    assert told.resource.endswith("b" * 250)
