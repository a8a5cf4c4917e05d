"""The timing client against a server of known timing: how far its figures are from the truth, and what they cost it.

    python benchmarks/measure_truth.py [--server PATH] [--repeats 5] [--levels 1,16,64,256] [--client aiohttp]

The server runs in a process of its own: ours by default, or any script that takes --port, --ttft-ms and --itl-ms and
answers /truth. Each cell is one batch of 256-token replies; truth = C * N / (ttft + (N - 1) * itl). Levels alternate,
so that a slow minute of the machine meets all of them; a cell is printed as the median of its repeats with the worst
beside it. `server late` is the 99th percentile of how late the server itself wrote: where it is large, a cell says
nothing. CPU is of the whole client process, with every reply read and parsed. `--client aiohttp` is the same through
aiohttp on the same loop, with its connections opened before; it needs aiohttp installed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from clouds.models import Wire  # noqa: E402 - the root is put on the path first, so that this runs from any folder
from tools.measure.client import ChatRequest, ModelClient  # noqa: E402
from tools.measure.client.request import Address, Dialect, encode_chat  # noqa: E402
from tools.measure.client.sse import SseFramer  # noqa: E402
from tools.measure.loop import loop_factory  # noqa: E402

TTFT, ITL, TOKENS = 0.050, 0.010, 256


@dataclass(frozen=True)
class Cell:
    """One batch: seconds and counts."""

    wall: float
    ttfts: Sequence[float]
    tokens: int
    lost: int
    cpu: float
    late_ms: float


@contextlib.contextmanager
def serving(script: str) -> Iterator[str]:
    """The server's URL while the block runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, *([script] if script else ["-m", "tests.tools.measure.truth"])]
    command += ["--port", str(port), "--ttft-ms", str(1e3 * TTFT), "--itl-ms", str(1e3 * ITL)]
    process = subprocess.Popen(command, cwd=ROOT)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                get(f"{url}/truth")
                break
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - our own server
        return json.loads(answer.read())


async def ours(url: str, streams: int) -> Cell:
    """One batch through the timing client."""
    requests = [ChatRequest(f"hello {n}", TOKENS, fixed_length=True) for n in range(streams)]
    async with ModelClient(Wire(url=url, model="truth")) as client:
        began = time.process_time()
        batch = await client.together(requests)
        cpu = time.process_time() - began
    good = batch.good
    ttfts = [reply.ttft for reply in good]
    return Cell(batch.wall, ttfts, sum(reply.tokens for reply in good), streams - len(good), cpu, late(url))


async def through_aiohttp(url: str, streams: int) -> Cell:
    """The same batch through aiohttp: pieces are stamped as they come and parsed afterwards."""
    import aiohttp

    wire = Wire(url=url, model="truth")
    body = encode_chat(wire, Address.of(wire), Dialect(), ChatRequest("hello", TOKENS, fixed_length=True), "truth")
    body = body.partition(b"\r\n\r\n")[2]
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers={"content-type": "application/json"}) as session:

        async def warm() -> None:
            async with session.get(f"{url}/health") as answer:
                await answer.read()
                await asyncio.sleep(0.2)

        async def one() -> tuple[float, list[tuple[float, bytes]]]:
            sent = time.perf_counter()
            async with session.post(f"{url}{wire.path}", data=body) as answer:
                return sent, [(time.perf_counter(), piece) async for piece, _ in answer.content.iter_chunks()]

        await asyncio.gather(*(warm() for _ in range(streams)))
        gc.disable()
        began, started = time.process_time(), time.perf_counter()
        replies = await asyncio.gather(*(one() for _ in range(streams)))
        wall = time.perf_counter() - started
        ttfts, tokens = [], 0
        for sent, pieces in replies:
            events = [(at, json.loads(payload)) for at, payload in SseFramer().events(pieces) if payload != b"[DONE]"]
            stamps = [at for at, event in events if event["choices"] and event["choices"][0]["delta"].get("content")]
            ttfts.append(stamps[0] - sent)
            tokens += len(stamps)
        cpu = time.process_time() - began
        gc.enable()
    return Cell(wall, ttfts, tokens, streams - len(replies), cpu, late(url))


def late(url: str) -> float:
    return float(get(f"{url}/truth")["late_ms"]["p99"] or 0)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--server", default="")
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--levels", default="1,16,64,256")
    options.add_argument("--client", choices=("modelrig", "aiohttp"), default="modelrig")
    asked = options.parse_args()
    levels = [int(level) for level in asked.levels.split(",")]
    measure: Callable[[str, int], Awaitable[Cell]] = ours if asked.client == "modelrig" else through_aiohttp
    cells: dict[int, list[Cell]] = {level: [] for level in levels}
    with serving(asked.server) as url, asyncio.Runner(loop_factory=loop_factory()) as runner:
        for _ in range(asked.repeats):
            for level in levels:
                get(f"{url}/reset")
                cells[level].append(runner.run(_one(measure, url, level)))
    print(f"{asked.client}, {asked.repeats} repeats: median (worst)")
    print("| at once | throughput error | TTFT p50 error | CPU a token | replies lost | server late p99 |")
    print("|--:|--:|--:|--:|--:|--:|")
    for level, row in cells.items():
        print(line(level, row))


async def _one(measure: Callable[[str, int], Awaitable[Cell]], url: str, level: int) -> Cell:
    return await measure(url, level)


def line(level: int, row: Sequence[Cell]) -> str:
    truth = level * TOKENS / (TTFT + (TOKENS - 1) * ITL)
    errors = [100 * (cell.tokens / cell.wall / truth - 1) for cell in row]
    ttfts = [1e3 * (median(cell.ttfts) - TTFT) for cell in row]
    cpus = [1e6 * cell.cpu / cell.tokens for cell in row]
    lates = [cell.late_ms for cell in row]
    worst = max(errors, key=abs)
    return (
        f"| {level} | {median(errors):+.2f} % ({worst:+.2f} %) | {median(ttfts):.1f} ms ({max(ttfts):.1f} ms) "
        f"| {median(cpus):.1f} us ({max(cpus):.1f} us) | {sum(cell.lost for cell in row)} "
        f"| {median(lates):.1f} ms ({max(lates):.1f} ms) |"
    )


if __name__ == "__main__":
    main()
