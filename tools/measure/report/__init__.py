"""Reports of runs and of comparisons, as files for people: HTML, Markdown and a picture.

They are made from the records alone, so that a folder of runs can be rendered again on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tools.home import write_atomically

if TYPE_CHECKING:  # a tool is imported before it is called: nothing of a page is needed until then
    from tools.measure.comparing.compare import Comparison
    from tools.measure.record import Run
    from tools.measure.report.page import Page


class Written(NamedTuple):
    """The files of a report, and why one that is wanted is not there."""

    paths: tuple[Path, ...]
    problem: str = ""

    @property
    def note(self) -> str:
        """One sentence with the paths."""
        if not self.paths:
            return f"No report was written: {self.problem}."
        first, *rest = self.paths
        also = f" (the same as {' and '.join(path.suffix for path in rest)} beside it)" if rest else ""
        return f"Report to look at: `{first}`{also}{f'; {self.problem}' if self.problem else ''}."


def notes_of(written: Sequence[Written]) -> tuple[str, ...]:
    """What is said of the reports of one walk: the first, and that the others are beside their runs."""
    if not written:
        return ()
    more = len(written) - 1
    also = f" The report{'s' if more > 1 else ''} of {more} more run{'s' if more > 1 else ''} beside their files."
    return (written[0].note + (also if more and written[0].paths else ""),)


def write_run(path: Path, run: Run) -> Written:
    """The report of a run beside its file `path`. Never raises for a page: a run is worth more than its report."""

    def made() -> Page:
        from tools.measure.report.run_page import run_page

        return run_page(run)

    return _write(path, made)


def write_comparison(path: Path, comparison: Comparison, runs: Sequence[Run]) -> Written:
    """The report of a comparison beside its file `path`. `runs` are those that were compared, in their order."""

    def made() -> Page:
        from tools.measure.report.comparison_page import comparison_page

        return comparison_page(comparison, runs)

    return _write(path, made)


def _write(path: Path, made: Callable[[], Page]) -> Written:
    try:
        return _written(path, made())
    except Exception as error:  # noqa: BLE001 - hours of measuring are never lost over a page; what went wrong is said
        return Written((), f"{type(error).__name__} while it was made ({error})"[:300])


def _written(path: Path, page: Page) -> Written:
    from tools.measure.report import html, markdown, png

    def beside(suffix: str) -> Path:
        return path.with_name(f"{path.stem}{suffix}")

    problem = png.available() if page.charts else ""
    picture = "" if problem or not page.charts else beside(".png").name
    paths = [write_atomically(beside(".html"), html.render(page))]
    paths.append(write_atomically(beside(".md"), markdown.render(page, picture)))
    if picture:
        paths.append(write_atomically(beside(".png"), png.render(page)))
    return Written(tuple(paths), problem)
