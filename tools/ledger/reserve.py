"""Room kept beside the ledger for a disk that is full: without a ledger nothing can be deleted, and it bills."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

BYTES = 1024 * 1024
"""A deletion writes some dozens of pages of 4 KiB, and the write-ahead log holds each of them once more."""

MARGIN = BYTES
"""What must be free besides: a reserve that took the last of a disk would fill it, and what it was freed for failed."""


def keep(ledger: Path) -> None:
    """Have the reserve lie beside `ledger`, whole. Where there is no clear room for it there is none: nothing is said.

    So one that was set free stays free until the disk has room for it again, also for other processes.
    """
    path = _path(ledger)
    with suppress(OSError):
        if shutil.disk_usage(ledger.parent).free < BYTES + MARGIN:
            return
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            # written, not only announced: a sparse file holds no room, and a disk may take a part of what is written
            if os.write(handle, b"\0" * BYTES) < BYTES:
                path.unlink()
        except OSError:
            path.unlink()
        finally:
            os.close(handle)


def release(ledger: Path) -> int:
    """Give the room back to the disk: its bytes; 0 where there was no reserve."""
    path = _path(ledger)
    try:
        held = path.stat().st_size
        path.unlink()
    except OSError:
        return 0
    return held


def _path(ledger: Path) -> Path:
    return ledger.with_name(ledger.name + ".reserve")
