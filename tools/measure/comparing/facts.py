"""Facts of engine and accelerator side by side: sizes, which are neither better nor worse."""

from __future__ import annotations

from clouds.models import Record
from tools.figures import GIB
from tools.measure.record import Run


class FactRow(Record):
    """One fact of two runs; None is: not recorded."""

    fact: str
    base: float | None
    other: float | None
    ratio: float | None


def facts(base: Run, other: Run) -> tuple[FactRow, ...]:
    """What at least one of them recorded."""
    names = (
        ("weights_bytes", "weights, GiB", GIB),
        ("kv_cache_tokens", "KV cache tokens", 1),
        ("load_seconds", "load, s", 1),
    )
    found = [
        _row(label, *(_scaled(getattr(run.engine, name, None), unit) for run in (base, other)))
        for name, label, unit in names
    ]
    found.append(_row("accelerator memory at the peak, GiB", *(_scaled(_peak(run), GIB) for run in (base, other))))
    return tuple(row for row in found if row.base is not None or row.other is not None)


def _peak(run: Run) -> int | None:
    known = [each.memory_peak_bytes for each in run.accelerators if each.memory_peak_bytes is not None]
    return sum(known) if known else None


def _scaled(value: float | None, unit: int) -> float | None:
    return None if value is None else value / unit


def _row(label: str, base: float | None, other: float | None) -> FactRow:
    return FactRow(fact=label, base=base, other=other, ratio=other / base if base and other is not None else None)
