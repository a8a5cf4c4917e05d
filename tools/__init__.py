"""What a client can ask for: `TOOLS`, in the order in which a client lists them.

The tuple is built when it is first asked for, so that importing one room of this package (the prelude before anything
is installed, the ledger in a worker) imports no other. A server lists its tools from the generated `tools_list.json`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` itself costs 13 ms, in a Python that only finds the right one
if TYPE_CHECKING:
    from tools.registry import Tool

    TOOLS: tuple[Tool, ...]


def _tools() -> tuple[Tool, ...]:
    from tools.changes import DELETE_ENDPOINT, UPDATE_ENDPOINT
    from tools.checkpoints import INSPECT_CHECKPOINT, REPACK_CHECKPOINT
    from tools.cleanup import APPLY_CLEANUP, PLAN_CLEANUP
    from tools.deploy import DEPLOY_ENDPOINT
    from tools.endpoints import GET_ENDPOINT, GET_ENDPOINT_LOGS, LIST_ENDPOINTS
    from tools.measure import COMPARE_RUNS, LIST_RUNS, MEASURE_MODEL
    from tools.plan import PLAN_DEPLOYMENT
    from tools.polling import GET_OPERATION
    from tools.query import CHECK_HEALTH, QUERY_MODEL
    from tools.quota import CHECK_CAPACITY, CHECK_QUOTA
    from tools.setup import CHECK_SETUP
    from tools.waste import EXPLAIN_FINDING, LIST_CHECKS, SCAN_WASTE, SUMMARIZE_FINDINGS

    return (
        CHECK_SETUP,
        CHECK_QUOTA,
        CHECK_CAPACITY,
        PLAN_DEPLOYMENT,
        DEPLOY_ENDPOINT,
        LIST_ENDPOINTS,
        GET_ENDPOINT,
        GET_ENDPOINT_LOGS,
        QUERY_MODEL,
        CHECK_HEALTH,
        UPDATE_ENDPOINT,
        DELETE_ENDPOINT,
        MEASURE_MODEL,
        LIST_RUNS,
        COMPARE_RUNS,
        INSPECT_CHECKPOINT,
        REPACK_CHECKPOINT,
        SCAN_WASTE,
        LIST_CHECKS,
        EXPLAIN_FINDING,
        SUMMARIZE_FINDINGS,
        PLAN_CLEANUP,
        APPLY_CLEANUP,
        GET_OPERATION,
    )


def __getattr__(name: str) -> tuple[Tool, ...]:
    if name == "TOOLS":
        tools = globals()["TOOLS"] = _tools()
        return tools
    raise AttributeError(name)
