"""The same tunnel by `gcloud compute start-iap-tunnel`: where Google has changed the relay and gcloud is installed.

It reaches machines of Compute Engine alone, and signs with gcloud's own sign-in.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from shutil import which

from clouds.errors import CloudError, Unexpected, Unreachable
from clouds.gcp.endpoints.tunnel.relay import Target

STARTS_WITHIN, LOOKS = 20.0, 0.1


def installed() -> str:
    """The program; empty where it is not installed."""
    return which("gcloud") or ""


def open_tunnel(target: Target, program: str) -> tuple[int, Callable[[], None]]:
    """The local port and what ends the process. Raises Unreachable when it does not listen in time."""
    port = _free_port()
    command = [
        program, "compute", "start-iap-tunnel", target.instance, str(target.port), f"--zone={target.zone}",
        f"--project={target.project}", f"--local-host-port=127.0.0.1:{port}", "--quiet",
    ]  # fmt: skip
    # a session of its own: gcloud is a shell script around the process that holds the tunnel
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )

    def close() -> None:
        _ended(process)

    error = _until_listening(target, process, port)
    if error is not None:
        close()
        raise error
    return port, close


def _ended(process: subprocess.Popen[bytes]) -> None:
    """End it and what it started; harmless when it has ended."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
            process.wait(5)
    if process.stderr is not None:
        process.stderr.close()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.terminate()


def _until_listening(target: Target, process: subprocess.Popen[bytes], port: int) -> CloudError | None:
    tried, end = f"opening the tunnel to {target} with gcloud", time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end:
        if process.poll() is not None:
            said = process.stderr.read(2000).decode("utf-8", "replace") if process.stderr is not None else ""
            words = " ".join(said.split())[-300:]
            return Unexpected(
                tried, answered=words or f"it ended with {process.returncode}", fix="Do what gcloud says."
            )
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return None
        time.sleep(LOOKS)
    return Unreachable(tried, answered=f"it does not listen after {STARTS_WITHIN:.0f} s", fix="Repeat it in a minute.")


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
