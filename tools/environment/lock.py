"""A lock that the system gives back when its holder dies, however it dies."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


PATIENCE = 1.0
"""Seconds in which a builder tries again: `held` takes the lock for an instant to learn whether it is free."""


def take(path: Path, patience: float = PATIENCE) -> int | None:
    """The open lock with our pid in it, or None when another process holds it. It ends with the process."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    until = time.monotonic() + patience
    while True:
        try:
            _take(handle)
        except OSError:
            if time.monotonic() >= until:
                os.close(handle)
                return None
            time.sleep(0.02)
        else:
            return handle


def sign(handle: int) -> None:
    """Write the holder's pid into the lock, for people."""
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, f"{os.getpid()}\n".encode())


def held(path: Path) -> bool:
    """True while a process holds it."""
    if not path.exists():
        return False
    handle = take(path, patience=0)
    if handle is None:
        return True
    os.close(handle)
    return False
