"""A server whose settings are wrong stays and says so: a client that loses its server shows nobody why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client

import clouds
from tests.e2e.rig import ROOT
from tools import shell
from tools.registry import serving

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_call_is_answered_with_what_is_wrong(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "file"
    home.touch()
    monkeypatch.setenv("MODELRIG_HOME", str(home))
    session = shell.session_of(shell.arguments([]), clouds.names(), clouds.connect)
    async with Client(serving.build(session, "0"), mode=mode) as client:
        for tool in ("check_setup", "list_endpoints"):
            result = await client.call_tool(tool, {})
            assert result.is_error
            text = result.content[0].text  # type: ignore[union-attr]
            assert text.startswith(f"**`MODELRIG_HOME`: the data directory {home} cannot be made or used as a folder")
            assert "Then start the server again" in text
            assert result.structured_content is not None
            assert result.structured_content["error"]["kind"] == "invalid_input"


def test_a_command_ends_with_the_sentence(tmp_path: Path) -> None:
    (tmp_path / "modelrig.toml").write_text("[defaults\n")
    done = subprocess.run(
        [sys.executable, str(ROOT / "server.py"), "call", "list_runs"],
        cwd=tmp_path, env={**os.environ, "MODELRIG_HOME": str(tmp_path)}, capture_output=True, text=True, timeout=30,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("**`modelrig.toml`: cannot be read: ")


def test_a_reader_that_leaves_early_gets_no_traceback(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, str(ROOT / "server.py"), "tools"],
        env={**os.environ, "MODELRIG_HOME": str(tmp_path)}, stdout=writing, stderr=subprocess.PIPE, text=True,
        timeout=30, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
