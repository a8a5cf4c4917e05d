"""Rungs built from a small GGUF: types, fallbacks, hashes, and that the weights come back near what they were."""

import json
from pathlib import Path

import gguf
import numpy as np
import pytest

from clouds.errors import Conflict, InvalidInput
from tools.measure.checkpoint.digest import file_sha256
from tools.measure.checkpoint.source import Local
from tools.measure.ladder.build import available, build_rung, main


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_token_list(["a", "b", "c"])
    writer.add_token_types([1, 1, 1])
    writer.add_name("tiny")
    rng = np.random.default_rng(0)
    for name, shape in (("wide", (8, 256)), ("narrow", (8, 96)), ("odd", (4, 10)), ("norm", (64,))):
        writer.add_tensor(f"blk.0.{name}.weight", rng.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def weights(path: Path) -> dict[str, np.ndarray]:
    return {
        each.name: gguf.quants.dequantize(each.data, each.tensor_type).reshape(tuple(reversed(each.shape)))
        for each in gguf.GGUFReader(path).tensors
    }


@pytest.mark.parametrize(
    ("rung", "types", "error"),
    [
        ("F16", {"F16": 3, "F32": 1}, 0.001),
        ("BF16", {"BF16": 3, "F32": 1}, 0.005),
        ("Q8_0", {"Q8_0": 2, "F16": 1, "F32": 1}, 0.01),
        ("Q4_0", {"Q4_0": 2, "F16": 1, "F32": 1}, 0.12),
        ("Q6_K", {"Q6_K": 1, "Q8_0": 1, "F16": 1, "F32": 1}, 0.03),
        ("Q2_K", {"Q2_K": 1, "Q8_0": 1, "F16": 1, "F32": 1}, 0.45),
    ],
)
def test_a_rung_holds_the_asked_type_where_the_width_allows_it(
    rung: str, types: dict[str, int], error: float, source: Path, tmp_path: Path
) -> None:
    if rung not in available():
        pytest.skip(f"{rung} needs libgguf, which is not installed")
    found = build_rung(source, rung, tmp_path)
    made = tmp_path / f"tiny-{rung}.gguf"
    assert (found.types, found.source_type, found.bytes) == (types, "F32", made.stat().st_size)
    assert found.sha256 == file_sha256(Local(made))
    before, after = weights(source), weights(made)
    wide = before["blk.0.wide.weight"]
    assert np.sqrt(np.mean((after["blk.0.wide.weight"] - wide) ** 2)) < error * np.sqrt(np.mean(wide**2))
    assert (after["blk.0.norm.weight"] == before["blk.0.norm.weight"]).all()
    fields = gguf.GGUFReader(made).fields
    assert fields["tokenizer.ggml.tokens"].contents() == ["a", "b", "c"]
    assert fields["general.name"].contents() == "tiny"
    assert fields["general.file_type"].contents() == gguf.LlamaFileType[f"MOSTLY_{rung}".replace("_Q3_K", "_Q3_K_M")]


def test_a_fallback_and_a_quantized_source_are_said(source: Path, tmp_path: Path) -> None:
    first = build_rung(source, "Q4_0", tmp_path)
    assert first.notes == ("1 of 4 tensors do not divide into Q4_0 blocks and are larger.",)
    second = build_rung(tmp_path / first.file, "Q8_0", tmp_path)
    assert second.notes[0] == "The source is Q4_0 already: a rung above it restores nothing that it lost."


def test_the_same_weights_have_one_tensor_hash_whatever_a_converter_notes(source: Path, tmp_path: Path) -> None:
    first = build_rung(source, "Q8_0", tmp_path / "a")
    renamed = tmp_path / "other-name.gguf"
    renamed.write_bytes(source.read_bytes().replace(b"tiny", b"mini"))
    second = build_rung(renamed, "Q8_0", tmp_path / "b")
    assert first.tensors_sha256 == second.tensors_sha256
    assert first.sha256 != second.sha256


def test_rungs_are_built_from_a_shell(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(source), str(tmp_path), "F16", "Q8_0"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["rung"] for line in lines] == ["F16", "Q8_0"]
    assert main([str(source), str(tmp_path), "F16"]) == 1
    assert "it is there" in capsys.readouterr().err
    assert main([]) == 2
    assert "this machine can build: F32, BF16" in capsys.readouterr().out


def test_nothing_is_written_over_and_unknown_rungs_are_refused(source: Path, tmp_path: Path) -> None:
    build_rung(source, "F16", tmp_path)
    with pytest.raises(Conflict, match="it is there"):
        build_rung(source, "F16", tmp_path)
    with pytest.raises(InvalidInput, match="is not known") as caught:
        build_rung(source, "Q9", tmp_path)
    assert "Q4_K" in caught.value.allowed
    with pytest.raises(InvalidInput, match="is no file"):
        build_rung(tmp_path / "gone.gguf", "F16", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny-F16.gguf"]
