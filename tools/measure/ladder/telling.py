"""What a person is told of ladders: a row a rung, and the sentences that belong under the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from clouds.models import Record
from tools.figures import number
from tools.measure.ladder.across import Across, across
from tools.measure.ladder.autopsy import Autopsy, autopsy
from tools.measure.ladder.counts import Counted, RungCount, count, shared_losses
from tools.measure.ladder.from_runs import ladders_of, repeats_of
from tools.measure.ladder.frontier import Frontier, frontier
from tools.measure.ladder.records import Ladder
from tools.measure.ladder.repeats import Repeat, repeat_note
from tools.measure.record import Run


class LadderSection(Record):
    """Everything that the ladder parts of some runs say."""

    counted: tuple[Counted, ...]
    autopsies: tuple[tuple[Autopsy, ...], ...]
    frontiers: tuple[Frontier, ...]
    across: Across | None
    repeats: tuple[Repeat, ...]
    notes: tuple[str, ...]


def ladder_section(runs: Sequence[Run]) -> LadderSection | None:
    """None unless at least two runs are rungs, or rungs of two ladders."""
    ladders, left_out = ladders_of(runs)
    if sum(len(each.rungs) for each in ladders) < 2:
        return None
    counted = tuple(count(each) for each in ladders)
    frontiers = tuple(frontier(each) for each in ladders)
    repeats = repeats_of(runs)
    shared = {rung.name for rung in ladders[0].rungs}.intersection(*({r.name for r in each.rungs} for each in ladders))
    lined_up = len(ladders) > 1 and all(each.base.name == ladders[0].base.name for each in ladders) and bool(shared)
    side_by_side = across(ladders) if lined_up else None
    several = len(ladders) > 1
    notes = [*left_out, *(note for each in counted for note in _counted(each, several=several))]
    notes.append(repeat_note(repeats))  # what everything after it rests on
    notes += _across(side_by_side) if side_by_side else ()
    for each, best in zip(ladders, frontiers, strict=True):
        whose = f"{each.name}: " if several else ""
        notes += [whose + note for note in (*_alike(each), *_frontier(best))]
    return LadderSection(
        counted=counted,
        autopsies=tuple(autopsy(each) for each in ladders),
        frontiers=frontiers,
        across=side_by_side,
        repeats=repeats,
        notes=tuple(dict.fromkeys(notes)),
    )


def ladder_lines(section: LadderSection | None) -> tuple[str, ...]:
    """A line a rung; with several ladders each is named before its rungs."""
    if section is None:
        return ()
    found = []
    for each, autopsies in zip(section.counted, section.autopsies, strict=True):
        prefix = f"{each.ladder}: " if len(section.counted) > 1 else ""
        ways = {autopsy.rung: autopsy for autopsy in autopsies}
        found += [_line(row, each.base, prefix, ways.get(row.rung)) for row in each.rungs]
    return tuple(found)


def _line(row: RungCount, base: str, prefix: str, ways: Autopsy | None) -> str:
    parts = [f"{prefix}{row.rung}: {row.right} of {row.n} right"]
    if row.rung == base:
        parts[0] += " (base)"
    else:
        parts += [f"{row.lost} lost, {row.gained} gained, {row.first_lost} lost here first"]
    parts += [f"{row.cut_off} cut off"] if row.cut_off else []
    parts += list(_ways(ways)) if ways else []
    if row.tokens_per_second is not None:
        times = "" if row.times_base_speed is None or row.rung == base else f" ({row.times_base_speed:.2f} x)"
        parts.append(f"{number(float(f'{row.tokens_per_second:.4g}'))} tokens/s{times}")
    if row.percent_of_base_bytes is not None and row.rung != base:
        parts.append(f"{row.percent_of_base_bytes:.1f} % of the bytes")
    return ", ".join(parts) + ("" if row.rung == base else f": {row.verdict} (p = {row.p_value:.3g})")


def _ways(ways: Autopsy) -> Iterator[str]:
    """How answers of a rung fail besides being cut off."""
    if ways.looped:
        yield f"{ways.looped} looped"
    if ways.thought:
        yield f"{ways.thought} wrote into the thinking block"
    if ways.empty:
        right = ways.empty_right_in_reasoning
        yield f"{ways.empty} empty" + (f" ({right} right in the thinking block, still wrong)" if right else "")


def _counted(found: Counted, *, several: bool) -> Iterator[str]:
    if len(found.rungs) < 2:
        return
    yield (
        f"{found.ladder}: of the {found.rungs[0].right} questions that {found.base} has right {len(found.tombstones)} "
        f"are lost at some rung, {found.rose_again} of them right again further down; {len(found.ghosts)} that it has "
        f"wrong are right at some rung; {found.lost_on_every_rung} are lost on every rung."
    )
    yield from (f"{found.ladder}: {note}" if several else note for note in found.notes)


def _alike(ladder: Ladder) -> Iterator[str]:
    """Neighbours of one score: they need not lose the same questions."""
    for one, other in pairwise(ladder.rungs[1:]):
        if one.right != other.right:
            continue
        both = shared_losses(ladder, one.name, other.name)
        if both.only_first or both.only_second:
            yield (
                f"{one.name} and {other.name} both have {one.right} right: {len(both.both)} lost on both, "
                f"{len(both.only_first)} only on {one.name}, {len(both.only_second)} only on {other.name}."
            )


def _frontier(found: Frontier) -> Iterator[str]:
    if len(found.standings) < 2:
        return
    best = ", ".join(found.on_right_and_speed)
    with_bytes = ", ".join(found.on_right_speed_and_bytes)
    yield f"No rung is at least as right and as fast as these: {best}; with bytes counted too: {with_bytes}."
    for step in found.steps:
        times = f"{step.times_speed:.2f} x the speed" if step.times_speed else "another speed"
        moved = f"{step.lost} lost and {step.gained} gained ({step.verdict})"
        yield f"From {step.slower} to {step.faster}: {times}, {moved}."


def _across(found: Across) -> Iterator[str]:
    names = " and ".join(found.ladders)
    yield f"{names}: {found.cause}"
    for row in found.rungs:
        near, far = row.closest.different, row.furthest.different
        times = [
            f"{value:.2f} x the {what}"
            for value, what in ((row.times_tokens, "tokens"), (row.times_seconds, "time"))
            if value is not None
        ]
        more = f"; {found.ladders[1]} took {' and '.join(times)} of {found.ladders[0]}" if times else ""
        yield (
            f"{row.rung}: right on all {row.right_on_all}, wrong on all {row.wrong_on_all}, graded differently by "
            f"{near if near == far else f'{near} to {far}'} of {found.n}, lost on all {row.lost_on_all}{more}."
        )
    only = "; ".join(f"only on {name} {len(ids)}" for name, ids in found.lost_only_on.items() if ids)
    yield (
        f"Lost at some rung on all: {found.lost_somewhere_on_all}, first at the same rung "
        f"{found.first_lost_at_the_same_rung}{'; ' + only if only else ''}."
    )
    yield from found.notes
