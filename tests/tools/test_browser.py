"""Pages in a real browser, all in one start of it: reports of runs are whole and legible, light and dark, and ask for
nothing; the report of a scan sorts, filters, adds up, and is whole with scripts off too."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from html import escape, unescape
from typing import Any

import pytest

from clouds.errors import PermissionMissing
from tests.tools.measure.report import samples
from tests.tools.waste.toy import days_ago, disk, look
from tools.measure.comparing.compare import compare
from tools.measure.report import html
from tools.measure.report.comparison_page import comparison_page
from tools.measure.report.run_page import run_page
from tools.waste.records import Scan
from tools.waste.report import html as scan_page

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: the reports are not looked at in a browser")
DARK = ("@media screen and (prefers-color-scheme:dark)", "@media screen")
WIDE, NARROW, SHEET = 480, 500, 740
"""Pixels; the last is a sheet of A4 within its margins."""
COUNT = 150
HOSTILE = "</td><script>window.broken=1</script><img src=x onerror=window.broken=1>"
WATCH = "<script>window.faults=[];addEventListener('error',e=>faults.push(String(e.message)),true);</script>"
PROBE = """<script>
const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(v => v / 255)
  .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
function probe(window) {
  const page = window.document, look = each => window.getComputedStyle(each);
  const paper = light(look(page.body).backgroundColor);
  const contrast = c => { const l = light(c); return (Math.max(l, paper) + .05) / (Math.min(l, paper) + .05); };
  const found = {wide: [page.documentElement.scrollWidth, window.innerWidth], broken: window.broken || 0, faint: [],
    cut: [], requests: window.performance.getEntriesByType("resource").map(each => each.name)};
  for (const each of page.querySelectorAll("svg text, td, th, dd, dt, p, h1, h2, h3, li, figcaption")) {
    const colour = each.closest("svg") ? look(each).fill : look(each).color;
    if (each.textContent.trim() && contrast(colour) < 4.4) found.faint.push([each.textContent.slice(0, 40), colour]);
  }
  for (const svg of page.querySelectorAll("svg")) {
    const box = svg.viewBox.baseVal;
    for (const each of svg.querySelectorAll("text, circle, polygon, rect, path, line")) {
      const b = each.getBBox();
      if (b.x < -2 || b.y < -2 || b.x + b.width > box.width + 2 || b.y + b.height > box.height + 2)
        found.cut.push([each.tagName, each.textContent.slice(0, 40), b.x, b.width, box.width]);
    }
  }
  return found;
}
addEventListener("load", () => setTimeout(() => {
  const found = {};
  for (const {name, contentWindow: frame} of document.querySelectorAll("iframe")) {
    if (frame.found) found[name] = frame.found;
    else if (name === "printed") found[name] = {
      why: Math.min(...[...frame.document.querySelectorAll("td.c4")].map(each => each.clientWidth)),
      wide: [frame.document.documentElement.scrollWidth, frame.innerWidth]};
    else if (name !== "still") found[name] = probe(frame);
    else found[name] = {rows: frame.document.querySelectorAll("tr[data-usd]").length,
      text: frame.document.body.innerText, classes: frame.document.documentElement.className};
  }
  const out = document.createElement("pre"); out.id = "probe"; out.textContent = JSON.stringify(found);
  document.body.replaceChildren(out);
}, 600));
</script>"""

SORTED = """<script>
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
  found.broken = window.broken || 0; found.faults = faults; found.classes = document.documentElement.className;
  window.found = found;
}, 300);
</script>"""


@cache
def a_scan() -> Scan:
    disks = [disk(f"vol{n}", size=10 * (n % 37 + 1), created=days_ago(10 + n)) for n in range(COUNT - 1)]
    refused = PermissionMissing("ListDisks", answered="no", code="AWordWithoutAnEnd" * 6, fix="Ask.")
    found = [*disks, disk(HOSTILE, size=5, created=days_ago(9))]
    return look({"north": {"ListDisks": {"disks": found}}, "south": {"ListDisks": refused}})


def scans() -> dict[str, str]:
    """The report of a scan: one that is used, one with scripts off, and one as it is printed."""
    page = scan_page.render(a_scan())
    return {
        "sorted": page.replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{SORTED}</body>", 1),
        "still": page.replace("script-src 'unsafe-inline'", "script-src 'none'", 1),
        "printed": page.replace("@media screen and", "@media not all and").replace("@media print", "@media all"),
    }


@cache
def pages() -> dict[str, str]:
    base = samples.full("bf16", 0.5)
    runs = (base, samples.full("qat"), samples.renamed(base, "again", [52.4, 52.8, 52.6, 52.9, 52.5]))
    rungs = (*samples.ladder("L4", 40), *samples.ladder("T4", 40))
    bad = (base, samples.hostile(samples.full("qat")))
    return {
        "hostile comparison": html.render(comparison_page(compare(bad), bad)),
        "run": html.render(run_page(samples.hostile(samples.full("qat")))),
        "comparison": html.render(comparison_page(compare(runs), runs)),
        "ladders": html.render(comparison_page(compare(rungs), rungs)),
        "decisions": html.render(run_page(samples.decisions(sharp=2.0))),
    }


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every page in a frame of its own, in one start of the browser."""
    shown = dict(pages())
    shown |= {f"{name}, dark": pages()[name].replace(*DARK) for name in ("comparison", "ladders")}
    bad = (
        pages()["decisions"].replace("--soft:#5b6470", "--soft:#c9c9c9").replace('viewBox="0 0 460', 'viewBox="0 0 300')
    )
    scan = scans()
    framed = {**shown, "spoiled": bad, **scan}
    frame = '<iframe name="{}" width="{}" height="900" srcdoc="{}"></iframe>'
    frames = "".join(
        frame.format(name, SHEET if name == "printed" else NARROW if name in scan else WIDE, escape(text))
        for name, text in framed.items()
    )
    folder = tmp_path_factory.mktemp("browser")
    (folder / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body>{frames}{PROBE}</body>", "utf-8")
    done = subprocess.run(
        [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=900,900", "--dump-dom",
            "--virtual-time-budget=3000", "--no-first-run", f"--user-data-dir={folder / 'profile'}",
            (folder / "page.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=50, check=True,
    )  # fmt: skip
    match = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, "the pages did not get to their end"
    answer: dict[str, Any] = json.loads(unescape(match.group(1)))
    assert set(answer) == set(framed)
    return answer


NAMES = ("run", "hostile comparison", "comparison", "ladders", "decisions", "comparison, dark", "ladders, dark")


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_whole_legible_and_narrow_enough(name: str, probed: dict[str, Any]) -> None:
    found = probed[name]
    assert (found["requests"], found["broken"]) == ([], 0)
    assert found["wide"][0] <= found["wide"][1] == WIDE
    assert found["faint"] == []
    assert found["cut"] == []


def test_dark_colours_are_there_to_be_used() -> None:
    assert pages()["run"].count(DARK[0]) == 2


def test_the_probe_sees_what_is_faint_and_what_is_cut(probed: dict[str, Any]) -> None:
    assert probed["spoiled"]["faint"] != []
    assert probed["spoiled"]["cut"] != []


@pytest.fixture
def used(probed: dict[str, Any]) -> dict[str, Any]:
    """What was seen while the report of a scan was sorted and filtered."""
    found: dict[str, Any] = probed["sorted"]
    return found


def test_the_report_of_a_scan_runs_without_a_fault_and_asks_nothing_of_a_network(used: dict[str, Any]) -> None:
    assert (used["faults"], used["requests"], used["broken"]) == ([], [], 0)


def test_what_it_says_is_shown_is_what_the_scan_holds(used: dict[str, Any]) -> None:
    total = a_scan().totals.usd_per_month
    assert used["shown"] == f"{COUNT:,} of {COUNT:,} shown, ${total:,.2f} a month"
    assert sum(used["first"]) == pytest.approx(total)


def test_its_columns_sort_both_ways(used: dict[str, Any]) -> None:
    assert len(used["ascending"]) == COUNT
    assert used["ascending"] == sorted(used["first"])
    assert used["descending"] == sorted(used["first"], reverse=True)
    assert used["names"] == sorted(used["names"], key=str.lower)
    assert HOSTILE in used["names"]


def test_its_filter_keeps_rows_with_every_word_and_adds_them_up(used: dict[str, Any]) -> None:
    wanted = [each for each in a_scan().findings if "vol7" in each.name]
    assert sorted(used["filtered"]) == sorted(each.name for each in wanted)
    total = sum(each.usd_per_month or 0 for each in wanted)
    assert used["shown_filtered"] == f"{len(wanted)} of {COUNT:,} shown, ${total:,.2f} a month"


def test_nothing_of_it_is_wider_than_a_narrow_window(used: dict[str, Any]) -> None:
    needed, there = used["wide"]
    assert needed <= there


def test_with_scripts_off_every_finding_is_there(probed: dict[str, Any]) -> None:
    still = probed["still"]
    assert still["rows"] == COUNT
    assert (still["classes"], probed["sorted"]["classes"]) == ("", "js"), "no script has run: it would name the class"
    assert "$2,813.50" in still["text"]


def test_printed_every_column_has_room(probed: dict[str, Any]) -> None:
    printed = probed["printed"]
    assert printed["why"] > SHEET / 6
    assert printed["wide"][0] <= printed["wide"][1]
