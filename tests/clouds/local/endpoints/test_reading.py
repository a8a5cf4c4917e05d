"""What is there is found by its processes too, and a reused pid is not taken for ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clouds.local import places, processes
from clouds.local.endpoints import reading
from clouds.local.launch import Launch
from clouds.local.places import Place
from clouds.models import EndpointRef, Scope


@pytest.fixture
def stranger() -> Iterator[int]:
    """A live process that is not ours."""
    process = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    yield process.pid
    process.communicate(b"\n", timeout=5)


def test_a_pid_that_somebody_else_has_now_is_not_taken_for_ours(bench: Any, stranger: int) -> None:
    plan = bench.deploy("one")
    supervisor = bench.supervisor(plan.ref)
    processes.end([supervisor], hard=True)
    assert processes.gone([supervisor], 10)
    place = Place(bench.home, "one")
    state = places.read(place.state) or {}
    places.write(place.state, {**state, "pid": stranger, "created": processes.created(stranger)})
    endpoint = bench.llama.get(plan.ref)
    assert (endpoint.state, endpoint.url) == ("failed", "")
    assert endpoint.reason.startswith(f"its process {stranger} is gone without a word")
    assert bench.delete(plan.ref).gone
    assert processes.created(stranger) > 0, "the stranger was left alone"


def test_a_process_is_only_ours_with_its_own_start_word_and_time(standing: Any) -> None:
    bench, plan = standing
    found = bench.supervisor(plan.ref)
    start = found.started.start
    assert processes.look(found.pid, found.created, start) == found
    assert processes.look(found.pid, found.created - 3, start) is None
    assert processes.look(found.pid, found.created, "another") is None
    assert processes.look(2**22 - 7, found.created, start) is None


def test_a_start_is_read_as_psutil_reads_it(stranger: int) -> None:
    import psutil

    assert processes.created(stranger) == pytest.approx(psutil.Process(stranger).create_time(), abs=0.02)


COMMAND = processes.command(processes.Started("/h", "one", "d-1", "ab"))
MENTIONS = [
    ["grep", " ".join(COMMAND)],
    ["sh", "-c", " ".join(COMMAND)],
    [*COMMAND, "--more"],
    COMMAND[:-2],
    [COMMAND[0], *COMMAND[2:], "x"],
    ["python", "-P", "-m", "other", *COMMAND[4:]],
]


def test_a_command_line_is_read_back() -> None:
    assert processes.parse(COMMAND) == processes.Started("/h", "one", "d-1", "ab")


@pytest.mark.parametrize("words", MENTIONS, ids=range(len(MENTIONS)))
def test_a_command_line_that_only_mentions_ours_is_not_ours(words: list[str]) -> None:
    assert processes.parse(words) is None


def test_an_interrupted_creation_is_listed_as_failed_with_what_to_do(bench: Any) -> None:
    place = Place(bench.home, "one")
    place.make()
    (endpoint,) = bench.llama.list(scope=Scope()).found
    assert (endpoint.state, endpoint.reason) == (
        "failed",
        "its creation was interrupted before a process was there: deploy it again or delete it",
    )
    assert bench.delete(EndpointRef.parse(endpoint.ref)).gone


def test_lists_hold_every_endpoint_of_this_home_and_no_other(standing: Any, bench: Any) -> None:
    other, _ = standing
    bench.create(bench.begin(bench.plan("elsewhere")))
    assert bench.names() == ["elsewhere"]
    assert other.names() == ["one"]
    assert bench.llama.list(scope=Scope(location="us-east-1")).found == ()


def test_processes_that_cannot_be_listed_are_unread_and_not_absent(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied() -> Any:
        raise PermissionError("denied")

    monkeypatch.setattr("psutil.pids", denied)
    listed = bench.llama.list(scope=Scope())
    assert not listed.complete
    assert listed.unread[0].reason == "PermissionError: denied"
    monkeypatch.undo()


def test_before_the_engine_says_what_it_is_the_facts_are_what_it_was_started_with() -> None:
    launch = Launch("xllamacpp", "python", "tiny", "/m.gguf", context=512, slots=2, threads=1)
    place = Place(Path("/nowhere"), "one")
    loading = reading._engine(reading.Seen(place, {}, {}, None), launch)
    assert loading is not None
    assert (loading.context_tokens, loading.slots, loading.threads) == (512, 2, 1)
    ready = reading._engine(reading.Seen(place, {}, {"facts": {"context_tokens": 500, "slots": 1}}, None), launch)
    assert ready is not None
    assert (ready.context_tokens, ready.slots) == (500, 1)
