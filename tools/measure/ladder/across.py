"""Whole ladders side by side, question by question: machines, or thinking on and off, or two kinds of file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from clouds.errors import InvalidInput
from clouds.models import Record, Setting
from tools.measure.ladder.records import Ladder, Rung, by_id, right_ids


class Differs(Record):
    """One setting that is not the same in all ladders."""

    setting: str
    values: Mapping[str, Setting | None]


class Pair(Record):
    """Two ladders on one rung, and on how many questions their grades differ."""

    first: str
    second: str
    different: int


class RungAcross(Record):
    """One rung in all ladders; `lost` is against each ladder's own base."""

    rung: str
    right: Mapping[str, int]
    lost: Mapping[str, int]
    right_on_all: int
    wrong_on_all: int
    closest: Pair
    """The pair of ladders that grade the fewest questions differently."""
    furthest: Pair
    lost_on_all: int
    times_tokens: float | None = None
    """Tokens of the second over those of the first, where there are two."""
    times_seconds: float | None = None


class Across(Record):
    """Any number of ladders over the same questions."""

    ladders: tuple[str, ...]
    n: int
    rungs: tuple[RungAcross, ...]
    left_out: tuple[str, ...]
    """Rungs that not every ladder has."""
    lost_somewhere: Mapping[str, int]
    """Questions that each ladder loses at some rung."""
    lost_somewhere_on_all: int
    first_lost_at_the_same_rung: int
    """Of those, how many are first lost at one and the same rung on all."""
    lost_only_on: Mapping[str, tuple[str, ...]]
    """Questions that exactly one ladder loses at any rung."""
    differs: tuple[Differs, ...]
    cause: str
    """What a difference may be put down to, as far as the settings allow."""
    notes: tuple[str, ...]


def across(ladders: Sequence[Ladder]) -> Across:
    """Rungs are matched by name, and by the hash of their tensors where it is known; others are named, not compared."""
    made, left_out, ids = _common(ladders)
    names = [each.name for each in made]
    first_lost = {each.name: _first_lost(each, ids) for each in made}
    everywhere = set.intersection(*(set(each) for each in first_lost.values()))
    differs = _differs(made)
    return Across(
        ladders=tuple(names),
        n=len(ids),
        rungs=tuple(_rung(made, rung.name, ids) for rung in made[0].rungs),
        left_out=left_out,
        lost_somewhere={name: len(each) for name, each in first_lost.items()},
        lost_somewhere_on_all=len(everywhere),
        first_lost_at_the_same_rung=sum(len({each[id_] for each in first_lost.values()}) == 1 for id_ in everywhere),
        lost_only_on={
            name: tuple(sorted(id_ for id_ in own if not any(id_ in first_lost[o] for o in names if o != name)))
            for name, own in first_lost.items()
        },
        differs=differs,
        cause=_cause(differs),
        notes=_notes(ladders, made, ids),
    )


def overlay(ladders: Sequence[Ladder]) -> dict[str, str]:
    """Per rung one letter a question in the order of the first base: r all right, w all wrong, d they disagree."""
    made, _, ids = _common(ladders)
    rows = {}
    for rung in made[0].rungs:
        right = [right_ids(each.rung(rung.name)) for each in made]
        hits = [sum(id_ in each for each in right) for id_ in ids]
        rows[rung.name] = "".join("w" if not hit else "r" if hit == len(made) else "d" for hit in hits)
    return rows


