"""Against a truth server that was not written here, where one is beside the checkout."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.measure.truth import Truth
from tools.measure.client import Batch, ChatRequest

SERVER = Path(__file__).resolve().parents[5] / "shared" / "tools" / "truth_server.py"
KINDS = {"429": "http_429", "500": "http_5xx", "cut": "cut", "stall": "stalled", "junk": "malformed", "short": "short"}
if not os.environ.get("MODELRIG_ALL"):
    del KINDS["stall"]  # two seconds of waiting; our own server stalls in test_model_client.py


def ask(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.loads(answer.read())


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[str]:
    if not SERVER.is_file():
        pytest.skip(f"no truth server at {SERVER}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    process = subprocess.Popen([sys.executable, "-I", "-S", str(SERVER), "--port", port, *arguments])
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                ask(f"{url}/health")
                break
            time.sleep(0.02)
        yield url
    finally:
        process.kill()
        process.wait(5)


def test_every_fault_that_it_injects_is_counted_under_its_kind_and_no_other_is(with_client: Any) -> None:
    faults = [f"--fault={name}:0.1" for name in (*KINDS, "nousage", "slow")]
    with serving("--ttft-ms", "20", "--itl-ms", "2", "--seed", "7", *faults) as url:
        requests = [ChatRequest(f"say {n}", 20, fixed_length=True) for n in range(80)]
        batch: Batch = with_client(Truth(url=url), lambda client: client.together(requests))
        injected = ask(f"{url}/truth")["faulted"]
    assert set(injected) == {*KINDS, "nousage", "slow"}
    found = Counter(reply.kind for reply in batch.replies)
    assert {kind: found[kind] for kind in KINDS.values()} == {kind: injected[name] for name, kind in KINDS.items()}
    assert len(batch.good) == 80 - sum(injected[name] for name in KINDS)
    assert sum(reply.tokens_from == "limit" for reply in batch.good) == injected["nousage"]
    assert all(reply.tokens == 20 for reply in batch.good)
