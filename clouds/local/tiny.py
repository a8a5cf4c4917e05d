"""Writes the tiny random model: 2 layers, 260 tokens, about 240 KB. Its greedy reply is one printable sign a token."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clouds.errors import NotInstalled, packages

if TYPE_CHECKING:
    import numpy as np

SEED = 20_261_129
# 32 numbers a head: the blocks of a quantized KV cache hold 32
WIDTH, LAYERS, HEADS, CONTEXT = 64, 2, 2, 4_096
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write(path: Path) -> None:
    """Write the model to `path` in one step; the same seed gives the same file. Raises NotInstalled."""
    try:
        import gguf
        import numpy as np
    except ImportError as error:
        raise NotInstalled(
            "making the tiny random model",
            answered=f"the package {error.name} is not installed",
            fix=packages("local"),
            sent=False,
        ) from None
    part = path.with_name(f".{path.name}.{os.getpid()}")
    writer = gguf.GGUFWriter(part, "llama")
    try:
        _describe(writer)
        _weigh(writer, np.random.default_rng(SEED))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def tokens() -> list[str]:
    """One token a byte, as byte-level BPE spells them, then the special ones and the one merge that a reader wants."""
    kept = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    spelt = {byte: chr(byte) for byte in kept}
    others = (byte for byte in range(256) if byte not in spelt)
    spelt |= {byte: chr(256 + place) for place, byte in enumerate(others)}
    return [*(spelt[byte] for byte in range(256)), *SPECIAL, "he"]


def _describe(writer: Any) -> None:
    writer.add_name("tiny-random")
    writer.add_description("random weights, for tests of everything but the answers")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens()))
    writer.add_file_type(1)  # mostly F16
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens())
    writer.add_token_types([1] * 256 + [3] * len(SPECIAL) + [1])  # 1 normal, 3 control
    writer.add_token_merges(["h e"])
    writer.add_bos_token_id(256 + SPECIAL.index("<|im_start|>"))
    writer.add_eos_token_id(256 + SPECIAL.index("<|im_end|>"))
    writer.add_chat_template(TEMPLATE)


def _weigh(writer: Any, random: np.random.Generator) -> None:
    import numpy as np

    def matrix(name: str, rows: int, columns: int) -> None:
        writer.add_tensor(name, (random.standard_normal((rows, columns)) * 0.1).astype(np.float16))

    def ones(name: str) -> None:
        writer.add_tensor(name, np.ones(WIDTH, np.float32))

    matrix("token_embd.weight", len(tokens()), WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        ones(f"{block}.attn_norm.weight")
        ones(f"{block}.ffn_norm.weight")
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"{block}.{part}.weight", WIDTH, WIDTH)
        matrix(f"{block}.ffn_gate.weight", 2 * WIDTH, WIDTH)
        matrix(f"{block}.ffn_up.weight", 2 * WIDTH, WIDTH)
        matrix(f"{block}.ffn_down.weight", WIDTH, 2 * WIDTH)
    ones("output_norm.weight")
    # only printable ASCII has weights here: no half of a UTF-8 sign, and no end before the length that was asked for
    output = np.zeros((len(tokens()), WIDTH), np.float16)
    output[ord("!") : ord("~") + 1] = random.standard_normal((ord("~") + 1 - ord("!"), WIDTH))
    writer.add_tensor("output.weight", output)
