"""Our tools as the MCP SDK's: listed from the generated snapshot, built at their first call, run in a worker thread."""

from __future__ import annotations

import json
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import anyio.to_thread
from mcp import MCPError
from mcp.server.elicitation import AcceptedElicitation, DeclinedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import build_resolver_plans, find_resolved_parameters, resolve_arguments
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel

from clouds.errors import Cancelled
from tools import calling
from tools.context import Session
from tools.progress import CallProgress
from tools.registry import FOLLOWS, Tool
from tools.result import visible

SNAPSHOT = Path(__file__).resolve().parents[1] / "tools_list.json"
"""What `tools/list` answers; generated from TOOLS, and a test compares the two."""


class Answer(BaseModel):
    """An empty form: accepting it is the answer."""


_asking: ContextVar[str] = ContextVar("question")


def ask_person(_context: Context) -> Elicit[Answer]:
    """The question of this call, for a client that can show one."""
    return Elicit(_asking.get(), Answer)


def _takes_answer(answer: Annotated[ElicitationResult[Answer], Resolve(ask_person)]) -> None:
    """Carries the SDK's resolver declaration; never called."""


def snapshot(allowed_clouds: tuple[str, ...], *, read_only: bool) -> list[dict[str, Any]]:
    """The listed tools: all, or only those that read and what follows their work; `cloud` arguments offer the allowed
    clouds only."""
    tools: list[dict[str, Any]] = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    if read_only:
        tools = [tool for tool in tools if tool["annotations"]["readOnlyHint"] or tool["name"] == FOLLOWS]
        for tool in tools:
            tool["annotations"]["readOnlyHint"] = True  # what follows work stops here only what reads
    for tool in tools if allowed_clouds else ():
        for schema in tool["inputSchema"]["properties"].values():
            for node in (schema, schema.get("items", {})):
                if "enum" in node and set(allowed_clouds) & set(node["enum"]):
                    node["enum"] = [name for name in node["enum"] if name in allowed_clouds]
    return tools


class RigTool(SdkTool):
    """One listed tool. Arguments are judged by us, so that an unknown one is refused by name, in our words."""

    @classmethod
    def listed(cls, entry: dict[str, Any], session: Session) -> RigTool:
        """From a snapshot entry; the tool's own module is imported when it is first called."""
        return cls(
            fn=partial(_looked_up, entry["name"], session),
            name=entry["name"],
            title=entry["title"],
            description=entry["description"],
            parameters=entry["inputSchema"],
            fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=entry["outputSchema"]),
            is_async=False,
            annotations=ToolAnnotations.model_validate(entry["annotations"]),
        )

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:  # noqa: ARG002 - the SDK's signature
        """Prepare, ask where the client can be asked, carry out. Every failure is a result, never an exception."""
        try:
            return await self._answer(arguments, context)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug is reported as one, in our words and without its text
            return as_result(calling.failure(error))

    async def _answer(
        self, arguments: dict[str, Any], context: Context[Any, Any]
    ) -> CallToolResult | InputRequiredResult:
        tool, session = await anyio.to_thread.run_sync(self.fn)
        prepared = await anyio.to_thread.run_sync(calling.prepare, tool, arguments, session)
        if isinstance(prepared, calling.Question):
            asked = await _asked(prepared, context)
            if isinstance(asked, InputRequiredResult):
                return asked
            prepared = asked
        if isinstance(prepared, calling.Outcome):
            return as_result(prepared)
        return as_result(await _carried_out(prepared, session, context))


def _looked_up(name: str, session: Session) -> tuple[Tool, Session]:
    from tools import tool

    return tool(name), session


async def _asked(question: calling.Question, context: Context) -> calling.Ready | calling.Outcome | InputRequiredResult:
    """Accept acts, decline ends; cancel, silence and everything else return the steps with their token."""
    capabilities = context.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return question.outcome
    _asking.set(question.text)
    wanted = find_resolved_parameters(_takes_answer)
    answers: Any = {"answer": None}  # what nobody answered in time is put aside like what was cancelled
    try:
        with anyio.move_on_after(calling.WAIT_SECONDS):
            answers = await resolve_arguments(wanted, build_resolver_plans(wanted, set()), {}, context)
    except ToolError:
        return question.outcome
    if isinstance(answers, InputRequiredResult):
        return answers
    if isinstance(answers["answer"], AcceptedElicitation):
        return question.ready
    return question.declined if isinstance(answers["answer"], DeclinedElicitation) else question.outcome


async def _carried_out(ready: calling.Ready, session: Session, context: Context) -> calling.Outcome:
    """Run in a thread that reports progress and hears when the client cancels."""
    send, receive = anyio.create_memory_object_stream[tuple[str, float | None, float | None]](64)
    token = anyio.lowlevel.current_token()

    def listen(message: str, done: float | None, total: float | None) -> None:
        def put() -> None:
            try:
                send.send_nowait((message, done, total))
            except anyio.WouldBlock:
                return  # the client is slower than the work: a later report carries more

        anyio.from_thread.run_sync(put, token=token)

    progress = CallProgress(listen)
    outcome = calling.failure(Cancelled())
    async with anyio.create_task_group() as group:
        group.start_soon(_pump, receive, context)
        try:
            outcome = await anyio.to_thread.run_sync(
                partial(calling.carry_out, ready, session, progress), abandon_on_cancel=True
            )
        except Cancelled:
            pass  # the answer is the one above
        except anyio.get_cancelled_exc_class():
            progress.cancel()
            raise
        finally:
            send.close()
    return outcome


async def _pump(receive: Any, context: Context) -> None:
    """Progress notifications; the number always rises, as the protocol asks."""
    at = 0.0
    async with receive:
        async for message, done, total in receive:
            at = max(at + 1e-6, done if done is not None and total else at + 1)
            await context.report_progress(at, total if done is not None else None, visible(message))


def as_result(outcome: calling.Outcome) -> CallToolResult:
    """An outcome on the wire: complete in structuredContent alone and in text alone."""
    return CallToolResult(
        content=[TextContent(type="text", text=outcome.text)],
        structured_content=dict(outcome.structured),
        is_error=outcome.failed,
    )
