"""Right, lost and gained on every rung, where each question is first lost, and which come back."""

from __future__ import annotations

from statistics import fmean, median

from clouds.models import Record
from tools.measure.ladder.records import Ladder, Rung, by_id, right_ids
from tools.measure.statistics.mcnemar import exact_p, paired
from tools.measure.statistics.verdict import of_pairs
from tools.measure.statistics.words import Word


class RungCount(Record):
    """One rung against the base. `right` is always base - lost + gained, and always out of `n`."""

    rung: str
    n: int
    right: int
    lost: int
    """Base right, this rung wrong."""
    gained: int
    """Base wrong, this rung right."""
    changed: int
    """Answers that read differently from the base's, right or wrong."""
    first_lost: int
    """Tombstones: questions lost here for the first time, going down."""
    errors: int
    """Requests that the server refused; wrong, and part of `n`."""
    cut_off: int
    percent_of_base_bytes: float | None
    tokens_per_second: float | None
    times_base_speed: float | None
    mean_tokens: float | None
    p_value: float
    verdict: Word
    """Of right and wrong against the base, by exact McNemar."""
    split: bool = False
    """True when part of the model ran beside the accelerator: never ranked by speed with whole ones."""


class Tombstone(Record):
    """One question, at the first rung going down where it is lost."""

    id: str
    rung: str
    expected: str
    said: str | None
    rose_again: tuple[str, ...]
    """Lower rungs that have it right again."""


class Ghost(Record):
    """A question that the base has wrong and some rung right."""

    id: str
    expected: str
    base_said: str | None
    rungs: tuple[str, ...]


class Counted(Record):
    """A whole ladder, counted. Tombstones by rung add up to the tombstones."""

    ladder: str
    base: str
    n: int
    rungs: tuple[RungCount, ...]
    tombstones: tuple[Tombstone, ...]
    ghosts: tuple[Ghost, ...]
    rose_again: int
    """Tombstones with at least one lower rung that is right."""
    lost_on_every_rung: int
    notes: tuple[str, ...]


def count(ladder: Ladder) -> Counted:
    """Everything a ladder says by itself; the base is compared with itself in the first row."""
    tombstones = _tombstones(ladder)
    ghosts = _ghosts(ladder)
    base_right = right_ids(ladder.base)
    lower = [right_ids(rung) for rung in ladder.rungs[1:]]
    return Counted(
        ladder=ladder.name,
        base=ladder.base.name,
        n=len(ladder.base.answers),
        rungs=tuple(_row(ladder, rung, tombstones) for rung in ladder.rungs),
        tombstones=tombstones,
        ghosts=ghosts,
        rose_again=sum(bool(each.rose_again) for each in tombstones),
        lost_on_every_rung=sum(all(id_ not in right for right in lower) for id_ in base_right) if lower else 0,
        notes=_notes(ladder),
    )


def speed(rung: Rung) -> float | None:
    """Median decode rate of a rung, as recorded or from its answers; None when neither is there."""
    if rung.tokens_per_second is not None:
        return rung.tokens_per_second
    rates = [answer.tokens_per_second for answer in rung.answers if answer.tokens_per_second is not None]
    return median(rates) if rates else None


def cut_off(rung: Rung) -> set[str]:
    """Questions whose reply reached the token limit."""
    return {answer.id for answer in rung.answers if answer.finish == "length"}


def lost(ladder: Ladder, name: str) -> set[str]:
    """Questions that the base has right and this rung wrong."""
    return right_ids(ladder.base) - right_ids(ladder.rung(name))


class SharedLosses(Record):
    """Two rungs of one ladder: which questions both lose, and which only one."""

    first: str
    second: str
    both: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def shared_losses(ladder: Ladder, first: str, second: str) -> SharedLosses:
    """Two quantizations with one score can lose different questions."""
    one, other = lost(ladder, first), lost(ladder, second)
    return SharedLosses(
        first=first,
        second=second,
        both=tuple(sorted(one & other)),
        only_first=tuple(sorted(one - other)),
        only_second=tuple(sorted(other - one)),
    )


