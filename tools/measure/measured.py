"""What measure_model answers: the few figures that a person looks for first, and where the rest is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from clouds.models import EngineFacts
from tools.figures import duration, few, number, shortened, size, usd
from tools.history import is_url
from tools.measure.cost import BUSY
from tools.measure.measured_rows import (
    FIGURES,
    LevelRow,
    OtherFigure,
    VariantRow,
    headline_part,
    level_rows,
    level_table,
    main_figures,
    other_figures,
    range_of,
    value_of,
    variant_row,
    variant_table,
)
from tools.measure.profiles import PROFILES
from tools.measure.record import Run
from tools.measure.registering import telling
from tools.measure.stats import four, rounded
from tools.measure.walk import Measured
from tools.result import Result, table


class MeasureResult(Result):
    """One run, or the base of several; `seconds` and `run_usd` are of all of them."""

    endpoint: str
    run: str
    state: str
    file: str
    profile: str
    seconds: float
    missing: tuple[str, ...] = ()
    decode_tokens_per_second: float | None = None
    decode_range: str = ""
    decode_by_itl: float | None = None
    ttft_p50_ms: float | None = None
    ttft_p99_ms: float | None = None
    fixed_cost_seconds: float | None = None
    answers_right: str = ""
    answers_seconds: float | None = None
    levels: tuple[LevelRow, ...] = ()
    figures: tuple[OtherFigure, ...] = ()
    errors: Mapping[str, int] = {}
    run_usd: float | None = None
    client_cpu_percent: float | None = None
    variants: tuple[VariantRow, ...] = ()

    @property
    def is_error(self) -> bool:
        """A variant that could not be measured was asked for and is not there, whatever the others show."""
        return any(each.error for each in self.variants)

    def body(self) -> str:
        """One line for a single reply, a table for the levels, one for the variants."""
        others = table(self.figures) if self.figures else ""
        parts = (self._one(), level_table(self.levels), others, variant_table(self.variants))
        return "\n\n".join(part for part in parts if part)

    def _one(self) -> str:
        parts = []
        if self.decode_tokens_per_second is not None:
            by_itl = f"; by time per token {number(self.decode_by_itl)}" if self.decode_by_itl is not None else ""
            parts.append(
                f"One reply at a time: {number(self.decode_tokens_per_second)} tokens/s ({self.decode_range}{by_itl})"
            )
        if self.ttft_p50_ms is not None:
            parts.append(f"TTFT p50 / p99 {number(self.ttft_p50_ms)} / {number(self.ttft_p99_ms or 0)} ms")
        if self.fixed_cost_seconds is not None:
            parts.append(f"cost of a call {duration(self.fixed_cost_seconds)}")
        if self.answers_right:
            parts.append(
                f"answers {self.answers_right} right"
                + (f" in {duration(self.answers_seconds)}" if self.answers_seconds else "")
            )
        return ", ".join(parts) + "." if parts else ""


def result_of(measured: Sequence[Measured], compared: str = "") -> MeasureResult:
    """The result of one run, or of a walk, whose comparison is then the headline."""
    first, path = measured[0].run, measured[0].path
    levels = tuple(level_rows(first))
    decode, itl = first.figure("decode.tokens_per_second"), first.figure("decode.itl_tokens_per_second")
    right, wall = first.figure("answers.right"), first.figure("answers.wall_seconds")
    cpu = max((batch.client_cpu for part in first.parts for batch in part.counted), default=None)
    runs = [each.run.id for each in measured if each.run.parts]
    usd_each = [each.run.run_usd for each in measured]
    return MeasureResult(
        headline=_failures(measured) + (compared or headline(first, levels)),
        endpoint=first.subject.ref,
        run=first.id,
        state=first.state,
        file=str(path),
        profile=first.profile,
        seconds=round(sum(each.run.seconds for each in measured), 3),
        missing=first.missing,
        decode_tokens_per_second=value_of(decode),
        decode_range=range_of(decode),
        decode_by_itl=value_of(itl),
        ttft_p50_ms=value_of(first.figure("decode.ttft_p50_ms")),
        ttft_p99_ms=value_of(first.figure("decode.ttft_p99_ms")),
        fixed_cost_seconds=value_of(first.figure("decode.fixed_cost_seconds")),
        answers_right=f"{right.value:.0f} of {right.n}" if right and right.value is not None else "",
        answers_seconds=value_of(wall),
        levels=levels,
        figures=tuple(other_figures(first)[:FIGURES]),
        errors=dict(sum((Counter(part.errors) for part in first.parts), Counter())),
        run_usd=None if None in usd_each else rounded(sum(each or 0.0 for each in usd_each), 4),
        client_cpu_percent=None if cpu is None else round(100 * cpu, 1),
        variants=tuple(variant_row(each) for each in measured) if len(measured) > 1 else (),
        notes=tuple(_notes(measured)),
        next=_next(measured, runs),
    )


def _failed(measured: Sequence[Measured]) -> list[Measured]:
    return [each for each in measured if each.error]


def _failures(measured: Sequence[Measured]) -> str:
    """For the headline of a walk: which of its variants could not be measured, and why."""
    failed = _failed(measured)
    if not failed:
        return ""
    told = [f"{each.run.subject.variant or each.run.id} ({shortened(each.error, 120)})" for each in failed]
    return f"{len(failed)} of {len(measured)} runs could not be measured: {few(told, 3)}. "


def headline(run: Run, levels: Sequence[LevelRow]) -> str:
    """The numbers that matter, in one line."""
    decode, right = run.figure("decode.tokens_per_second"), run.figure("answers.right")
    # the same level in every run of one plan, and not the fastest: else two costs would be of two loads
    most = max((row for row in levels if row.tokens_per_second), key=lambda row: row.at_once, default=None)
    parts = []
    if decode and decode.value is not None:
        parts.append(f"decodes {number(four(decode.value))} tokens/s for one reply")
    if most and most.tokens_per_second:
        waits = ", waits included" if decode and decode.value is not None else ""
        parts.append(f"serves {number(four(most.tokens_per_second))} tokens/s at {most.at_once} at once{waits}")
    if right and right.value is not None:
        parts.append(f"{right.value:.0f} of {right.n} answers right")
    parts += [headline_part(run, each) for each in main_figures(run) if each.value is not None]
    text = ", ".join(parts) or "nothing could be measured"
    if most and most.usd_per_million is not None:
        cost = usd(round(most.usd_per_million, 2) or most.usd_per_million)
        busy = " when kept that busy" if run.price is not None and run.price.hourly else ""
        text += f"; {cost} per million output tokens{busy}"
    if failed := sum(sum(part.errors.values()) for part in run.parts):
        text += f"; {failed} of {sum(part.requests for part in run.parts)} requests failed"
    return (
        (f"{text[0].upper()}{text[1:]}" if text.startswith(("decodes", "serves")) else text)
        + ("" if run.state == "complete" else f" ({run.state.upper()}: {_lacking(run)})")
        + "."
    )


def _lacking(run: Run) -> str:
    """What is missing of a run, and why it ended where that is known: an endpoint that is gone is said to be."""
    missing = shortened("; ".join(run.missing), 200)
    return "; ".join(part for part in (missing, shortened(run.failure, 160)) if part)


SIZED = {"decode", "load", "answers", "knee", "paced", "drafters"}
"""Measurements whose size the profile decides."""
SHOWN_FORMULAS = ("decode_rate", "throughput", "ttft", "tpot")
"""The formulas that stand beside their figures in the text; all of them are in the run file."""


def _notes(measured: Sequence[Measured]) -> Iterator[str]:
    run, path = measured[0].run, measured[0].path
    engine = run.engine
    facts = []
    if engine and engine.weights_bytes:
        facts.append(f"weights {size(engine.weights_bytes)}")
    if engine and engine.kv_cache_tokens:
        facts.append(f"KV cache {engine.kv_cache_tokens:,} tokens{_accounted(engine)}")
    facts += [
        f"{each.name}: {size(each.memory_after_load_bytes)} in use before, {size(each.memory_peak_bytes)} at the peak"
        for each in run.accelerators
        if each.memory_after_load_bytes is not None and each.memory_peak_bytes is not None
    ]
    if facts:
        yield f"{'; '.join(facts)[0].upper()}{'; '.join(facts)[1:]}."
    if (total := len(other_figures(run))) > FIGURES:
        yield f"{FIGURES} of {total} figures of these measurements are shown; the file has all."
    yield from _objective(run)
    yield _cost_line([each.run for each in measured])
    if run.costs and run.price and run.price.hourly:
        yield BUSY
    yield from (f"Warning: {each.text}" for each in run.warnings)
    sized = any(part.name in SIZED for part in run.parts)
    if caveat := PROFILES[run.profile].caveat if sized and run.profile in PROFILES else "":
        yield caveat
    if named := [_formula(name, words) for name, words in run.formulas.items() if name in SHOWN_FORMULAS]:
        yield f"Formulas: {'; '.join(named)}."
    yield telling.of_run(run)
    yield f"Saved as `{path}`, every stamp and formula in it."


def _objective(run: Run) -> Iterator[str]:
    """What the replies had to keep that the figures call kept."""
    for part in run.parts:
        limits = [
            f"{words} within {number(float(value))} ms"
            for words, name in (("first token", "objective_ttft_ms"), ("each further token", "objective_tpot_ms"))
            if (value := part.settings.get(name)) is not None
        ]
        if limits:
            yield f"Kept: of all requests, failed ones included, those with the {' and '.join(limits)}."
            return


def _formula(name: str, words: str) -> str:
    """With its name before it, unless it says it itself ("TTFT = ...")."""
    return words if words.lower().startswith(f"{name} =") else f"{name.replace('_', ' ')} = {words}"


def _accounted(engine: EngineFacts) -> str:
    """What the engine's log says a token costs, against the memory that the cache took."""
    said = engine.settings
    names = ("kv_cache_bytes_per_token", "kv_cache_explained_gib", "kv_cache_taken_gib", "kv_cache_unexplained_gib")
    each, explained, taken, rest = (said.get(name) for name in names)
    if each is None or explained is None or taken is None:
        return ""
    return f" x {float(each):,.10g} bytes = {explained} GiB of {taken} GiB taken, {rest} GiB unexplained"


