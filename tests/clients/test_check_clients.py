"""The check with real clients takes their words as they are: a failed server, two servers and a missing client show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients import check_clients

GOOD = "Checking MCP server health…\n\nplugin:modelrig:modelrig: python3 /p/server.py - ✔ Connected\n"
TWICE = GOOD + "modelrig: python3 server.py - ✔ Connected\n"


@pytest.mark.parametrize(
    ("said", "connected"),
    [
        (GOOD, True),
        (GOOD.replace("✔ Connected", "✘ Failed to connect — CONNECTION_CLOSED"), False),
        (GOOD.replace("✔ Connected", "⏸ Pending approval"), False),
        (TWICE, False),
        ("No MCP servers configured.\n", False),
    ],
    ids=["connected", "failed", "pending", "started twice", "none"],
)
def test_only_one_connected_server_counts(said: str, connected: bool) -> None:
    assert check_clients._connected(said) is connected


def test_where_no_client_is_installed_it_says_so_loudly_and_does_not_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MODELRIG_CLIENTS", raising=False)
    assert check_clients.main() == 0
    out, err = capsys.readouterr()
    assert "0 passed, 0 failed, 4 could not be run" in out
    assert "NO CLIENT COULD BE RUN" in err


def test_a_client_whose_answer_is_wrong_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "source").mkdir()
    program = tmp_path / "gemini"
    program.write_text("#!/bin/sh\necho 'modelrig - Disconnected'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MODELRIG_CLIENTS", raising=False)
    assert check_clients.main(tmp_path / "source") == 1
    out, _ = capsys.readouterr()
    assert "FAILED   gemini mcp list: Connected at the first start" in out
    assert "| modelrig - Disconnected" in out
