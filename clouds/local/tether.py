"""Ties a process to the one that started it, so that a supervisor killed outright leaves no engine behind.

Run as a program it ties itself and becomes another: `tether.py PARENT COMMAND...`. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def tie(parent: int) -> bool:
    """Have the system kill this process when `parent` dies. False where the system cannot (macOS); ends at once when
    the parent is gone already. The tie outlives exec. It is to the thread that started us: keep that one alive.
    """
    if sys.platform != "linux":
        return False
    tied = bool(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0)
    if os.getppid() != parent:
        os._exit(1)
    return tied


if __name__ == "__main__":
    tie(int(sys.argv[1]))
    try:
        os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - no shell is meant
    except OSError as error:
        sys.exit(f"error: {sys.argv[2]}: {error.strerror}")
