"""Which tensors a repack may turn into four bits, how fused experts are split, and what engines must ignore."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tools.measure.checkpoint.parts import layer_of, part_of
from tools.measure.checkpoint.tensors import Tensor

Kind = Literal["experts, gate and up", "experts, down", "dense MLP", "attention", "other linear"]
FUSED = re.compile(r"^(?P<before>.*\.experts)\.(?P<name>[A-Za-z_]*proj)(?:\.weight)?$")


@dataclass(frozen=True)
class Module:
    """One linear module of the result: rows `first` to `last` of a source tensor, or of one expert of a fused one."""

    name: str
    expert: int | None
    first: int
    last: int
    columns: int


def candidate(tensor: Tensor) -> bool:
    """A linear weight inside a decoder layer, 16-bit. Router, norms, embeddings and towers are copied as they are."""
    part = part_of(tensor.name)
    if layer_of(tensor.name) is None or part not in {"attention", "dense MLP", "experts", "per-layer projection"}:
        return False
    if tensor.dtype not in {"BF16", "F16"} or not tensor.elements:
        return False
    if len(tensor.shape) == 3:
        return FUSED.match(tensor.name) is not None
    return len(tensor.shape) == 2 and tensor.name.endswith(".weight")


def modules(tensor: Tensor) -> list[Module]:
    """The modules that a candidate becomes: itself, or one (for gate and up two) per expert."""
    if len(tensor.shape) == 2:
        return [Module(tensor.name.removesuffix(".weight"), None, 0, tensor.shape[0], tensor.shape[1])]
    found = FUSED.match(tensor.name)
    before, name = (found["before"], found["name"]) if found else (tensor.name, "proj")
    experts, rows, columns = tensor.shape
    halves = [(name, 0, rows)]
    if name == "gate_up_proj" and rows % 2 == 0:
        halves = [("gate_proj", 0, rows // 2), ("up_proj", rows // 2, rows)]
    return [
        Module(f"{before}.{expert}.{half}", expert, first, last, columns)
        for expert in range(experts)
        for half, first, last in halves
    ]


def kind_of(name: str) -> Kind:
    """The row of the report in which a packed tensor or module is counted."""
    part = part_of(name)
    if part == "experts":
        return "experts, down" if "down_proj" in name or "w2" in name else "experts, gate and up"
    return part if part in {"dense MLP", "attention"} else "other linear"


def linear(tensor: Tensor) -> bool:
    """A matrix that an engine multiplies with, as far as its name tells."""
    tables = {"token embedding", "per-layer embedding", "norms"}
    return len(tensor.shape) == 2 and tensor.name.endswith(".weight") and part_of(tensor.name) not in tables


def ignored(copied: Iterable[Tensor]) -> tuple[str, ...]:
    """Linear modules that stay as they are. An engine that is not told so looks for packed weights in them."""
    names = set()
    for tensor in copied:
        fused = FUSED.match(tensor.name) if len(tensor.shape) == 3 else None
        if fused:
            names.add(fused["before"])
        elif linear(tensor):
            names.add(tensor.name.removesuffix(".weight"))
    return tuple(sorted(names | {"lm_head"}))


def loaded_as(module: str) -> str:
    """The layer that an engine loads a module into: q, k and v are one, gate and up are one, all experts are one."""
    before, _, last = module.rpartition(".")
    if ".experts" in module:
        return module[: module.index(".experts")] + ".experts"
    if last in {"q_proj", "k_proj", "v_proj"}:
        return f"{before}.qkv_proj"
    return f"{before}.gate_up_proj" if last in {"gate_proj", "up_proj"} else module


def mixed(packed: Iterable[str], kept: Iterable[str]) -> tuple[str, ...]:
    """Kept modules whose layer also has packed ones: an engine that fuses them refuses to load it."""
    there = {loaded_as(name) for name in packed}
    return tuple(name for name in kept if loaded_as(name) in there)
