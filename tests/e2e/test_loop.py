"""The main job through a real client over real stdio, with a real engine and a tiny random model."""

from __future__ import annotations

import anyio
import pytest

from tests.e2e.conftest import Kept
from tools.ledger import Book

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]
LONG = "local:llama:this-machine:long"


async def test_deploy_query_measure_and_compare(kept: Kept) -> None:
    loop = kept.loop
    assert [each["endpoint"] for each in loop.made] == [LONG]
    assert [each["completion_tokens"] for each in loop.queried] == [8]
    assert loop.messages, "a long step says where it is"
    assert "context" in str(loop.then["compared"])
    assert loop.then["runs"]["count"] == 2
    assert {row["endpoint"] for row in loop.then["endpoints"]["rows"]} == {LONG}


async def test_replacing_the_engine_asks_first_and_keeps_the_machine(kept: Kept) -> None:
    loop, (before, after) = kept.loop, kept.loop.ready
    assert (loop.then["asked"]["done"], loop.then["unasked"]["engine"]["context_tokens"]) == (False, 1024)
    assert (before["engine"]["context_tokens"], after["engine"]["context_tokens"]) == (1024, 512)
    assert (after["url"], after["expires"]) == (before["url"], before["expires"])


async def test_an_endpoint_outlives_its_server_and_the_next_does_all_with_it_on_the_older_wire(kept: Kept) -> None:
    two = kept.two
    listed = await two.call("list_endpoints")
    assert [(row["endpoint"], row["state"]) for row in listed["rows"]] == [(LONG, "ready")]
    same = {"cloud": "local", "model": "tiny-random", "name": "long", "ttl_hours": 0.2}
    settings = {"context": 512, "slots": 2, "threads": 1}
    assert (await two.call("deploy_endpoint", **same, engine_settings=settings))["already_there"] is True
    other = await two.client.call_tool("deploy_endpoint", {**same, "engine_settings": {**settings, "slots": 1}})
    assert other.is_error
    assert other.structured_content["error"]["kind"] == "conflict"
    assert "slots" in other.content[0].text  # type: ignore[union-attr]
    assert (await two.call("query_model", endpoint="long", prompt="Hello", max_tokens=8))["completion_tokens"] == 8
    runs = {row["run"] for row in (await two.call("list_runs", contains="long"))["rows"]}
    assert kept.loop.measured[1]["run"] in runs
    changed = await two.call("update_endpoint", ref="long", ttl_hours=0.3)
    assert changed["changed"][0].startswith("end ")


async def test_a_cancelled_call_stops_its_work_and_leaves_nothing_half_made(kept: Kept) -> None:
    two = kept.two
    wanted = {"endpoint": "long", "measurements": ["load"], "levels": [1, 2, 4, 8, 16, 32, 64, 128]}
    with anyio.fail_after(40), Book(two.home) as book:
        async with anyio.create_task_group() as group:
            group.start_soon(two.client.call_tool, "measure_model", wanted)
            while not any("load" in each.message for each in book.operations.unfinished()):
                await anyio.sleep(0.02)
            group.cancel_scope.cancel()
        while book.operations.unfinished():
            await anyio.sleep(0.02)
        assert [each.state for each in book.operations.recent(1)] == ["cancelled"]
    runs = await two.call("list_runs")
    assert runs["count"] - runs.get("incomplete", 0) == len(kept.loop.measured)
    assert (await two.call("get_endpoint", ref="long"))["state"] == "ready"
