"""Whether the worker of an operation lives: its pid, when that process began, and its heartbeat."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tools.ledger.values import moment, now

if TYPE_CHECKING:
    from tools.ledger.operations import Operation

FRESH = timedelta(seconds=15)
"""A heartbeat not older than this is a sign of life; a worker gives one every two seconds."""


def alive(operation: Operation) -> bool:
    """Whether the worker in the row lives. A pid that another process has by now has no fresh heartbeat."""
    if operation.pid is None:
        return False
    created = process_created(operation.pid)
    if created is None:
        return False
    # The kernel's idea of when a process began moves when the clock is set, hence the heartbeat as a second opinion.
    same = operation.process_created is not None and abs(created - operation.process_created) < 2
    return same or abs(now() - moment(operation.heartbeat)) < FRESH


def process_created(pid: int) -> float | None:
    """When the process of that pid began (seconds since 1970); None when there is none, or only its remains."""
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return float(process.create_time())
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        return 0.0
