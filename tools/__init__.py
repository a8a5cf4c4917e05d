"""What a client can ask for, in the order in which a client lists them: `TOOLS`, `tool(name)`.

The list names where each tool stands, and a module is imported when one of its tools is first asked for: a call of one
tool pays for that tool alone, and importing one room of this package (the prelude before anything is installed, the
ledger in a worker) imports no other. A server lists its tools from the generated `tools_list.json`.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # `typing` itself costs 13 ms, in a Python that only finds the right one
if TYPE_CHECKING:
    from tools.registry import Tool

    TOOLS: tuple[Tool, ...]

_PLACES = (
    "tools.setup:CHECK_SETUP",
    "tools.quota:CHECK_QUOTA",
    "tools.quota:CHECK_CAPACITY",
    "tools.plan:PLAN_DEPLOYMENT",
    "tools.deploy:DEPLOY_ENDPOINT",
    "tools.endpoints:LIST_ENDPOINTS",
    "tools.endpoints:GET_ENDPOINT",
    "tools.endpoint_logs:GET_ENDPOINT_LOGS",
    "tools.query:QUERY_MODEL",
    "tools.query:CHECK_HEALTH",
    "tools.changes:UPDATE_ENDPOINT",
    "tools.changes:DELETE_ENDPOINT",
    "tools.measure.measure_model:MEASURE_MODEL",
    "tools.measure.list_runs:LIST_RUNS",
    "tools.measure.compare_runs:COMPARE_RUNS",
    "tools.checkpoints:INSPECT_CHECKPOINT",
    "tools.checkpoints:REPACK_CHECKPOINT",
    "tools.waste:SCAN_WASTE",
    "tools.waste:LIST_CHECKS",
    "tools.waste:EXPLAIN_FINDING",
    "tools.waste:SUMMARIZE_FINDINGS",
    "tools.cleanup:PLAN_CLEANUP",
    "tools.cleanup:APPLY_CLEANUP",
    "tools.polling:GET_OPERATION",
)
"""module:NAME; the tool's name is the same in lower case, and a test holds it to that."""
NAMES = tuple(place.partition(":")[2].lower() for place in _PLACES)


def tool(name: str) -> Tool:
    """One tool by its name; imports its module only. Raises KeyError."""
    module, _, constant = dict(zip(NAMES, _PLACES, strict=True))[name].partition(":")
    found: Tool = getattr(import_module(module), constant)
    return found


def __getattr__(name: str) -> tuple[Tool, ...]:
    if name == "TOOLS":
        tools = globals()["TOOLS"] = tuple(tool(each) for each in NAMES)
        return tools
    raise AttributeError(name)
