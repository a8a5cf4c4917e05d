"""Our measuring path beside guidellm, aiperf and vllm bench, all against one server of known timing, in one run.

    python benchmarks/peers.py --venv modelrig=DIR --venv guidellm=DIR --venv aiperf=DIR [--venv vllm=DIR]
                               [--levels 1,16,64,256] [--repeats 2] [--server SCRIPT]

Each DIR is a virtual environment that holds only that tool (ours: requirements-core.txt and requirements-measure.txt),
outside the checkout. The server has real-time priority where that is allowed, so that on a busy machine the clients are
late and not the truth. The server (50 ms to the first token, 10 ms a token, replies of 256 tokens) is a process of its
own. Every cell is the tool's own command with 2 x C requests, C in flight; tools alternate within a level, and their
order turns from repeat to repeat. Figures are those that the tool prints of itself, against
C x 256 / 2.6 s, 50 ms and 10 ms; medians of the repeats, the worst in brackets. `time per token` is the field of each
tool that leaves the first token out: TPOT here and in vllm, inter-token latency in guidellm and aiperf. CPU is of the
command with all its children. `beyond the load` is how long the command took besides its 5.2 s of load.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.peer_tools import ITL, TOKENS, TOOLS, TTFT, WALL, WAVES, Said  # noqa: E402 - the root is put first


@dataclass(frozen=True)
class Cell:
    """One command: what it said, and what it took."""

    said: Said
    cpu: float
    wall: float
    late_ms: float


def measure(url: str, level: int, out: Path) -> None:
    """Our own command: the load measurement as measure_model runs it, one level, two batches, its record written."""
    from dataclasses import replace

    from clouds.models import Wire
    from tools.measure.job import Job
    from tools.measure.load import LOAD
    from tools.measure.measurement import Ask
    from tools.measure.profiles import STANDARD
    from tools.measure.record import Subject
    from tools.measure.run import measure as run

    class Quiet:
        """Nobody watches."""

        def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
            """Say nothing."""

        def check(self) -> None:
            """Never cancelled."""

        def sleep(self, seconds: float) -> None:
            """Wait."""
            time.sleep(seconds)

    profile = replace(STANDARD, batches=WAVES, load_tokens=TOKENS)
    ask = Ask(profile, "peers", (level,))
    subject = Subject(ref=url, model="truth")
    out.touch()
    run(Job(Wire(url=url, model="truth"), subject, ask, (LOAD,), out, "peers"), Quiet())


def serve(port: int, ttft_ms: float, itl_ms: float) -> NoReturn:
    """Our server of known timing with the length field that the peers send. It comes first where that is allowed."""
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
    from tests.tools.measure.truth import Truth, serving

    with serving(Truth(ttft=ttft_ms / 1e3, itl=itl_ms / 1e3, limit="max_completion_tokens"), port):
        while True:
            time.sleep(3600)


def one(name: str, venv: Path, url: str, level: int, folder: Path) -> Cell:
    """Run one command to its end. Raises SystemExit with its last words when it fails."""
    from benchmarks.measure_truth import get

    folder.mkdir(parents=True)
    command, read = TOOLS[name]
    arguments = command(venv, url, level, folder)
    get(f"{url}/reset")
    before, began = _children(), time.perf_counter()
    quiet = {"VLLM_NO_USAGE_STATS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    done = subprocess.run(
        arguments, cwd=folder, env={**os.environ, **quiet}, capture_output=True, text=True, timeout=300, check=False
    )
    wall, cpu = time.perf_counter() - began, _children() - before
    if done.returncode:
        raise SystemExit(f"{name} at {level} ended with {done.returncode}: {(done.stderr or done.stdout)[-1500:]}")
    said = read(folder)
    if not said.rate:
        raise SystemExit(f"{name} at {level} had no good reply: {(done.stderr or done.stdout)[-1500:]}")
    return Cell(said, cpu, wall, float(get(f"{url}/truth")["late_ms"]["p99"] or 0))


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def megabytes(venv: Path) -> float:
    """Of all files in its site-packages, without what every virtual environment has."""
    (packages,) = venv.glob("lib/python3*/site-packages")
    files = (file for file in packages.rglob("*") if file.is_file() and not file.is_symlink())
    return sum(file.stat().st_size for file in files if not _of_every_venv(file.relative_to(packages).parts[0])) / 1e6


def _of_every_venv(name: str) -> bool:
    return name.partition("-")[0] in {"pip", "setuptools", "pkg_resources", "_distutils_hack"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--venv", action="append", default=[])
    options.add_argument("--levels", default="1,16,64,256")
    options.add_argument("--repeats", type=int, default=2)
    options.add_argument("--server", default=__file__)
    options.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    options.add_argument("--ttft-ms", type=float, default=1e3 * TTFT, help=argparse.SUPPRESS)
    options.add_argument("--itl-ms", type=float, default=1e3 * ITL, help=argparse.SUPPRESS)
    options.add_argument("--measure", default="", help=argparse.SUPPRESS)
    options.add_argument("--out", type=Path, default=None, help=argparse.SUPPRESS)
    asked = options.parse_args()
    levels = [int(level) for level in asked.levels.split(",")]
    if asked.measure:
        measure(asked.measure, levels[0], asked.out)
        return
    if asked.port:
        serve(asked.port, asked.ttft_ms, asked.itl_ms)
    from benchmarks.measure_truth import serving

    venvs = {name: Path(path).resolve() for name, _, path in (each.partition("=") for each in asked.venv)}
    cells: dict[tuple[str, int], list[Cell]] = {}
    loads = [os.getloadavg()[0]]
    with serving(asked.server) as url, tempfile.TemporaryDirectory() as scratch:
        for repeat in range(asked.repeats):
            for level in levels:
                names = list(venvs)[repeat % len(venvs) :] + list(venvs)[: repeat % len(venvs)]
                for name in names:
                    folder = Path(scratch) / name / f"{level}.{repeat}"
                    cells.setdefault((name, level), []).append(one(name, venvs[name], url, level, folder))
                    loads.append(os.getloadavg()[0])
                    print(f"{name} at {level}: {cells[name, level][-1]}", file=sys.stderr, flush=True)
    print(report(venvs, levels, cells))
    print(
        f"\nLoad of the machine (1 min) before, lowest and highest: {loads[0]:.1f}, {min(loads):.1f}, {max(loads):.1f}."
    )


def report(venvs: Mapping[str, Path], levels: list[int], cells: Mapping[tuple[str, int], list[Cell]]) -> str:
    lines = [
        "| at once | tool | TTFT p50 error | TTFT p99 error | time per token error | throughput error | server late |"
    ]
    lines.append("|--:|---|--:|--:|--:|--:|--:|")
    for level in levels:
        truth = level * TOKENS / WALL
        for name in venvs:
            row = cells[name, level]
            parts = [
                spread([each.said.ttft_p50 - 1e3 * TTFT for each in row], "ms"),
                spread([each.said.ttft_p99 - 1e3 * TTFT for each in row], "ms"),
                spread([100 * (each.said.per_token / (1e3 * ITL) - 1) for each in row], "%"),
                spread([100 * (each.said.rate / truth - 1) for each in row], "%"),
                spread([each.late_ms for each in row], "ms"),
            ]
            lines.append(f"| {level} | {name} | {' | '.join(parts)} |")
    lines += ["", "| tool | installed | beyond the load | CPU of the command, one stream | CPU a token |"]
    lines.append("|---|--:|--:|--:|--:|")
    low, high = min(levels), max(levels)
    for name, venv in venvs.items():
        first, last = (median(each.cpu for each in cells[name, level]) for level in (low, high))
        beyond = median(each.wall - WAVES * WALL for level in levels for each in cells[name, level])
        each_token = f"{1e6 * (last - first) / ((high - low) * WAVES * TOKENS):.0f} µs" if high > low else "–"
        lines.append(f"| {name} | {megabytes(venv):,.0f} MB | {beyond:.1f} s | {first:.1f} s | {each_token} |")
    return "\n".join(lines)


def spread(values: list[float], unit: str) -> str:
    """The median, and the worst of several."""
    worst = max(values, key=abs)
    middle = f"{median(values):+.2f} {unit}"
    return middle if len(values) == 1 else f"{middle} ({worst:+.2f})"


if __name__ == "__main__":
    main()
