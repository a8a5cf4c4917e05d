"""The safetensors header: eight bytes of length, JSON, then the tensors; and the index that joins shards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import Any

from clouds.errors import InvalidInput, NotFound
from tools.measure.checkpoint.source import Source, plain
from tools.measure.checkpoint.tensors import Checkpoint, Tensor

HEADER_LIMIT = 100_000_000
"""The format's own limit for the length of a header."""
BITS = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I8", "U8", "BOOL"), 8),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    "F4": 4,
}


def read_safetensors(source: Source, location: str) -> Checkpoint:
    """One file, or an index and all the files it names; `config.json` beside it where there is one."""
    config = _json(source.beside("config.json"))
    bits = packed_bits(config)
    names = _weight_map(source) if source.name.endswith(".index.json") else {}
    sources = [source.beside(name) for name in sorted({plain(str(name)) for name in names.values()})] or [source]
    tensors = tuple(tensor for each in sources for tensor in header(each, bits))
    missing = sorted(set(names) - {tensor.name for tensor in tensors})
    if missing:
        raise _broken(source, f"{len(missing)} tensors of the index are in no file, first {missing[0][:80]!r}")
    return Checkpoint(location, "safetensors", tensors, tuple(sources), config, "config.json" if config else "")


def header(source: Source, bits: int = 4) -> list[Tensor]:
    """The tensors of one file. Every place is checked against the file's size before it is believed."""
    size = source.size
    length = int.from_bytes(source.read(0, 8), "little")
    if size < 8 or not 2 <= length <= min(HEADER_LIMIT, size - 8):
        raise _broken(source, f"a header of {length:,} bytes in a file of {size:,}")
    try:
        entries = json.loads(source.read(8, length))
        found = [
            _tensor(source, str(name), entry, 8 + length, size, bits)
            for name, entry in entries.items()
            if name != "__metadata__"
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _broken(source, f"its header cannot be read ({type(error).__name__})") from error
    return sorted(found, key=lambda tensor: tensor.offset)


def _weight_map(index: Source) -> dict[str, Any]:
    names = _json(index).get("weight_map")
    if not isinstance(names, dict) or not names:
        raise _broken(index, "its index has no weight_map")
    return names


def packed_bits(config: Mapping[str, Any]) -> int:
    """Bits of a packed weight by the quantization config (compressed-tensors, GPTQ, AWQ); 4 when it is silent."""
    quantization = config.get("quantization_config") or {}
    for group in (quantization.get("config_groups") or {}).values():
        bits = (group.get("weights") or {}).get("num_bits")
        if bits:
            return int(bits)
    return int(quantization.get("bits") or quantization.get("w_bit") or 4)


def _tensor(source: Source, name: str, entry: Any, start: int, size: int, bits: int) -> Tensor:
    dtype, shape = str(entry["dtype"]), tuple(int(side) for side in entry["shape"])
    first, last = (int(place) for place in entry["data_offsets"])
    if dtype not in BITS:
        raise _broken(source, f"tensor {name[:80]!r} has the unknown dtype {dtype[:20]!r}")
    expected = (prod(shape) * BITS[dtype] + 7) // 8
    if min(shape, default=0) < 0 or not 0 <= first <= last <= size - start or last - first != expected:
        raise _broken(source, f"tensor {name[:80]!r} of {expected:,} bytes lies at {first:,} to {last:,}")
    return Tensor(name, dtype, shape, last - first, start + first, source, _parameters(name, dtype, shape, bits))


def _parameters(name: str, dtype: str, shape: tuple[int, ...], bits: int) -> int:
    """Weights that a tensor stands for. Scales, zero points and shapes beside packed weights are no weights."""
    count, last = prod(shape), name.rsplit(".", 1)[-1]
    if last in {"weight_packed", "qweight"}:
        return count * (BITS[dtype] // bits)
    if last in {"weight_scale", "weight_scale_inv", "weight_shape", "weight_zero_point", "weight_g_idx"}:
        return 0
    if last in {"qzeros", "scales", "g_idx", "input_scale", "weight_global_scale", "input_global_scale"}:
        return 0
    return count


def _json(source: Source) -> dict[str, Any]:
    try:
        text = source.read(0, min(source.size, HEADER_LIMIT))
    except NotFound:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise _broken(source, "it is not JSON") from error
    return value if isinstance(value, dict) else {}


def _broken(source: Source, problem: str) -> InvalidInput:
    return InvalidInput(
        "checkpoint",
        f"{source.name}: {problem}",
        fix="Download it again: the file is cut short or no safetensors file.",
    )
