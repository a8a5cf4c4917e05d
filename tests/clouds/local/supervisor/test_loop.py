"""The supervisor keeps the end, finds a port, and ends its engine whatever happens to it."""

from __future__ import annotations

import os
import signal
import socket
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import Conflict
from clouds.local import places, processes
from clouds.local.launch import Launch
from clouds.local.places import Place
from clouds.local.supervisor import engine, journal
from clouds.local.supervisor.loop import Supervisor


def test_its_time_to_live_ends_it_without_anybody_asking(bench: Any) -> None:
    plan = bench.begin(bench.plan("one", ttl_hours=0.3 / 3600))
    bench.create(plan)
    ended = bench.until(plan.ref, "stopped")
    assert ended.reason == "its time to live was over"
    assert processes.gone(processes.scan(bench.home), 5)
    state = places.read(Place(bench.home, "one").state) or {}
    assert state["ended"] == "time to live"
    assert bench.llama.get(plan.ref).state == "stopped"
    with pytest.raises(Conflict, match="its time to live was over"):  # nothing is sent to its port
        bench.llama.connect(plan.ref)


def test_an_engine_that_dies_is_a_failure_with_its_signal(bench: Any) -> None:
    plan = bench.deploy("one")
    os.kill(next(each.pid for each in processes.scan(bench.home) if each.role == "engine"), signal.SIGKILL)
    failed = bench.until(plan.ref, "failed")
    assert failed.reason.endswith("(its process was ended by SIGKILL (the system does that when memory runs out))")


def test_only_this_machine_can_reach_it(standing: Any) -> None:
    import psutil

    bench, _ = standing
    listening = [
        connection.laddr.ip
        for found in processes.scan(bench.home)
        for connection in psutil.Process(found.pid).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening == ["127.0.0.1"]


def test_a_port_that_is_lost_in_the_last_moment_is_chosen_anew(bench: Any, on_path: Any, tiny_file: Path) -> None:
    """The engine says at its first start that it cannot bind; the second one, on another port, serves."""
    on_path("llama-server", FAKE.replace("#BIND", BIND))
    plan = bench.deploy("one", str(tiny_file), engine="llama-server")
    assert bench.llama.get(plan.ref).state == "ready"


def test_llama_server_gets_its_key_in_a_file_and_its_version_is_read(bench: Any, on_path: Any, tiny_file: Path) -> None:
    on_path("llama-server", FAKE)
    port = engine.free_port()
    plan = bench.deploy("one", str(tiny_file), engine="llama-server", port=port)
    assert bench.llama.connect(plan.ref).url == f"http://127.0.0.1:{port}", "a port that is fixed is the one"
    assert bench.llama.plan(plan.spec).spec == plan.spec, "its own port is not taken by somebody else"
    facts = bench.llama.get(plan.ref).engine
    assert facts is not None
    assert (facts.engine, facts.version, facts.slots, facts.quantization) == ("llama-server", "b77-abc", 1, "F16")
    assert bench.llama.connect(plan.ref).fresh_connection


def test_vllm_gets_its_key_in_a_variable_and_its_log_is_read(bench: Any, on_path: Any, tiny_file: Path) -> None:
    on_path("vllm", FAKE)
    plan = bench.deploy("one", str(tiny_file), engine="vllm")
    facts = bench.llama.get(plan.ref).engine
    assert facts is not None
    assert (facts.version, facts.kv_cache_tokens, facts.weights_bytes, facts.max_concurrency) == (
        "0.32.0",
        867_999,
        round(8.01 * 2**30),
        512.0,
    )
    assert not bench.llama.connect(plan.ref).fresh_connection
    key = (bench.home / "local" / "one" / "key").read_text().strip()
    assert key not in (bench.home / "local" / "one" / "log").read_text(), "it printed its key, and the log has it not"


def test_an_engine_that_answers_without_a_token_is_never_ready(bench: Any, on_path: Any, tiny_file: Path) -> None:
    on_path("llama-server", FAKE.replace('"completion_tokens": 1', '"completion_tokens": 0'))
    plan = bench.begin(bench.plan("one", str(tiny_file), engine="llama-server"))
    bench.create(plan)
    failed = bench.until(plan.ref, "failed")
    assert failed.reason == "it is up and generates nothing: an answer without a token"


def test_a_log_is_bounded_and_keeps_the_part_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LIMIT", 200)
    written = journal.Journal(tmp_path / "log", ["sesame"])
    for number in range(5):
        written.write("engine", f"{number} open sesame " + "x" * 50)
    written.close()
    both = (tmp_path / "log.1").read_text() + (tmp_path / "log").read_text()
    assert "4 open *** " in both
    assert "sesame" not in both
    assert (tmp_path / "log").stat().st_size < 300


def test_what_is_replaced_leaves_neither_its_times_nor_its_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[dict[str, Any]] = []
    monkeypatch.setattr(Supervisor, "_begin", lambda *_: None)
    monkeypatch.setattr(Supervisor, "_save", lambda self: saved.append(dict(self._state)))
    supervisor = object.__new__(Supervisor)
    supervisor._place, supervisor._engine = Place(tmp_path, "one"), None
    supervisor._state = {"state": "ready", "phases": [{"name": "load", "seconds": 3.0}], "facts": {"slots": 4}}
    launch = Launch("xllamacpp", "python", "tiny", "/m.gguf", context=512, slots=2, threads=1)
    supervisor._accept({"id": "c-1", "launch": launch.to_json()})
    assert [(each["state"], each["phases"], each["facts"]) for each in saved] == [("updating", [], {})]


def test_a_free_port_is_free() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", engine.free_port()))


def test_the_files_of_an_endpoint_are_its_owners_alone(standing: Any) -> None:
    bench, _ = standing
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (bench.home / "local" / "one").iterdir()}
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}


BIND = """
import pathlib
if not pathlib.Path("tried").exists():
    pathlib.Path("tried").write_text("x")
    sys.exit("error: could not bind to port")
"""
FAKE = f"#!{sys.executable} -S"
FAKE += '''
"""Answers as llama-server and vllm do, as far as the supervisor asks, and insists on the key."""
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
#BIND
arguments = dict(zip(sys.argv, sys.argv[1:]))
file = arguments.get("--api-key-file")
key = open(file).read().strip() if file else os.environ["VLLM_API_KEY"]
assert key not in " ".join(sys.argv)
print("0.00.001.000 I srv init: loading model", "key", key)
print("INFO KV cache size: 867,999 tokens\\nINFO Maximum concurrency for 1,024 tokens per request: 512.00x")
print("INFO Model loading took 8.01 GiB and 83.2 seconds", flush=True)
ANSWERS = {
    "/health": {},
    "/version": {"version": "0.32.0"},
    "/v1/models": {"data": [{"id": "m", "max_model_len": 256, "meta": {"size": 231680}}]},
    "/props": {"model_ftype": "F16", "total_slots": 1, "build_info": "b77-abc",
               "default_generation_settings": {"n_ctx": 256}},
    "/v1/chat/completions": {"usage": {"completion_tokens": 1}},
}
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        allowed = self.path == "/health" or self.headers["Authorization"] == "Bearer " + key
        body = json.dumps(ANSWERS[self.path]).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *_): pass
HTTPServer(("127.0.0.1", int(arguments["--port"])), Handler).serve_forever()
'''
