"""The log of one endpoint: what the supervisor did and what the engine printed, each line with its time, bounded."""

from __future__ import annotations

import errno
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

LIMIT = 8 * 2**20
"""Bytes of a part; the part before it is kept as `log.1`."""
LINE = 4_000
"""Characters of a line that are kept."""


def stamp() -> str:
    """Now, as logs and states write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Journal:
    """Writes lines as "TIME source | text". Secrets that it is told of are never written.

    A full disk costs lines, never the endpoint: they are counted, and the next line that fits says how many.
    """

    def __init__(self, path: Path, secrets: Sequence[str]) -> None:
        """`secrets` are replaced wherever they appear."""
        self._path, self._secrets = path, [secret for secret in secrets if secret]
        self._lock = threading.Lock()
        self._lost = 0
        self._file = self._open()

    def _open(self) -> BinaryIO:
        return self._path.open("ab", buffering=0)  # nothing is kept back that could fail later, when it is closed

    def close(self) -> None:
        """Close the file; nothing may be written afterwards."""
        with self._lock:
            self._file.close()

    def clean(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def write(self, source: str, text: str) -> None:
        """Add one line."""
        text = self.clean(text)
        if len(text) > LINE:
            text = f"{text[:LINE]}… ({len(text) - LINE} more characters)"
        with self._lock:
            try:
                if self._file.closed:
                    self._file = self._open()
                if self._lost:
                    self._line("supervisor", f"{self._lost} lines could not be written: the disk was full")
                    self._lost = 0
                self._line(source, text)
                if self._file.tell() > LIMIT:
                    self._file.close()
                    self._path.replace(self._path.with_name("log.1"))
                    self._file = self._open()
            except OSError:
                self._lost += 1

    def _line(self, source: str, text: str) -> None:
        line = f"{stamp()} {source} | {text}\n".encode("utf-8", "replace")
        if (written := self._file.write(line)) < len(line):
            self._file.truncate(self._file.tell() - written)
            raise OSError(errno.ENOSPC, "no space left")
