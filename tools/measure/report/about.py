"""What a run was measured with: what was asked, engine, machine, price, client, and how steady it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.figures import duration, moment, size, usd
from tools.measure.record import Accelerator, HostCheck, Run
from tools.measure.registering import telling
from tools.measure.report.page import Facts, Section
from tools.measure.report.questions_table import clipped


def about(run: Run) -> Section:
    """Everything that is not a figure. Nothing that was not recorded is stated."""
    if run.quoted is not None:
        told = run.quoted
        facts = {
            "quoted from": told.source,
            "date": told.date,
            "method": told.method,
            "model": run.subject.model or "–",
        }
        return Section("Where these figures come from", (Facts(facts),))
    facts = {**dict(_subject(run)), **dict(_machine(run)), **dict(_steadiness(run.host))}
    formulas = Section("Formulas", (Facts(run.formulas),), folded=True)
    return Section("How this was measured", (Facts(facts), formulas))


def when(run: Run) -> str:
    """The moment that a run began."""
    return moment(run.started) if len(run.started) >= len("2026-09-25T18:36") else run.started


def took(run: Run) -> tuple[str, ...]:
    """How long it was, where that is known: a run that was never closed has no seconds."""
    return (f"took {duration(run.seconds)}",) if run.seconds > 0 else ()


def _subject(run: Run) -> Iterator[tuple[str, str]]:
    yield "run", ", ".join((run.id, f"begun {when(run)}", *took(run)))
    yield "endpoint", run.subject.ref
    yield "model", run.subject.model or "not known"
    if run.subject.variant:
        yield "variant", run.subject.variant
    yield "profile", run.profile
    yield "plan", telling.of_run(run)
    if run.settings:
        yield "settings", _flat(run.settings)
    if run.price is None:
        yield "price", "not known, so no cost is"
    else:
        yield "price", _flat(run.price.model_dump(exclude_defaults=True))
    if run.run_usd is not None:
        yield "this run cost", usd(round(run.run_usd, 4))


def _machine(run: Run) -> Iterator[tuple[str, str]]:
    if run.engine is not None:
        yield "engine", _flat(run.engine.model_dump(exclude_defaults=True))
    if run.hardware is not None:
        yield "hardware", _flat(run.hardware.model_dump(exclude_defaults=True))
    for each in run.accelerators:
        yield "accelerator while it ran", _accelerator(each)
    client = run.client
    software = f"Python {client.python}, {client.loop}, {_flat(client.versions)}"
    yield "client", f"{client.cpu}, {client.cores} cores, {client.host}; {software}"


def _accelerator(each: Accelerator) -> str:
    parts = [f"{each.name}, driver {each.driver}"]
    if each.memory_after_load_bytes is not None and each.memory_peak_bytes is not None:
        parts.append(f"{size(each.memory_after_load_bytes)} in use before, {size(each.memory_peak_bytes)} at the peak")
    if each.temperature_before_c is not None and each.temperature_peak_c is not None:
        parts.append(f"{each.temperature_before_c:g} °C before, {each.temperature_peak_c:g} °C at the peak")
    if each.throttled:
        parts.append(f"throttled: {', '.join(each.throttled)}")
    return "; ".join(parts)


def _steadiness(host: HostCheck | None) -> Iterator[tuple[str, str]]:
    if host is None:
        return
    parts = [f"the client used at most {100 * host.client_cpu_peak:.1f} % of a core"]
    if host.client_lag_p99_ms is not None:
        parts.append(f"its loop was late by {host.client_lag_p99_ms:.3g} ms (p99)")
    if host.calibration_ms_before and host.calibration_ms_after:
        before, after = (min(each) for each in (host.calibration_ms_before, host.calibration_ms_after))
        parts.append(f"the same piece of work took {before:.3g} ms before and {after:.3g} ms after")
    if host.load_before is not None:
        parts.append(f"load before {host.load_before:.2f}")
    if host.steal_percent is not None:
        parts.append(f"{host.steal_percent:.1f} % of CPU time was taken by other machines")
    yield "steadiness", "; ".join(parts)


def _flat(fields: Mapping[str, Any]) -> str:
    """Names and values in one line; nested ones in brackets."""
    parts = []
    for name, value in fields.items():
        if value is None or value == "":
            continue
        words = str(name).replace("_", " ")
        if isinstance(value, Mapping):
            parts.append(f"{words} ({_flat(value)})")
        elif isinstance(value, tuple | list):
            parts.append(f"{words} {', '.join(map(str, value))}")
        elif str(name).endswith("_bytes") and isinstance(value, int):
            parts.append(f"{words.removesuffix(' bytes')} {size(value)} ({value:,} bytes)")
        else:
            parts.append(f"{words} {f'{value:,}' if isinstance(value, int) and not isinstance(value, bool) else value}")
    return clipped(", ".join(parts), 1_200)
