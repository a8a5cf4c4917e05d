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
    notes = [*left_out, *(note for each in counted for note in _counted(each))]
    notes += [note for each in ladders for note in _alike(each)]
    notes += [note for each in frontiers for note in _frontier(each)]
    notes += _across(side_by_side) if side_by_side else ()
    notes.append(repeat_note(repeats))
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
    counted = section.counted if section else ()
    return tuple(
        _line(row, each.base, f"{each.ladder}: " if len(counted) > 1 else "") for each in counted for row in each.rungs
    )


def _line(row: RungCount, base: str, prefix: str) -> str:
    parts = [f"{prefix}{row.rung}: {row.right} of {row.n} right"]
    if row.rung == base:
        parts[0] += " (base)"
    else:
        parts += [f"{row.lost} lost, {row.gained} gained, {row.first_lost} lost here first"]
    parts += [f"{row.cut_off} cut off"] if row.cut_off else []
    if row.tokens_per_second is not None:
        times = "" if row.times_base_speed is None or row.rung == base else f" ({row.times_base_speed:.2f} x)"
        parts.append(f"{number(float(f'{row.tokens_per_second:.4g}'))} tokens/s{times}")
    if row.percent_of_base_bytes is not None and row.rung != base:
        parts.append(f"{row.percent_of_base_bytes:.1f} % of the bytes")
    return ", ".join(parts) + ("" if row.rung == base else f": {row.verdict} (p = {row.p_value:.3g})")


def _counted(found: Counted) -> Iterator[str]:
    if len(found.rungs) < 2:
        return
    yield (
        f"{found.ladder}: of the {found.rungs[0].right} questions that {found.base} has right {len(found.tombstones)} "
        f"are lost at some rung, {found.rose_again} of them right again further down; {len(found.ghosts)} that it has "
        "wrong are right at some rung."
    )
    yield from found.notes


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
        yield (
            f"{row.rung}: graded differently by {near if near == far else f'{near} to {far}'} questions of {found.n}, "
            f"lost on all {row.lost_on_all}."
        )
    only = "; ".join(f"only on {name} {len(ids)}" for name, ids in found.lost_only_on.items() if ids)
    yield (
        f"Lost at some rung on all: {found.lost_somewhere_on_all}, first at the same rung "
        f"{found.first_lost_at_the_same_rung}{'; ' + only if only else ''}."
    )
    yield from found.notes