def _cost_line(runs: Sequence[Run]) -> str:
    price = runs[0].price
    who = "This run" if len(runs) == 1 else f"These {len(runs)} runs"
    took = f"{who} took {duration(sum(each.seconds for each in runs))}"
    each_usd = [each.run_usd for each in runs if each.run_usd is not None]
    if len(each_usd) == len(runs):
        took += f": {usd(round(sum(each_usd), 4))}"
    if len(runs) > 1:
        took += " (without the engine's restarts between them)"
    spent = runs[-1].spent_usd
    if spent is not None:
        low, high = usd(round(spent[0], 2)), usd(round(spent[1], 2))
        took += f"; the endpoint has cost {low if low == high else f'{low} to {high}'} so far"
    if price is None:
        return f"{took}. No price is known, so no cost is."
    rate = (
        f"${price.usd_per_hour:g}/h"
        if price.usd_per_hour is not None
        else f"${price.usd_per_million_input or 0:g} / ${price.usd_per_million_output:g} per million input / output"
    )
    whence = ", ".join(part for part in (price.source, price.as_of) if part)
    return f"{took}. Price {rate}{f' ({whence})' if whence else ''}."


def _next(measured: Sequence[Measured], runs: Sequence[str]) -> str:
    run = measured[0].run
    if failed := _failed(measured):
        ref = failed[0].run.subject.ref  # another endpoint may be the variant
        log = "the log of that server" if is_url(ref) else f'`get_endpoint_logs("{ref}")`'
        return f"{log} may show why; then measure_model with {failed[0].run.subject.variant or 'the variant'} mended."
    if len(runs) > 1:
        return f"`compare_runs(runs={list(runs)})`.".replace("'", '"')
    if run.state != "complete":
        return "measure again what is missing; this run stays marked."
    return f'`compare_runs` with another run: `compare_runs(runs=["{run.id}", …])`.'
