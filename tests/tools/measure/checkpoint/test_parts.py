import pytest

from tools.measure.checkpoint.opening import open_checkpoint
from tools.measure.checkpoint.parts import layer_of, part_of, sizes


def test_a_tensor_belongs_to_the_part_that_its_name_says() -> None:
    rows = [
        ("model.language_model.layers.3.self_attn.q_proj.weight", "attention"),
        ("model.language_model.layers.3.self_attn.q_norm.weight", "norms"),
        ("model.language_model.layers.3.mlp.gate_proj.weight", "dense MLP"),
        ("model.language_model.layers.3.experts.gate_up_proj", "experts"),
        ("model.layers.3.mlp.experts.17.down_proj.weight_packed", "experts"),
        ("model.layers.3.mlp.shared_expert.up_proj.weight", "experts"),
        ("model.language_model.layers.3.router.proj.weight", "router"),
        ("model.language_model.layers.3.router.per_expert_scale", "router"),
        ("model.layers.3.mlp.gate.weight", "router"),
        ("model.language_model.layers.3.per_layer_input_gate.weight", "per-layer projection"),
        ("model.language_model.per_layer_projection_norm.weight", "norms"),
        ("model.language_model.embed_tokens_per_layer.weight", "per-layer embedding"),
        ("model.language_model.embed_tokens.weight", "token embedding"),
        ("lm_head.weight", "output head"),
        ("model.vision_tower.encoder.layers.0.self_attn.q_proj.linear.weight", "vision"),
        ("model.audio_tower.layers.0.norm_out.weight", "audio"),
        ("model.embed_vision.embedding_projection.weight", "vision"),
        ("blk.3.attn_q.weight", "attention"),
        ("blk.3.attn_norm.weight", "norms"),
        ("blk.3.ffn_gate_exps.weight", "experts"),
        ("blk.3.ffn_gate_inp.weight", "router"),
        ("blk.3.ffn_down.weight", "dense MLP"),
        ("blk.3.inp_gate.weight", "per-layer projection"),
        ("per_layer_token_embd.weight", "per-layer embedding"),
        ("token_embd.weight", "token embedding"),
        ("output.weight", "output head"),
        ("output_norm.weight", "norms"),
        ("v.blk.0.attn_q.weight", "vision"),
        ("transformer.h.0.attn.c_attn.weight", "attention"),
        ("something.new", "other"),
    ]
    assert [(name, part_of(name)) for name, _ in rows] == rows


def test_a_layer_is_a_layer_of_the_decoder() -> None:
    rows = [
        ("model.language_model.layers.13.mlp.up_proj.weight", 13),
        ("blk.7.ffn_up.weight", 7),
        ("transformer.h.2.mlp.c_fc.weight", 2),
        ("model.vision_tower.encoder.layers.0.mlp.up_proj.weight", None),
        ("model.embed_tokens.weight", None),
    ]
    assert [(name, layer_of(name)) for name, _ in rows] == rows


def test_the_parts_add_up_to_the_whole(model) -> None:
    tensors = open_checkpoint(str(model)).tensors
    rows = sizes(tensors)
    assert sum(row.bytes for row in rows) == sum(each.size for each in tensors)
    assert sum(row.tensors for row in rows) == 25
    assert sum(row.percent for row in rows) == pytest.approx(100)
    assert [row.part for row in rows][:2] == ["experts", "dense MLP"]
