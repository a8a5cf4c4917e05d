"""The engines that can serve here, by name; the first is the default."""

from __future__ import annotations

from clouds.local.engines.base import Engine
from clouds.local.engines.llamacpp import LLAMA_SERVER, XLLAMACPP
from clouds.local.engines.vllm import VLLM

ENGINES = {engine.name: engine for engine in (XLLAMACPP, LLAMA_SERVER, VLLM)}
DEFAULT = XLLAMACPP.name

__all__ = ["DEFAULT", "ENGINES", "Engine"]
