"""A real client on the real server over stdio; every result is held against its tool's published schema."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import psutil
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from mcp import Client, StdioServerParameters

from clouds.local import tiny
from clouds.local.catalogue import TINY, models_folder

ROOT = Path(__file__).resolve().parents[2]


class Rig:
    """One client; every result is held against its tool's published schema."""

    def __init__(self, client: Client, home: Path) -> None:
        self.client, self.home, self.schemas, self.messages = client, home, dict[str, Validator](), list[str]()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        if not self.schemas:
            listed = (await self.client.list_tools()).tools
            self.schemas = {each.name: validator_for(each.output_schema)(each.output_schema) for each in listed}
        result = await self.client.call_tool(tool, arguments, progress_callback=self.progress)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        assert not result.is_error, text
        found = result.structured_content
        assert found is not None
        self.schemas[tool].validate(found)
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
                await anyio.sleep(0.05)

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
        yield Rig(client, home)


@cache
def _tiny() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / TINY.file
        tiny.write(file)
        return file.read_bytes()


def prepared(home: Path) -> Path:
    """A home that has the tiny model, as after a first deployment: each process that makes it loads numpy for it."""
    folder = models_folder(home)
    folder.mkdir(parents=True)
    (folder / TINY.file).write_bytes(_tiny())
    return home


def left_behind(home: Path) -> list[str]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(home) in line:
            found.append(line)
    return found
