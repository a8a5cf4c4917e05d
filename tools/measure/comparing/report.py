"""A comparison in words: the headline, what differs, and what its verdicts rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tools.figures import few
from tools.measure.comparing.compare import Comparison, Versus
from tools.measure.comparing.differences import Difference
from tools.measure.comparing.pairs import FEW, AnswersRow
from tools.measure.comparing.repeats import Repeat
from tools.measure.comparing.rows import Row
from tools.measure.cost import BUSY
from tools.measure.decisions.between import decision_lines
from tools.measure.record import Run
from tools.measure.registering.telling import of_comparison
from tools.measure.stats import ratio_text
from tools.result import quoted as in_quotes

DECODE = "decode.tokens_per_second"
IN_HEADLINE = 3
NAMED = 4
"""Runs that are named where a sentence holds for many."""
VERBS = {
    "drafters.tokens_per_second": "generates",
    "knee.highest_tokens_per_second": "serves at most",
    "paced.closed.per_second": "serves",
    "paced.kept_up_per_second": "keeps up with requests",
}
"""What a run does at a figure of a measurement that stands alone; others are named by their figure."""


def headline(found: Comparison) -> str:
    """One line that answers the question, for at most three runs against the base."""
    if {each.run for each in found.versus} <= {each.run for each in found.repeats}:
        return _only_repeats(found) + _troubles(found)
    parts = [_against(each, found.base_name) for each in found.versus[:IN_HEADLINE]]
    more = len(found.versus) - IN_HEADLINE
    return " ".join(parts) + (f" {more} more below." if more > 0 else "") + _troubles(found)


def _troubles(found: Comparison) -> str:
    return f" Note: {few(found.troubles, IN_HEADLINE)}." if found.troubles else ""


def _against(versus: Versus, base: str) -> str:
    speed = versus.row(DECODE)
    loads = [row for row in versus.rows if row.key.startswith("load.")]
    rates = [row for row in loads if row.key.endswith(".tokens_per_second") and row.ratio is not None and row.main]
    costs = [row for row in loads if row.key.endswith(".usd_per_million") and row.ratio is not None]
    clauses = []
    if speed is not None and speed.ratio is not None:
        clauses.append(_clause(speed, "decodes", base))
    elif rates:
        clauses.append(_clause(rates[-1], f"serves {rates[-1].figure.split(',')[0]}", base))
    elif others := [row for row in versus.rows if row.main and row.ratio is not None and row.unit.endswith("/s")]:
        clauses.append(_clause(others[0], VERBS.get(others[0].key, f"in {others[0].figure} is"), base))
    if costs:
        clauses.append(_cost(costs[-1]))
    asked = [f"answers: {_answers(versus.answers, base, versus.name)}"] if versus.answers else []
    asked += [f"{part}: {_answers(row, base, versus.name)}" for part, row in versus.items.items()]
    speeds = " and ".join(clauses) or ("" if asked else f"and {base} have no speed in common")
    return f"{versus.name} {'; '.join(each for each in (speeds, *asked) if each)}."


def _cost(row: Row) -> str:
    where = f"per token at {row.figure.split(',')[0]}"
    ratio = ratio_text(row.ratio or 0.0)
    if row.verdict == "within noise":
        return f"costs {ratio} × {where} (within noise: no difference could be shown)"
    return f"costs {ratio} × {where}" + (f" (cannot say: {row.why})" if row.verdict == "cannot say" else "")


def _clause(row: Row, verb: str, base: str) -> str:
    span = span_of(row)
    if row.ratio is None:
        return f"{verb}: {row.why}"
    if row.verdict == "within noise":
        told = f", range {span}" if span else ""
        told += "" if row.low is not None and row.high is not None and row.low <= 1 <= row.high else f": {row.why}"
        shown = f"within noise: no difference could be shown{told}"
        return f"{verb} {ratio_text(row.ratio)} × as fast as {base} ({shown})"
    basis = f"{row.verdict}, {'95 % ' if row.method.startswith('95') else ''}range {span}" if span else row.verdict
    why = f": {row.why}" if row.verdict == "cannot say" else ""
    return f"{verb} {ratio_text(row.ratio)} × as fast as {base} ({basis}{why})"


def _answers(row: AnswersRow, base: str, name: str) -> str:
    counts = f"{base} {row.base_right} and {name} {row.other_right} right of {row.asked}, {row.identical} identical"
    tail = row.why if row.verdict == "cannot say" else f"McNemar p = {row.p_value:.2g}"
    return f"{row.verdict} ({counts}, {tail})"


def _only_repeats(found: Comparison) -> str:
    largest = [each.largest_percent for each in found.repeats if each.largest_percent is not None]
    words = f"at most {max(largest):.2g} % apart on any speed" if largest else "no speed in common"
    same = f"{found.base_name} was measured {len(found.repeats) + 1} times: {words}"
    besides = tuple(dict.fromkeys(what for each in found.versus for what in each.besides))
    if besides:
        alike = "Hardware, model and engine are the same, as far as was recorded"
        return f"{same}. {alike}; what differs is {few(besides, NAMED)}."
    return f"{same}. Nothing was recorded that could make a figure differ."


def span_of(row: Row) -> str:
    """The range of a ratio; empty when there is none."""
    return "" if row.low is None or row.high is None else f"{ratio_text(row.low)}–{ratio_text(row.high)}"


def difference_line(differs: Sequence[Difference], measured: int, limit: int = 8) -> str:
    """What differs between so many runs that were measured here, as it stands before the figures."""
    if measured < 2:
        return "Differs between the runs: not known, since only one of them was measured here."
    if not differs:
        return "Differs between the runs: nothing that was recorded."
    shown = [
        f"{each.what} ({' / '.join(in_quotes(value, 60)[1:-1] or 'not recorded' for value in each.values)})"
        for each in differs[:limit]
    ]
    more = f"; {len(differs) - limit} more in the file" if len(differs) > limit else ""
    return f"Differs between the runs: {'; '.join(shown)}{more}."


def notes(found: Comparison, runs: Sequence[Run]) -> Iterator[str]:
    """What a person has to know besides."""
    quoted = {run.id: run.quoted for run in runs if run.quoted}
    for name, told in quoted.items():
        whence = f"{told.source} ({told.date}; {told.method})"
        yield f"{name} is quoted, not measured here, and part of no verdict: {whence}."
    measured = [each for each in found.versus if each.run not in quoted and found.base not in quoted]
    yield from _causes(measured)
    yield from drafters_lines(found)
    yield from decision_lines(found.decisions, found.base_name, {each.run: each.name for each in found.versus})
    yield from (_drift(each, found.base_name) for each in found.repeats)
    if measured and not found.repeats:
        yield f"{found.base_name} was not measured again at the end, so that drift is not known."
    if any(versus.answers and versus.answers.asked < FEW for versus in found.versus):
        yield "So few questions show a large loss; they are too few for a small one."
    if any(row.key.endswith(".usd_per_million") for versus in found.versus for row in versus.rows):
        yield BUSY
    yield from of_comparison(runs)
    yield from (line for run in runs for line in _state(run))


def drafters_lines(found: Comparison) -> tuple[str, ...]:
    """What each setting of a drafter gains; nothing without a sweep."""
    return tuple(f"Drafters: {line}." for line in (found.drafters.notes if found.drafters else ()))


def _causes(measured: Sequence[Versus]) -> Iterator[str]:
    """One sentence for all runs that differ from the base in the same kinds of thing."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for versus in measured:
        alike.setdefault((versus.causes, () if versus.causes else versus.besides), []).append(versus.name)
    for (causes, besides), names in alike.items():
        who = few(names, NAMED)
        if len(causes) > 1:
            yield f"{who}: {' and '.join(causes)} differ, so which of them makes a figure differ cannot be said."
        if besides:
            yield (
                f"{who}: hardware, model and engine are the same, as far as was recorded; what else differs can make a "
                f"figure differ: {few(besides, NAMED)}."
            )
        elif not causes:
            yield f"{who}: nothing differs that could make a figure differ, as far as was recorded."


def _state(run: Run) -> Iterator[str]:
    if run.state != "complete":
        yield f"{run.id} is {run.state}; missing: {'; '.join(run.missing) or run.failure or 'not known'}."
    if run.warnings:
        kinds = dict.fromkeys(each.kind for each in run.warnings)
        yield f"{run.id} has warnings: {', '.join(kinds)} (in its file)."


def _drift(each: Repeat, base: str) -> str:
    decode = next((row for row in each.rows if row.key == DECODE), None)
    speeds = [row for row in each.rows if row.key.endswith(".tokens_per_second")]
    if each.largest_percent is None:
        return f"{base} was measured again ({each.run}), with no speed in common."
    detail = ", ".join(
        f"{row.figure.split(',')[0]} {abs(row.drift_percent):.2f} %" for row in ([decode] if decode else speeds[:1])
    )
    same = f"; {each.identical} of {each.asked} answers identical" if each.asked else ""
    return f"{base} measured again: at most {each.largest_percent:.2f} % away on any speed ({detail}){same}."
