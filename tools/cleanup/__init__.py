"""Removing what nobody uses: plan_cleanup, apply_cleanup."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.registry import Tool

    PLAN_CLEANUP: Tool
    APPLY_CLEANUP: Tool


def __getattr__(name: str) -> Tool:
    """The tools are made when they are asked for, so that the engine can be used without them."""
    if name not in ("PLAN_CLEANUP", "APPLY_CLEANUP"):
        raise AttributeError(name)
    from tools.cleanup import tools
    from tools.registry import Effect, Tool

    globals()["PLAN_CLEANUP"] = Tool(tools.plan_cleanup, title="Plan cleanup", effect=Effect.READ, long=True)
    globals()["APPLY_CLEANUP"] = Tool(
        tools.apply_cleanup, title="Apply cleanup", effect=Effect.DESTRUCTIVE, preview=tools.preview, long=True
    )
    found: Tool = globals()[name]
    return found
