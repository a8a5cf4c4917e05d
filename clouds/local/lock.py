"""A lock that the system gives back when its holder dies, however it dies. Standard library only."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self


class Lock:
    """A lock on a file. It is tied to the open file, so it excludes threads of one process too.

    A file that was removed or replaced meanwhile is not the lock any more: `take` opens the new one.
    """

    def __init__(self, path: Path) -> None:
        """`path` need not exist; its folder must."""
        self.path = path
        self._file: int | None = None

    def take(self, seconds: float = 0.3) -> bool:
        """Try for a moment, since a look (`held`) takes it for an instant. False when somebody else holds it.

        Raises FileNotFoundError when its folder is gone.
        """
        ends = time.monotonic() + seconds
        while not self._try():
            if time.monotonic() > ends:
                return False
            time.sleep(0.01)
        return True

    def _try(self) -> bool:
        import fcntl

        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                return False
            try:
                same = os.path.samestat(os.fstat(file), self.path.stat())
            except FileNotFoundError:
                same = False
            if same:
                self._file = file
                return True
            os.close(file)

    def give_back(self) -> None:
        """Give it back; nothing happens when it is not held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give_back()


def held(path: Path) -> bool:
    """Whether somebody alive holds this lock now. Looking makes no file and takes nothing for longer than the look."""
    import fcntl

    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        # a shared try: two that only look do not see each other
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
