"""What an endpoint's own model list says of the engine: all that is known of a bare URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.models import EngineFacts
from tools.measure.record import Scalar

ENGINES = {"llamacpp": "llama.cpp", "vllm": "vLLM", "sglang": "SGLang"}
KEPT = 20


def plain(listed: Mapping[str, Any]) -> Mapping[str, Scalar]:
    """Its numbers and short words, the `meta` of llama.cpp among them; nested things are left out."""
    meta = listed.get("meta")
    flat = {**listed, **{f"meta.{name}": value for name, value in (meta.items() if isinstance(meta, dict) else ())}}
    kept = {str(name)[:60]: value for name, value in flat.items() if isinstance(value, str | int | float | bool)}
    return {
        name: value[:200] if isinstance(value, str) else value
        for name, value in list(kept.items())[:KEPT]
        if name not in {"object", "created"}
    }


def facts(listed: Mapping[str, Any]) -> EngineFacts | None:
    """Engine facts, where the list names its engine."""
    owner = str(listed.get("owned_by", ""))
    if owner not in ENGINES:
        return None
    meta = listed.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    return EngineFacts(
        engine=ENGINES[owner],
        model=str(listed.get("id", ""))[:200],
        parameters=_whole(meta.get("n_params")),
        weights_bytes=_whole(meta.get("size")),
        quantization=str(meta.get("ftype", ""))[:40],
        context_tokens=_whole(meta.get("n_ctx", listed.get("max_model_len"))),
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
