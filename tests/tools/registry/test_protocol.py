"""The server as a client meets it, in both protocol eras, through a real client in memory."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, ElicitResult, ErrorData, JSONRPCError

import clouds
from tools.context import Session
from tools.ledger import Book
from tools.registry import unreadable
from tools.registry.serving import build
from tools.settings import Settings

ERAS = ("2025-11-25", "2026-07-28")


@asynccontextmanager
async def connected(
    era: str, tmp_path: Path, *, read_only: bool = False, names: tuple[str, ...] = (), **kw: Any
) -> AsyncIterator[Client]:
    session = Session(Settings.load({}, tmp_path), tmp_path / "home", clouds.names(), clouds.connect, names, read_only)
    mode = {} if era == "2026-07-28" else {"mode": "legacy"}
    async with Client(build(session, "0"), **mode, **kw) as client:
        assert client.protocol_version == era
        yield client


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


pytestmark = pytest.mark.anyio
eras = pytest.mark.parametrize("era", ERAS)
later = pytest.mark.parametrize("era", ERAS if "MODELRIG_ALL" in os.environ else ERAS[1:])
"""What is answered alike in both: a usual run asks in the later one."""


@eras
async def test_the_server_says_who_it_is_and_lists_its_tools(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        listed = await client.list_tools()
        assert client.server_info is not None
        assert client.server_info.name == "modelrig"
        assert listed.tools[0].name == "check_setup"
        assert all(tool.output_schema for tool in listed.tools)
        assert len(listed.model_dump_json(by_alias=True, exclude_none=True)) / 4 <= 12_000  # with all that is around it


@eras
async def test_an_unknown_argument_is_refused_by_name(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        result = await client.call_tool("list_endpoints", {"clowd": "local"})
    assert result.is_error
    assert text_of(result).startswith("**`clowd`: is not an argument; did you mean `cloud`?")
    assert result.structured_content["error"]["kind"] == "invalid_input"  # type: ignore[index]
    assert result.structured_content["error"]["field"] == "clowd"  # type: ignore[index]


@later
async def test_a_wrong_argument_is_answered_with_the_allowed_values(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        result = await client.call_tool("list_endpoints", {"cloud": "azur"})
    assert result.is_error
    assert "local" in text_of(result)
    assert result.structured_content["error"]["allowed"] == list(clouds.names())  # type: ignore[index]


@later
async def test_an_unknown_tool_is_answered_with_the_nearest(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        result = await client.call_tool("list_endpoint", {})
    assert result.is_error
    assert "Did you mean list_endpoints?" in text_of(result)


@later
async def test_nothing_deployed_lists_zero_and_says_what_to_do(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path, names=("local",)) as client:
        result = await client.call_tool("list_endpoints", {})
    assert not result.is_error
    assert result.structured_content["count"] == 0  # type: ignore[index]
    assert result.structured_content["complete"] is True  # type: ignore[index]
    assert text_of(result).startswith("**0 endpoints, 0 billing by the hour.**")


@eras
async def test_read_only_offers_reading_tools_only_and_refuses_the_rest(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path, read_only=True) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("delete_endpoint", {"ref": "local:llama:this-machine:x"})
        unknown = await client.call_tool("delete_endpoints", {})
    assert {"list_endpoints", "get_endpoint", "list_runs", "get_operation"} <= listed
    assert not {"deploy_endpoint", "delete_endpoint", "measure_model", "query_model"} & listed
    assert result.is_error
    assert text_of(result) == (
        "**`tool`: delete_endpoint changes things, and this modelrig was started with --read-only.** "
        "Start it without --read-only to use this tool. (Nothing was sent.)"
    )
    assert "'delete_endpoints' is not a tool" in text_of(unknown)


@later
async def test_work_that_reads_and_takes_long_is_followed_with_read_only(era: str, tmp_path: Path) -> None:
    with Book(tmp_path / "home") as book:
        operation = book.operations.add("scan_waste", {}, flags=(), cwd="").id
        with book.operations.alone() as database:
            book.operations.close(database, book.operations.get(operation), "done", result={"structured": {}})
    async with connected(era, tmp_path, read_only=True) as client:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}["get_operation"]
        result = await client.call_tool("get_operation", {"operation": operation})
    assert hints is not None
    assert hints.read_only_hint is True
    assert not result.is_error, text_of(result)
    assert result.structured_content["state"] == "done"  # type: ignore[index]


@later
async def test_the_skills_are_prompts(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        prompts = (await client.list_prompts()).prompts
        text = (await client.get_prompt(prompts[0].name)).messages[0].content
    assert {prompt.name for prompt in prompts} == {"deploy-a-model", "measure-and-compare", "find-waste"}
    assert all(prompt.description for prompt in prompts)
    assert "endpoint" in text.text  # type: ignore[union-attr]


HOSTILE = ("x" * 1_000_000, "a\x00b", "../../etc/passwd", "$(reboot)", "`id`", "a;b", "a:b:c:d:e", "ü:ü:ü:ü")


@later
async def test_a_hostile_ref_is_refused_before_anything_happens(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        for hostile in HOSTILE:
            result = await client.call_tool("get_endpoint", {"ref": hostile})
            assert result.is_error, hostile
            assert result.structured_content["error"]["kind"] in {"invalid_input", "not_found"}, hostile  # type: ignore[index]
            assert result.structured_content["error"]["sent"] is False, hostile  # type: ignore[index]
            assert len(text_of(result)) < 1_000, hostile


@later
async def test_deleting_what_was_never_there_says_so(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        result = await client.call_tool("delete_endpoint", {"ref": "nothing"})
    assert result.is_error
    assert result.structured_content["error"]["kind"] == "not_found"  # type: ignore[index]


@later
async def test_a_wrong_token_is_refused(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        result = await client.call_tool("delete_endpoint", {"ref": "nothing", "confirm": "7f3a-9c41"})
    assert result.is_error


async def _never(_context: Any, _params: Any) -> ElicitResult:
    raise AssertionError("a read must not ask")


@later
async def test_a_read_never_asks_a_client_that_could_be_asked(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path, elicitation_callback=_never) as client:
        assert not (await client.call_tool("list_endpoints", {})).is_error


@eras
async def test_a_prompt_that_is_not_there_is_refused_with_the_names_of_those_that_are(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        with pytest.raises(MCPError, match=r"There is no prompt 'nope'. There are: .*deploy"):
            await client.get_prompt("nope")
        assert (await client.get_prompt((await client.list_prompts()).prompts[0].name)).messages


@eras
async def test_resources_that_there_are_none_of_are_not_claimed(era: str, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        assert client.server_capabilities is not None
        assert client.server_capabilities.tools is not None
        assert client.server_capabilities.resources is None


def test_a_request_before_initialize_is_told_what_has_to_come_first() -> None:
    plain = JSONRPCError(
        jsonrpc="2.0", id=2, error=ErrorData(code=-32602, message="Invalid request parameters", data="")
    )
    assert unreadable.unopened(plain, "tools/list").error.message.startswith(
        "Invalid request parameters: tools/list came before `initialize`. Send initialize (protocol 2025-11-25)"
    )
    assert unreadable.unopened(plain, "initialize") == plain
    other = plain.model_copy(update={"error": ErrorData(code=-32602, message="x", data="which")})
    assert unreadable.unopened(other, "tools/list") == other
