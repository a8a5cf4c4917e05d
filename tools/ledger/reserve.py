"""Room kept beside the ledger for a disk that is full: without a ledger nothing can be deleted, and it bills."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

BYTES = 1024 * 1024
"""A deletion writes some dozens of pages of 4 KiB, and the write-ahead log holds each of them once more."""


def keep(ledger: Path) -> None:
    """Have the reserve lie beside `ledger`. Where there is no room for it, there is none, and nothing is said."""
    path = _path(ledger)
    with suppress(OSError):
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            os.write(handle, b"\0" * BYTES)  # written, not only announced: a sparse file holds no room
        except OSError:
            path.unlink()
        finally:
            os.close(handle)


def release(ledger: Path) -> bool:
    """Give the room back to the disk; False where there was no reserve."""
    try:
        _path(ledger).unlink()
    except OSError:
        return False
    return True


def _path(ledger: Path) -> Path:
    return ledger.with_name(ledger.name + ".reserve")
