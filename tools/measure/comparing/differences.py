"""What differs between runs besides what was measured: it is listed before any figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clouds.models import Record
from tools.figures import size
from tools.measure.quoted import WORDS as QUOTED
from tools.measure.record import Part, Run

OUTCOMES = {"kv_cache_bytes", "kv_cache_bytes_per_token", "kv_cache_bytes_from", "kv_cache_tokens", "max_concurrency"}
"""Engine facts that follow from everything else: they are figures of a comparison, not causes."""
MEASURED = ("_seconds", "_gib")
"""How the names of an engine's own measurements end: how long its start took, where its memory went."""
CHECKPOINT = {"model_sha256", "parameters", "weights_bytes", "quantization"}
"""Facts of the weights themselves: listed only where the model's name does not say it already."""
OF_A_PRICE = {"price as of", "price source", "price basis"}
"""Where a price comes from: listed only where the price itself is the same."""
CAUSES = ("hardware", "model", "engine")
UNSEEN = ""
VARIANT = "engine variant"
LACKING = {VARIANT: "as it was"}
"""What a run has that says nothing of these: the base of a walk is no variant, which is known and not unrecorded."""
BASE, AGAIN = "base", " again"
"""The variant that the others are compared with, and how the name of its repeat ends."""


class Difference(Record):
    """One thing that is not the same in all runs; a value per run, in their order. "" is: not recorded."""

    what: str
    values: tuple[str, ...]


def differences(runs: Sequence[Run]) -> tuple[Difference, ...]:
    """Hardware, model, engine, settings, price and client, in this order. Nothing that is the same is listed.

    Of figures that were quoted none of this is known.
    """
    runs = [run for run in runs if run.quoted is None]
    if len(runs) < 2:
        return ()
    shared = set.intersection(*({part.name for part in run.parts} for run in runs))
    described = [dict(_described(run, shared)) for run in runs]
    names = dict.fromkeys(name for each in described for name in each)
    found = [
        Difference(what=name, values=tuple(each.get(name, LACKING.get(name, UNSEEN)) for each in described))
        for name in names
    ]
    unlike = [each for each in found if len(set(each.values)) > 1]
    if any(each.what == "model" for each in unlike):
        said = {f"engine {_words(name)}" for name in CHECKPOINT}
        unlike = [each for each in unlike if each.what not in said]
    if any(each.what.startswith("price usd") for each in unlike):
        unlike = [each for each in unlike if each.what not in OF_A_PRICE]
    return tuple(unlike)


def causes(found: Sequence[Difference]) -> tuple[str, ...]:
    """Which kinds of thing differ that can make a figure differ: hardware, model, engine."""
    kinds = dict.fromkeys(each.what.split(" ")[0] for each in found)
    return tuple(kind for kind in CAUSES if kind in kinds)


def besides(found: Sequence[Difference]) -> tuple[str, ...]:
    """What else differs that can make a figure differ: the profile, the shape of a part, the measuring client."""
    return tuple(each.what for each in found if each.what.split(" ")[0] not in {*CAUSES, "price", "measurements"})


def identity(run: Run) -> tuple[tuple[str, str], ...]:
    """What makes two runs measurements of the same thing: hardware, model, engine and profile."""
    place = () if run.engine or run.hardware else (("endpoint", run.subject.ref),)
    kept = tuple(
        (name, value)
        for name, value in _described(run, set())
        if not name.startswith(("client ", "price", "measurements"))
    )
    return (*place, *kept)


def shape_problems(base: Run, other: Run, part: str) -> tuple[str, ...]:
    """Why a part of these two cannot be compared: another profile, another shape, not whole. Empty when it can."""
    if base.quoted or other.quoted:
        return (QUOTED,)
    if base.profile != other.profile:
        return (f"profiles differ ({base.profile}, {other.profile})",)
    first, second = base.part(part), other.part(part)
    if first is None or second is None:
        return (f"{part} was not measured in {'both' if first is second else 'one of them'}",)
    problems = [f"{part} {each}" for each in _unlike(first, second)]
    problems += [
        f"{part} is incomplete in {run.name}" for run, each in ((base, first), (other, second)) if not each.complete
    ]
    return tuple(problems)


def _unlike(first: Part, second: Part) -> Iterator[str]:
    for name in dict.fromkeys((*first.settings, *second.settings)):
        if first.settings.get(name) != second.settings.get(name):
            yield f"{name} differs ({first.settings.get(name)}, {second.settings.get(name)})"


def _described(run: Run, parts: set[str]) -> Iterator[tuple[str, str]]:
    """Every recorded circumstance, with the shapes of these parts."""
    hardware = run.hardware.model_dump(exclude_defaults=True) if run.hardware else {}
    yield from _fields("hardware", {name: value for name, value in hardware.items() if "free" not in name.split("_")})
    yield "model", run.subject.model
    changes = [each for each in run.subject.variant.split(",") if not each.strip().startswith("model=")]
    if run.subject.variant not in {"", BASE, BASE + AGAIN} and changes:  # another model is named already
        yield VARIANT, run.subject.variant
    engine = run.engine.model_dump(exclude_defaults=True) if run.engine else {}
    facts = {**engine, **engine.pop("settings", {})}
    kept = (name for name in facts if name not in {*OUTCOMES, "model", "settings"} and not name.endswith(MEASURED))
    yield from _fields("engine", {name: facts[name] for name in kept})
    drafted = run.figure("drafters.drafted_per_step")
    if drafted is not None and drafted.value is not None:  # a bare URL does not tell its drafter, its counters do
        yield "engine guesses a step", "less than 1" if 0 < drafted.value < 0.5 else f"{drafted.value:.0f}"
    yield "profile", run.profile
    yield "measurements", ", ".join(part.name for part in run.parts)
    for part in run.parts:
        yield from _fields(part.name, part.settings if part.name in parts else {})
    yield from _fields("price", run.price.model_dump(exclude_defaults=True) if run.price else {})
    client = run.client
    yield "client machine", f"{client.cpu}, {client.cores} cores, {client.host}"
    yield "client software", f"{client.loop}, Python {client.python}, {_text(client.versions)}"


def _fields(kind: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if value is not None:
            yield f"{kind} {_words(name)}", size(value) if _bytes(name, value) else _text(value)


def _bytes(name: str, value: Any) -> bool:
    return name.endswith("bytes") and isinstance(value, int | float) and not isinstance(value, bool)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
