"""The repack of generated exports: what is packed, split, kept, copied and declared."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clouds.errors import Cancelled, Conflict, InvalidInput
from tools.measure.checkpoint.repack import Kept, Repacked, repack

Q_PROJ = "model.language_model.layers.0.self_attn.q_proj.weight"


def levels_of(words: Any) -> Any:
    """Level by level from the words, written out: bits 4i to 4i + 3 of a word hold its i-th level plus 8."""
    return np.stack([((words >> (4 * place)) & 15) - 8 for place in range(8)], axis=-1).reshape(len(words), -1)


def change(folder: Path, write: Callable[..., Path], read: Callable[..., Any], edit: Callable[[dict], None]) -> None:
    """Rewrite a model as one file with an edit."""
    tensors = dict(read(folder))
    edit(tensors)
    for path in [*folder.glob("*.safetensors"), folder / "model.safetensors.index.json"]:
        path.unlink()
    write(folder / "model.safetensors", tensors)


def test_every_weight_on_the_grid_becomes_four_bits_and_comes_back(
    model: Path, out: Path, repacked: Repacked, read: Callable[..., Any], as_floats: Callable[..., Any]
) -> None:
    found = repacked
    assert (found.packed, found.modules, found.kept, found.copied) == (18, 38, (), 7)
    assert (found.group_size, found.groups, found.negative_steps) == (32, 7424, 0)
    before, after = read(model), read(out)
    for name in ("layers.0.self_attn.q_proj", "layers.1.mlp.down_proj"):
        module = f"model.language_model.{name}"
        source = as_floats(before[f"{module}.weight"])
        assert after[f"{module}.weight_shape"].tolist() == list(source.shape)
        steps = as_floats(after[f"{module}.weight_scale"]).repeat(32, axis=1)
        made = levels_of(after[f"{module}.weight_packed"]) * steps
        assert np.abs(made - source).max() <= 0.012 * np.abs(source).max()
        assert (np.rint(source / steps) == levels_of(after[f"{module}.weight_packed"])).all()


def test_fused_experts_are_written_one_module_per_expert(
    model: Path, out: Path, read: Callable[..., Any], as_floats: Callable[..., Any]
) -> None:
    before, after = read(model), read(out)
    experts = "model.language_model.layers.1.experts"
    fused = as_floats(before[f"{experts}.gate_up_proj"])
    for expert in range(4):
        for name, rows in (("gate_proj", fused[expert, :32]), ("up_proj", fused[expert, 32:])):
            module = f"{experts}.{expert}.{name}"
            made = levels_of(after[f"{module}.weight_packed"]) * as_floats(after[f"{module}.weight_scale"]).repeat(
                32, 1
            )
            assert np.abs(made - rows).max() <= 0.012 * np.abs(rows).max()
        assert after[f"{experts}.{expert}.down_proj.weight_shape"].tolist() == [128, 32]
    assert f"{experts}.gate_up_proj" not in after


def test_everything_else_is_copied_byte_by_byte_and_declared_as_ignored(
    model: Path, out: Path, read: Callable[..., Any]
) -> None:
    before, after = read(model), read(out)
    copied = [name for name in before if name in after]
    assert len(copied) == 7
    assert all(before[name].tobytes() == after[name].tobytes() for name in copied)
    config = json.loads((out / "config.json").read_text())
    assert config["text_config"] == json.loads((model / "config.json").read_text())["text_config"]
    assert config["quantization_config"] == {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "quantization_status": "compressed",
        "kv_cache_scheme": None,
        "ignore": [
            "lm_head",
            "model.language_model.layers.0.router.proj",
            "model.language_model.layers.1.router.proj",
            "model.vision_tower.encoder.layers.0.self_attn.q_proj.linear",
        ],
        "config_groups": {
            "group_0": {
                "targets": ["Linear"],
                "input_activations": None,
                "output_activations": None,
                "weights": {
                    "num_bits": 4,
                    "type": "int",
                    "symmetric": True,
                    "strategy": "group",
                    "group_size": 32,
                    "dynamic": False,
                    "actorder": None,
                },
            }
        },
    }
    assert (out / "tokenizer.json").read_text() == '{"version": "1.0"}'


def test_one_file_a_layer_and_an_index_that_names_every_tensor(
    out: Path, repacked: Repacked, read: Callable[..., Any]
) -> None:
    files = sorted(path.name for path in out.glob("*.safetensors"))
    assert files == ["model-layer-000.safetensors", "model-layer-001.safetensors", "model-outside.safetensors"]
    assert sorted(repacked.shards) == files
    index = json.loads((out / "model.safetensors.index.json").read_text())
    after = read(out)
    assert set(index["weight_map"]) == set(after)
    assert index["metadata"]["total_size"] == repacked.output_bytes == sum(each.nbytes for each in after.values())


def test_a_tensor_with_one_group_off_the_grid_is_kept_as_it_is(
    model: Path, tmp_path: Path, write: Callable[..., Path], read: Callable[..., Any]
) -> None:
    def edit(tensors: dict[str, Any]) -> None:
        moved = tensors[Q_PROJ].copy()
        moved[5, 40] = 0x3C12  # one value of one group that no level of its step gives
        tensors[Q_PROJ] = moved

    change(model, write, read, edit)
    found = repack(str(model), tmp_path / "out")
    assert found.kept == (
        Kept(tensor=Q_PROJ, reason="1 of 256 groups of 32 are off the grid", groups=256, groups_off=1),
    )
    assert (found.packed, found.modules, found.copied) == (17, 37, 8)
    after = read(tmp_path / "out")
    assert after[Q_PROJ].tobytes() == read(model)[Q_PROJ].tobytes()
    assert Q_PROJ.removesuffix("weight") + "weight_packed" not in after
    ignore = json.loads((tmp_path / "out/config.json").read_text())["quantization_config"]["ignore"]
    assert Q_PROJ.removesuffix(".weight") in ignore
    assert "engines that load them as one refuse" in found.warnings[0]


def test_the_modules_that_engines_fuse_with_a_kept_one_can_be_kept_too(
    model: Path, tmp_path: Path, write: Callable[..., Path], read: Callable[..., Any]
) -> None:
    def edit(tensors: dict[str, Any]) -> None:
        moved = tensors[Q_PROJ].copy()
        moved[5, 40] = 0x3C12
        tensors[Q_PROJ] = moved
        down = tensors["model.language_model.layers.1.experts.down_proj"].copy()
        down[2, 0, 0] = 0x3C12
        tensors["model.language_model.layers.1.experts.down_proj"] = down

    change(model, write, read, edit)
    found = repack(str(model), tmp_path / "out", siblings="keep")
    assert sorted((each.tensor.split("language_model.")[1], each.groups_off) for each in found.kept) == [
        ("layers.0.self_attn.k_proj.weight", 0),
        ("layers.0.self_attn.q_proj.weight", 1),
        ("layers.0.self_attn.v_proj.weight", 0),
        ("layers.1.experts.down_proj", 1),
        ("layers.1.experts.gate_up_proj", 0),
    ]
    assert found.warnings == ()


@pytest.mark.parametrize("size", [16, 64, 128] if "MODELRIG_ALL" in os.environ else [64])
def test_another_group_size_is_found(
    size: int, tmp_path: Path, write: Callable[..., Path], on_grid: Callable[..., Any]
) -> None:
    names = [f"model.layers.0.mlp.{name}.weight" for name in ("gate_proj", "up_proj", "down_proj")]
    tensors = {name: on_grid((32, 256), size=size, seed=seed) for seed, name in enumerate(names)}
    write(tmp_path / "in/model.safetensors", tensors)
    found = repack(str(tmp_path / "in"), tmp_path / "out")
    assert (found.group_size, found.packed, found.groups) == (size, 3, 3 * 32 * 256 // size)
    assert [each.percent < 5 for each in found.sizes_tried if each.size == 2 * size] == [True]


def test_a_single_tensor_on_a_finer_grid_does_not_halve_the_group_of_all_others(
    tmp_path: Path, write: Callable[..., Path], on_grid: Callable[..., Any]
) -> None:
    tensors = {f"model.layers.{n}.mlp.up_proj.weight": on_grid((16, 128), seed=n) for n in range(12)}
    tensors["model.layers.12.mlp.up_proj.weight"] = on_grid((16, 128), size=16, seed=99)
    write(tmp_path / "in/model.safetensors", tensors)
    found = repack(str(tmp_path / "in"), tmp_path / "out")
    assert (found.group_size, found.packed) == (32, 12)
    assert [each.tensor for each in found.kept] == ["model.layers.12.mlp.up_proj.weight"]


def test_columns_that_no_group_divides_are_kept(
    tmp_path: Path, write: Callable[..., Path], on_grid: Callable[..., Any], as_bf16: Callable[..., Any]
) -> None:
    tensors = {
        "model.layers.0.mlp.up_proj.weight": on_grid((16, 128)),
        "model.layers.0.mlp.down_proj.weight": as_bf16(np.full((4, 40), 0.5)),
    }
    write(tmp_path / "in/model.safetensors", tensors)
    found = repack(str(tmp_path / "in"), tmp_path / "out")
    assert [each.reason for each in found.kept] == ["40 columns are no multiple of 32"]


def test_peaks_of_plus_eight_are_packed_and_their_negative_steps_counted(
    tmp_path: Path, write: Callable[..., Path], as_bf16: Callable[..., Any]
) -> None:
    levels = np.tile([8, -7, 3, 1], (4, 16))
    write(tmp_path / "in/model.safetensors", {"model.layers.0.mlp.up_proj.weight": as_bf16(levels * 0.01)})
    found = repack(str(tmp_path / "in"), tmp_path / "out")
    assert (found.packed, found.group_size, found.negative_steps) == (1, 64, 4)
    assert "4 groups have a negative step" in found.warnings[0]


def test_an_ordinary_checkpoint_is_refused_before_anything_is_written(
    tmp_path: Path, write: Callable[..., Path], as_bf16: Callable[..., Any]
) -> None:
    weights = as_bf16(np.random.default_rng(0).normal(size=(64, 128)))
    write(tmp_path / "in/model.safetensors", {"model.layers.0.mlp.up_proj.weight": weights})
    with pytest.raises(InvalidInput, match="no tensor lies on a 4-bit grid"):
        repack(str(tmp_path / "in"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_with_anything_in_it_is_not_written_into(model: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/notes.txt").write_text("mine")
    with pytest.raises(Conflict, match="not empty"):
        repack(str(model), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["notes.txt"]


def test_a_source_that_is_quantized_already_is_refused(out: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="quantized already"):
        repack(str(out), tmp_path / "again")


def test_a_repack_that_was_stopped_leaves_no_index_and_so_no_checkpoint(model: Path, tmp_path: Path) -> None:
    class Stop:
        def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
            if done == 2:
                raise Cancelled

        def check(self) -> None: ...

        def sleep(self, seconds: float) -> None: ...

    with pytest.raises(Cancelled):
        repack(str(model), tmp_path / "out", progress=Stop())
    assert not (tmp_path / "out/model.safetensors.index.json").exists()
