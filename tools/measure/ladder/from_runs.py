"""Ladders out of runs: runs over the same questions on one machine with one set of settings are the rungs of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clouds.models import Setting
from tools.measure.comparing.differences import identity
from tools.measure.ladder.asking import TWICE
from tools.measure.ladder.records import Answer, Ladder, Rung
from tools.measure.ladder.repeats import Repeat, repeat
from tools.measure.record import Item, Run

PART = "ladder"
SHAPE = ("set", "sha256", "questions")
"""What must be equal for questions to be the same."""
ASKED = ("thinking", "max_tokens", "at_once")
"""What may differ between two ladders and then is named."""


def ladders_of(runs: Sequence[Run]) -> tuple[tuple[Ladder, ...], tuple[str, ...]]:
    """The ladders in the order of their first run, and what was left out. The first run of each is its base."""
    notes: list[str] = []
    asked = [run for run in runs if run.quoted is None and (part := run.part(PART)) is not None and part.items]
    if not asked:
        return (), ()
    shape = _shape(asked[0])
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in asked:
        if _shape(run) != shape:
            notes.append(f"{run.id} was asked other questions and is no rung of this ladder.")
            continue
        groups.setdefault((_machine(run), *map(str, _asked(run).values())), []).append(run)
    names = _names(list(groups))
    made = []
    for key, group in groups.items():
        rungs, left_out = _rungs([run for run in group if _first_of(run, group) is run])
        notes += left_out
        made.append(Ladder(name=names[key], rungs=rungs, settings=_settings(group[0])))
    return tuple(made), tuple(notes)


def repeats_of(runs: Iterable[Run]) -> tuple[Repeat, ...]:
    """Rungs that were run twice as a whole, and the questions that a run asked twice and was answered twice."""
    asked = [run for run in runs if run.quoted is None and run.part(PART) is not None]
    found = []
    for run in asked:
        earlier = _first_of(run, [each for each in asked if _alike(each) == _alike(run)])
        if earlier is not run:
            found.append(repeat(_rung(earlier, _called(earlier, asked)), _rung(run, _called(run, asked))))
    return (*found, *(each for run in asked for each in _twice(run, _called(run, asked))))


def _twice(run: Run, name: str) -> Iterator[Repeat]:
    part = run.part(PART)
    items = {item.id: item for item in (part.items if part else ()) if item.outcome == "ok"}
    twice = [item for item in items.values() if item.id.endswith(TWICE) and item.id.removesuffix(TWICE) in items]
    if twice:
        again = [item.model_copy(update={"id": item.id.removesuffix(TWICE)}) for item in twice]
        first = Rung(name=name, answers=tuple(answer_of(items[item.id]) for item in again))
        yield repeat(first, Rung(name=name, answers=tuple(map(answer_of, again))))


def _first_of(run: Run, runs: Sequence[Run]) -> Run:
    """The first of these runs that measured the same thing: a base that was run again is its repeat, not a rung below.

    Only where the engine says what it served: a bare URL may hold another model under the same name.
    """
    engine = run.engine
    if engine is None or not (engine.model_sha256 or engine.quantization):
        return run
    mine = identity(run)
    return next((each for each in runs if identity(each) == mine), run)


def _alike(run: Run) -> tuple[object, ...]:
    """Questions and how they were asked."""
    return (*_shape(run), *_asked(run).items())


def _called(run: Run, runs: Sequence[Run]) -> str:
    """Its quantization, variant or name: the first that no other of these runs has; else its id."""
    mine = _words(run)
    others = [_words(each) for each in runs if each is not run]
    free = (word for place, word in enumerate(mine) if word and all(each[place] != word for each in others))
    return next(free, run.id)


def _words(run: Run) -> tuple[str, str, str]:
    return (run.engine.quantization if run.engine else "", run.subject.variant, run.name)


def answer_of(item: Item) -> Answer:
    """One item of a run as an answer of a rung."""
    rate = item.facts.get("tokens_per_second")
    return Answer(
        id=item.id,
        expected=item.expected,
        said=item.said or None,
        right=item.right,
        text=item.reply,
        reasoning=item.reasoning,
        finish="length" if item.cut_off else "stop",
        tokens=item.tokens if item.outcome == "ok" else None,
        seconds=item.seconds,
        tokens_per_second=float(rate) if isinstance(rate, int | float) else None,
        error="" if item.outcome == "ok" else f"{item.outcome}: {item.facts.get('detail') or ''}",
    )


def _rungs(runs: Sequence[Run]) -> tuple[tuple[Rung, ...], list[str]]:
    """Named by the first thing in which they all differ; a run that has not all questions is left out."""
    words = [
        [run.engine.quantization if run.engine else "" for run in runs],
        [run.subject.variant for run in runs],
        [run.subject.model for run in runs],
        [run.name for run in runs],
        [run.id for run in runs],
    ]
    names = next((each for each in words if all(each) and len(set(each)) == len(each)), words[-1])
    made, notes, wanted = [], [], None
    for run, name in zip(runs, names, strict=True):
        rung = _rung(run, name)
        ids = {answer.id for answer in rung.answers}
        wanted = ids if wanted is None else wanted
        if ids != wanted:
            notes.append(
                f"{name} has {len(ids & wanted)} of {len(wanted)} questions: an incomplete rung is not compared."
            )
        else:
            made.append(rung)
    return tuple(made), notes


def _rung(run: Run, name: str) -> Rung:
    part, engine = run.part(PART), run.engine
    settings = engine.settings if engine else {}
    memory = [each.memory_peak_bytes for each in run.accelerators if each.memory_peak_bytes is not None]
    return Rung(
        name=name,
        answers=tuple(answer_of(item) for item in (part.items if part else ()) if not item.id.endswith(TWICE)),
        bytes=engine.weights_bytes if engine else None,
        sha256=engine.model_sha256 if engine else "",
        memory_bytes=sum(memory) if memory else None,
        layers=_whole(settings.get("layers")),
        layers_on_accelerator=_whole(settings.get("layers_on_accelerator")),
    )


def _settings(run: Run) -> dict[str, Setting]:
    engine = run.engine
    found = {
        "machine": _machine(run),
        "driver": run.hardware.driver if run.hardware else "",
        "engine": f"{engine.engine} {engine.version}".strip() if engine else "",
        **_asked(run),
    }
    thinks = found.get("thinking")
    return {key: value for key, value in {**found, "thinking": thinks == "on"}.items() if value not in {None, ""}}


def _asked(run: Run) -> dict[str, Setting]:
    part = run.part(PART)
    held = part.settings if part else {}
    return {key: value for key in ASKED if (value := held.get(key)) is not None}


def _shape(run: Run) -> tuple[object, ...]:
    part = run.part(PART)
    return tuple(part.settings.get(key) for key in SHAPE) if part else ()


def _machine(run: Run) -> str:
    """The accelerators, else the processor, else where it was asked."""
    hardware = run.hardware
    if hardware is None:
        return run.subject.ref
    return ", ".join(hardware.accelerators) or hardware.cpu or hardware.instance_type or run.subject.ref


def _names(keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """The machine where that tells them apart, else the machine with how it was asked."""
    machines = [key[0] for key in keys]
    named = {}
    for key in keys:
        words = [f"{word} {value}" for word, value in zip(ASKED, key[1:], strict=False)]
        named[key] = key[0] if machines.count(key[0]) == 1 else f"{key[0]} ({', '.join(words)})"
    return named


def _whole(value: Setting | None) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
