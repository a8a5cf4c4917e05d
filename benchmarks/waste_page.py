"""How long the files of a scan with 5,000 findings take to write, and its page to open; exit 1 where a bar is missed.

    python benchmarks/waste_page.py

Method: 5,000 disks of a made-up cloud that nobody uses, and 5,000 reads that were refused. Each file is written three
times and the median shown. The page is opened in a headless Chromium until its scripts have run, less what an empty
page takes there; median of three. Without a Chromium that part is left out and said.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.tools.waste.toy import days_ago, disk, look  # noqa: E402 - the root is put on the path first
from tools.waste.records import Gap, Scan  # noqa: E402
from tools.waste.report import csv, html, sarif  # noqa: E402

COUNT, RUNS = 5_000, 3
WRITE_BAR, OPEN_BAR = 0.5, 1.0
"""Seconds for each file, and for the page to open."""
BROWSER = next((path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None)


def a_scan() -> Scan:
    """So many disks that nobody uses, and as many reads that were refused."""
    disks = [disk(f"vol-{number}", size=10 + number % 90, created=days_ago(10)) for number in range(COUNT)]
    refused = tuple(
        Gap("toy", "42", f"place-{number % 17}", f"check-{number % 87}", f"denied: request {number:012x}", "toy.List")
        for number in range(COUNT)
    )
    return replace(look({"north": {"ListDisks": {"disks": disks}}}), unread=refused, complete=False)


def seconds(work: Callable[[], object]) -> float:
    """The median of a few runs."""
    taken = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return median(taken)


def opened(page: str, folder: Path) -> float:
    """Seconds until a browser has opened a page and run its scripts, its own start included."""
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"]
    command += [f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    return seconds(lambda: subprocess.run(command, capture_output=True, check=True, timeout=60))


def main() -> int:
    """Measure, print and judge."""
    scan, missed = a_scan(), 0
    for name, render in (("html", html.render), ("csv", csv.render), ("sarif", sarif.render)):
        taken = seconds(lambda render=render: render(scan))  # type: ignore[misc]
        missed += taken > WRITE_BAR
        print(f"{name}: {taken:.2f} s to write, bar {WRITE_BAR} s")
    if BROWSER is None:
        print("no Chromium here: the page was not opened")
        return int(missed > 0)
    with TemporaryDirectory() as folder:
        base = opened("<!doctype html><p>empty", Path(folder))
        taken = opened(html.render(scan), Path(folder)) - base
    missed += taken > OPEN_BAR
    print(f"page: {taken:.2f} s to open beside the {base:.2f} s of an empty one, bar {OPEN_BAR} s")
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
