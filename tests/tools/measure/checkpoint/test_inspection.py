"""inspect_checkpoint as a person sees it, and hashes that tell the same weights from the same file."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clouds.errors import InvalidInput
from tools.measure.checkpoint.inspection import inspect_checkpoint


def test_the_headline_answers_how_large_and_what_holds_it(model: Path) -> None:
    found = inspect_checkpoint(str(model), accelerators=["v6e", "T4"], context_tokens=4096)
    tokens = int((15 * 1024**3 * 0.92 - 547_328) / 256)
    assert found.headline == (
        "273,664 parameters in 547,328 B (196,608 B experts and 147,456 B dense MLP); the smallest that holds it is T4 "
        f"with {tokens:,} KV tokens, {float(f'{tokens / 4096:.3g}'):,.0f} requests of 4,096."
    )
    assert [row.accelerator for row in found.fits_on] == ["T4", "v6e"]
    assert (found.parameters, found.bytes, sum(part.tensors for part in found.parts)) == (273_664, 547_328, 25)
    assert found.quantization == "none"


def test_a_token_reads_the_chosen_experts_and_the_tied_head(model: Path) -> None:
    found = inspect_checkpoint(str(model))
    assert found.streamed_bytes == 147_456 + 131_072 + 2048 + 512 + 196_608 // 2 + 65_536
    assert found.formulas[-1] == (
        "A generated token reads 444,928 B: body without experts + 2 of 4 experts + token embedding, which is the "
        "output head too"
    )


def test_a_repacked_checkpoint_has_the_same_parameters_in_fewer_bytes(model: Path, out: Path) -> None:
    before, after = inspect_checkpoint(str(model)), inspect_checkpoint(str(out))
    assert after.parameters == before.parameters
    assert after.quantization == "compressed-tensors pack-quantized"
    row = next(part for part in after.parts if part.part == "attention")
    assert (row.parameters, row.dtypes) == (65_536, "I32, BF16, I64")
    # four bits a weight, a 16-bit step for 32 of them, and 16 bytes of shape a module
    assert row.bytes == 65_536 // 2 + 65_536 // 32 * 2 + 8 * 16


def test_only_the_near_accelerators_are_shown_unless_some_are_named(model: Path) -> None:
    found = inspect_checkpoint(str(model))
    assert len(found.fits_on) == 10
    assert "7 larger accelerators hold it too." in found.notes


def test_text_and_data_are_each_complete(model: Path) -> None:
    found = inspect_checkpoint(str(model), cast="f16", hashes=True)
    text, data = found.text(), found.structured()
    for figure in ("196,608 B", "35.92 %", "256 bytes a token", "of 273,664 weights 0 overflow", found.tensors_sha256):
        assert figure in text
    assert data["cast"][0].startswith("all: of 273,664 weights 0 overflow, 0 become zero, 87 lose bits")
    assert set(data["sha256"]) == {f"model-0000{n}-of-00002.safetensors" for n in (1, 2)}
    assert len(text) < 7500


def test_the_file_hash_is_sha256_and_the_tensor_hash_ignores_what_a_converter_notes(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    weights = {"a": np.arange(8, dtype="<f4"), "b": np.ones(3, "<u2")}
    one = write(tmp_path / "one.safetensors", weights)
    two = write(tmp_path / "two.safetensors", dict(reversed(weights.items())))
    first, second = (inspect_checkpoint(str(path), hashes=True) for path in (one, two))
    assert first.sha256["one.safetensors"] == sha256(one.read_bytes()).hexdigest() != second.sha256["two.safetensors"]
    assert first.tensors_sha256 == second.tensors_sha256
    changed = write(tmp_path / "three.safetensors", {**weights, "b": np.array([1, 1, 2], "<u2")})
    assert inspect_checkpoint(str(changed), hashes=True).tensors_sha256 != first.tensors_sha256
    renamed = write(tmp_path / "four.safetensors", {"a": weights["a"], "c": weights["b"]})
    assert inspect_checkpoint(str(renamed), hashes=True).tensors_sha256 != first.tensors_sha256


def test_without_a_configuration_the_cache_is_unknown_and_the_note_says_so(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    write(tmp_path / "m.safetensors", {"odd.name": np.ones(4, "<f4")})
    found = inspect_checkpoint(str(tmp_path / "m.safetensors"))
    assert found.kv_bytes_per_token is None
    assert found.notes[-2:] == (
        "Its KV cache per token is unknown: there is no configuration beside it that says enough.",
        "1 tensors have names that no rule knows; they are listed as other.",
    )


@pytest.mark.parametrize(
    "options", [{"kv_dtype": "int3"}, {"utilisation": 0.0}, {"utilisation": 1.5}, {"context_tokens": 0}]
)
def test_wrong_options_are_refused_before_anything_is_opened(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        inspect_checkpoint("nowhere", **options)
