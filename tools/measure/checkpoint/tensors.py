"""What a checkpoint's headers say: tensors with their place, and the model's configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

from tools.measure.checkpoint.source import Source

CHUNK = 8 * 1024 * 1024


@dataclass(frozen=True)
class Tensor:
    """One tensor: where its bytes are, and how many weights they stand for (packed ones hold several a word)."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    size: int
    """In bytes."""
    offset: int
    """From the start of its file."""
    source: Source
    parameters: int

    @property
    def elements(self) -> int:
        """Stored elements, not weights."""
        return prod(self.shape)

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """Its bytes in pieces; `size` is a multiple of every element's size."""
        for start in range(0, self.size, size):
            yield self.source.read(self.offset + start, min(size, self.size - start))


@dataclass(frozen=True)
class Checkpoint:
    """All tensors of all files, in the order of their files. `config` has the model's own keys, "" when not there."""

    location: str
    form: Literal["safetensors", "gguf"]
    tensors: tuple[Tensor, ...]
    sources: tuple[Source, ...]
    config: Mapping[str, Any] = field(default_factory=dict)
    config_from: str = ""

    @property
    def file_bytes(self) -> int:
        """Of all its weight files."""
        return sum(source.size for source in self.sources)
