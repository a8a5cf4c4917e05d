"""Charts over the load of one run or of several: throughput, latency percentiles, cost of a million tokens."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from tools.measure.comparing.differences import shape_problems
from tools.measure.record import Figure, Part, Run
from tools.measure.report.lines import SERIES, Point, Series, line_chart
from tools.measure.report.page import Chart
from tools.measure.report.svg import MARKERS

LOAD, KNEE = "load", "knee"
RING = MARKERS.index("ring")
AT_ONCE = "requests at once"
QUANTILES = (("p50", 0, False), ("p90", 2, True), ("p99", 1, True))
TIMES = (("ttft", "Time to first token"), ("tpot", "Time per output token"))
MANY = 100
"""Replies below which a 99th percentile is about the slowest of them."""


def levels(run: Run, name: str = LOAD) -> tuple[int, ...]:
    """The levels of a run's load test, or of another measurement that walks levels."""
    part = run.part(name)
    figures = part.figures if part else ()
    found = (re.fullmatch(rf"{name}\.(\d+)\.tokens_per_second", each.key) for each in figures)
    return tuple(sorted({int(each[1]) for each in found if each}))


def load_charts(run: Run) -> Iterator[Chart]:
    """One run: every percentile its own line."""
    for part, words in ((LOAD, ""), (KNEE, " (to the knee)")):
        if chart := throughput((run,), {}, part=part, words=words):
            yield chart
        for name, heading in TIMES:
            if chart := _percentiles(run, name, heading + words, part):
                yield chart
    if chart := cost((run,), {}):
        yield chart


def load_charts_across(runs: Sequence[Run], names: Mapping[str, str], repeats: Collection[str] = ()) -> Iterator[Chart]:
    """Several runs: one colour a run. `repeats` are ids of the base measured again: rings in its colour."""
    for part, words in ((LOAD, ""), (KNEE, " (to the knee)")):
        if chart := throughput(runs, names, repeats, part=part, words=words):
            yield chart
    for name, heading in TIMES:
        if chart := _across([run for run in runs if run.id not in repeats], names, name, heading):
            yield chart
    if chart := cost(runs, names, repeats):
        yield chart


def throughput(
    runs: Sequence[Run], names: Mapping[str, str], repeats: Collection[str] = (), *, part: str = LOAD, words: str = ""
) -> Chart | None:
    """Median of the batches of each level, with every batch beside it."""
    single = len(runs) == 1
    series = []
    for run, colour, shape in _styled(runs, repeats):
        points = tuple(_points(run, "tokens_per_second", part, samples=single))
        series.append(Series(names.get(run.id, run.name), points, colour, shape))
    caption = "Median of the batches; bar: slowest to fastest batch."
    caption += " Small dots: every batch." if single else _rings(repeats) + _unlike(_drawn(runs, series), names, part)
    heading = f"Throughput against concurrency{words}"
    return line_chart(heading, series, x_words=AT_ONCE, y_words="output tokens/s", caption=caption + _left(runs))


def cost(runs: Sequence[Run], names: Mapping[str, str], repeats: Collection[str] = ()) -> Chart | None:
    """US dollars per million output tokens, where a price is known."""
    series = []
    for run, colour, shape in _styled(runs, repeats):
        points = [_cost(run, row.at_once, row.usd_per_million_output) for row in run.costs]
        points.sort(key=lambda point: point.x)
        series.append(Series(names.get(run.id, run.name), tuple(points), colour, shape))
    hourly = any(run.price is not None and run.price.hourly for run in runs if run.costs)
    caption = "It holds only while the endpoint is kept that busy." if hourly else "By the price of its tokens."
    unknown = [names.get(run.id, run.name) for run in runs if not run.costs and levels(run)]
    if unknown and any(run.costs for run in runs):
        caption += f" No price is known of {', '.join(unknown)}."
    heading, words = "Cost per million output tokens against load", "$ per million output tokens"
    caption += _rings(repeats) + _unlike(_drawn(runs, series), names, LOAD) + _left(runs)
    return line_chart(heading, series, x_words=AT_ONCE, y_words=words, caption=caption, prefix="$")


def _styled(runs: Sequence[Run], repeats: Collection[str]) -> Iterator[tuple[Run, int, int]]:
    """Colour and shape of each run that is drawn: the base's repeats are rings in its colour."""
    others = 0
    for run in runs[:SERIES]:
        if run.id in repeats:
            yield run, 0, RING
        else:
            yield run, others, others
            others += 1


def _drawn(runs: Sequence[Run], series: Sequence[Series]) -> list[Run]:
    """The runs that have a point in a chart."""
    return [run for run, each in zip(runs, series, strict=False) if each.points]


