"""Headers of GGUF files, written by the gguf package, so that the format is not our own reading of it."""

from pathlib import Path

import gguf
import numpy as np
import pytest

from clouds.errors import InvalidInput
from tools.measure.checkpoint import gguf_header
from tools.measure.checkpoint.opening import open_checkpoint

TOKENS = 300


@pytest.fixture(autouse=True)
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gguf package takes a third of a second for the thousands of values that are long enough otherwise."""
    monkeypatch.setattr(gguf_header, "KEPT", TOKENS - 1)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all: nobody writes to it."""
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_head_count_kv([1, 2])
    writer.add_float32("some.float", 0.5)
    writer.add_bool("some.bool", True)
    writer.add_token_list([f"token {index}" for index in range(TOKENS)])
    writer.add_token_types([1] * TOKENS)
    writer.add_tensor("token_embd.weight", np.zeros((6, 64), dtype=np.float32))
    quantized = gguf.quants.quantize(np.ones((4, 64), dtype=np.float32), gguf.GGMLQuantizationType.Q4_0)
    writer.add_tensor("blk.0.attn_q.weight", quantized, raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    writer.add_tensor("blk.0.attn_norm.weight", np.arange(64, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_tensors_lie_where_the_gguf_package_says(file: Path) -> None:
    found = {each.name: each for each in open_checkpoint(str(file)).tensors}
    expected = {each.name: each for each in gguf.GGUFReader(file).tensors}
    assert set(found) == set(expected)
    for name, each in found.items():
        other = expected[name]
        assert (each.offset, each.size, each.dtype) == (other.data_offset, other.n_bytes, other.tensor_type.name)
        assert each.shape == tuple(reversed(other.shape.tolist()))
        assert each.parameters == other.n_elements
        assert b"".join(each.chunks()) == other.data.tobytes()


def test_values_are_read_and_long_arrays_only_measured(file: Path) -> None:
    config = open_checkpoint(str(file)).config
    assert config["general.architecture"] == "llama"
    assert config["llama.block_count"] == 2
    assert config["llama.attention.head_count_kv"] == [1, 2]
    assert (config["some.float"], config["some.bool"]) == (0.5, True)
    assert config["tokenizer.ggml.tokens"] == {"length": TOKENS}
    assert config["tokenizer.ggml.token_type"] == {"length": TOKENS}


@pytest.mark.parametrize("keep", [3, 10, 40, 3000])
def test_a_file_that_ends_inside_its_header_is_refused(keep: int, file: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.gguf"
    short.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(InvalidInput, match=r"ends inside its header|does not begin"):
        open_checkpoint(str(short))


def test_a_file_that_ends_inside_its_tensors_is_refused(file: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.gguf"
    short.write_bytes(file.read_bytes()[:-400])
    with pytest.raises(InvalidInput, match="reaches past the end"):
        open_checkpoint(str(short))


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        (0, b"GGML", "does not begin with GGUF"),
        (4, (9).to_bytes(4, "little"), "version 9"),
        (8, (2**60).to_bytes(8, "little"), "ends inside|unknown|dimensions|longer"),
        (24, (2**62).to_bytes(8, "little"), "longer than"),
    ],
)
def test_a_header_with_impossible_numbers_is_refused(
    place: int, value: bytes, problem: str, file: Path, tmp_path: Path
) -> None:
    data = bytearray(file.read_bytes())
    data[place : place + len(value)] = value
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(data)
    with pytest.raises(InvalidInput, match=problem):
        open_checkpoint(str(broken))
