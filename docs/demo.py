"""The main job on this machine, by a real MCP client over stdio: deploy, query, measure, compare, delete.

`make demo` runs it. Everything it prints is what the tools answered; nothing is left running at the end. It measures
with the `quick` profile, which is short; `standard` is the default everywhere else.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 120.0
"""Seconds that a start-up may take before the demo gives up (and still deletes)."""


PRICE_USD_PER_HOUR = 0.0416
"""A what-if price, so that a cost per token shows: an AWS t3.medium (2 vCPU) on demand in us-east-1, 2026-09-06. This
machine itself bills nobody, and the result says that the price was given."""


class Failed(Exception):
    """A tool answered with an error."""


class Demo:
    """One client session; prints each call and what a person would be shown."""

    def __init__(self, client: Client) -> None:
        self.client, self.started, self.said = client, time.monotonic(), ""

    async def call(self, tool: str, *, show: bool = True, **arguments: Any) -> dict[str, Any]:
        """Call a tool, follow its operation while it goes on, return the structured result."""
        words = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        if show:
            print(f"\n[{time.monotonic() - self.started:5.1f} s] {tool}({words})", flush=True)
        result = await self.client.call_tool(tool, arguments, progress_callback=self.progress)
        found = dict(result.structured_content or {})
        while not result.is_error and "operation" in found and "state" in found and tool != "get_operation":
            operation = found["operation"]
            result = await self.client.call_tool("get_operation", {"operation": operation, "wait_seconds": 30})
            poll = dict(result.structured_content or {})
            if poll.get("state") in {"queued", "running"}:
                self.say(str(poll.get("message", "")))
                continue
            found = poll.get("result", poll)
        if show or result.is_error:
            text = "\n".join(block.text for block in result.content if block.type == "text")
            print("\n".join(f"  {line}" for line in text.splitlines()), flush=True)
        if result.is_error:
            raise Failed(tool)
        return found

    async def progress(self, _done: float, _total: float | None, message: str | None) -> None:
        """Show long steps as they go."""
        self.say(message or "")

    def say(self, message: str) -> None:
        """Each line once: a worker that is polled reports the same again."""
        if message and message != self.said:
            print(f"          … {message}", flush=True)
        self.said = message

    async def ready(self, ref: str) -> None:
        """Poll until the model has produced a token."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = await self.call("get_endpoint", show=False, ref=ref)
            if found["state"] == "ready":
                await self.call("get_endpoint", ref=ref)
                return
            if found["state"] in {"failed", "stopped", "deleted"}:
                break
            await anyio.sleep(0.5)
        await self.call("get_endpoint_logs", ref=ref)
        raise Failed(f"{ref} did not become ready")

    async def run(self) -> None:
        """The loop."""
        await self.call("check_setup")
        runs = []
        refs: list[str] = []
        try:
            for name, context in (("smollm2-short", 2048), ("smollm2-long", 8192)):
                made = await self.call(
                    "deploy_endpoint",
                    cloud="local",
                    model="smollm2-135m-instruct",
                    name=name,
                    ttl_hours=0.5,
                    engine_settings={"context": context, "slots": 4},
                )
                refs.append(made["endpoint"])
                await self.ready(refs[-1])
                if len(refs) == 1:
                    await self.call(
                        "query_model", endpoint=refs[0], prompt="What is the capital of France?", max_tokens=32
                    )
                    await self.call("check_health", endpoint=refs[0])
                run = await self.call(
                    "measure_model", endpoint=refs[-1], profile="quick", price_usd_per_hour=PRICE_USD_PER_HOUR
                )
                runs.append(run["run"])
            await self.call("compare_runs", runs=runs)
            await self.call("list_endpoints")
        finally:
            for ref in refs:
                asked = await self.call("delete_endpoint", ref=ref)
                if asked.get("confirm"):
                    await self.call("delete_endpoint", ref=ref, confirm=asked["confirm"])
        left = await self.call("list_endpoints")
        if left["count"]:
            raise Failed(f"{left['count']} endpoints are left")
        print(f"\nDone in {time.monotonic() - self.started:.0f} s. Nothing is running and nothing bills: 0 endpoints.")


async def main() -> int:
    """Run the demo with its own data directory, kept between runs so that the model is fetched once."""
    home = os.environ.get("MODELRIG_HOME") or str(ROOT / "build" / "demo")
    env = {**os.environ, "MODELRIG_HOME": home}
    server = StdioServerParameters(command=sys.executable, args=[str(ROOT / "server.py")], env=env, cwd=str(ROOT))
    stopped: list[Failed] = []
    async with Client(server) as client:
        try:
            await Demo(client).run()
        except Failed as failed:
            stopped.append(failed)
    for failed in stopped:
        print(f"\nThe demo stopped at {failed}; its answer is above.", file=sys.stderr)
    return len(stopped)


if __name__ == "__main__":
    raise SystemExit(anyio.run(main))
