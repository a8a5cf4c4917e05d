"""The MCP server: our tools and prompts, both protocol eras, and an end of input that answers what was asked before."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_PARAMS, JSONRPCError, JSONRPCRequest, JSONRPCResponse, ServerCapabilities

from clouds.errors import CloudError
from tools import NAMES, binding, calling, prompts
from tools.context import Session
from tools.registry import refused, unreadable
from tools.registry.adapter import RigTool, as_result, snapshot

INSTRUCTIONS = (
    "modelrig deploys open models here and in clouds, measures them, ends what bills and finds waste. Start with "
    "check_setup. Models: deploy_endpoint, get_endpoint until ready, query_model, measure_model, compare_runs, "
    "delete_endpoint. Waste: scan_waste, explain_finding, plan_cleanup, apply_cleanup. Destructive calls first answer "
    "with steps and a confirm token. Long calls return an operation for get_operation. Figures are computed: quote "
    "them as they are."
)
WARM_AFTER = 1.0
"""Seconds between the list and the import of the other tools."""
HOLD_SECONDS = 1.5
"""How long end of input is held back for requests that were read before it."""


class RigServer(MCPServer):
    """MCPServer over stdio whose end of input waits for the answers that are still owed."""

    after_listing: Callable[[], None] | None = None
    """Run in a thread once the first list of tools is out."""
    ending = threading.Event()
    """Set once input has ended: long work is then answered with its reference, and goes on."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context | None = None) -> Any:
        """As the SDK's, with our words for a tool that is not there."""
        names = tuple(tool.name for tool in self._tool_manager.list_tools())
        if name in NAMES and name not in names:
            return as_result(calling.failure(refused(name)))
        if name not in names:
            return as_result(calling.unknown_tool(name, names))
        return await super().call_tool(name, arguments, context)

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context | None = None
    ) -> Any:
        """As the SDK's, with our words for a prompt that is not there; the SDK writes a traceback to stderr."""
        names = [prompt.name for prompt in self._prompt_manager.list_prompts()]
        if name not in names:
            raise MCPError(INVALID_PARAMS, f"There is no prompt {name[:60]!r}. There are: {', '.join(names)}.")
        return await super().get_prompt(name, arguments, context)

    def claim_no_resources(self) -> None:
        """The SDK names resources, and subscriptions to them, among what a server can: this one has none."""
        low: Any = self._lowlevel_server
        whole = low.get_capabilities

        def without(*args: Any, **named: Any) -> ServerCapabilities:
            found: ServerCapabilities = whole(*args, **named)
            return found.model_copy(update={"resources": None})

        low.get_capabilities = without

    async def run_stdio_async(self) -> None:
        """Serve until end of input."""
        async with stdio_server() as (read, write):
            owed: dict[str | int, str] = {}
            server = self._lowlevel_server
            counting = _Counting(write, owed)
            counting.listed = self.after_listing
            held = _HeldOpen(read, owed, write, self.ending)
            await server.run(held, counting, server.create_initialization_options())


class _Wrapped:
    """A stream of the SDK with one method changed; the rest is passed through."""

    def __init__(self, inner: Any, owed: dict[str | int, str]) -> None:
        self._inner, self._owed = inner, owed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def __aenter__(self) -> Any:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> Any:
        return await self._inner.__aexit__(*details)


class _HeldOpen(_Wrapped):
    """Notes each request that was read; ends only when all are answered, or after HOLD_SECONDS.

    A line that could not be read is answered here, on `write`.
    """

    def __init__(self, inner: Any, owed: dict[str | int, str], write: Any, ending: threading.Event) -> None:
        super().__init__(inner, owed)
        self._write, self._ending = write, ending

    async def receive(self) -> Any:
        try:
            item = await self._inner.receive()
        except anyio.EndOfStream:
            self._ending.set()
            with anyio.move_on_after(HOLD_SECONDS):
                while self._owed:  # noqa: ASYNC110 - an end that comes once; looking is simpler than signalling
                    await anyio.sleep(0.01)
            raise
        if isinstance(item, Exception) and (refusal := unreadable.answer(item)) is not None:
            await self._write.send(SessionMessage(refusal))
        message = getattr(item, "message", None)
        if isinstance(message, JSONRPCRequest) and message.method != "subscriptions/listen":
            self._owed[message.id] = message.method
        return item

    def __aiter__(self) -> _HeldOpen:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class _Counting(_Wrapped):
    """Strikes off each request when its answer has been written, and has an early one say what has to come first."""

    listed: Callable[[], None] | None = None
    _opened = False

    async def send(self, item: Any) -> None:
        message = getattr(item, "message", None)
        answered = message.id if isinstance(message, JSONRPCResponse | JSONRPCError) else None
        asked = self._owed.get(answered, "") if answered is not None else ""
        self._opened = self._opened or (asked == "initialize" and isinstance(message, JSONRPCResponse))
        if isinstance(message, JSONRPCError) and not self._opened:
            item = SessionMessage(unreadable.unopened(message, asked))
        await self._inner.send(item)
        if answered is not None:
            self._owed.pop(answered, None)
        if self.listed is not None and isinstance(message, JSONRPCResponse) and "tools" in message.result:
            threading.Thread(target=self.listed, daemon=True).start()
            self.listed = None


def build(session: Session, version: str) -> RigServer:
    """The server with every tool on offer and the skills as prompts. No network, no cloud SDK, no credentials."""
    names = session.names or session.settings["clouds"]
    server = RigServer(
        "modelrig",
        title="modelrig",
        version=version,
        instructions=INSTRUCTIONS,
        log_level="WARNING",
        tools=[RigTool.listed(entry, session) for entry in snapshot(names, read_only=session.read_only)],
    )
    server.ending = session.ending
    server.claim_no_resources()
    server.after_listing = None if session.fault else partial(_after_listing, session)
    for skill in prompts.skills():
        server.add_prompt(Prompt.from_function(_reads(skill.text), name=skill.name, description=skill.description))
    return server


def _reads(text: str) -> Callable[[], str]:
    def read() -> str:
        return text

    return read


def serve(session: Session, version: str) -> None:
    """Serve stdio until end of input; dead operations of an earlier process go on in the background."""
    server = build(session, version)
    _get_ready(session)
    gc.freeze()
    gc.enable()
    server.run()


def _get_ready(session: Session) -> None:
    """Have at hand what a first look takes: the tool that lists, and the clouds (connecting imports none of theirs)."""
    if session.fault is not None:
        return
    import psutil  # noqa: F401 - whoever looks for processes of ours needs it, and it takes 15 ms

    from tools import tool

    binding.parameters(tool("list_endpoints").run)
    for name in session.clouds.names:
        with suppress(CloudError):
            session.clouds.get(name)


def _after_listing(session: Session) -> None:
    """Some time after the client has its list: take up what a crash left, and import what later calls need.

    A first call mostly comes right behind the list; it gets the interpreter for itself.
    """
    from tools import operations, tool

    if session.ending.wait(WARM_AFTER):
        return
    if (session.home / "ledger.sqlite3").exists():
        operations.resume(session.book, may=session.may_work_on)
    for name in session.clouds.names:
        with suppress(CloudError):
            session.clouds.get(name)
    for name in NAMES:
        if session.ending.wait(0.02):
            return
        binding.parameters(tool(name).run)
