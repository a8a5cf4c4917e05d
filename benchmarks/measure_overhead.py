"""Does measuring cost anything: the decode rate through the timing client beside that of a bare socket, one run.

    python benchmarks/measure_overhead.py [--url http://127.0.0.1:8080] [--repeats 7] [--short 16] [--long 256]

Without --url, against our own server of known timing (10 ms a token). The two clients alternate, reply by reply. The
bare client is a blocking socket that sends one request and reads until the stream ends, with no parsing at all; rate =
(long - short) / (median seconds of long - median seconds of short). Printed: both rates, their spread, and the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.measure_truth import serving  # noqa: E402 - the root is put on the path first
from clouds.models import Wire  # noqa: E402
from tools.measure.client import ChatRequest, ModelClient  # noqa: E402
from tools.measure.client.learn import learn  # noqa: E402
from tools.measure.client.request import Address, Dialect, encode_chat  # noqa: E402
from tools.measure.loop import loop_factory  # noqa: E402


def bare(wire: Wire, dialect: Dialect, model: str, request: ChatRequest) -> float:
    """Seconds from sending to the last byte, through a blocking socket."""
    import socket

    address = Address.of(wire)
    data = encode_chat(wire, address, dialect, request, model)
    with socket.create_connection((address.host, address.port)) as line:
        sent = time.perf_counter()
        line.sendall(data)
        seen = b""
        while b"[DONE]" not in seen:
            piece = line.recv(65_536)
            if not piece:
                break
            seen = seen[-16:] + piece
        return time.perf_counter() - sent


async def run(url: str, repeats: int, lengths: tuple[int, int]) -> dict[str, dict[int, list[float]]]:
    taken: dict[str, dict[int, list[float]]] = {who: {length: [] for length in lengths} for who in ("modelrig", "bare")}
    async with ModelClient(Wire(url=url)) as client:
        await learn(client)
        for repeat in range(repeats):
            for length in lengths:
                for who in ("modelrig", "bare") if repeat % 2 else ("bare", "modelrig"):
                    request = ChatRequest(f"{who} {repeat} {length}: write a long story.", length, fixed_length=True)
                    if who == "bare":
                        seconds = await asyncio.to_thread(bare, client.wire, client.dialect, client.model, request)
                    else:
                        reply = await client.one(request)
                        if not reply.ok:
                            raise SystemExit(f"{reply.kind}: {reply.detail}")
                        seconds = reply.ended - reply.sent
                    taken[who][length].append(seconds)
    return taken


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--url", default="")
    options.add_argument("--repeats", type=int, default=7)
    options.add_argument("--short", type=int, default=16)
    options.add_argument("--long", type=int, default=256)
    asked = options.parse_args()
    lengths = (asked.short, asked.long)
    with contextlib.ExitStack() as stack:
        url = asked.url or stack.enter_context(serving(""))
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            taken = runner.run(run(url, asked.repeats, lengths))
    rates = {}
    for who, by_length in taken.items():
        short, long = (by_length[length] for length in lengths)
        rates[who] = (asked.long - asked.short) / (median(long) - median(short))
        print(f"{who}: {rates[who]:.3f} tokens/s; {asked.long} tokens took {min(long):.4f} to {max(long):.4f} s")
    print(f"modelrig / bare: {rates['modelrig'] / rates['bare']:.4f}")


if __name__ == "__main__":
    main()
