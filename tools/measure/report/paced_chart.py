"""An open loop on a page: waiting times from when requests were due, against how many were due a second."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.measure.record import Run
from tools.measure.report.lines import Point, Series, line_chart
from tools.measure.report.page import Chart

LINES = (("p50", 0, 0, False), ("p90", 2, 1, True), ("p99", 1, 2, True))


def paced_chart(run: Run) -> Chart | None:
    """None where no open loop was run."""
    names = _rates(run)
    series = [
        Series(quantile, tuple(_points(run, names, quantile)), colour, shape, dashed)
        for quantile, colour, shape, dashed in LINES
    ]
    kept = run.figure("paced.kept_up_per_second")
    told = f" It kept up with {kept.value:.3g} requests/s." if kept is not None and kept.value is not None else ""
    return line_chart(
        "Open loop: time to first token from when it was due",
        series,
        x_words="requests due a second",
        y_words="ms",
        caption=f"A request that had to wait for a place has waited from when it was due.{told}",
        factor=True,
    )


def _rates(run: Run) -> dict[str, float]:
    """Requests a second that were due, by the name of the rate."""
    part = run.part("paced")
    found = {}
    for figure in part.figures if part else ():
        name = re.fullmatch(r"paced\.(.+)\.due_per_second", figure.key)
        if name and figure.value:
            found[name[1]] = figure.value
    return dict(sorted(found.items(), key=lambda each: each[1]))


def _points(run: Run, names: dict[str, float], quantile: str) -> Iterator[Point]:
    for name, due in names.items():
        figure = run.figure(f"paced.{name}.ttft_{quantile}_ms")
        if figure is not None and figure.value is not None:
            yield Point(due, figure.value, f"{run.id}|{figure.key}|value")
