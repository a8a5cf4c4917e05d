from __future__ import annotations

from clouds.models import EngineFacts
from tools.measure.listing import facts, plain

LLAMA = {
    "id": "smol.gguf",
    "object": "model",
    "owned_by": "llamacpp",
    "meta": {"n_params": 134_515_008, "size": 96_576_768, "n_ctx": 2048, "ftype": "Q4_1", "list": [1]},
}
VLLM = {"id": "gemma", "owned_by": "vllm", "max_model_len": 8192, "permission": [{}]}


def test_engine_facts_are_read_where_the_list_names_its_engine() -> None:
    assert facts(LLAMA) == EngineFacts(
        engine="llama.cpp",
        model="smol.gguf",
        parameters=134_515_008,
        weights_bytes=96_576_768,
        quantization="Q4_1",
        context_tokens=2048,
    )
    assert facts(VLLM) == EngineFacts(engine="vLLM", model="gemma", context_tokens=8192)


def test_an_unknown_engine_has_no_facts_and_odd_values_are_unknown() -> None:
    assert facts({"id": "x", "owned_by": "somebody"}) is None
    assert facts({"id": "x", "owned_by": "llamacpp", "meta": "none"}) == EngineFacts(engine="llama.cpp", model="x")
    assert facts({"owned_by": "vllm", "max_model_len": True}) == EngineFacts(engine="vLLM")


def test_only_plain_values_are_kept() -> None:
    assert plain(VLLM) == {"id": "gemma", "owned_by": "vllm", "max_model_len": 8192}
    assert plain({"id": "y" * 500})["id"] == "y" * 200
