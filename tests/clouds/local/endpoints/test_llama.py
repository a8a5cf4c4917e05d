"""The whole life of a local endpoint, with the real engine on a tiny random model."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from clouds import openai
from clouds.errors import NotFound, PermissionMissing
from clouds.local import processes
from clouds.models import EndpointRef, EngineFacts, Wire

ABSENT = EndpointRef("local", "llama", "this-machine", "onee")
HI = [{"role": "user", "content": "hi"}]


def test_deploy_query_delete(bench: Any) -> None:
    plan = bench.deploy("one", slots=2, context=512)
    endpoint = bench.llama.get(plan.ref)
    wire = bench.llama.connect(plan.ref)
    assert openai.chat(wire, HI, max_tokens=5).usage["completion_tokens"] == 5
    assert (endpoint.ref, endpoint.state, endpoint.billing, endpoint.model, endpoint.deployment) == (
        "local:llama:this-machine:one", "ready", False, "tiny-random", plan.deployment,
    )  # fmt: skip
    assert [phase.name for phase in endpoint.phases][:3] == ["engine start", "model load", "first token"]
    assert endpoint.url == f"{wire.url}/v1", "the base URL that an OpenAI client wants"
    assert (wire.model, wire.fresh_connection, dict(wire.extra_body)) == ("tiny-random", True, {})
    assert "cache_prompt" in wire.accepts

    deletion = bench.delete(plan.ref)
    assert deletion.gone
    assert [(part.part.split(" process")[0], part.outcome) for part in deletion.parts] == [
        ("supervisor", "deleted"),
        ("engine", "deleted"),
        ("files and API key", "deleted"),
        ("model tiny-random.gguf", "kept"),
    ]
    assert bench.steps(plan.deployment) == [("MakeModel", "done"), ("StartEngine", "undone")]
    assert bench.names() == []
    with pytest.raises(NotFound):
        bench.llama.get(plan.ref)


def test_the_engine_says_what_it_serves_with(standing: Any) -> None:
    bench, plan = standing
    facts = bench.llama.get(plan.ref).engine
    assert facts is not None
    assert facts.load_seconds is not None
    assert len(facts.model_sha256) == 64
    assert facts.model_copy(update={"load_seconds": None, "model_sha256": "", "settings": {}}) == EngineFacts(
        engine="xllamacpp",
        version=plan.engine.version,
        model="tiny-random",
        parameters=115_520,
        weights_bytes=231_680,
        quantization="F16",
        kv_cache_bytes=round(0.38 * 2**20),  # its log rounds to 0.01 MiB
        kv_cache_tokens=1024,
        kv_cache_dtype="q8_0",
        context_tokens=512,
        max_concurrency=2.0,
        slots=2,
        threads=1,
    )
    assert {name: facts.settings[name] for name in ("flags", "weights", "flash_attention")} == {
        "flags": "--cache-type-k q8_0 --flash-attn on",
        "weights": "random, made here",
        "flash_attention": "enabled",
    }


def test_the_key_is_in_one_0600_file_and_nowhere_else(standing: Any) -> None:
    bench, plan = standing
    folder = bench.home / "local" / "one"
    key = (folder / "key").read_text().strip()
    wire = bench.llama.connect(plan.ref)
    assert wire.headers == {"Authorization": f"Bearer {key}"}
    with pytest.raises(PermissionMissing):
        openai.chat(Wire(url=wire.url), HI, max_tokens=1)
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir() if path.is_file() and key in path.read_text()] == ["key"]
    assert key not in (bench.home / "ledger.sqlite3").read_bytes().decode("latin-1")
    assert key not in repr(wire) + repr(bench.llama.get(plan.ref))
    for found in processes.scan(bench.home):
        assert key not in Path(f"/proc/{found.pid}/cmdline").read_text()
        assert key not in Path(f"/proc/{found.pid}/environ").read_text()


DEPLOYER = """
import sys, time
from dataclasses import replace
from pathlib import Path
from clouds.local.endpoints.llama import Llama
from clouds.models import DeploymentSpec
from tools.ledger import Book
home = Path(sys.argv[1])
class Calm:
    def report(self, *_): pass
    def check(self): pass
    def sleep(self, seconds): time.sleep(seconds)
llama, book = Llama(home), Book(home)
spec = DeploymentSpec("local", "llama", "one", "tiny-random", settings={"threads": 1, "slots": 1, "context": 256})
plan = llama.plan(spec)
llama.create(replace(plan, deployment=book.deployments.begin(plan.spec, plan)), book, Calm())
"""


def test_an_endpoint_outlives_the_process_that_made_it(bench: Any) -> None:
    subprocess.run([sys.executable, "-c", DEPLOYER, str(bench.home)], check=True, timeout=30, cwd=processes.ROOT)
    ref = EndpointRef("local", "llama", "this-machine", "one")
    assert bench.until(ref, "ready").model == "tiny-random"
    supervisor = bench.supervisor(ref)
    state = json.loads((bench.home / "local" / "one" / "state.json").read_text())
    assert (state["pid"], state["start"]) == (supervisor.pid, supervisor.started.start)
    assert bench.delete(ref).gone


test_an_endpoint_outlives_the_process_that_made_it.__test__ = "MODELRIG_ALL" in os.environ  # type: ignore[attr-defined]
"""It does in tests/e2e too, in every run."""


def test_what_is_not_there_is_said_to_be_so(standing: Any) -> None:
    bench, plan = standing
    with pytest.raises(NotFound) as caught:
        bench.llama.get(ABSENT)
    assert caught.value.fix == "Did you mean one?"
    for call in (bench.llama.connect, lambda ref: bench.llama.logs(ref, since=timedelta(hours=1), limit=5)):
        with pytest.raises(NotFound):
            call(ABSENT)
    deletion = bench.delete(ABSENT)
    assert (deletion.gone, [part.outcome for part in deletion.parts]) == (True, ["was not there"])
    assert bench.llama.get(plan.ref).state == "ready"


def test_logs_are_the_newest_lines_and_say_how_many_there_are(standing: Any) -> None:
    bench, plan = standing
    every = bench.llama.logs(plan.ref, since=timedelta(hours=1), limit=5_000).lines
    page = bench.llama.logs(plan.ref, since=timedelta(hours=1), limit=3)
    assert (page.lines, page.total, page.note) == (every[-3:], len(every), f"3 of {len(every)} lines")
    assert any(line.endswith("supervisor | ready: it generated a token") for line in every)
    assert bench.llama.logs(plan.ref, since=timedelta(0), limit=3).lines == ()
