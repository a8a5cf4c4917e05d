"""Requests that were read before end of input are answered before the server ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.ledger import Book

ROOT = Path(__file__).resolve().parents[2]
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hand", "version": "0"}}


def piped(home: Path, *requests: dict[str, object] | str) -> list[dict[str, object]]:
    lines = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        *requests,
    ]
    given = "".join(
        (line if isinstance(line, str) else json.dumps({"jsonrpc": "2.0", **line})) + "\n" for line in lines
    )
    env = {**os.environ, "MODELRIG_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, str(ROOT / "server.py"), "--clouds", "local"],
        input=given, capture_output=True, text=True, timeout=30, env=env, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """What a server says to usual requests, a long one and lines that cannot be read among them, and nothing else."""
    home = tmp_path_factory.mktemp("home")
    with Book(home) as book:  # this process is at work on it, and does not end
        operation = book.operations.add("measure_model", {}, flags=(), cwd="/").id
        assert book.operations.claim(operation, os.getpid())
    waiting = {"operation": operation, "wait_seconds": 40}
    return piped(
        home,
        {"id": 7, "method": "tools/call", "params": {"name": "get_operation", "arguments": waiting}},
        {"id": 2, "method": "tools/list", "params": {}},
        {"id": 3, "method": "tools/call", "params": {"name": "list_endpoints", "arguments": {}}},
        "garbage",
        "",
        r'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list_runs","arguments":{"contains":"\ud800"}}}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"\\ud800"}}',
        '{"jsonrpc":"2.0","id":5,"method":"x","params":' + "[" * 5_000 + "]" * 5_000 + "}",
        "[1]",
        {"id": 6, "method": "tools/call", "params": {"name": "list_runs", "arguments": {}}},
    )


def test_everything_that_was_asked_before_the_end_is_answered(answers: list[dict[str, object]]) -> None:
    assert {answer["id"] for answer in answers if "result" in answer} == {1, 2, 3, 6, 7}
    called = next(answer for answer in answers if answer.get("id") == 3)
    assert called["result"]["structuredContent"]["count"] == 0  # type: ignore[index]


def test_a_request_that_takes_longer_is_answered_as_it_is_and_does_not_hold_the_process(
    answers: list[dict[str, object]],
) -> None:
    long = next(answer for answer in answers if answer.get("id") == 7)
    assert long["result"]["structuredContent"]["state"] == "running"  # type: ignore[index]


def test_stdout_holds_nothing_but_messages(answers: list[dict[str, object]]) -> None:
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)


def test_a_line_that_cannot_be_read_is_answered_and_the_next_one_is_served(answers: list[dict[str, object]]) -> None:
    errors = [(answer.get("id"), answer["error"]["code"]) for answer in answers if "error" in answer]  # type: ignore[index]
    assert errors == [(None, -32700), (4, -32700), (None, -32700), (None, -32600)]
    assert next(answer for answer in answers if answer.get("id") == 6)["result"]
