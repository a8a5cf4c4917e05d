"""Spawn to tools/list against a bare one-tool server on the same SDK, resident memory, first read, and list size.

    .venv/bin/python benchmarks/startup.py [rounds]

The two servers alternate; the first round of each is a warm-up and is not counted. Goals: 1.15 x in time and memory,
20 ms for a first read of the ledger, 5,000 tokens (bytes / 4) shown to a model and 12,000 in the whole list.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BARE = """
from mcp.server import MCPServer
server = MCPServer("bare")
@server.tool()
def add(a: int, b: int) -> int:
    "Add."
    return a + b
server.run()
"""
HELLO = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
]
READ = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "list_endpoints", "arguments": {}}}


def run(command: list[str], env: dict[str, str], *, read: bool) -> dict[str, Any]:
    """One server: milliseconds to tools/list, resident MiB at that moment, milliseconds of the first ledger read."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in HELLO))
    process.stdin.flush()
    answer: dict[str, Any] = {}
    while answer.get("id") != 2:
        answer = json.loads(process.stdout.readline())
    found = {
        "list_ms": 1000 * (time.perf_counter() - start),
        "rss_mib": resident(process.pid),
        "list": answer["result"],
    }
    if read:
        for number, key in ((3, "first_read_ms"), (4, "second_read_ms")):
            start = time.perf_counter()
            process.stdin.write(json.dumps({**READ, "id": number}).encode() + b"\n")
            process.stdin.flush()
            while json.loads(process.stdout.readline()).get("id") != number:
                pass
            found[key] = 1000 * (time.perf_counter() - start)
    process.stdin.close()
    process.wait(timeout=10)
    return found


def resident(pid: int) -> float:
    """VmRSS in MiB (Linux); elsewhere psutil's."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    import psutil

    return float(psutil.Process(pid).memory_info().rss) / 2**20


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "MODELRIG_HOME": home}
        ours, bare = [], []
        for number in range(rounds + 1):
            one = run([sys.executable, str(ROOT / "server.py")], env, read=True)
            other = run([sys.executable, "-c", BARE], env, read=False)
            if number:
                ours.append(one)
                bare.append(other)
    for key, unit in (("list_ms", "ms"), ("rss_mib", "MiB")):
        pairs = [a[key] / b[key] for a, b in zip(ours, bare, strict=True)]
        print(
            f"{key:14} ours {statistics.median(a[key] for a in ours):7.1f} {unit}  "
            f"bare {statistics.median(b[key] for b in bare):7.1f} {unit}  "
            f"ratio {statistics.median(pairs):.3f} ({min(pairs):.2f} to {max(pairs):.2f}, {rounds} pairs)"
        )
    for key in ("first_read_ms", "second_read_ms"):
        print(f"{key:14} median {statistics.median(a[key] for a in ours):.1f} ms")
    tools = ours[-1]["list"]["tools"]
    shown = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    sizes = [len(json.dumps(each, separators=(",", ":"), ensure_ascii=False).encode()) / 4 for each in shown]
    whole = len(json.dumps(ours[-1]["list"], separators=(",", ":"), ensure_ascii=False).encode()) / 4
    print(
        f"{len(tools)} tools: {sum(sizes):,.0f} tokens shown to a model, {sum(sizes) / len(sizes):.0f} a tool, ", end=""
    )
    print(f"largest {max(sizes):.0f} ({tools[sizes.index(max(sizes))]['name']}); whole list {whole:,.0f} tokens")


if __name__ == "__main__":
    main()
