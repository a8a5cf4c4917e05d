"""The figures of a part as a comparison takes them: those of its record, and what its tokens cost at each level."""

from __future__ import annotations

from collections.abc import Iterator

from tools.measure.measurement import figure_of
from tools.measure.record import Figure, Run

RATE, COST = ".tokens_per_second", ".usd_per_million"


def figures(run: Run, part_name: str, priced: Run | None = None) -> Iterator[tuple[str, Figure]]:
    """Every figure of a part by its key. `priced` is the run whose prices hold (else its own): a repeat of a base
    shows how far the machine moved, and not how far its price did."""
    part = run.part(part_name)
    for figure in part.figures if part else ():
        yield figure.key, figure
        if part_name == "load" and figure.key.endswith(RATE) and figure.value:
            yield from _cost(priced or run, figure)


def cost_key(rate: str) -> str:
    """The key of what tokens cost at the level of this throughput."""
    return rate.removesuffix(RATE) + COST


def _cost(run: Run, throughput: Figure) -> Iterator[tuple[str, Figure]]:
    """The cost of a million output tokens as a figure: by the hour it has the throughput's repeats."""
    level = throughput.key.split(".")[1]
    row = next((each for each in run.costs if str(each.at_once) == level), None)
    own = run.figure(throughput.key)
    if row is None or run.price is None or not throughput.value or own is None or not own.value:
        return
    scale = row.usd_per_million_output * own.value
    samples = tuple(scale / rate for rate in throughput.samples) if run.price.hourly else ()
    usd = scale / throughput.value if run.price.hourly else row.usd_per_million_output
    key, label = cost_key(throughput.key), f"{level} at once, $ per million"
    yield key, figure_of(key, label, "$", usd, samples, formula="cost", better="lower", main=True)
