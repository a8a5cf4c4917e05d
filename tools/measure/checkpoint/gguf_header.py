"""The GGUF header: key-value pairs and tensor places, read in order and never past the header."""

from __future__ import annotations

import re
import struct
from math import prod
from typing import Any

from clouds.errors import InvalidInput
from tools.measure.checkpoint.source import Source
from tools.measure.checkpoint.tensors import Checkpoint, Tensor

AHEAD = 1024 * 1024
HEADER_LIMIT = 512 * 1024 * 1024
KEPT = 4096
"""Longer arrays (vocabularies) are stepped over, and only their length is kept."""
TYPES = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    9: ("Q8_1", 32, 40),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1),
    25: ("I16", 1, 2),
    26: ("I32", 1, 4),
    27: ("I64", 1, 8),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36),
}
"""Type number: name, weights in a block, bytes of a block (gguf 0.19, GGML_QUANT_SIZES, read 2026-11-29)."""
_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9


class _Cursor:
    """Reads forward through a source, a mebibyte ahead at a time."""

    def __init__(self, source: Source) -> None:
        self.source, self.place = source, 0
        self._from, self._held = 0, b""

    def take(self, count: int) -> bytes:
        if count < 0 or self.place + count > HEADER_LIMIT:
            raise _broken(self.source, f"its header is longer than {HEADER_LIMIT:,} bytes")
        start = self.place - self._from
        if start + count > len(self._held):
            self._held = self.source.read(self.place, max(count, AHEAD))
            self._from, start = self.place, 0
        piece = self._held[start : start + count]
        if len(piece) < count:
            raise _broken(self.source, "it ends inside its header")
        self.place += count
        return piece

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self) -> str:
        return self.take(self.number("<Q")).decode("utf-8", "replace")


def read_gguf(source: Source, location: str) -> Checkpoint:
    """One file, or all the parts of a split one (`…-00001-of-00003.gguf`)."""
    config, tensors = _read(source)
    sources = [source]
    parts = int(config.get("split.count") or 1)
    named = re.fullmatch(r"(.*-)(\d{5})(-of-\d{5}\.gguf)", source.name)
    if parts > 1 and named:
        sources = [source.beside(f"{named[1]}{number:05d}{named[3]}") for number in range(1, parts + 1)]
        tensors = [tensor for each in sources for tensor in _read(each)[1]]
    return Checkpoint(location, "gguf", tuple(tensors), tuple(sources), config, "GGUF header")


def _read(source: Source) -> tuple[dict[str, Any], list[Tensor]]:
    cursor = _Cursor(source)
    if cursor.take(4) != b"GGUF":
        raise _broken(source, "it does not begin with GGUF")
    version = cursor.number("<I")
    if version not in {2, 3}:
        raise _broken(source, f"version {version} of the format is not known here (2 and 3 are)")
    count, pairs = cursor.number("<Q"), cursor.number("<Q")
    config = {}
    for _ in range(pairs):
        key = cursor.text()
        config[key] = _value(cursor, cursor.number("<I"))
    places = [_place(cursor) for _ in range(count)]
    alignment = int(config.get("general.alignment") or 32)
    start = -(-cursor.place // alignment) * alignment
    size = source.size
    tensors = []
    for name, shape, kind, offset in places:
        if kind not in TYPES:
            raise _broken(source, f"tensor {name[:80]!r} has the unknown type {kind}")
        dtype, block, width = TYPES[kind]
        elements = prod(shape)
        length = elements // block * width
        if elements % block or start + offset + length > size:
            raise _broken(source, f"tensor {name[:80]!r} of {length:,} bytes reaches past the end")
        tensors.append(Tensor(name, dtype, shape, length, start + offset, source, elements))
    return config, sorted(tensors, key=lambda tensor: tensor.offset)


def _place(cursor: _Cursor) -> tuple[str, tuple[int, ...], int, int]:
    name, sides = cursor.text(), cursor.number("<I")
    if sides > 8:
        raise _broken(cursor.source, f"tensor {name[:80]!r} has {sides} dimensions")
    # GGUF lists the fastest dimension first; here as everywhere else it comes last
    shape = tuple(reversed([int(cursor.number("<Q")) for _ in range(sides)]))
    return name, shape, int(cursor.number("<I")), int(cursor.number("<Q"))


def _value(cursor: _Cursor, kind: int) -> Any:
    if kind == _STRING:
        return cursor.text()
    if kind in _SCALARS:
        return cursor.number(_SCALARS[kind])
    if kind != _ARRAY:
        raise _broken(cursor.source, f"a value of the unknown type {kind}")
    inner, length = cursor.number("<I"), cursor.number("<Q")
    if inner in _SCALARS and length > KEPT:
        cursor.take(struct.calcsize(_SCALARS[inner]) * length)
        return {"length": length}
    if inner == _ARRAY or length > HEADER_LIMIT:
        raise _broken(cursor.source, "an array that no GGUF header has")
    values = [_value(cursor, inner) for _ in range(length)]
    return values if length <= KEPT else {"length": length}


def _broken(source: Source, problem: str) -> InvalidInput:
    return InvalidInput(
        "checkpoint", f"{source.name}: {problem}", fix="Download it again: the file is cut short or no GGUF file."
    )
