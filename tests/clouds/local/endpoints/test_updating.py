"""Another end, model or settings on an endpoint that runs: its process and its URL stay."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from clouds import openai
from clouds.errors import Cancelled, Conflict, InvalidInput, NotFound
from clouds.models import Change, Endpoint, EndpointRef

HI = [{"role": "user", "content": "hi"}]


def update(bench: Any, ref: EndpointRef, **change: Any) -> Endpoint:
    endpoint: Endpoint = bench.llama.update(ref, Change(**change), bench.book, bench.progress)
    return endpoint


def test_a_later_end_moves_the_deadline_without_a_new_engine(standing: Any) -> None:
    bench, plan = standing
    before, engine = bench.supervisor(plan.ref), _engine(bench)
    endpoint = update(bench, plan.ref, ttl_hours=5)
    left = datetime.fromisoformat(endpoint.expires) - bench.llama._now()
    assert 4.99 < left.total_seconds() / 3600 <= 5
    assert (endpoint.state, bench.supervisor(plan.ref), _engine(bench)) == ("ready", before, engine)
    assert bench.steps(plan.deployment)[-1] == ("StartEngine", "done")


def test_an_earlier_end_ends_it_and_what_ended_cannot_be_changed(bench: Any) -> None:
    plan = bench.begin(bench.plan("one"))
    bench.create(plan)
    update(bench, plan.ref, ttl_hours=0.001 / 3600)
    ended = bench.until(plan.ref, "stopped")
    assert ended.reason == "its time to live was over"
    with pytest.raises(Conflict, match="it is stopped: its time to live was over"):
        update(bench, plan.ref, ttl_hours=1)


@pytest.mark.more
def test_another_model_and_other_settings_replace_the_engine_and_keep_process_and_url(
    bench: Any, tiny_file: Path
) -> None:
    other = tiny_file.with_name("other.gguf")
    other.write_bytes(tiny_file.read_bytes())
    plan = bench.deploy("one", str(other), flags="--no-warmup")
    before, url, engine = bench.supervisor(plan.ref), bench.llama.get(plan.ref).url, _engine(bench)
    change = {"model": "tiny-random", "settings": {"context": 512, "slots": 2}}
    assert update(bench, plan.ref, **change).state in {"updating", "ready"}
    endpoint = bench.until(plan.ref, "ready")
    assert endpoint.model == "tiny-random"
    assert openai.chat(bench.llama.connect(plan.ref), HI, max_tokens=1).model == "tiny-random"
    assert (endpoint.engine.context_tokens, endpoint.engine.slots) == (512, 2)
    assert endpoint.engine.settings["flags"] == "--no-warmup"
    assert (bench.supervisor(plan.ref), endpoint.url) == (before, url)
    assert _engine(bench) != engine
    assert bench.steps(plan.deployment)[1:] == [("MakeModel", "done"), ("ReplaceEngine", "done")]


def test_the_same_settings_change_nothing(standing: Any) -> None:
    bench, plan = standing
    engine = _engine(bench)
    assert update(bench, plan.ref, settings={"context": 512}, model="tiny-random").state == "ready"
    assert _engine(bench) == engine


def test_a_change_that_is_cancelled_or_does_not_come_up_leaves_what_ran(bench: Any, tiny_file: Path) -> None:
    plan = bench.deploy("one", str(tiny_file))
    url, engine = bench.llama.get(plan.ref).url, _engine(bench)
    bench.progress.cancel_at = "writing tiny-random"
    with pytest.raises(Cancelled):
        update(bench, plan.ref, model="tiny-random")
    assert (bench.llama.get(plan.ref).state, _engine(bench)) == ("ready", engine)
    assert bench.steps(plan.deployment)[-1] == ("MakeModel", "undone")

    broken = tiny_file.with_name("broken.gguf")
    broken.write_bytes(tiny_file.read_bytes().replace(b"tokenizer.ggml.merges", b"tokenizer.ggml.mergex"))
    update(bench, plan.ref, model=str(broken))
    endpoint = bench.until(plan.ref, "ready")
    assert endpoint.reason.startswith("broken did not come up: llama_model_load: error loading model")
    assert endpoint.reason.endswith("what ran before runs again")
    assert (endpoint.model, endpoint.url) == ("tiny-random", url)
    assert openai.chat(bench.llama.connect(plan.ref), HI, max_tokens=1).model == "tiny-random"


WRONG = [
    ({"ttl_hours": 0}, "ttl_hours"),
    ({"ttl_hours": float("nan")}, "ttl_hours"),
    ({"model": "/nowhere.gguf"}, "is not there"),
    ({"settings": {"kontext": 1}}, "is not a setting"),
    ({"settings": {"flags": "--port 1"}}, "'--port' is not taken"),
]


def test_a_wrong_change_is_refused_and_what_ran_runs(standing: Any) -> None:
    bench, plan = standing
    for change, problem in WRONG:
        with pytest.raises(InvalidInput, match=problem):
            update(bench, plan.ref, **change)
    assert bench.steps(plan.deployment)[-1] == ("StartEngine", "done")
    assert bench.llama.get(plan.ref).state == "ready"


def test_what_is_not_there_cannot_be_changed(bench: Any) -> None:
    with pytest.raises(NotFound):
        update(bench, EndpointRef("local", "llama", "this-machine", "nobody"), ttl_hours=1)
    assert bench.names() == []


def _engine(bench: Any) -> int:
    from clouds.local import processes

    return next(each.pid for each in processes.scan(bench.home) if each.role == "engine")
