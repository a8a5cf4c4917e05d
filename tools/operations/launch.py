"""Who works on an operation: starting its worker, seeing that it lives, starting another when it died.

Every decision is made inside one transaction of the ledger, so that any number of servers may make it at once.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from clouds.errors import Cancelled, NotFound
from tools.faults import fault
from tools.home import VARIABLE, ready
from tools.ledger import Book
from tools.ledger.alive import alive, process_created
from tools.ledger.operations import Operation
from tools.ledger.values import moment

PROGRAM: tuple[str, ...] = (sys.executable, str(Path(__file__).resolve().parents[2] / "server.py"))
"""What is started; `work OPERATION` is added, after the flags of whoever asked."""
ATTEMPTS = 3
RESUMED_WITHIN = timedelta(hours=1)
"""Work that stopped longer ago is not taken up again by itself: nobody may expect any more that it costs money."""


def start(
    book: Book,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    program: tuple[str, ...] = PROGRAM,
    flags: tuple[str, ...] = (),
) -> Operation:
    """Write the operation down and start its worker; returns at once.

    `flags` are options of this process that the worker needs too (`--replay DIR`); they are kept in the row, as the
    working directory is, so that whoever resumes it runs the same. Raises InvalidInput for a secret in the arguments.
    """
    operation = book.operations.add(tool, arguments, flags=flags, cwd=str(Path.cwd()))
    return _employ(book, operation.id, program)


def anything(_operation: Operation) -> bool:
    """Any operation may be taken up again."""
    return True


def resume(
    book: Book,
    *,
    program: tuple[str, ...] = PROGRAM,
    operation: str = "",
    may: Callable[[Operation], bool] = anything,
) -> tuple[Operation, ...]:
    """Start a worker for everything unfinished whose worker is dead, or for one operation; returns what it changed.

    At most three workers are tried, and only for what `may` lets through. May be called at any time, by several
    processes at once.
    """
    changed = []
    for each in book.operations.unfinished():
        if operation in ("", each.id) and not alive(each) and may(each):
            now = _employ(book, each.id, program)
            if (now.attempt, now.state) != (each.attempt, each.state):
                changed.append(now)
    return tuple(changed)


def cancel(book: Book, operation: str, *, program: tuple[str, ...] = PROGRAM) -> Operation:
    """Ask it to stop. A worker undoes what it half made before it ends; one that died is started again to do that.

    What is over stays as it is. Raises NotFound.
    """
    found = book.operations.request_cancel(operation)
    return found if found.over or alive(found) else _employ(book, operation, program)


def find(book: Book, operation: str) -> Operation | None:
    """One operation; None when there is none of that id."""
    try:
        return book.operations.get(operation)
    except NotFound:
        return None


def log_file(book: Book, operation: str) -> Path:
    """Where the worker's output goes."""
    return book.home / "operations" / f"{operation}.log"


def _employ(book: Book, operation: str, program: tuple[str, ...]) -> Operation:
    """Start a worker if none lives and one may be started; the row tells what came of it."""
    import psutil  # noqa: F401 - imported before the transaction, which is to be short

    with book.operations.alone() as database:
        found = book.operations.read(database, operation)
        if found.over or alive(found):
            return found
        end = _end_instead(book, found)
        if end is not None:
            state, error = end
            book.operations.close(database, found, state, error=error)
        else:
            _spawn(book, database, found, program)
    return book.operations.get(operation)


def _end_instead(book: Book, operation: Operation) -> tuple[Any, Mapping[str, Any]] | None:
    """How an operation without a worker ends without another one; None when it shall have one."""
    if operation.cancel_requested and (operation.attempt == 0 or not operation.cwd):
        return "cancelled", fault(Cancelled())
    if operation.attempt == 0:
        return None
    if not operation.cwd:
        return "failed", _abandoned(operation)
    log = log_file(book, operation.id)
    if operation.attempt >= ATTEMPTS:
        return "failed", {
            "kind": "unexpected",
            "what": f"{operation.tool} stopped {operation.attempt} times without ending (last pid {operation.pid}, "
            f"last sign of life {operation.heartbeat})",
            "next": f"See the end of {log}; list_endpoints shows what it left.",
            "sent": True,
        }
    if book.clock() - moment(operation.heartbeat) > RESUMED_WITHIN and not operation.cancel_requested:
        return "failed", {
            "kind": "unexpected",
            "what": f"{operation.tool} stopped at {operation.heartbeat}, too long ago to be taken up again unasked",
            "next": "list_endpoints shows what it left; make the same call again to go on.",
            "sent": True,
        }
    return None


def _abandoned(operation: Operation) -> Mapping[str, Any]:
    """What became of work that a command did itself, as whoever it was signed in as: nobody else goes on with it."""
    return {
        "kind": "unexpected",
        "what": f"the command that did {operation.tool} ended before it had (last sign of life {operation.heartbeat})",
        "next": "It only read, and nothing was changed: make the same call again.",
        "sent": True,
    }


def _spawn(book: Book, database: sqlite3.Connection, operation: Operation, program: tuple[str, ...]) -> None:
    log = log_file(book, operation.id)
    ready(log.parent)
    cwd = Path(operation.cwd) if Path(operation.cwd).is_dir() else book.home
    try:
        with os.fdopen(os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "ab") as output:
            process = subprocess.Popen(
                (*program, *operation.flags, "work", operation.id),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**os.environ, VARIABLE: str(book.home)},
                start_new_session=True,
            )
    except OSError as error:
        what = f"the worker of {operation.tool} could not be started: {program[0]} ({error.strerror})"
        book.operations.close(
            database,
            operation,
            "failed",
            error={"kind": "not_installed", "what": what, "next": "check_setup says what is missing.", "sent": False},
        )
        return
    # Whoever starts a process has to collect it, or its remains stay in the process table.
    threading.Thread(target=_collect, args=(process,), name=f"collect-{operation.id}", daemon=True).start()
    book.operations.employ(database, operation.id, process.pid, process_created(process.pid))


def _collect(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        process.wait()
