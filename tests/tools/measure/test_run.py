"""Whole runs against a server of known timing: figures, faults, files, and what is left when a run is ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import Cancelled, NotFound
from clouds.models import Wire
from tests.tools.measure.truth import Truth, serving
from tools.measure import draft, store
from tools.measure.catalogue import USUAL
from tools.measure.cost import PriceUsed, per_million
from tools.measure.job import Job
from tools.measure.measurement import Ask, Objective
from tools.measure.profiles import Profile
from tools.measure.record import Run, Subject
from tools.measure.run import measure
from tools.progress import CallProgress

ROOT = Path(__file__).resolve().parents[3]
SMALL = Profile("small", 4, 24, 3, (1, 3), 10, 2, 4, 6)
HOURLY = PriceUsed(usd_per_hour=1.0)


def job(truth: Truth, folder: Path, **fields: Any) -> Job:
    plain: dict[str, Any] = {
        "wire": Wire(url=truth.url),
        "subject": Subject(ref=truth.url, model=""),
        "ask": Ask(SMALL, "abc", objective=Objective(ttft_ms=10_000)),
        "measurements": USUAL,
        "path": store.claim(folder, "run"),
        "name": "run",
    }
    return Job(**{**plain, **fields})


def value(run: Run, key: str) -> float:
    figure = run.figure(key)
    assert figure is not None
    assert figure.value is not None
    return figure.value


Whole = tuple[Job, Run, list[tuple[str, Any, Any]]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A job, its run, and what was said meanwhile."""
    said: list[tuple[str, Any, Any]] = []
    with serving(Truth(ttft=0.01, itl=0.001)) as truth:
        todo = job(truth, tmp_path_factory.mktemp("whole"), price=HOURLY, spent=lambda: (0.1, 0.2))
        return todo, measure(todo, CallProgress(lambda *report: said.append(report))), said


def test_a_whole_run_holds_figures_raw_timings_and_formulas(whole: Whole) -> None:
    todo, run, said = whole
    assert (run.state, run.missing, run.failure) == ("complete", (), "")
    assert [part.name for part in run.parts] == ["decode", "load", "answers"]
    assert all(part.complete and not part.errors for part in run.parts)
    assert store.read(todo.path) == run
    decode, load, answers = run.parts
    assert [len(batch.requests) for batch in decode.batches] == [1] * 6
    assert [batch.label for batch in decode.batches] == ["short", "long"] * 3
    assert [batch.at_once for batch in load.batches] == [1, 3, 1, 3]
    assert [request.tokens for batch in load.batches for request in batch.requests] == [10] * 8
    assert len(answers.items) == 40
    assert all(len(request.gaps_us) == 9 for batch in load.batches for request in batch.requests)
    assert value(run, "answers.right") == 0
    assert value(run, "load.3.kept_percent") == 100
    assert value(run, "load.3.ttft_p50_ms") >= 9
    assert value(run, "decode.tokens_per_chunk") == 1
    assert {figure.formula for part in run.parts for figure in part.figures} <= set(run.formulas)
    assert [row.at_once for row in run.costs] == [1, 3]
    assert run.costs[0].usd_per_million_output == per_million(1.0, value(run, "load.1.tokens_per_second"))
    assert run.run_usd == pytest.approx(run.seconds / 3600, abs=1e-6)
    assert run.spent_usd == (0.1, 0.2)
    assert run.host is not None
    assert run.host.calibration_ms_after
    assert [(done, total) for says, done, total in said if "begins" not in says] == [(n, 11) for n in range(12)]
    begun = [(says, done) for says, done, _ in said if "begins" in says]
    assert begun[2] == ("answers begins: forty questions with exact answers", 10)  # asked for a while in one go
    assert [done for _, done in begun] == [0, 6, 10]


