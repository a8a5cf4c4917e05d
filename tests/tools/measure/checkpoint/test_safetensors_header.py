"""Headers of safetensors files: read from the first bytes only, and refused when they claim what cannot be."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clouds.errors import InvalidInput, NotFound
from tools.measure.checkpoint.opening import open_checkpoint


def raw(path: Path, header: Any, body: bytes = b"\0" * 16, length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + body)
    return path


def entry(dtype: str = "F16", shape: tuple[int, ...] = (8,), place: tuple[int, int] = (0, 16)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(place)}


def test_a_file_is_read_by_its_header(tmp_path: Path, write: Callable[..., Path]) -> None:
    path = write(tmp_path / "a.safetensors", {"b": np.ones((2, 3), "<f4"), "a": np.zeros(5, "<u2")})
    found = open_checkpoint(str(path))
    assert [(each.name, each.dtype, each.shape, each.size, each.parameters) for each in found.tensors] == [
        ("b", "F32", (2, 3), 24, 6),
        ("a", "BF16", (5,), 10, 5),
    ]
    assert b"".join(found.tensors[0].chunks(8)) == np.ones((2, 3), "<f4").tobytes()
    assert found.file_bytes == path.stat().st_size


def test_a_folder_is_read_by_its_index_and_its_config(model: Path) -> None:
    found = open_checkpoint(str(model))
    assert (len(found.sources), len(found.tensors)) == (2, 25)
    assert found.config["text_config"]["num_experts"] == 4


def test_packed_weights_count_as_the_weights_they_stand_for(out: Path, model: Path) -> None:
    packed, source = open_checkpoint(str(out)), open_checkpoint(str(model))
    assert sum(each.parameters for each in packed.tensors) == sum(each.parameters for each in source.tensors)


@pytest.mark.parametrize(
    ("header", "options", "problem"),
    [
        ({"a": entry()}, {"length": 10**12}, "a header of 1,000,000,000,000 bytes"),
        ({"a": entry()}, {"length": 0}, "a header of 0 bytes"),
        (b"not json at all", {}, "cannot be read"),
        (b"[1, 2]", {}, "cannot be read"),
        ({"a": {"dtype": "F16"}}, {}, "cannot be read"),
        ({"a": entry(dtype="Q9")}, {}, "unknown dtype 'Q9'"),
        ({"a": entry(place=(0, 17))}, {}, "lies at 0 to 17"),
        ({"a": entry(place=(8, 24))}, {}, "lies at 8 to 24"),
        ({"a": entry(shape=(-8,))}, {}, "lies at 0 to 16"),
    ],
)
def test_a_header_that_claims_what_cannot_be_is_refused(
    header: Any, options: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        open_checkpoint(str(raw(tmp_path / "a.safetensors", header, **options)))


def test_an_index_that_names_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    index = {"weight_map": {"a": "../../etc/passwd"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(InvalidInput, match=r"its index names '\.\./"):
        open_checkpoint(str(tmp_path))


def test_an_index_without_one_of_its_tensors_is_refused(tmp_path: Path, write: Callable[..., Path]) -> None:
    write(tmp_path / "m.safetensors", {"a": np.zeros(2, "<f4")})
    index = {"weight_map": {"a": "m.safetensors", "b": "m.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(InvalidInput, match="1 tensors of the index are in no file, first 'b'"):
        open_checkpoint(str(tmp_path))


def test_a_shard_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "gone.safetensors"}}))
    with pytest.raises(NotFound, match=r"gone\.safetensors"):
        open_checkpoint(str(tmp_path))


@pytest.mark.parametrize("text", ["{}", "no json"])
def test_an_index_without_a_map_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(text)
    with pytest.raises(InvalidInput):
        open_checkpoint(str(tmp_path))


def test_a_folder_with_two_files_and_no_index_asks_which(tmp_path: Path, write: Callable[..., Path]) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.safetensors", {"a": np.zeros(2, "<f4")})
    with pytest.raises(InvalidInput, match="2 weight files") as caught:
        open_checkpoint(str(tmp_path))
    assert caught.value.allowed == ("a.safetensors", "b.safetensors")


def test_what_is_neither_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"PK\x03\x04 something")
    with pytest.raises(InvalidInput, match="is neither"):
        open_checkpoint(str(tmp_path / "a.bin"))
    with pytest.raises(NotFound):
        open_checkpoint(str(tmp_path / "nothing.safetensors"))
