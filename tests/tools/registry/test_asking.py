"""Asking a person before something is deleted, in both protocol eras: the four ways to answer, and silence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult, ElicitResult

from clouds.models import Call, DeploymentPlan, DeploymentSpec, EndpointRef, PlanStep
from tests.called import without_workers
from tests.tools.registry.test_protocol import connected, eras, later
from tools import calling
from tools.ledger import Book

pytestmark = pytest.mark.anyio
REF = "local:llama:this-machine:lost"
Answer = Callable[[Any, Any], Awaitable[ElicitResult]]


def begun(home: Path) -> str:
    """A deployment that the ledger began and of which nothing was made."""
    spec = DeploymentSpec(cloud="local", service="llama", name="lost", model="tiny-random")
    step = PlanStep("start the engine", Call("local", "StartEngine", {"name": "lost"}), creates=True)
    with Book(home) as book:
        return book.deployments.begin(spec, DeploymentPlan(spec=spec, ref=EndpointRef.parse(REF), steps=(step,)))


def live(home: Path) -> list[str]:
    with Book(home) as book:
        return [each.id for each in book.deployments.live()]


def answering(action: Any, heard: list[str]) -> Answer:
    async def answer(_context: Any, params: Any) -> ElicitResult:
        heard.append(params.message)
        return ElicitResult(action=action, content={} if action == "accept" else None)

    return answer


async def deleted(era: str, tmp_path: Path, answer: Answer) -> CallToolResult:
    async with connected(era, tmp_path, elicitation_callback=answer) as client:
        return await client.call_tool("delete_endpoint", {"ref": REF})


@eras
async def test_a_yes_acts_and_the_question_held_every_step(
    era: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_workers(monkeypatch)
    begun(tmp_path / "home")
    heard: list[str] = []
    result = await deleted(era, tmp_path, answering("accept", heard))
    assert result.structured_content["gone"] is True  # type: ignore[index]
    assert live(tmp_path / "home") == []
    assert len(heard) == 1
    assert heard[0].startswith(f"Clears `{REF}` from the ledger")
    assert heard[0].endswith("Carry this out?")


@later
async def test_a_no_ends_it_and_nothing_was_changed(era: str, tmp_path: Path) -> None:
    there = begun(tmp_path / "home")
    result = await deleted(era, tmp_path, answering("decline", []))
    assert result.structured_content["headline"] == "Declined: nothing was changed."  # type: ignore[index]
    assert "confirm" not in result.structured_content  # type: ignore[operator]
    assert live(tmp_path / "home") == [there]


@later
async def test_a_question_put_aside_gives_the_token_instead(era: str, tmp_path: Path) -> None:
    there = begun(tmp_path / "home")
    result = await deleted(era, tmp_path, answering("cancel", []))
    assert result.structured_content["confirm"]  # type: ignore[index]
    assert live(tmp_path / "home") == [there]


async def test_a_question_that_nobody_answers_gives_the_token_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client may advertise what it cannot show. Only the older era keeps the call open while it asks."""
    monkeypatch.setattr(calling, "WAIT_SECONDS", 0.2)
    there = begun(tmp_path / "home")

    async def silent(_context: Any, _params: Any) -> ElicitResult:
        await anyio.sleep_forever()
        raise AssertionError

    with anyio.fail_after(10):
        result = await deleted("2025-11-25", tmp_path, silent)
    assert result.structured_content["confirm"]  # type: ignore[index]
    assert live(tmp_path / "home") == [there]
