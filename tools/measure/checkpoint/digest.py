"""Hashes: of a file, and of its tensors without what a converter writes around them."""

from __future__ import annotations

from hashlib import sha256

from tools.measure.checkpoint.source import Source
from tools.measure.checkpoint.tensors import CHUNK, Checkpoint, Tensor


def file_sha256(source: Source) -> str:
    """Of every byte of the file."""
    hashed = sha256()
    for start in range(0, source.size, CHUNK):
        hashed.update(source.read(start, CHUNK))
    return hashed.hexdigest()


def tensors_sha256(checkpoint: Checkpoint) -> str:
    """Of names, dtypes, shapes and bytes of all tensors, ordered by name.

    A converter writes names and dates into a file, so that the same weights have another file hash on another
    machine; two rungs hold the same weights when this one is equal.
    """
    lines = [f"{each.name}\t{each.dtype}\t{each.shape}\t{tensor_sha256(each)}\n" for each in checkpoint.tensors]
    return sha256("".join(sorted(lines)).encode()).hexdigest()


def tensor_sha256(tensor: Tensor) -> str:
    """Of one tensor's bytes."""
    hashed = sha256()
    for piece in tensor.chunks():
        hashed.update(piece)
    return hashed.hexdigest()
