"""The main job through a real client over real stdio, with a real engine and a tiny random model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from tests.e2e.rig import Rig, left_behind, prepared, rig
from tools.ledger import Book

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def swap(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rig]:
    """A server with one endpoint, `swap`, for tests that leave it as ready as they found it."""
    home = prepared(tmp_path_factory.mktemp("swap") / "home")
    async with rig(home, "2026-07-28") as one:
        settings = {"context": 512}
        await one.call(
            "deploy_endpoint", cloud="local", model="tiny-random", name="swap", ttl_hours=0.1, engine_settings=settings
        )
        await one.ready("swap")
        yield one
        await one.delete("swap")
    assert left_behind(home) == []


async def test_deploy_query_measure_compare_and_delete(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with rig(home, "2026-07-28", "--clouds", "local") as one:
        runs = []
        refs = []
        for name, context, measured in (("short", 512, {}), ("long", 1024, {"measurements": ["decode"]})):
            made = await one.call(
                "deploy_endpoint", cloud="local", model="tiny-random", name=name, ttl_hours=0.2,
                engine_settings={"context": context, "slots": 2, "threads": 1},
            )  # fmt: skip
            refs.append(made["endpoint"])
            assert made["endpoint"] == f"local:llama:this-machine:{name}"
            seen = await one.ready(refs[-1])
            assert seen["engine"]["context_tokens"] == context
            answer = await one.call("query_model", endpoint=name, prompt="Hello", max_tokens=8)
            assert answer["completion_tokens"] == 8
            run = await one.call("measure_model", endpoint=refs[-1], profile="quick", **measured)
            runs.append(run["run"])
        assert one.messages, "a long step says where it is"
        compared = await one.call("compare_runs", runs=runs)
        assert "context" in str(compared)
        assert (await one.call("list_runs"))["count"] == 2
        assert (await one.call("list_endpoints"))["count"] == 2
        for ref in refs:
            assert (await one.delete(ref))["gone"] is True
        assert (await one.call("list_endpoints"))["count"] == 0
    assert left_behind(home) == []


async def test_an_endpoint_outlives_its_server_and_the_next_does_all_with_it_on_the_older_wire(tmp_path: Path) -> None:
    home = prepared(tmp_path / "home")
    async with rig(home, "2026-07-28", "--clouds", "local") as one:
        made = await one.call("deploy_endpoint", cloud="local", model="tiny-random", name="kept", ttl_hours=0.1)
        await one.ready(made["endpoint"])
    async with rig(home, "2025-11-25", "--clouds", "local") as two:
        listed = await two.call("list_endpoints")
        assert [(row["endpoint"], row["state"]) for row in listed["rows"]] == [(made["endpoint"], "ready")]
        again = await two.call("deploy_endpoint", cloud="local", model="tiny-random", name="kept", ttl_hours=0.1)
        assert again["already_there"] is True
        other = await two.client.call_tool(
            "deploy_endpoint",
            {"cloud": "local", "model": "tiny-random", "name": "kept", "engine_settings": {"slots": 1}},
        )
        assert other.is_error
        assert other.structured_content["error"]["kind"] == "conflict"  # type: ignore[index]
        assert "slots" in other.content[0].text  # type: ignore[union-attr]
        assert (await two.call("query_model", endpoint="kept", prompt="Hello", max_tokens=8))["completion_tokens"] == 8
        run = await two.call("measure_model", endpoint="kept", profile="quick", measurements=["decode"])
        assert two.messages, "a long step says where it is"
        assert [row["run"] for row in (await two.call("list_runs"))["rows"]] == [run["run"]]
        changed = await two.call("update_endpoint", ref="kept", ttl_hours=0.3)
        assert changed["changed"][0].startswith("end ")
        assert (await two.delete("kept"))["gone"] is True
    assert left_behind(home) == []


async def test_replacing_the_engine_asks_first_and_keeps_the_machine(swap: Rig) -> None:
    before = await swap.ready("swap")
    asked = await swap.call("update_endpoint", ref="swap", settings={"context": 1024})
    assert asked["done"] is False
    assert (await swap.call("get_endpoint", ref="swap"))["engine"]["context_tokens"] == 512
    await swap.call("update_endpoint", ref="swap", settings={"context": 1024}, confirm=asked["confirm"])
    after = await swap.ready("swap")
    assert after["engine"]["context_tokens"] == 1024
    assert after["expires"] == before["expires"]


async def test_a_cancelled_call_stops_its_work_and_leaves_nothing_half_made(swap: Rig) -> None:
    wanted = {"endpoint": "swap", "measurements": ["load"], "levels": [1, 2, 4, 8, 16, 32, 64, 128]}
    with anyio.fail_after(40), Book(swap.home) as book:
        async with anyio.create_task_group() as group:
            group.start_soon(swap.client.call_tool, "measure_model", wanted)
            while not any("load" in each.message for each in book.operations.unfinished()):
                await anyio.sleep(0.02)
            group.cancel_scope.cancel()
        while book.operations.unfinished():
            await anyio.sleep(0.05)
        assert [each.state for each in book.operations.recent(1)] == ["cancelled"]
    runs = await swap.call("list_runs")
    assert runs["count"] == runs.get("incomplete", 0)
    assert (await swap.call("get_endpoint", ref="swap"))["state"] == "ready"
