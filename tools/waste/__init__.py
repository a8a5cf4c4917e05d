"""Finding what nobody uses: scan_waste, list_checks, explain_finding, summarize_findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.registry import Tool

    SCAN_WASTE: Tool
    LIST_CHECKS: Tool
    EXPLAIN_FINDING: Tool
    SUMMARIZE_FINDINGS: Tool


def __getattr__(name: str) -> Tool:
    """The tools are made when they are asked for, so that the engine can be used without them."""
    from tools.registry import Effect, Tool

    if name == "SCAN_WASTE":
        from tools.waste.scanning import scan_waste

        made = Tool(scan_waste, title="Scan for waste", effect=Effect.READ, long=True, aliases={"clouds": "cloud"})
    elif name == "LIST_CHECKS":
        from tools.waste.checklist import list_checks

        made = Tool(list_checks, title="List checks", effect=Effect.READ, open_world=False)
    elif name == "EXPLAIN_FINDING":
        from tools.waste.explaining import explain_finding

        made = Tool(explain_finding, title="Explain finding", effect=Effect.READ, open_world=False)
    elif name == "SUMMARIZE_FINDINGS":
        from tools.waste.summarizing import summarize_findings

        made = Tool(summarize_findings, title="Summarize findings", effect=Effect.READ, open_world=False)
    else:
        raise AttributeError(name)
    globals()[name] = made
    return made
