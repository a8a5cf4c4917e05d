"""Facts of engine and accelerator side by side: sizes, which are neither better nor worse."""

from __future__ import annotations

from clouds.models import Record
from tools.figures import GIB
from tools.measure.record import Run

SAID = {
    "start_seconds": "engine start, s",
    "compile_seconds": "of which compiling, s",
    "hbm_used_gib": "HBM used, GiB",
    "hbm_free_gib": "HBM left for the KV cache, GiB",
    "kv_cache_bytes_per_token": "KV cache, bytes a token",
    "kv_cache_unexplained_gib": "KV cache, unexplained GiB",
}
"""Names of `EngineFacts.settings` that are measurements: shown side by side, never a cause of a difference."""


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
    found += [_row(label, *(_said(run, name) for run in (base, other))) for name, label in SAID.items()]
    found.append(_row("accelerator memory at the peak, GiB", *(_scaled(_peak(run), GIB) for run in (base, other))))
    return tuple(row for row in found if row.base is not None or row.other is not None)


def _said(run: Run, name: str) -> float | None:
    """What the engine's log says and has no field of its own."""
    value = run.engine.settings.get(name) if run.engine else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _peak(run: Run) -> int | None:
    known = [each.memory_peak_bytes for each in run.accelerators if each.memory_peak_bytes is not None]
    return sum(known) if known else None


def _scaled(value: float | None, unit: int) -> float | None:
    return None if value is None else value / unit


def _row(label: str, base: float | None, other: float | None) -> FactRow:
    return FactRow(fact=label, base=base, other=other, ratio=other / base if base and other is not None else None)
