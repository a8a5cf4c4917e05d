"""Deleting: read back until gone, whatever state it is in, whoever else is at work."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import Conflict
from clouds.local import fetch, places, processes
from clouds.local.lock import Lock
from clouds.local.places import Place
from clouds.models import Scope


def test_deleted_twice_at_once_while_the_engine_loads_nothing_is_left(bench: Any) -> None:
    plan = bench.begin(bench.plan("one"))
    assert bench.create(plan).state == "loading"
    outcomes: list[bool] = []
    threads = [threading.Thread(target=lambda: outcomes.append(bench.delete(plan.ref).gone)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True, True]
    assert processes.scan(bench.home) == ()
    assert bench.names() == []
    assert bench.steps(plan.deployment)[-1] == ("StartEngine", "undone")


def test_deleted_while_it_is_being_created_the_creation_gives_up(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = bench.begin(bench.plan("one"))
    reached, outcome = threading.Event(), []

    def slow(_entry: Any, _home: Path, progress: Any) -> bool:
        reached.set()
        while True:
            progress.sleep(0.01)

    monkeypatch.setattr("clouds.local.endpoints.creating.fetch", slow)

    def create() -> None:
        try:
            bench.create(plan)
        except Conflict as error:
            outcome.append(error.answered)

    creation = threading.Thread(target=create)
    creation.start()
    assert reached.wait(5)
    assert bench.llama.get(plan.ref).state == "creating"
    assert bench.delete(plan.ref).gone
    creation.join(5)
    assert outcome == ["it was deleted meanwhile"]
    assert bench.names() == []
    assert bench.steps(plan.deployment) == [("MakeModel", "undone")]
    assert fetch.models_folder(bench.home).exists() is False


def test_without_a_state_file_it_is_found_by_its_command_line_and_killed_though_it_does_not_listen(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = bench.deploy("one")
    supervisor = bench.supervisor(plan.ref)
    Place(bench.home, "one").state.unlink()
    endpoint = bench.llama.get(plan.ref)
    assert (endpoint.state, endpoint.deployment) == ("creating", plan.deployment)
    assert endpoint.cloud_status == f"process {supervisor.pid} is running"
    _send(supervisor.pid, signal.SIGSTOP)
    monkeypatch.setattr("clouds.local.endpoints.starting.GRACE", 0.2)
    assert bench.delete(plan.ref).gone
    assert processes.scan(bench.home) == ()


@pytest.mark.more
def test_an_engine_whose_supervisor_was_killed_dies_with_it_and_starts_anew_when_created_again(bench: Any) -> None:
    plan = bench.deploy("one")
    engine = [each for each in processes.scan(bench.home) if each.role == "engine"]
    processes.end([bench.supervisor(plan.ref)], hard=True)
    assert processes.gone(engine, 5)
    failed = bench.llama.get(plan.ref)
    assert failed.state == "failed"
    assert "is gone without a word: it was killed" in failed.reason
    assert failed.reason.endswith("its log ends with 'ready: it generated a token'")
    bench.create(plan)
    assert bench.until(plan.ref, "ready").reason == ""
    assert bench.delete(plan.ref).gone


def test_sigterm_ends_it_and_a_deletion_that_was_interrupted_then_is_finished_by_the_next(bench: Any) -> None:
    plan = bench.deploy("one")
    place = Place(bench.home, "one")
    # as far as a deletion gets that is killed after its processes ended: the files are there, no process is
    found = processes.scan(bench.home)
    _send(bench.supervisor(plan.ref).pid, signal.SIGTERM)
    assert processes.gone(found, 5)
    stopped = bench.llama.get(plan.ref)
    assert (stopped.state, stopped.reason) == ("stopped", "it was asked to end")
    rest = place.folder.with_name(".gone-0123")
    rest.mkdir()
    (rest / "key").write_text("x")
    assert bench.delete(plan.ref).gone
    assert list((bench.home / "local").iterdir()) == []
    assert bench.steps(plan.deployment)[-1] == ("StartEngine", "undone")


def test_a_call_that_does_not_give_way_is_a_conflict_and_nothing_is_lost(
    standing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, plan = standing
    monkeypatch.setattr("clouds.local.endpoints.deleting.WAIT", 0.1)
    guard = Lock(Place(bench.home, "one").guard)
    assert guard.take()
    with guard, pytest.raises(Conflict, match="another call has been working on it"):
        bench.delete(plan.ref)
    assert bench.llama.get(plan.ref).state == "ready"


@pytest.mark.more
def test_an_endpoint_whose_folder_was_removed_by_hand_ends_and_is_deleted(bench: Any) -> None:
    import shutil

    plan = bench.deploy("one")
    supervisor = bench.supervisor(plan.ref)
    shutil.rmtree(bench.home / "local" / "one")
    assert processes.gone([supervisor], 5)
    assert [part.outcome for part in bench.delete(plan.ref).parts] == ["was not there"]


def test_a_folder_with_damaged_files_is_listed_as_unknown_and_can_be_deleted(bench: Any) -> None:
    place = Place(bench.home, "one")
    place.make()
    places.write(place.spec, {"name": "one", "deployment": "d-1"})
    place.state.write_text("[1]")
    (endpoint,) = bench.llama.list(scope=Scope()).found
    assert (endpoint.state, endpoint.reason, endpoint.deployment) == (
        "unknown",
        "state.json holds no JSON object: delete it",
        "d-1",
    )
    ref = bench.plan("one").ref
    assert bench.delete(ref).gone
    assert bench.names() == []


def _send(pid: int, number: int) -> None:
    import os

    os.kill(pid, number)