def _row(ladder: Ladder, rung: Rung, tombstones: tuple[Tombstone, ...]) -> RungCount:
    base = ladder.base
    before, after = by_id(base), by_id(rung)
    ids = list(before)
    pairs = paired([before[id_].right for id_ in ids], [after[id_].right for id_ in ids])
    base_speed, own_speed = speed(base), speed(rung)
    tokens = [answer.tokens for answer in rung.answers if answer.tokens is not None]
    ratio = own_speed / base_speed if own_speed and base_speed and not (rung.split or base.split) else None
    return RungCount(
        rung=rung.name,
        n=len(ids),
        right=rung.right,
        lost=pairs.lost,
        gained=pairs.gained,
        changed=sum(before[id_].said != after[id_].said for id_ in ids),
        first_lost=sum(each.rung == rung.name for each in tombstones),
        errors=sum(bool(answer.error) for answer in rung.answers),
        cut_off=len(cut_off(rung)),
        percent_of_base_bytes=100 * rung.bytes / base.bytes if rung.bytes and base.bytes else None,
        tokens_per_second=own_speed,
        times_base_speed=ratio,
        mean_tokens=fmean(tokens) if tokens else None,
        p_value=exact_p(pairs.lost, pairs.gained),
        verdict=of_pairs(pairs).word,
        split=rung.split,
    )


def _tombstones(ladder: Ladder) -> tuple[Tombstone, ...]:
    answers = [by_id(rung) for rung in ladder.rungs]
    found = []
    for id_, base in answers[0].items():
        if not base.right:
            continue
        first = next((index for index, each in enumerate(answers) if index and not each[id_].right), None)
        if first is not None:
            again = [ladder.rungs[index].name for index in range(first + 1, len(answers)) if answers[index][id_].right]
            where = answers[first][id_]
            found.append(
                Tombstone(
                    id=id_,
                    rung=ladder.rungs[first].name,
                    expected=base.expected,
                    said=where.said,
                    rose_again=tuple(again),
                )
            )
    return tuple(found)


def _ghosts(ladder: Ladder) -> tuple[Ghost, ...]:
    answers = [by_id(rung) for rung in ladder.rungs]
    found = []
    for id_, base in answers[0].items():
        rungs = tuple(
            rung.name for rung, each in zip(ladder.rungs, answers, strict=True) if each[id_].right and not base.right
        )
        if rungs:
            found.append(Ghost(id=id_, expected=base.expected, base_said=base.said, rungs=rungs))
    return tuple(found)


def _notes(ladder: Ladder) -> tuple[str, ...]:
    notes = []
    n, right = len(ladder.base.answers), ladder.base.right
    if n and right < 0.3 * n:
        notes.append(f"The base has {right} of {n} right: where little is right, little can be lost.")
    if n and right == n:
        notes.append(f"The base has all {n} right: nothing can be gained, and harder questions would show more.")
    split = [rung.name for rung in ladder.rungs if rung.split]
    if split:
        notes.append(
            f"{', '.join(split)} ran partly beside the accelerator: their speed is not ranked with the others."
        )
    errors = sum(bool(answer.error) for rung in ladder.rungs for answer in rung.answers)
    if errors:
        notes.append(f"{errors} requests ended in an error; they count as wrong and stay in the denominator.")
    return tuple(notes)


def grid(ladder: Ladder) -> dict[str, str]:
    """Per rung one letter a question in the base's order: r right, w wrong, e an error of the server."""
    ids = [answer.id for answer in ladder.base.answers]
    rows = {}
    for rung in ladder.rungs:
        there = by_id(rung)
        rows[rung.name] = "".join("e" if there[i].error else "r" if there[i].right else "w" for i in ids)
    return rows