def test_the_computed_figures_are_those_of_the_raw_timings(whole: Whole) -> None:
    _, run, _ = whole
    decode, load, _ = run.parts
    seconds = [batch.requests[0].last_ms or 0 for batch in decode.batches]
    short, long = sorted(seconds[::2])[1], sorted(seconds[1::2])[1]
    assert value(run, "decode.tokens_per_second") == pytest.approx(20 / (long - short) * 1e3, rel=1e-4)
    rates = [batch.tokens / batch.wall_seconds for batch in load.batches if batch.at_once == 3]
    assert value(run, "load.3.tokens_per_second") == pytest.approx(sum(rates) / 2, rel=1e-4)
    figure = run.figure("load.3.tokens_per_second")
    assert figure is not None
    assert (figure.low, figure.high) == (pytest.approx(min(rates), rel=1e-4), pytest.approx(max(rates), rel=1e-4))
    tpots = sorted(
        ((each.last_ms or 0) - (each.ttft_ms or 0)) / 9
        for batch in load.batches
        if batch.at_once == 3
        for each in batch.requests
    )
    assert value(run, "load.3.tpot_p50_ms") == pytest.approx((tpots[2] + tpots[3]) / 2, rel=1e-3)


def test_no_two_timed_prompts_are_alike_and_every_run_asks_the_same_questions(serve: Any, tmp_path: Path) -> None:
    truth = serve()
    measure(job(truth, tmp_path), CallProgress())
    timed = [body["messages"][0]["content"] for body in truth.bodies if body.get("ignore_eos")][1:]
    asked = [body["messages"][0]["content"] for body in truth.bodies if not body.get("ignore_eos")]
    assert len(timed) == len({prompt.split("\n")[0] for prompt in timed}) == 6 + 8
    first = len(truth.bodies)
    measure(job(truth, tmp_path, ask=Ask(SMALL, "def")), CallProgress())
    again = [body["messages"][0]["content"] for body in truth.bodies[first:]]
    assert not set(timed) & set(again)
    assert sorted(set(asked) & set(again)) == sorted(asked)
    assert all(body["cache_prompt"] is False and body["temperature"] == 0 for body in truth.bodies)


@pytest.mark.usefixtures("short_stalls")
def test_with_faults_switched_on_each_is_counted_under_its_kind_and_none_is_in_a_timing(
    serve: Any, tmp_path: Path
) -> None:
    names = ("429", "500", "cut", "junk", "told", "short", "stall", "nousage")
    injected: list[str] = []

    def fault(n: int, body: dict[str, Any]) -> str:
        if n == 1 or not body.get("ignore_eos") or body["max_tokens"] != SMALL.load_tokens:
            return ""
        injected.append(names[n % 9] if n % 9 < len(names) else "")
        return injected[-1]

    ask = Ask(Profile("small", 4, 24, 2, (18,), 10, 1, 4, 6), "abc")
    truth = serve(ttft=0.02, itl=0.002, fault=fault)
    run = measure(job(truth, tmp_path, ask=ask, measurements=USUAL[1:2]), CallProgress())
    load = run.parts[0]
    kinds = {"429": "http_429", "500": "http_5xx", "stall": "stalled", "junk": "malformed"}
    assert load.errors == Counter(kinds.get(name, name) for name in injected if name not in {"", "nousage"})
    assert load.cautions == {"no_usage": injected.count("nousage")}
    good = [each for batch in load.batches for each in batch.requests if each.kind == "ok"]
    assert len(good) == 18 - sum(load.errors.values())
    assert sum(batch.tokens for batch in load.batches) == 10 * len(good)
    assert all(batch.wall_seconds < truth.stall for batch in load.batches)  # the pause of a stalled reply
    figure = run.figure("load.18.itl_p99_ms")
    assert figure is not None
    assert figure.n == 9 * len(good)
    assert {each.kind for each in run.warnings} >= {"failed_requests", "no_usage"}
    assert run.state == "complete"


def test_a_level_without_a_good_reply_is_missing_and_the_run_is_not_complete(serve: Any, tmp_path: Path) -> None:
    truth = serve(fault=lambda n, _body: "500" if n > 1 else "")
    run = measure(job(truth, tmp_path, measurements=USUAL[:2]), CallProgress())
    assert run.state == "incomplete"
    assert run.missing[0] == "decode, tokens/s: 0 good pairs, at least 2 are needed"
    assert "3 at once, tokens/s: no good reply" in run.missing
    figure = run.figure("load.3.tokens_per_second")
    assert figure is not None
    assert (figure.value, figure.samples) == (None, ())


