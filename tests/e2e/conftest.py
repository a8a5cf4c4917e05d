"""The main job once, and a second server on what it left: shared, since a server and an engine take seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from mcp import Client

from tests.called import session_of, without_workers
from tests.e2e.rig import Rig, left_behind, prepared, rig
from tools.registry import serving


@dataclass
class Loop:
    """What the tools answered on the way, and the server that came after."""

    made: list[dict[str, Any]] = field(default_factory=list)
    ready: list[dict[str, Any]] = field(default_factory=list)
    queried: list[dict[str, Any]] = field(default_factory=list)
    measured: list[dict[str, Any]] = field(default_factory=list)
    then: dict[str, dict[str, Any]] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    async def run(self, one: Rig) -> None:
        """Deploy, query, measure, replace the engine, measure again, compare; the endpoint is left."""
        settings = {"context": 1024, "slots": 2, "threads": 1}
        wanted = {"cloud": "local", "model": "tiny-random", "name": "long", "ttl_hours": 0.2}
        made = await one.call("deploy_endpoint", **wanted, engine_settings=settings)
        self.made.append(made)
        self.ready.append(await one.ready(made["endpoint"]))
        self.queried.append(await one.call("query_model", endpoint="long", prompt="Hello", max_tokens=8))
        measured = {"endpoint": made["endpoint"], "profile": "quick"}
        self.measured.append(await one.call("measure_model", **measured, levels=[1, 2]))
        other = {"ref": "long", "settings": {"context": 512}}
        self.then["asked"] = await one.call("update_endpoint", **other)
        self.then["unasked"] = await one.call("get_endpoint", ref="long")
        await one.call("update_endpoint", **other, confirm=self.then["asked"]["confirm"])
        self.ready.append(await one.ready(made["endpoint"]))
        self.measured.append(await one.call("measure_model", **measured, measurements=["decode"]))
        runs = [each["run"] for each in self.measured]
        self.then["compared"] = await one.call("compare_runs", runs=runs)
        self.then["runs"] = await one.call("list_runs")
        self.then["endpoints"] = await one.call("list_endpoints")
        self.messages = one.messages


@dataclass
class Kept:
    """The loop that has been, and a server of the older wire that came after it; `long` is there and ready."""

    loop: Loop
    two: Rig


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
async def kept(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kept]:
    """For tests that leave `long` as ready as they found it. The end of all is the end of the loop."""
    home = prepared(tmp_path_factory.mktemp("loop") / "home")
    loop = Loop()
    async with rig(home, "2026-07-28", "--clouds", "local") as one:
        await loop.run(one)
    # the second is no process of its own: that a process serves this wire is seen in test_end_of_input.py; and of
    # what it is asked, only the call that is cancelled has a worker, as all that the first was asked had
    with pytest.MonkeyPatch.context() as patch, session_of(home, "local") as session:
        without_workers(patch, session, but="measure_model")
        async with Client(serving.build(session, "2"), mode="legacy") as client:
            assert client.protocol_version == "2025-11-25"
            two = Rig(client, home)
            yield Kept(loop, two)
            assert (await two.delete("long"))["gone"] is True
            assert (await two.call("list_endpoints"))["count"] == 0
    assert left_behind(home) == []
