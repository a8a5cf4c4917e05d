"""Creating: idempotent, one at a time, and undone when it is cancelled or fails."""

from __future__ import annotations

import json
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import Cancelled, CloudError, Conflict, InvalidInput
from clouds.local import processes
from clouds.local.endpoints import starting
from tests.clouds.local.conftest import FOREIGN


def test_created_again_it_is_the_same_process(standing: Any) -> None:
    bench, plan = standing
    first = bench.supervisor(plan.ref)
    assert bench.create(plan).state == "ready"
    assert bench.supervisor(plan.ref) == first
    assert bench.steps(plan.deployment) == [("MakeModel", "done"), ("StartEngine", "done")]


def test_a_name_that_another_deployment_has_is_a_conflict(standing: Any) -> None:
    bench, plan = standing
    with pytest.raises(Conflict, match=f"deployment {plan.deployment} has that name"):
        bench.create(replace(plan, deployment="d-other"))
    assert bench.llama.get(plan.ref).state == "ready"


def test_two_creations_of_one_name_at_once_make_one_process(bench: Any, tiny_file: Path) -> None:
    plan = bench.begin(bench.plan("one", str(tiny_file)))
    outcomes: list[Any] = []

    def create() -> None:
        outcomes.append(bench.llama.create(plan, bench.book, bench.progress).deployment)

    threads = [threading.Thread(target=create) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [plan.deployment, plan.deployment]
    assert len([each for each in processes.scan(bench.home) if each.role == "supervisor"]) == 1


@pytest.mark.parametrize("at", ["writing tiny-random"])
def test_a_cancelled_creation_leaves_nothing_and_its_steps_are_undone(bench: Any, at: str) -> None:
    bench.progress.cancel_at = at
    plan = bench.begin(bench.plan("one"))
    with pytest.raises(Cancelled):
        bench.create(plan)
    assert bench.names() == []
    assert bench.steps(plan.deployment) == [("MakeModel", "undone")]
    assert not (bench.home / "models" / "tiny-random.gguf").exists()


def test_a_creation_cancelled_after_its_process_started_ends_that_process(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = bench.begin(bench.plan("one"))
    start = starting.start

    def then_cancel(*arguments: Any) -> Any:
        start(*arguments)
        raise Cancelled

    monkeypatch.setattr(starting, "start", then_cancel)
    with pytest.raises(Cancelled):
        bench.create(plan)
    assert processes.scan(bench.home) == ()
    assert bench.names() == []
    assert bench.steps(plan.deployment) == [("MakeModel", "undone"), ("StartEngine", "undone")]


def test_a_model_that_another_endpoint_uses_stays_when_a_creation_is_undone(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = bench.begin(bench.plan("one")), bench.begin(bench.plan("two"))
    bench.create(one)

    def fails(*_: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(starting, "start", fails)
    with pytest.raises(RuntimeError):
        bench.create(two)
    assert bench.names() == ["one"]
    assert (bench.home / "models" / "tiny-random.gguf").exists()


def test_a_model_that_the_engine_cannot_load_fails_with_the_engines_words(
    bench: Any, tiny_file: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(tiny_file.read_bytes().replace(b"tokenizer.ggml.merges", b"tokenizer.ggml.mergex"))
    plan = bench.begin(bench.plan("one", str(broken)))
    bench.create(plan)
    failed = bench.until(plan.ref, "failed")
    assert "cannot find tokenizer merges in model file" in failed.reason
    assert "its process ended with code 1" in failed.reason
    assert bench.delete(plan.ref).gone


def test_what_became_impossible_since_the_plan_is_refused_and_leaves_no_folder(
    bench: Any, tiny_file: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.gguf"
    moved.write_bytes(tiny_file.read_bytes())
    plan = bench.begin(bench.plan("one", str(moved)))
    moved.unlink()
    with pytest.raises(InvalidInput, match="is not there"):
        bench.create(plan)
    assert bench.names() == []
    assert bench.steps(plan.deployment) == []


def test_a_process_that_never_claims_its_name_is_an_error_with_its_last_words(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = bench.begin(bench.plan("one"))
    monkeypatch.setattr(processes, "SUPERVISOR", "clouds.local.nobody")
    with pytest.raises(CloudError, match="No module named"):
        bench.create(plan)
    assert bench.names() == []
    assert bench.steps(plan.deployment)[-1] == ("StartEngine", "undone")


def test_the_supervisor_gets_no_credential_and_no_engine_variable(standing: Any) -> None:
    bench, plan = standing
    for found in processes.scan(bench.home):
        names = {part.partition("=")[0] for part in Path(f"/proc/{found.pid}/environ").read_text().split("\0")}
        assert names & {*FOREIGN, "MODELRIG_HOME"} == {"OMP_WAIT_POLICY"}
    assert bench.llama.get(plan.ref).state == "ready"


def test_a_step_in_the_ledger_says_how_to_find_the_process(standing: Any) -> None:
    bench, plan = standing
    state = json.loads((bench.home / "local" / "one" / "state.json").read_text())
    result = bench.book.steps(plan.deployment)[-1].result
    assert {name: result[name] for name in ("pid", "created", "port", "command")} == {
        name: state[name] for name in ("pid", "created", "port", "command")
    }
    assert result["log"].endswith("local/one/log")
    assert bench.book.facts(plan.deployment)["key_file"].endswith("local/one/key")


def test_the_supervisor_is_nobodys_child_and_ignores_a_closed_terminal(standing: Any) -> None:
    import psutil

    bench, plan = standing
    process = psutil.Process(bench.supervisor(plan.ref).pid)
    assert psutil.Process() not in process.parents()
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    assert bench.llama.get(plan.ref).state == "ready"
    assert bench.create(plan).state == "ready"
