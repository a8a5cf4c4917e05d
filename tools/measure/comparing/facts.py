"""Facts of engine and accelerator side by side: sizes, which are neither better nor worse."""

from __future__ import annotations

from clouds.models import Record
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
        ("weights_bytes", "weights"),
        ("kv_cache_tokens", "KV cache tokens"),
        ("load_seconds", "load, s"),
    )
    found = [
        _row(label, *(getattr(run.engine, name) if run.engine else None for run in (base, other)))
        for name, label in names
    ]
    found.append(_row("accelerator memory, peak", *(_peak(run) for run in (base, other))))
    return tuple(row for row in found if row.base is not None or row.other is not None)


def _peak(run: Run) -> int | None:
    known = [each.memory_peak_bytes for each in run.accelerators if each.memory_peak_bytes is not None]
    return sum(known) if known else None


def _row(label: str, base: float | None, other: float | None) -> FactRow:
    return FactRow(fact=label, base=base, other=other, ratio=other / base if base and other is not None else None)
