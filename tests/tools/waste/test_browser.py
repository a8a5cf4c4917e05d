"""The HTML report in a real browser: it sorts, filters, adds up, asks no network and fits a narrow window."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.tools.waste.toy import days_ago, disk, look
from tools.waste.records import Scan
from tools.waste.report import html

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium here: the HTML report is not looked at in a browser"
)
COUNT = 400
HOSTILE = "</td><script>window.broken=1</script><img src=x onerror=window.broken=1>"
WATCH = "<script>window.faults=[];addEventListener('error',e=>faults.push(String(e.message)),true);</script>"
PROBE = """<script>
const rows = () => [...document.querySelectorAll("#findings tbody tr")].filter(row => !row.hidden);
const amounts = () => rows().map(row => row.dataset.usd === "" ? null : +row.dataset.usd);
const buttons = [...document.querySelectorAll("#findings th button")];
const found = {shown: document.getElementById("shown").textContent, first: amounts()};
buttons[0].click(); found.descending = amounts();
buttons[0].click(); found.ascending = amounts();
buttons[1].click(); found.names = rows().map(row => row.cells[1].querySelector("b").textContent);
const input = document.getElementById("filter");
input.value = "VOL7 north"; input.dispatchEvent(new Event("input"));
setTimeout(() => {
  found.filtered = rows().map(row => row.cells[1].querySelector("b").textContent);
  found.shown_filtered = document.getElementById("shown").textContent;
  found.requests = performance.getEntriesByType("resource").map(each => each.name);
  found.wide = [document.documentElement.scrollWidth, innerWidth];
  found.broken = window.broken || 0; found.faults = faults;
  const out = document.createElement("pre"); out.id = "probe"; out.textContent = JSON.stringify(found);
  document.body.appendChild(out);
}, 300);
</script>"""


def opened(page: str, folder: Path) -> str:
    """The document as the browser has it after everything on it has run."""
    file = folder / "page.html"
    file.write_text(page, "utf-8")
    done = subprocess.run(
        [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=500,900", "--dump-dom",
            "--virtual-time-budget=3000", "--no-first-run", f"--user-data-dir={folder / 'profile'}",
            file.as_uri(),
        ],
        capture_output=True, text=True, timeout=50, check=True,
    )  # fmt: skip
    return done.stdout


@cache
def a_scan() -> Scan:
    disks = [disk(f"vol{n}", size=10 * (n % 37 + 1), created=days_ago(10 + n)) for n in range(COUNT - 1)]
    return look({"north": {"ListDisks": {"disks": [*disks, disk(HOSTILE, size=5, created=days_ago(9))]}}})


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    page = html.render(a_scan()).replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{PROBE}</body>", 1)
    text = opened(page, tmp_path_factory.mktemp("browser"))
    match = re.search(r'<pre id="probe">(.*?)</pre>', text, re.DOTALL)
    assert match, "the page did not get to its end"
    answer: dict[str, Any] = json.loads(unescape(match.group(1)))
    return answer


def test_the_page_runs_without_a_fault_and_asks_nothing_of_a_network(probed: dict[str, Any]) -> None:
    assert (probed["faults"], probed["requests"], probed["broken"]) == ([], [], 0)


def test_what_it_says_is_shown_is_what_the_scan_holds(probed: dict[str, Any]) -> None:
    total = a_scan().totals.usd_per_month
    assert probed["shown"] == f"{COUNT:,} of {COUNT:,} shown, ${total:,.2f} a month"
    assert sum(probed["first"]) == pytest.approx(total)


def test_columns_sort_both_ways(probed: dict[str, Any]) -> None:
    assert len(probed["ascending"]) == COUNT
    assert probed["ascending"] == sorted(probed["first"])
    assert probed["descending"] == sorted(probed["first"], reverse=True)
    assert probed["names"] == sorted(probed["names"], key=str.lower)
    assert HOSTILE in probed["names"]


def test_the_filter_keeps_rows_with_every_word_and_adds_them_up(probed: dict[str, Any]) -> None:
    wanted = [each for each in a_scan().findings if "vol7" in each.name]
    assert sorted(probed["filtered"]) == sorted(each.name for each in wanted)
    total = sum(each.usd_per_month or 0 for each in wanted)
    assert probed["shown_filtered"] == f"{len(wanted)} of {COUNT:,} shown, ${total:,.2f} a month"


def test_nothing_is_wider_than_a_narrow_window(probed: dict[str, Any]) -> None:
    needed, there = probed["wide"]
    assert needed <= there


def test_with_scripts_off_every_finding_is_there(tmp_path: Path) -> None:
    page = html.render(a_scan()).replace("script-src 'unsafe-inline'", "script-src 'none'", 1)
    text = opened(page, tmp_path)
    assert text.count("<tr data-usd=") == COUNT
    assert '<html lang="en">' in text, "no script has run: it would have named the class"
    assert "$7,465.50" in text
