"""The pages in a real browser: nothing is asked for or run, all is legible, light and dark, nothing is cut."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from html import escape, unescape
from typing import Any

import pytest

from tests.tools.measure.report import samples
from tools.measure.comparing.compare import compare
from tools.measure.report import html
from tools.measure.report.comparison_page import comparison_page
from tools.measure.report.run_page import run_page

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: the reports are not looked at in a browser")
DARK = ("@media screen and (prefers-color-scheme:dark)", "@media screen")
WIDE = 480
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
addEventListener("load", () => {
  const found = {};
  for (const each of document.querySelectorAll("iframe")) found[each.name] = probe(each.contentWindow);
  const out = document.createElement("pre"); out.id = "probe"; out.textContent = JSON.stringify(found);
  document.body.replaceChildren(out);
});
</script>"""


@cache
def pages() -> dict[str, str]:
    base = samples.full("bf16", 0.5)
    runs = (base, samples.full("qat"), samples.renamed(base, "again", [52.4, 52.8, 52.6, 52.9, 52.5]))
    rungs = (*samples.ladder("L4", 80), *samples.ladder("T4", 80))
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
    frames = "".join(
        f'<iframe name="{name}" width="{WIDE}" height="900" srcdoc="{escape(page)}"></iframe>'
        for name, page in {**shown, "spoiled": bad}.items()
    )
    folder = tmp_path_factory.mktemp("browser")
    (folder / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body>{frames}{PROBE}</body>", "utf-8")
    done = subprocess.run(
        [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=900,900", "--dump-dom",
            "--virtual-time-budget=1000", "--no-first-run", f"--user-data-dir={folder / 'profile'}",
            (folder / "page.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=50, check=True,
    )  # fmt: skip
    match = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, "the pages did not get to their end"
    answer: dict[str, Any] = json.loads(unescape(match.group(1)))
    assert set(answer) == {*shown, "spoiled"}
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
