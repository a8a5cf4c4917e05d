from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clouds.models import Call, Scope
from tests.tools.cleanup.world import Ticking
from tests.tools.waste import toy
from tests.tools.waste.projects import PACK, Projects, disk
from tools.cleanup import planning, reach, script
from tools.cleanup.applying import Outcome, Run
from tools.cleanup.journal import Journal
from tools.cleanup.records import CleanupPlan
from tools.cleanup.waiting import Clock
from tools.ledger import Book
from tools.progress import CallProgress
from tools.waste.scan import scan


class Removing(Projects):
    """Projects whose disks can be deleted."""

    def send(self, call: Call, *, scope: Scope) -> Any:
        answer = super().send(call, scope=scope)
        disks = self.projects[scope.account]["ListDisks"]["disks"] if scope.account in self.projects else []
        match call.operation:
            case "CreateBackup":
                return {"backup": {"id": "b"}}
            case "GetBackup":
                return {"state": "complete"}
            case "DeleteDisk":
                disks[:] = [each for each in disks if each["id"] != call.parameters["disk"]]
            case "GetDisk":
                raise toy.missing()
        return answer


def world() -> Removing:
    return Removing({name: {"ListDisks": {"disks": [disk("d1")]}} for name in ("shop", "lab", "42")})


def plan(network: Removing) -> CleanupPlan:
    cloud = toy.cloud(network, PACK)
    found = scan({"toy": cloud}, toy.EVERYTHING, (), toy.NOW, CallProgress(), "s")
    chosen = [each for each in found.findings if each.account != "42"]
    return planning.make("s", chosen, lambda _: cloud, (), toy.NOW, CallProgress())


def carried_out(network: Removing, made: CleanupPlan, home: Path) -> tuple[Outcome, ...]:
    ticking, cloud = Ticking(), toy.cloud(network, PACK)
    with Book(home) as book:
        run = Run(
            made, lambda _: cloud, Journal(book, made.id), ticking, lambda: toy.NOW, Clock(lambda: ticking.at)
        )  # fmt: skip
        return run.run()


def test_a_plan_over_two_projects_is_sent_to_each_and_read_again_there(tmp_path: Path) -> None:
    network = world()
    made = plan(network)
    assert sorted((each.account, each.location, each.scope) for each in made.findings) == [
        ("lab", "z1", Scope(None, "lab")),
        ("shop", "z1", Scope(None, "shop")),
    ]
    assert [each.ended for each in carried_out(network, made, tmp_path)] == ["done", "done"]
    assert network.asked("DeleteDisk") == ["lab", "shop"]
    assert [len(network.projects[name]["ListDisks"]["disks"]) for name in ("shop", "lab", "42")] == [0, 0, 1]


def test_a_disk_of_the_same_name_that_changed_in_one_project_is_refused_there_only(tmp_path: Path) -> None:
    network = world()
    made = plan(network)
    network.projects["lab"]["ListDisks"]["disks"][0]["size"] = 7
    assert sorted((each.finding.account, each.ended) for each in carried_out(network, made, tmp_path)) == [
        ("lab", "refused"),
        ("shop", "done"),
    ]


def test_a_project_that_cannot_be_read_again_is_refused_with_its_own_reason(tmp_path: Path) -> None:
    network = world()
    made = plan(network)
    network.projects["lab"] = {"ListDisks": toy.denied()}
    network.projects["shop"]["ListDisks"]["disks"].clear()
    assert sorted(
        (each.finding.account, each.detail.split(":")[0]) for each in carried_out(network, made, tmp_path)
    ) == [
        ("lab", "unread"),
        ("shop", "gone"),
    ]


def test_the_script_stops_in_front_of_every_project_that_cannot_be_reached() -> None:
    made = plan(world())
    lines = script.render(made, {"toy": PACK.command}, {"toy": PACK.query}, {"toy": PACK.account_line}).splitlines()
    stopped = "echo 'Stopped: this shell is not signed in to {0}. Nothing was changed.' >&2; exit 1;"
    assert sorted(line for line in lines if line.startswith("toy reach")) == [
        f"toy reach {name} || {{ {stopped.format(name)} }}" for name in ("lab", "shop")
    ]


@pytest.mark.parametrize(
    ("accounts", "problem"),
    [
        ({"shop", "lab"}, ""),
        ({"42"}, ""),
        ({"shop", "sold"}, "was made for project sold, which these credentials do not reach"),
    ],
)
def test_a_plan_needs_every_one_of_its_projects_to_be_reached(accounts: set[str], problem: str) -> None:
    assert reach.problem(toy.cloud(world(), PACK), accounts, CallProgress()) == problem


def test_where_places_are_locations_a_plan_belongs_to_the_account_that_it_was_made_in() -> None:
    cloud = toy.cloud(toy.Network({"north": {}}))
    assert reach.problem(cloud, {"42"}, CallProgress()) == ""
    assert reach.problem(cloud, {"43"}, CallProgress()) == "was made in account 43, and you are signed in to 42"