def test_prompts_from_a_cache_are_warned_of(serve: Any, tmp_path: Path) -> None:
    run = measure(job(serve(cached=12), tmp_path, measurements=USUAL[1:2]), CallProgress())
    assert "cached_prompt" in {each.kind for each in run.warnings}
    clean = measure(job(serve(), tmp_path, measurements=USUAL[1:2]), CallProgress())
    assert "cached_prompt" not in {each.kind for each in clean.warnings}


def test_an_endpoint_that_does_not_answer_leaves_a_failed_run_that_says_why(serve: Any, tmp_path: Path) -> None:
    truth = serve(fault=lambda *_: "404")
    todo = job(truth, tmp_path)
    with pytest.raises(NotFound, match="404"):
        measure(todo, CallProgress())
    left = store.read(todo.path)
    assert (left.state, left.parts, left.missing) == ("failed", (), ("decode", "load", "answers"))
    assert "404" in left.failure


def test_a_wish_to_stop_ends_the_run_at_once_and_keeps_what_it_had(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "SAVE_SECONDS", 0.0)
    truth = serve(itl=0.004)
    progress = CallProgress(lambda says, *_: progress.cancel() if "reply 2" in says else None)
    todo = job(truth, tmp_path)
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        measure(todo, progress)
    assert time.monotonic() - begun < 20
    left = store.read(todo.path)
    assert (left.state, left.missing, left.failure) == ("incomplete", ("decode", "load", "answers"), "Cancelled")
    assert left.parts[0].complete is False
    assert left.parts[0].batches
    assert not [thread for thread in threading.enumerate() if thread.name == "measure"]


WORKER = """
import sys
from pathlib import Path
from clouds.models import Wire
from tools.measure import draft, host, store
from tools.measure.catalogue import USUAL
from tools.measure.job import Job
from tools.measure.measurement import Ask
from tools.measure.profiles import Profile
from tools.measure.record import Subject
from tools.measure.run import measure
from tools.progress import CallProgress
draft.SAVE_SECONDS, host.WORK = 0, host.WORK // 10
url, folder = sys.argv[1:]
ask = Ask(Profile("small", 4, 24, 3, (1, 3), 10, 2, 4, 6), "abc")
path = store.claim(Path(folder), "run")
measure(Job(Wire(url=url), Subject(ref=url, model=""), ask, USUAL, path, "run"), CallProgress())
"""


def test_a_run_that_is_killed_leaves_a_file_that_can_be_read_and_says_what_is_missing(
    serve: Any, tmp_path: Path
) -> None:
    truth = serve(itl=0.002, fault=lambda _n, body: "silent" if body["max_tokens"] == SMALL.load_tokens else "")
    worker = subprocess.Popen([sys.executable, "-c", WORKER, truth.url, str(tmp_path)], cwd=ROOT)
    try:
        while (worker.poll() is None and truth.together < 1) or not any(b["max_tokens"] == 10 for b in truth.bodies):
            time.sleep(0.01)
        os.kill(worker.pid, signal.SIGKILL)
    finally:
        worker.kill()
        worker.wait(10)
    left = store.read(tmp_path / "run.json")
    assert (left.state, left.missing) == ("incomplete", ("load", "answers"))
    assert [part.name for part in left.parts if part.complete] == ["decode"]
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_the_file_is_plain_json_without_any_key(serve: Any, tmp_path: Path) -> None:
    truth = serve(key="sk-secret-123456789")
    todo = job(truth, tmp_path, wire=Wire(url=truth.url, headers={"Authorization": "Bearer sk-secret-123456789"}))
    measure(todo, CallProgress())
    text = todo.path.read_text(encoding="utf-8")
    assert json.loads(text)["schema_version"] == 1
    assert "secret" not in text
