"""Lossless repack of a 16-bit export that lies on a Q4_0 grid into compressed-tensors W4A16, one layer at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from clouds.base import Progress
from clouds.errors import Conflict, InvalidInput
from clouds.models import Record
from tools.measure.checkpoint.companions import quantization_config, write_beside
from tools.measure.checkpoint.convert import Converted, convert
from tools.measure.checkpoint.grouping import SizeTried, choose, try_sizes
from tools.measure.checkpoint.layout import candidate, ignored, loaded_as, mixed, modules
from tools.measure.checkpoint.opening import open_checkpoint
from tools.measure.checkpoint.parts import layer_of
from tools.measure.checkpoint.source import Local
from tools.measure.checkpoint.tensors import Checkpoint, Tensor
from tools.measure.checkpoint.writer import Entry, write_shard


class Kept(Record):
    """A linear weight that was copied instead of packed, and why."""

    tensor: str
    reason: str
    groups: int
    groups_off: int


class Repacked(Record):
    """What a repack did. `verify` reads both checkpoints again and trusts nothing of this."""

    source: str
    output: str
    group_size: int
    sizes_tried: tuple[SizeTried, ...]
    packed: int
    """Source tensors that became four bits."""
    modules: int
    """Modules they were written as (fused experts are split)."""
    groups: int
    negative_steps: int
    """Groups whose peak is +8 levels, stored with a negative step."""
    kept: tuple[Kept, ...]
    copied: int
    """All tensors copied byte by byte, kept ones among them."""
    ignored: int
    """Modules in the ignore list of the quantization config."""
    source_bytes: int
    output_bytes: int
    shards: dict[str, str]
    """File name and its sha256."""
    seconds: float
    warnings: tuple[str, ...] = ()


@dataclass
class _Work:
    """What grows while the layers go by."""

    folder: Path
    size: int
    siblings: str
    pool: ThreadPoolExecutor
    packed: list[str] = field(default_factory=list)
    """Names of modules."""
    copied: list[Tensor] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    tensors: int = 0
    groups: int = 0
    negative: int = 0
    written: int = 0
    where: dict[str, str] = field(default_factory=dict)
    shards: dict[str, str] = field(default_factory=dict)


def repack(
    source: str,
    output: str | Path,
    *,
    group_size: int | None = None,
    siblings: Literal["pack", "keep"] = "pack",
    workers: int = 1,
    progress: Progress | None = None,
) -> Repacked:
    """Write `output`, a new folder. `siblings="keep"` also keeps the modules that engines fuse with a kept one.

    The index is written last: a folder without it is no checkpoint. Raises InvalidInput for a source that lies on no
    grid and Conflict when the output is there.
    """
    started = time.monotonic()
    checkpoint = _open(source)
    folder = Path(output).expanduser()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"writing into {folder.name}", answered="it is there and not empty", fix="Name a new folder.")
    candidates = [tensor for tensor in checkpoint.tensors if candidate(tensor)]
    tried = try_sizes(candidates)
    size = group_size or choose(tried)
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        work = _Work(folder, size, siblings, pool)
        _walk(checkpoint, work, progress)
    ignore = ignored(work.copied)
    first = checkpoint.sources[0]
    beside = first.path.parent if isinstance(first, Local) else folder
    write_beside(beside, folder, checkpoint.config, quantization_config(size, ignore), work.where, work.written)
    return Repacked(
        source=source,
        output=str(folder),
        group_size=size,
        sizes_tried=tried,
        packed=work.tensors,
        modules=len(work.packed),
        groups=work.groups,
        negative_steps=work.negative,
        kept=tuple(work.kept),
        copied=len(work.copied),
        ignored=len(ignore),
        source_bytes=sum(tensor.size for tensor in checkpoint.tensors),
        output_bytes=work.written,
        shards=work.shards,
        seconds=time.monotonic() - started,
        warnings=_warnings(work),
    )


def _open(location: str) -> Checkpoint:
    checkpoint = open_checkpoint(location)
    if checkpoint.form != "safetensors":
        raise InvalidInput("source", "it is a GGUF file", fix="Give the 16-bit safetensors export.")
    if checkpoint.config.get("quantization_config"):
        raise InvalidInput("source", "its config says that it is quantized already", fix="Give the 16-bit export.")
    return checkpoint


def _walk(checkpoint: Checkpoint, work: _Work, progress: Progress | None) -> None:
    layers: dict[int, list[Tensor]] = {}
    for tensor in checkpoint.tensors:
        number = layer_of(tensor.name)
        layers.setdefault(-1 if number is None else number, []).append(tensor)
    for done, number in enumerate(sorted(layers)):
        if progress is not None:
            where = "what is outside of the layers" if number < 0 else f"layer {number}"
            progress.report(f"repacking {where}", done, len(layers))
        name = "model-outside.safetensors" if number < 0 else f"model-layer-{number:03d}.safetensors"
        entries = _layer(layers[number], work)
        work.shards[name] = write_shard(work.folder / name, entries)
        work.where.update({entry.name: name for entry in entries})
        work.written += sum(entry.size for entry in entries)


def _layer(tensors: Sequence[Tensor], work: _Work) -> list[Entry]:
    made = {tensor.name: convert(tensor, work.size, work.pool) for tensor in tensors if candidate(tensor)}
    lost = {name: one for name, one in made.items() if one.reason}
    for name, off in lost.items():
        work.kept.append(Kept(tensor=name, reason=off.reason, groups=off.groups, groups_off=off.off))
    torn = {loaded_as(name.removesuffix(".weight")) for name in lost} if work.siblings == "keep" else set()
    entries: list[Entry] = []
    for tensor in tensors:
        one: Converted | None = made.get(tensor.name)
        if one is not None and not one.reason and loaded_as(tensor.name.removesuffix(".weight")) in torn:
            reason = "engines load it as one layer with a kept tensor"
            work.kept.append(Kept(tensor=tensor.name, reason=reason, groups=one.groups, groups_off=0))
            one = None
        if one is None or one.reason:
            entries.append(Entry(tensor.name, tensor.dtype, tensor.shape, copied=tensor))
            work.copied.append(tensor)
            continue
        entries.extend(one.entries)
        work.packed.extend(module.name for module in modules(tensor))
        work.tensors += 1
        work.groups += one.groups
        work.negative += one.negative
    return entries


def _warnings(work: _Work) -> tuple[str, ...]:
    warnings = []
    torn = mixed(work.packed, [each.tensor.removesuffix(".weight") for each in work.kept])
    if torn:
        warnings.append(
            f"{len(torn)} kept modules share a layer with packed ones (first {torn[0]}): engines that load them as "
            'one refuse the checkpoint; siblings="keep" leaves all of such a layer in 16 bits'
        )
    if work.negative:
        warnings.append(f"{work.negative:,} groups have a negative step: check that your engine's kernel takes it")
    return tuple(warnings)
