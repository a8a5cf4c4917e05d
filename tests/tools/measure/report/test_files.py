"""Reports as files: beside the run, made again on another machine, and what is said where a picture cannot be made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import clouds
from tests.tools.measure.report import samples
from tests.tools.measure.report.reading import Reader
from tools import shell
from tools.measure import report, store
from tools.measure.comparing.compare import compare
from tools.measure.report import html, markdown, png
from tools.measure.report.__main__ import main
from tools.measure.report.run_page import run_page

PNG = b"\x89PNG\r\n\x1a\n"
picture = pytest.mark.skipif(bool(png.available()), reason=f"here is {png.available() or 'everything'}")


def shelve(folder: Path, *runs: Any) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{run.id}.json" for run in runs]
    for path, run in zip(paths, runs, strict=True):
        store.save(path, run)
    return paths


@picture
def test_a_run_gets_a_page_a_text_and_a_picture_beside_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(png, "ZOOM", 0.2)  # a small picture is one too, in a tenth of the time
    (path,) = shelve(tmp_path, samples.full("v1.5"))
    written = report.write_run(path, store.read(path))
    assert [each.name for each in written.paths] == ["v1.5.html", "v1.5.md", "v1.5.png"]
    assert written.note == f"Report to look at: `{tmp_path}/v1.5.html` (the same as .md and .png beside it)."
    assert (tmp_path / "v1.5.png").read_bytes().startswith(PNG)
    assert "v1.5.png" in (tmp_path / "v1.5.md").read_text("utf-8")
    assert all(each.stat().st_mode & 0o777 == 0o600 for each in written.paths)


@pytest.mark.usefixtures("no_picture")
def test_without_its_package_there_is_no_picture_and_that_is_said(tmp_path: Path) -> None:
    written = report.write_run(tmp_path / "qat.json", samples.full("qat"))
    assert [each.suffix for each in written.paths] == [".html", ".md"]
    assert (
        "no picture: the package resvg-py is not installed (check_setup has the command that installs [report])"
        in written.note
    )
    assert "qat.png" not in (tmp_path / "qat.md").read_text("utf-8")


@picture
def test_a_machine_without_a_font_gets_no_picture_without_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import resvg_py

    real = resvg_py.svg_to_bytes
    monkeypatch.setattr(resvg_py, "svg_to_bytes", lambda **given: real(**given, skip_system_fonts=True))
    png._writes.cache_clear()
    written = report.write_run(tmp_path / "qat.json", samples.full("qat"))
    png._writes.cache_clear()
    assert written.problem == "no picture: there is no font on this machine to write with"


@picture
def test_a_picture_holds_the_headline_the_badges_and_every_chart() -> None:
    page = run_page(samples.warned(samples.full("qat")))
    document = png.document(page)
    words = Reader(document).text
    assert "INCOMPLETE · 1 warning" in words
    assert all(chart.title in words for chart in page.charts)
    assert "var(" not in document
    assert "@media" not in document


def test_a_page_that_cannot_be_written_never_costs_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    written = report.write_run(tmp_path / "file" / "qat.json", samples.full("qat"))
    assert written.paths == ()
    assert written.note.startswith("No report was written: InvalidInput while it was made")


@pytest.mark.usefixtures("no_picture")
def test_the_same_records_make_the_same_page_anywhere(tmp_path: Path) -> None:
    runs = (samples.full("bf16", 0.5), samples.full("qat"))
    shelve(tmp_path / "one", *runs)
    read = [store.read(tmp_path / "one" / f"{run.id}.json") for run in runs]
    first = report.write_comparison(tmp_path / "a" / "x.json", compare(runs), runs)
    again = report.write_comparison(tmp_path / "b" / "x.json", compare(read), read)
    assert [each.read_bytes() for each in first.paths] == [each.read_bytes() for each in again.paths]


@pytest.mark.usefixtures("no_picture")
def test_a_folder_is_rendered_again_and_what_cannot_be_read_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shelve(tmp_path / "runs", samples.full("bf16", 0.5), samples.rung("Q4_0", 3, 20))
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "pages")]) == 0
    assert sorted(each.name for each in (tmp_path / "pages").glob("*.html")) == ["bf16.html", "l4-q4-0.html"]
    (tmp_path / "runs" / "broken.json").write_text("{")
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "pages")]) == 1
    assert "broken.json is not JSON" in capsys.readouterr().err


@pytest.mark.usefixtures("no_picture")
def test_a_committed_folder_is_compared_from_a_shell_on_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shelve(tmp_path / "elsewhere" / "runs", samples.full("bf16", 0.5), samples.full("qat"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("MODELRIG_HOME", str(tmp_path / "home"))
    options = shell.arguments(["call", "compare_runs", 'runs=["runs/bf16.json","runs/qat.json"]'])
    session = shell.session_of(options, clouds.names(), clouds.connect)
    status, said = shell.run(session, options), capsys.readouterr().out
    session.book.close()
    assert status == 0
    assert "qat decodes 2.00 × as fast as bf16" in said
    folder = tmp_path / "home" / "comparisons"
    assert f"Report to look at: `{folder}/bf16--qat.html`" in said
    page = Reader((folder / "bf16--qat.html").read_text("utf-8"))
    written = json.loads((folder / "bf16--qat.json").read_text("utf-8"))
    ratio = next(row["ratio"] for row in written["versus"][0]["rows"] if row["key"] == "decode.tokens_per_second")
    assert page.values()["qat|decode.tokens_per_second|ratio"] == ratio


def test_text_and_page_of_one_report_have_the_same_tables() -> None:
    page = run_page(samples.full("qat"))
    rows = [line for line in markdown.render(page).splitlines() if line.startswith("|") and set(line) - set("|-:")]
    assert len(rows) == html.render(page).count("<tr>")
