"""The main job through a real client over real stdio, with a real engine and a tiny random model."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import psutil
import pytest
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


class Rig:
    """One client; every result is held against its tool's published schema."""

    def __init__(self, client: Client) -> None:
        self.client, self.schemas, self.messages = client, dict[str, Any](), list[str]()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        if not self.schemas:
            self.schemas = {each.name: each.output_schema for each in (await self.client.list_tools()).tools}
        result = await self.client.call_tool(tool, arguments, progress_callback=self.progress)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        assert not result.is_error, text
        found = result.structured_content
        assert found is not None
        jsonschema.validate(found, self.schemas[tool])
        assert found["headline"] in text
        return dict(found)

    async def progress(self, _done: float, _total: float | None, message: str | None) -> None:
        self.messages.append(message or "")

    async def ready(self, ref: str) -> dict[str, Any]:
        with anyio.fail_after(30):
            while True:
                found = await self.call("get_endpoint", ref=ref)
                assert found["state"] not in {"failed", "stopped"}, found
                if found["state"] == "ready":
                    return found
                await anyio.sleep(0.1)

    async def delete(self, ref: str) -> dict[str, Any]:
        asked = await self.call("delete_endpoint", ref=ref)
        assert asked["done"] is False
        return await self.call("delete_endpoint", ref=ref, confirm=asked["confirm"])


@asynccontextmanager
async def rig(home: Path, era: str, *options: str) -> AsyncIterator[Rig]:
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | {"MODELRIG_HOME": str(home)}
    server = StdioServerParameters(
        command=sys.executable, args=[str(ROOT / "server.py"), *options], env=env, cwd=str(ROOT)
    )
    mode = {} if era == "2026-07-28" else {"mode": "legacy"}
    async with Client(server, **mode) as client:
        assert client.protocol_version == era
        yield Rig(client)


def left_behind(home: Path) -> list[str]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(home) in line:
            found.append(line)
    return found


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_deploy_query_measure_compare_and_delete(era: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
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
            run = await one.call("measure_model", endpoint=refs[-1], profile="quick")
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
