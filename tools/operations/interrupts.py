"""Signals that end a command: they break into its work, and wait while the ledger is written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
PATIENCE = 3
"""So many signals end the process even while it cleans up."""


class Interrupts:
    """Between entering and leaving, a signal raises KeyboardInterrupt inside `working` and is only noted outside it.

    What is ignored when it begins (by `nohup`, or in the background of a script) stays ignored. In a thread other than
    the main one it does nothing: Python handles signals in that one only.
    """

    def __init__(self) -> None:
        self._heard, self._working = 0, False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for each in SIGNALS:
                if signal.getsignal(each) != signal.SIG_IGN:
                    self._before[each] = signal.signal(each, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)

    @contextmanager
    def working(self) -> Iterator[None]:
        """The work that may be interrupted, once. Raises KeyboardInterrupt at once where a signal came before it."""
        self._working = True
        try:
            if self._heard:
                raise KeyboardInterrupt
            yield
        finally:
            self._working = False

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self._heard += 1
        if self._working or self._heard >= PATIENCE:
            self._working = False
            raise KeyboardInterrupt