def _unlike(runs: Sequence[Run], names: Mapping[str, str], part: str) -> str:
    """What forbids to read one line against another: they may be drawn, but never silently."""
    told = [
        f"{names.get(run.id, run.name)} ({'; '.join(problems)})"
        for run in runs[1:]
        if (problems := shape_problems(runs[0], run, part))
    ]
    return f" Not comparable with {names.get(runs[0].id, runs[0].name)}: {', '.join(told)}." if told else ""


def _rings(repeats: Collection[str]) -> str:
    return " Rings: the base measured again." if repeats else ""


def _cost(run: Run, level: int, usd: float) -> Point:
    """By the hour a cost has the range of the throughput that it is made from."""
    figure = run.figure(f"load.{level}.tokens_per_second")
    key = f"{run.id}|cost.{level}"
    if (
        run.price is None
        or not run.price.hourly
        or figure is None
        or not figure.value
        or not figure.low
        or not figure.high
    ):
        return Point(level, usd, key)
    scale = usd * figure.value
    return Point(level, usd, key, scale / figure.high, scale / figure.low)


def _percentiles(run: Run, name: str, heading: str, part: str) -> Chart | None:
    series = [
        Series(quantile, tuple(_points(run, f"{name}_{quantile}_ms", part)), colour, n, dashed)
        for n, (quantile, colour, dashed) in enumerate(QUANTILES)
    ]
    caption = "Percentiles over all good replies of a level." + _few(run, name, part)
    return line_chart(heading, series, x_words=AT_ONCE, y_words="ms", caption=caption, factor=True)


def _across(runs: Sequence[Run], names: Mapping[str, str], name: str, heading: str) -> Chart | None:
    shown = runs[: SERIES // 2] if len(runs) > SERIES // 2 else runs
    series = [
        Series(
            f"{names.get(run.id, run.name)} {quantile}",
            tuple(_points(run, f"{name}_{quantile}_ms", LOAD)),
            n,
            n,
            dashed,
        )
        for n, run in enumerate(shown)
        for quantile, dashed in (("p50", False), ("p99", True))
    ]
    caption = "Percentiles over all good replies of a level; dashed: p99." + _few(runs[0], name, LOAD)
    caption += _unlike(_drawn(shown, series[::2]), names, LOAD)
    more = f" {len(shown)} of {len(runs)} runs are drawn." if len(shown) < len(runs) else ""
    return line_chart(heading, series, x_words=AT_ONCE, y_words="ms", caption=caption + more, factor=True)


def _points(run: Run, what: str, part: str, *, samples: bool = False) -> Iterator[Point]:
    for level in levels(run, part):
        figure = run.figure(f"{part}.{level}.{what}")
        if figure is not None and figure.value is not None:
            bars = what == "tokens_per_second"
            yield Point(
                level,
                figure.value,
                f"{run.id}|{figure.key}|value",
                figure.low if bars else None,
                figure.high if bars else None,
                figure.samples if samples and figure.n > 1 else (),
            )


def _few(run: Run, name: str, part: str) -> str:
    figures = (run.figure(f"{part}.{level}.{name}_p99_ms") for level in levels(run, part))
    counts = [figure.n for figure in figures if figure is not None and figure.n]
    if not counts or min(counts) >= MANY:
        return ""
    return f" They rest on {_span(counts)} replies a level: p99 of fewer than {MANY} is about the slowest."


def _span(counts: Sequence[int]) -> str:
    return f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"


def _left(runs: Sequence[Run]) -> str:
    return f" {SERIES} of {len(runs)} runs are drawn." if len(runs) > SERIES else ""


def decode_behind(run: Run) -> Chart | None:
    """Decode rate behind many tokens, where it was measured."""
    part = run.part("longcontext")
    points = tuple(_behind(run, part)) if part else ()
    series = [Series("decode", points, 0, 0)]
    return (
        line_chart(
            "Decode rate behind a long prompt",
            series,
            x_words="tokens ahead",
            y_words="tokens/s",
            caption="Median of the repeats; bar: slowest to fastest.",
        )
        if len(points) > 1
        else None
    )


def _behind(run: Run, part: Part) -> Iterator[Point]:
    for figure in part.figures:
        depth = re.fullmatch(r"longcontext\.decode_at\.(\d+)", figure.key)
        if depth and figure.value is not None:
            yield Point(float(depth[1]), figure.value, _key(run, figure), figure.low, figure.high, figure.samples)


def _key(run: Run, figure: Figure) -> str:
    return f"{run.id}|{figure.key}|value"
