"""Measure a model endpoint, list the runs, compare them.

The three tools are imported when they are first asked for, so that importing one room of this package (statistics,
checkpoints, the client) imports no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.measure.compare_runs import COMPARE_RUNS
    from tools.measure.list_runs import LIST_RUNS
    from tools.measure.measure_model import MEASURE_MODEL
    from tools.registry import Tool

__all__ = ["COMPARE_RUNS", "LIST_RUNS", "MEASURE_MODEL"]


def __getattr__(name: str) -> Tool:
    if name not in __all__:
        raise AttributeError(name)
    from tools.measure.compare_runs import COMPARE_RUNS
    from tools.measure.list_runs import LIST_RUNS
    from tools.measure.measure_model import MEASURE_MODEL

    return {"COMPARE_RUNS": COMPARE_RUNS, "LIST_RUNS": LIST_RUNS, "MEASURE_MODEL": MEASURE_MODEL}[name]
