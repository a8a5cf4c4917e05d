"""What a command says that was interrupted: what goes on, under which name, and the command that follows it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import Any

from tools.registry import FOLLOWS, Effect, Tool

INTERRUPTED = 130
"""The exit status, as of any command that Ctrl-C ends."""
READ = "It only read: nothing was changed."
SENT = "What it had sent by then may have been carried out: list_endpoints shows what is there."


class Left(KeyboardInterrupt):
    """Whoever waited for an operation stopped waiting; its worker goes on."""

    def __init__(self, operation: str) -> None:
        super().__init__(operation)
        self.operation = operation


def words(tool: Tool, values: Mapping[str, Any], stopped: BaseException, replay: str = "") -> str:
    """A line for a person at a terminal. `replay`: the folder of recorded answers that the command was given."""
    operation = stopped.operation if isinstance(stopped, Left) else ""
    if tool.name == FOLLOWS:
        operation = str(values.get("operation", ""))
    if operation:
        what = "" if tool.name == FOLLOWS else f" ({tool.name})"
        program = sys.argv[0] if sys.argv[0].endswith(".py") else "server.py"
        flags = ["--replay", replay] if replay else []
        again = shlex.join(["python3", program, *flags, "call", FOLLOWS, f"operation={operation}"])
        return f"Interrupted. {operation}{what} goes on. To follow it: {again}; to stop it: the same with cancel=true."
    return f"Interrupted. {READ if tool.effect is Effect.READ else SENT}"
