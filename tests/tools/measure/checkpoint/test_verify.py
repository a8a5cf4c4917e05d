"""Verification rereads both checkpoints, and rejects every way in which a repack can be wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clouds.errors import InvalidInput
from tools.measure.checkpoint.grid import textbook
from tools.measure.checkpoint.halves import to_bf16
from tools.measure.checkpoint.packing import pack, unpack
from tools.measure.checkpoint.repack import repack
from tools.measure.checkpoint.verify import CopiedKind, verify

MODULE = "model.language_model.layers.0.mlp.up_proj"


@pytest.fixture
def edit(out: Path, write: Callable[..., Path], read: Callable[..., Any]) -> Callable[..., None]:
    """Rewrite the output as one file with an edit."""

    def change(how: Callable[[dict[str, Any]], Any]) -> None:
        tensors = {name: values.copy() for name, values in read(out).items()}
        how(tensors)
        for path in [*out.glob("*.safetensors"), out / "model.safetensors.index.json"]:
            path.unlink()
        write(out / "model.safetensors", tensors)

    return change


def test_a_repack_of_weights_on_a_grid_is_lossless(model: Path, out: Path) -> None:
    found = verify(str(model), out)
    assert (found.lossless, found.problems, found.group_size) == (True, (), 32)
    rows = {row.kind: (row.tensors, row.groups, row.groups_whole, row.levels_equal) for row in found.packed}
    assert rows == {
        "attention": (8, 2048, 2048, 2048),
        "dense MLP": (6, 2304, 2304, 2304),
        "experts, gate and up": (2, 2048, 2048, 2048),
        "experts, down": (2, 1024, 1024, 1024),
    }
    for row in found.packed:
        # the step loses up to half a unit of bf16, so a share of the values differs in its last bit
        assert 85 < row.percent_identical < 95
        assert row.worst_relative_difference <= 0.0118
    assert found.copied == (
        CopiedKind(part="token embedding", tensors=1, bytes_equal=1, bytes=65536),
        CopiedKind(part="vision", tensors=2, bytes_equal=2, bytes=4096),
        CopiedKind(part="router", tensors=2, bytes_equal=2, bytes=2048),
        CopiedKind(part="norms", tensors=2, bytes_equal=2, bytes=512),
    )
    assert 0.02 < (found.textbook_median_error or 0) < 0.12


def test_the_output_of_the_textbook_rule_is_rejected(
    model: Path, out: Path, edit: Callable[..., None], read: Callable[..., Any]
) -> None:
    source = read(model)[f"{MODULE}.weight"]
    made = textbook(source.reshape(-1, 32), "BF16")

    def rule(tensors: dict[str, Any]) -> None:
        tensors[f"{MODULE}.weight_packed"] = pack(made.levels.reshape(source.shape))
        tensors[f"{MODULE}.weight_scale"] = to_bf16(made.step).reshape(len(source), -1)

    edit(rule)
    found = verify(str(model), out)
    assert not found.lossless
    assert f"{MODULE}.weight" in found.problems[0]
    assert "are not reproduced" in found.problems[0]
    row = next(row for row in found.packed if row.kind == "dense MLP")
    assert row.levels_equal == row.groups  # its levels are the nearest ones on its own grid: that alone proves nothing
    assert row.worst_relative_difference > 0.1


def test_a_whole_checkpoint_by_the_textbook_rule_loses_most_groups(
    tmp_path: Path, write: Callable[..., Path], on_grid: Callable[..., Any], edit_free: Callable[..., Path]
) -> None:
    out = edit_free(on_grid((64, 128), peak=5))
    found = verify(str(tmp_path / "in"), out)
    assert found.packed[0].groups_whole == 0


@pytest.fixture
def edit_free(tmp_path: Path, write: Callable[..., Path]) -> Callable[..., Path]:
    """A source with one tensor, and its repack by the textbook rule, well-formed in every other way."""

    def make(weights: Any) -> Path:
        write(tmp_path / "in/model.safetensors", {"model.layers.0.mlp.up_proj.weight": weights})
        repack(str(tmp_path / "in"), tmp_path / "out")
        made = textbook(weights.reshape(-1, 32), "BF16")
        for path in (tmp_path / "out").glob("*.safetensors"):
            path.unlink()
        (tmp_path / "out/model.safetensors.index.json").unlink()
        module = "model.layers.0.mlp.up_proj"
        tensors = {
            f"{module}.weight_packed": pack(made.levels.reshape(weights.shape)),
            f"{module}.weight_scale": to_bf16(made.step).reshape(len(weights), -1),
            f"{module}.weight_shape": np.array(weights.shape, dtype="<i8"),
        }
        write(tmp_path / "out/model.safetensors", tensors)
        return tmp_path / "out"

    return make


def _one_level(tensors: dict[str, Any]) -> None:
    tensors[f"{MODULE}.weight_packed"][3, 2] ^= 1


def _one_step(tensors: dict[str, Any]) -> None:
    tensors[f"{MODULE}.weight_scale"][3, 2] += 3


def _one_sign(tensors: dict[str, Any]) -> None:
    tensors[f"{MODULE}.weight_scale"][3, 2] ^= 0x8000


def _one_byte(tensors: dict[str, Any]) -> None:
    tensors["model.language_model.layers.1.router.proj.weight"][0, 0] ^= 1


def _shape(tensors: dict[str, Any]) -> None:
    tensors[f"{MODULE}.weight_shape"][0] += 1


def _no_step(tensors: dict[str, Any]) -> None:
    del tensors[f"{MODULE}.weight_scale"]


def _no_copy(tensors: dict[str, Any]) -> None:
    del tensors["model.language_model.embed_tokens.weight"]


def _extra(tensors: dict[str, Any]) -> None:
    tensors["model.something"] = np.zeros(2, dtype="<f4")


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        (_one_level, "1 of 384 groups are not reproduced"),
        (_one_step, "1 of 384 groups are not reproduced"),
        (_one_sign, "1 of 384 groups are not reproduced"),
        (_one_byte, "router.proj.weight was copied and differs"),
        (_shape, "has the shapes"),
        (_no_step, "weight_scale missing"),
        (_no_copy, "embed_tokens.weight is missing"),
        (_extra, "1 tensors come from no source tensor, first model.something"),
    ],
)
def test_what_is_wrong_is_found_and_named(
    how: Callable[..., Any], problem: str, model: Path, out: Path, edit: Callable[..., None]
) -> None:
    edit(how)
    found = verify(str(model), out)
    assert not found.lossless
    assert any(problem in each for each in found.problems), found.problems


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda names: names.remove("model.language_model.layers.0.router.proj"), "not in the ignore list"),
        (lambda names: names.append(MODULE), "packed modules are in the ignore list"),
    ],
)
def test_a_wrong_ignore_list_is_found(change: Callable[..., Any], problem: str, model: Path, out: Path) -> None:
    config = json.loads((out / "config.json").read_text())
    change(config["quantization_config"]["ignore"])
    (out / "config.json").write_text(json.dumps(config))
    assert any(problem in each for each in verify(str(model), out).problems)


def test_a_folder_that_is_no_repack_cannot_be_verified(model: Path) -> None:
    with pytest.raises(InvalidInput, match="no single group size"):
        verify(str(model), model)


def test_words_hold_levels_in_the_order_of_compressed_tensors() -> None:
    levels = np.array([[-8, -7, 0, 7, 1, 2, 3, -1]], dtype=np.int8)
    words = pack(levels)
    assert words.view(np.uint32).tolist() == [[0x7BA9F810]]
    assert unpack(words).tolist() == levels.tolist()