def _common(ladders: Sequence[Ladder]) -> tuple[list[Ladder], tuple[str, ...], list[str]]:
    """The ladders cut to the rungs that all have; which rungs fell out; the shared questions in the first's order."""
    if len(ladders) < 2 or len({each.name for each in ladders}) != len(ladders):
        raise InvalidInput("ladders", "two differently named ladders are needed", fix="Name them by what differs.")
    shared = set.intersection(*({rung.name for rung in each.rungs} for each in ladders))
    if any(each.base.name not in shared for each in ladders) or len({each.base.name for each in ladders}) > 1:
        raise InvalidInput("ladders", "they have no base in common", fix="Compare ladders with the same base rung.")
    ids = [answer.id for answer in ladders[0].base.answers]
    for each in ladders[1:]:
        there = by_id(each.base)
        ids = [id_ for id_ in ids if id_ in there]
    if not ids:
        raise InvalidInput("ladders", "they share no question", fix="Compare ladders over the same questions.")
    made = [
        each.model_copy(update={"rungs": tuple(rung for rung in each.rungs if rung.name in shared)}) for each in ladders
    ]
    order = [rung.name for rung in made[0].rungs]
    made = [each.model_copy(update={"rungs": tuple(each.rung(name) for name in order)}) for each in made]
    left_out = sorted({rung.name for each in ladders for rung in each.rungs} - shared)
    return made, tuple(left_out), ids


def _first_lost(ladder: Ladder, ids: Sequence[str]) -> dict[str, str]:
    """Question -> the first rung, going down, that loses it."""
    base = right_ids(ladder.base)
    found: dict[str, str] = {}
    for rung in ladder.rungs[1:]:
        right = right_ids(rung)
        for id_ in ids:
            if id_ in base and id_ not in right:
                found.setdefault(id_, rung.name)
    return found


def _rung(ladders: Sequence[Ladder], name: str, ids: Sequence[str]) -> RungAcross:
    wanted = set(ids)
    right = {each.name: right_ids(each.rung(name)) & wanted for each in ladders}
    lost = {each.name: (right_ids(each.base) & wanted) - right[each.name] for each in ladders}
    pairs = [Pair(first=a, second=b, different=len(right[a] ^ right[b])) for a, b in combinations(right, 2)]
    rungs = [each.rung(name) for each in ladders]
    two = len(ladders) == 2
    return RungAcross(
        rung=name,
        right={each: len(ids_) for each, ids_ in right.items()},
        lost={each: len(ids_) for each, ids_ in lost.items()},
        right_on_all=len(set.intersection(*right.values())),
        wrong_on_all=len(wanted - {id_ for each in right.values() for id_ in each}),
        closest=min(pairs, key=lambda pair: pair.different),
        furthest=max(pairs, key=lambda pair: pair.different),
        lost_on_all=len(set.intersection(*lost.values())),
        times_tokens=_times(rungs[0], rungs[1], "tokens", ids) if two else None,
        times_seconds=_times(rungs[0], rungs[1], "seconds", ids) if two else None,
    )


def _times(first: Rung, second: Rung, what: str, ids: Sequence[str]) -> float | None:
    one, other = by_id(first), by_id(second)
    pairs = [(getattr(one[id_], what), getattr(other[id_], what)) for id_ in ids]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    total = sum(a for a, _ in known)
    return float(sum(b for _, b in known) / total) if len(known) == len(pairs) and total else None


def _differs(ladders: Sequence[Ladder]) -> tuple[Differs, ...]:
    keys = sorted({key for each in ladders for key in each.settings})
    rows = []
    for key in keys:
        values = {each.name: each.settings.get(key) for each in ladders}
        if len({repr(value) for value in values.values()}) > 1:
            rows.append(Differs(setting=key, values=values))
    return tuple(rows)


def _cause(differs: Sequence[Differs]) -> str:
    if not differs:
        return "No recorded setting differs: what moved is between the runs themselves."
    if len(differs) == 1:
        return f"One setting differs: {differs[0].setting}."
    names = ", ".join(each.setting for each in differs)
    return f"{len(differs)} settings differ at once ({names}): this comparison cannot say which of them did it."


def _notes(ladders: Sequence[Ladder], made: Sequence[Ladder], ids: Sequence[str]) -> tuple[str, ...]:
    notes = []
    largest = max(len(each.base.answers) for each in ladders)
    if len(ids) < largest:
        notes.append(f"Compared over the {len(ids)} questions that all have; {largest - len(ids)} are in some only.")
    for rung in made[0].rungs:
        hashes = {each.rung(rung.name).tensors_sha256 or each.rung(rung.name).sha256 for each in made} - {""}
        if len(hashes) > 1:
            notes.append(f"{rung.name} is not the same file on all: its differences are not the machine's alone.")
    return tuple(notes)
