"""One SQLite file for many threads and processes: short transactions, and errors in words.

Connections are kept in a small pool and handed to one thread at a time, so that a reader never waits for a writer.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clouds.errors import CloudError, Conflict, DiskFull, InvalidInput, Unexpected, Unreachable
from tools.home import ready
from tools.ledger import reserve, schema

BUSY_SECONDS = 10.0
"""How long a writer waits for another one; a transaction here takes about a millisecond."""
_KEPT = 4
_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")
"""The second is what opening meets on a full disk: the index of the write-ahead log cannot grow."""


class Store:
    """The file. `read()` and `write()` lend a connection; an sqlite3 error becomes a CloudError that names the file."""

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        """Open, and make or migrate what is needed. Raises CloudError; a file that we cannot read is left as it is."""
        self.path, self._busy_seconds = path, busy_seconds
        self._idle: list[sqlite3.Connection] = []
        self._file = (0, 0)
        with self._explained("opening"):
            self._idle.append(self._open())
        reserve.keep(path)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection to read with; one statement sees one state of the file."""
        with self._explained("reading"), self._borrowed() as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction: committed as a whole, or not at all when the block raises.

        `durable=False` survives the death of every process but not a power cut; it costs a twentieth of the time.
        """
        with self._explained("writing"), self._borrowed() as connection:
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close what is idle. The store opens again by itself when it is used again."""
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        if self._file != self._identity():  # deleted or replaced: what is written to the old one nobody else sees
            self.close()
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._open()
        file = self._file
        healthy = False
        try:
            yield connection
            healthy = True
        except CloudError:
            healthy = True
            raise
        finally:
            if healthy and file == self._file and len(self._idle) < _KEPT:
                self._idle.append(connection)
            else:
                connection.close()

    def _identity(self) -> tuple[int, int]:
        try:
            found = self.path.stat()
        except OSError:
            return (0, 0)
        return (found.st_dev, found.st_ino)

    def _make_file(self) -> None:
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            pass
        except OSError as error:
            raise InvalidInput(
                "MODELRIG_HOME",
                f"{self.path} cannot be made ({error.strerror})",
                fix="Set MODELRIG_HOME to a folder that you can write to.",
            ) from error

    def _open(self) -> sqlite3.Connection:
        ready(self.path.parent)
        self._make_file()
        self._file = self._identity()
        deadline = time.monotonic() + self._busy_seconds
        while True:
            connection = sqlite3.connect(
                self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
            )
            try:
                connection.row_factory = sqlite3.Row
                connection.execute("PRAGMA foreign_keys = ON")
                schema.migrate(connection)
            except sqlite3.OperationalError as error:
                connection.close()
                # Two processes that make the file at once: switching to WAL does not wait for the other one.
                if not _name(error).startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
            except BaseException:
                connection.close()
                raise
            else:
                return connection

    @contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (schema.Newer, schema.Foreign) as error:
            raise self._not_usable(doing, error) from error
        except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:
            if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError | sqlite3.InterfaceError):
                raise  # a bug of ours, reported as one
            raise self._explain(doing, error) from error

    def _not_usable(self, doing: str, error: schema.Newer | schema.Foreign) -> CloudError:
        tried = f"{doing.capitalize()} the ledger {self.path}"
        if isinstance(error, schema.Foreign):
            return Conflict(
                tried, answered="the file is a database of something else", sent=False,
                fix="Set MODELRIG_HOME to another folder; this file was left as it is.",
            )  # fmt: skip
        theirs, ours = error.args
        return Conflict(
            tried, answered=f"it has version {theirs}, and this modelrig knows versions up to {ours}", sent=False,
            fix="Update modelrig, or set MODELRIG_HOME to another folder; this file was left as it is.",
        )  # fmt: skip

    def _explain(self, doing: str, error: sqlite3.DatabaseError) -> CloudError:
        """In words; none says that nothing was sent, since work is written down between what it sends."""
        name, tried = _name(error), f"{doing.capitalize()} the ledger {self.path}"
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return Unreachable(
                tried, answered=str(error), code=name, retry_after=self._busy_seconds,
                fix=f"Another process has held it for over {self._busy_seconds:g} s: see which with `fuser` or `lsof`.",
            )  # fmt: skip
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            return Unexpected(
                tried, answered=str(error), code=name, sent=name != "SQLITE_NOTADB",  # that shows as it is opened
                fix="The file was left as it is. Move it away to start a new one: list_endpoints then finds what "
                "the clouds still run by its tags.",
            )  # fmt: skip
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
            return InvalidInput(
                "MODELRIG_HOME",
                f"{self.path} cannot be written ({error})",
                fix="Set MODELRIG_HOME to a folder that you can write to.",
            )
        if name.startswith(_NO_ROOM):
            held = reserve.release(self.path)
            freed = f"{held // 1024:,} KiB kept for this were set free: repeat what ends what bills. Then free"
            return DiskFull(
                tried, answered=str(error), code=name,
                fix=f"{freed if held else 'Free'} some space where {self.path.parent} is.",
            )  # fmt: skip
        return Unexpected(
            tried, answered=str(error), code=name, fix=f"See whether {self.path} can be read and written."
        )


def _name(error: sqlite3.Error) -> str:
    """SQLite's own word for it; empty when Python raised it itself."""
    return str(getattr(error, "sqlite_errorname", ""))
