"""No result of ours has to be counted: the judge of the tool-use measurement, turned on what our own tools answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest

import tools
from tests.tools.measure.made import engine, items, made
from tests.tools.waste.test_tools import Desk, many
from tools.cleanup.tools import plan_cleanup
from tools.lengths import lengths
from tools.measure import store
from tools.measure.compare_runs import compare_runs
from tools.measure.list_runs import list_runs
from tools.measure.measured import result_of
from tools.measure.toolcalls.own_tools import uncounted
from tools.measure.walk import Measured
from tools.progress import CallProgress
from tools.result import Result
from tools.setup import check_setup
from tools.waste.checklist import list_checks
from tools.waste.explaining import explain_finding
from tools.waste.summarizing import summarize_findings

pytestmark = pytest.mark.usefixtures("no_picture")

LOADS = {level: [100.0 * level, 101.0 * level] for level in (1, 2, 4, 8, 16, 32)}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    tmp_path = tmp_path_factory.mktemp("own")
    made_desk = Desk(tmp_path, many(30))
    made_desk.scan()
    for n in range(12):
        graded = items(dict.fromkeys(range(1, n + 9), "x"), 40)
        run = made(f"r{n}", 50.0 + n, LOADS, graded, [50.0 + n] * 5, engine=engine("m", quantization=f"q{n}"))
        store.save(store.claim(tmp_path / "runs", run.id), run)
    yield made_desk
    made_desk.book.close()


def _measured(folder: Path) -> Result:
    runs = [Measured(folder / "x", made(f"r{n}", 50.0 + n, LOADS)) for n in range(5)]
    return result_of(runs)


RESULTS: dict[str, Callable[[Desk], Result]] = {
    "list_checks": lambda d: list_checks(d.clouds, d.book),
    "summarize_findings": lambda d: summarize_findings(d.book, group_by="owner"),
    "explain_finding": lambda d: explain_finding(d.clouds, d.book, "d0003"),
    "plan_cleanup": lambda d: plan_cleanup(d.clouds, d.settings, d.book, CallProgress(), checks=("disk-free",)),
    "check_setup": lambda d: check_setup(d.clouds, d.settings, d.book, CallProgress(), sign_in=False),
    "list_runs": lambda d: list_runs(d.settings, d.book),
    "compare_runs": lambda d: compare_runs(tuple(f"r{n}" for n in range(5)), d.settings, d.book),
    "measure_model": lambda d: _measured(d.book.home),
    "scan_waste": lambda d: d.scan(),
}


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_nothing_in_a_real_result_has_to_be_counted(name: str, desk: Desk) -> None:
    result = RESULTS[name](desk).structured()
    assert any(isinstance(each, list) and each for each in result.values()), "the result has a list to judge"
    assert uncounted(result) == ()


def _rows(kind: Any, count: int) -> list[Any] | None:
    """A list of short things where a field takes one."""
    if get_origin(kind) is tuple and get_args(kind)[-1] is Ellipsis:
        return [{"name": f"n{at}"} if isinstance(get_args(kind)[0], type) else f"n{at}" for at in range(count)]
    return None


def _result_types() -> Iterator[type[Result]]:
    assert len(tools.TOOLS) > 20, "every tool is loaded, and its result with it"
    waiting = list(Result.__subclasses__())
    for each in waiting:
        yield each
        waiting += each.__subclasses__()


def test_every_list_of_every_tool_s_result_is_given_its_length() -> None:
    """Whatever a tool lists, and however many: a list whose length nothing says is in the result's last note."""
    judged = 0
    for kind in _result_types():
        data: dict[str, Any] = {"headline": "Some."}
        for name, field in kind.model_fields.items():
            rows = _rows(field.annotation, 23)
            if rows is not None and name != "notes":
                data[name] = rows
        lists = [name for name, value in data.items() if isinstance(value, list)]
        note = lengths(data)
        assert all(f"23 {name.replace('_', ' ')}" in note for name in lists), kind
        assert uncounted({**data, "notes": [note]}) == (), kind
        judged += len(lists)
    assert judged > 30
