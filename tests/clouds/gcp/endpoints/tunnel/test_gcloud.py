"""gcloud's tunnel, where the relay does not speak as this client knows it."""

from __future__ import annotations

import os
import socket
import stat
import sys
from pathlib import Path

import pytest

from clouds.errors import PermissionMissing, Unexpected
from clouds.gcp.endpoints.tunnel import Target, open_tunnel
from tests.clouds.gcp.endpoints.tunnel.relay_server import Relay

LISTENS = f"""#!{sys.executable}
import os, socket, sys, time
words = sys.argv[1:]
open(os.environ["SAID"], "w").write(f"{{os.getpid()}} " + " ".join(words))
host, port = next(w for w in words if w.startswith("--local-host-port=")).split("=")[1].split(":")
with socket.create_server((host, int(port))) as server:
    while True:
        server.accept()[0].close()
"""
FAILS = "#!/bin/sh\necho 'ERROR: (gcloud.compute.start-iap-tunnel) Could not fetch resource' >&2\nexit 1\n"


def gcloud(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = folder / "gcloud"
    program.write_text(text)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("SAID", str(folder / "said"))
    return folder / "said"


def target(relay: Relay) -> Target:
    return Target("demo-project", "us-east5-a", "modelrig-x", 8000, host=f"ws://127.0.0.1:{relay.port}")


def test_a_relay_that_speaks_otherwise_is_left_to_gcloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = gcloud(tmp_path, LISTENS, monkeypatch)
    with Relay(refuse=418) as relay:
        port, close = open_tunnel(target(relay), lambda: "secret-token")
    socket.create_connection(("127.0.0.1", port)).close()
    pid, words = said.read_text().split(" ", 1)
    assert words == (
        f"compute start-iap-tunnel modelrig-x 8000 --zone=us-east5-a --project=demo-project "
        f"--local-host-port=127.0.0.1:{port} --quiet"
    )
    assert "secret-token" not in words
    close()
    close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_what_gcloud_says_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gcloud(tmp_path, FAILS, monkeypatch)
    with Relay(refuse=418) as relay, pytest.raises(Unexpected, match="Could not fetch resource"):
        open_tunnel(target(relay), lambda: "secret-token")


def test_a_missing_role_is_not_left_to_gcloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = gcloud(tmp_path, LISTENS, monkeypatch)
    with Relay(refuse=403) as relay, pytest.raises(PermissionMissing):
        open_tunnel(target(relay), lambda: "secret-token")
    assert not said.exists()
