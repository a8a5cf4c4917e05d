"""The main job through a real client over real stdio, with a real engine and a tiny random model."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.e2e.rig import left_behind, rig
from tools.ledger import Book

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_deploy_query_measure_compare_and_delete(era: str, tmp_path: Path) -> None:
    """The older era takes one measurement only: its part is the wire."""
    home = tmp_path / "home"
    some = {} if era == "2026-07-28" else {"measurements": ["decode"]}
    async with rig(home, era, "--clouds", "local") as one:
        runs = []
        refs = []
        for name, context in (("short", 512), ("long", 1024)):
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
            run = await one.call("measure_model", endpoint=refs[-1], profile="quick", **some)
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


async def test_an_endpoint_outlives_its_server_and_is_found_by_the_next(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with rig(home, "2026-07-28") as one:
        made = await one.call("deploy_endpoint", cloud="local", model="tiny-random", name="kept", ttl_hours=0.1)
        await one.ready(made["endpoint"])
    async with rig(home, "2025-11-25") as two:
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
        changed = await two.call("update_endpoint", ref="kept", ttl_hours=0.3)
        assert changed["changed"][0].startswith("end ")
        assert (await two.delete("kept"))["gone"] is True
    assert left_behind(home) == []


async def test_replacing_the_engine_asks_first_and_keeps_the_machine(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with rig(home, "2026-07-28") as one:
        made = await one.call(
            "deploy_endpoint",
            cloud="local",
            model="tiny-random",
            name="swap",
            ttl_hours=0.1,
            engine_settings={"context": 512},
        )
        before = await one.ready(made["endpoint"])
        asked = await one.call("update_endpoint", ref="swap", settings={"context": 1024})
        assert asked["done"] is False
        assert (await one.call("get_endpoint", ref="swap"))["engine"]["context_tokens"] == 512
        await one.call("update_endpoint", ref="swap", settings={"context": 1024}, confirm=asked["confirm"])
        after = await one.ready(made["endpoint"])
        assert after["engine"]["context_tokens"] == 1024
        assert after["expires"] == before["expires"]
        await one.delete("swap")
    assert left_behind(home) == []


async def test_a_cancelled_call_stops_its_work_and_leaves_nothing_half_made(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with rig(home, "2026-07-28") as one:
        made = await one.call("deploy_endpoint", cloud="local", model="tiny-random", name="stop", ttl_hours=0.1)
        await one.ready(made["endpoint"])
        with anyio.move_on_after(1.0) as scope:
            wanted = {"endpoint": "stop", "measurements": ["load"], "levels": [1, 2, 4, 8, 16, 32, 64, 128]}
            await one.client.call_tool("measure_model", wanted)
        assert scope.cancelled_caught
        with anyio.fail_after(10), Book(home) as book:
            while book.operations.unfinished():
                await anyio.sleep(0.05)
            assert [each.state for each in book.operations.recent(1)] == ["cancelled"]
        runs = await one.call("list_runs")
        assert runs["count"] == runs.get("incomplete", 0)
        assert (await one.call("get_endpoint", ref="stop"))["state"] == "ready"
        await one.delete("stop")
    assert left_behind(home) == []
