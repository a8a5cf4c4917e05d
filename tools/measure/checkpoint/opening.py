"""Open a checkpoint of either format by its headers."""

from __future__ import annotations

from clouds.errors import InvalidInput
from tools.measure.checkpoint.gguf_header import read_gguf
from tools.measure.checkpoint.safetensors_header import read_safetensors
from tools.measure.checkpoint.source import locate
from tools.measure.checkpoint.tensors import Checkpoint


def open_checkpoint(location: str, token_env: str = "") -> Checkpoint:
    """A file, a folder or a URL. Reads headers only. Raises CloudError when it is no checkpoint."""
    source = locate(location, token_env)
    if source.name.endswith((".safetensors", ".index.json")):
        return read_safetensors(source, location)
    if source.name.endswith(".gguf") or source.read(0, 4) == b"GGUF":
        return read_gguf(source, location)
    raise InvalidInput(
        "checkpoint",
        f"{source.name} is neither",
        fix="Name a .safetensors or .gguf file.",
        allowed=("safetensors", "gguf"),
    )
