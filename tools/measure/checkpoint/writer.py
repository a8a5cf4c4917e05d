"""Write one safetensors file piece by piece; it has its name only once it is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tools.measure.checkpoint.tensors import Tensor


@dataclass(frozen=True)
class Entry:
    """One tensor to write: an array that is held, or a tensor that is streamed from another file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    held: Any = None
    copied: Tensor | None = None

    @property
    def size(self) -> int:
        """In bytes."""
        return self.copied.size if self.copied is not None else int(self.held.nbytes)

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Its bytes in order."""
        if self.copied is not None:
            yield from self.copied.chunks()
        else:
            yield memoryview(self.held).cast("B")


def write_shard(path: Path, entries: Sequence[Entry]) -> str:
    """Returns the file's sha256. Largest elements first keeps every tensor aligned."""
    order = sorted(entries, key=lambda entry: (-_width(entry.dtype), entry.name))
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    place = 0
    for entry in order:
        header[entry.name] = {
            "dtype": entry.dtype,
            "shape": list(entry.shape),
            "data_offsets": [place, place + entry.size],
        }
        place += entry.size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    hashed = sha256()
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        for piece in _all(len(text).to_bytes(8, "little") + text, order):
            hashed.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    return hashed.hexdigest()


def _all(head: bytes, entries: Iterable[Entry]) -> Iterator[bytes | memoryview]:
    yield head
    for entry in entries:
        yield from entry.pieces()


def _width(dtype: str) -> int:
    return 8 if "64" in dtype else 4 if "32" in dtype else 2 if "16" in dtype else 1
