"""Long work: a row in the ledger and a worker process of its own, which outlives whoever asked for it.

start    write the row, start a worker          wait     poll it for a while, passing its progress on
cancel   ask it to stop and undo                resume   start workers again for what lost theirs
run_worker   the body of a worker
"""

from __future__ import annotations

from tools.ledger.operations import Operation
from tools.operations.interrupts import Interrupts
from tools.operations.launch import PROGRAM, cancel, find, log_file, resume, start
from tools.operations.waiting import wait
from tools.operations.worker import WorkerProgress, run_worker

__all__ = [
    "PROGRAM",
    "Interrupts",
    "Operation",
    "WorkerProgress",
    "cancel",
    "find",
    "log_file",
    "resume",
    "run_worker",
    "start",
    "wait",
]
