"""Read a repacked checkpoint and its source again, and say group by group whether anything was lost.

Nothing that the repack counted is used. A group is whole when one step exists with which every stored level rounds to
its source value, and the stored step is that step to the precision it is stored in. That its levels are the nearest
ones on the stored grid is counted too, but proves little alone: a wrong step passes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clouds.base import Progress
from clouds.errors import InvalidInput
from clouds.models import Record
from tools.measure.checkpoint.convert import VALUES_AT_ONCE
from tools.measure.checkpoint.grid import LEVELS, SLACK, interval
from tools.measure.checkpoint.grouping import textbook_error
from tools.measure.checkpoint.halves import FLOATS, matrix, reach, to_bf16, widen
from tools.measure.checkpoint.layout import Kind, Module, candidate, ignored, kind_of, modules
from tools.measure.checkpoint.opening import open_checkpoint
from tools.measure.checkpoint.packing import unpack
from tools.measure.checkpoint.parts import Part, part_of
from tools.measure.checkpoint.tensors import Checkpoint, Tensor

STORED = 2.0**-8
"""Half a unit of a bf16 step, relative: how far a stored step may lie from the true one."""
NAMED = 20


class PackedKind(Record):
    """One kind of packed tensor."""

    kind: str
    tensors: int
    groups: int
    groups_whole: int
    """Groups that lost nothing but what rounding the step to its stored precision costs."""
    levels_equal: int
    """Groups whose every level is the nearest on the stored grid."""
    values: int
    values_identical: int
    percent_identical: float
    worst_relative_difference: float


class CopiedKind(Record):
    """One part of the model whose tensors were copied."""

    part: Part
    tensors: int
    bytes_equal: int
    """Tensors whose bytes are all equal."""
    bytes: int


class Verified(Record):
    """`lossless` only when every group is whole, every copy equal, and nothing is missing, extra or misdeclared."""

    lossless: bool
    group_size: int
    problems: tuple[str, ...]
    packed: tuple[PackedKind, ...]
    copied: tuple[CopiedKind, ...]
    textbook_median_error: float | None
    """What step = max / 8 would have done to these weights: median relative error of a sampled group."""


@dataclass
class _Count:
    tensors: int = 0
    groups: int = 0
    whole: int = 0
    equal: int = 0
    values: int = 0
    identical: int = 0
    worst: float = 0.0


@dataclass
class _Work:
    size: int
    there: Mapping[str, Tensor]
    packed: dict[Kind, _Count] = field(default_factory=dict)
    copied: dict[Part, list[int]] = field(default_factory=dict)
    kept: list[Tensor] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


def verify(source: str, output: str | Path, *, progress: Progress | None = None) -> Verified:
    """Compare two folders on disk. Problems are sentences; the first twenty are named and all are counted."""
    before, after = open_checkpoint(source), open_checkpoint(str(output))
    size = _group_size(after)
    work = _Work(size, {tensor.name: tensor for tensor in after.tensors})
    for done, tensor in enumerate(before.tensors):
        if progress is not None:
            progress.report(f"verifying {tensor.name}", done, len(before.tensors))
        _tensor(tensor, work)
    extra = sorted(set(work.there) - work.seen)
    if extra:
        work.problems.append(f"{len(extra)} tensors come from no source tensor, first {extra[0]}")
    _check_ignored(after, work)
    problems = work.problems
    shown = problems[:NAMED] + ([f"and {len(problems) - NAMED:,} more"] if len(problems) > NAMED else [])
    return Verified(
        lossless=not problems,
        group_size=size,
        problems=tuple(shown),
        packed=tuple(_row(kind, count) for kind, count in work.packed.items()),
        copied=tuple(
            CopiedKind(part=part, tensors=row[0], bytes_equal=row[1], bytes=row[2])
            for part, row in sorted(work.copied.items(), key=lambda item: -item[1][2])
        ),
        textbook_median_error=textbook_error([tensor for tensor in before.tensors if candidate(tensor)], size),
    )


def _group_size(checkpoint: Checkpoint) -> int:
    groups = (checkpoint.config.get("quantization_config") or {}).get("config_groups") or {}
    sizes = {(group.get("weights") or {}).get("group_size") for group in groups.values()}
    size = sizes.pop() if len(sizes) == 1 else None
    if not isinstance(size, int) or size < 1:
        raise InvalidInput("output", "its config names no single group size", fix="Give a folder that repack wrote.")
    return size


def _tensor(tensor: Tensor, work: _Work) -> None:
    copy = work.there.get(tensor.name)
    if copy is not None:
        work.seen.add(copy.name)
        work.kept.append(tensor)
        equal = (copy.dtype, copy.shape) == (tensor.dtype, tensor.shape) and all(
            one == other for one, other in zip(tensor.chunks(), copy.chunks(), strict=True)
        )
        row = work.copied.setdefault(part_of(tensor.name), [0, 0, 0])
        row[0], row[1], row[2] = row[0] + 1, row[1] + equal, row[2] + tensor.size
        if not equal:
            work.problems.append(f"{tensor.name} was copied and differs")
        return
    if not candidate(tensor):
        work.problems.append(f"{tensor.name} is missing")
        return
    kind = kind_of(tensor.name)
    count = work.packed.setdefault(kind, _Count())
    count.tensors += 1
    whole, groups = count.whole, count.groups
    bits = matrix(tensor)
    for module in modules(tensor):
        rows = bits if module.expert is None else bits[module.expert]
        _module(module, rows[module.first : module.last], tensor.dtype, count, work)
    if count.groups - groups != count.whole - whole:
        lost = (count.groups - groups) - (count.whole - whole)
        work.problems.append(f"{tensor.name}: {lost:,} of {count.groups - groups:,} groups are not reproduced")


def _module(module: Module, rows: Any, dtype: str, count: _Count, work: _Work) -> None:
    import numpy as np

    names = [f"{module.name}.weight_{last}" for last in ("packed", "scale", "shape")]
    found = [work.there.get(name) for name in names]
    packed, scale, shape = found
    if packed is None or scale is None or shape is None:
        missing = ", ".join(name for name, each in zip(names, found, strict=True) if each is None)
        work.problems.append(f"{missing} missing")
        return
    work.seen.update(names)
    declared = tuple(int(side) for side in np.frombuffer(b"".join(shape.chunks()), dtype="<i8"))
    expected = (rows.shape, (len(rows), rows.shape[1] // 8), (len(rows), rows.shape[1] // work.size))
    if (declared, packed.shape, scale.shape) != expected or packed.dtype != "I32" or scale.dtype not in FLOATS:
        work.problems.append(f"{module.name} has the shapes {declared}, {packed.shape}, {scale.shape}: not {expected}")
        return
    for source, words, steps in _pieces(rows, packed, scale):
        _groups(source, dtype, unpack(words), widen(steps, scale.dtype), work.size, count)


def _pieces(rows: Any, packed: Tensor, scale: Tensor) -> Iterator[tuple[Any, Any, Any]]:
    import numpy as np

    words = np.memmap(_path(packed), dtype="<i4", mode="r", offset=packed.offset, shape=packed.shape)
    steps = matrix(scale)
    at_once = max(1, VALUES_AT_ONCE // rows.shape[1])
    for start in range(0, len(rows), at_once):
        part = slice(start, start + at_once)
        yield np.array(rows[part]), np.array(words[part]), np.array(steps[part])


def _path(tensor: Tensor) -> Path:
    path = getattr(tensor.source, "path", None)
    if not isinstance(path, Path):
        raise InvalidInput("output", "its bytes are behind a URL", fix="Download it and name its folder.")
    return path


def _groups(bits: Any, dtype: str, levels: Any, steps: Any, size: int, count: _Count) -> None:
    import numpy as np

    bits, levels, steps = bits.reshape(-1, size), levels.reshape(-1, size), steps.reshape(-1).astype(np.float64)
    magnitude, low, high = reach(bits, dtype)
    value = widen(bits, dtype).astype(np.float64)
    made = levels * steps[:, None]
    lower, upper = interval(np.abs(levels).astype(np.float64), magnitude, low, high)
    signs = (np.sign(made) == np.sign(value)).all(axis=1)
    stored = np.abs(steps)
    zeros = (levels == 0).all(axis=1) & (magnitude == 0).all(axis=1)
    near = (stored >= lower * (1 - STORED)) & (stored <= upper * (1 + STORED))
    whole = zeros | (signs & (lower <= upper * (1 + SLACK)) & near)
    divisor = np.where(steps == 0, 1.0, steps)[:, None]
    nearest = np.clip(np.rint(value / divisor), -LEVELS, LEVELS - 1)
    read = widen(to_bf16(made.astype(np.float32)), "BF16") if dtype == "BF16" else made.astype(np.float16)
    same = read.astype(np.float64) == value
    gap = np.abs(read - value) / np.where(magnitude > 0, magnitude, 1.0)
    count.groups += len(bits)
    count.whole += int(whole.sum())
    count.equal += int((nearest == levels).all(axis=1).sum())
    count.values += bits.size
    count.identical += int(same.sum())
    count.worst = max(count.worst, float(gap.max(initial=0)))


def _check_ignored(after: Checkpoint, work: _Work) -> None:
    stated = set((after.config.get("quantization_config") or {}).get("ignore") or ())
    needed = set(ignored(work.kept))
    packed = {name.removesuffix(".weight_packed") for name in work.seen if name.endswith(".weight_packed")}
    for names, problem in (
        (needed - stated - {"lm_head"}, "copied linear modules are not in the ignore list"),
        (packed & stated, "packed modules are in the ignore list"),
    ):
        if names:
            work.problems.append(f"{len(names)} {problem}, first {min(names)}")


def _row(kind: Kind, count: _Count) -> PackedKind:
    return PackedKind(
        kind=kind,
        tensors=count.tensors,
        groups=count.groups,
        groups_whole=count.whole,
        levels_equal=count.equal,
        values=count.values,
        values_identical=count.identical,
        percent_identical=100 * count.identical / max(count.values, 1),
        worst_relative_difference=count.worst,
    )
