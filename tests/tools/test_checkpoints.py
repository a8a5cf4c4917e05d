"""inspect_checkpoint and repack_checkpoint as tools: what a person reads, and where a repack may be written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clouds.errors import InvalidInput
from tools.checkpoints import inspect_checkpoint, repack_checkpoint
from tools.ledger import Book
from tools.progress import CallProgress
from tools.settings import Settings


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with Book(tmp_path / "home") as book:
        yield book


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def repack(project: Path, book: Book) -> Callable[..., Any]:
    def run(source: Path, folder: str, **given: Any) -> Any:
        settings = Settings.load({}, project)
        return repack_checkpoint(str(source), folder, settings, book, CallProgress(), **given)

    return run


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """One layer on a grid whose largest level is 5, and a norm."""
    rng = np.random.default_rng(1)
    levels = rng.integers(-5, 6, (64, 4, 32))
    levels[:, :, 0] = -5
    weights = (levels * rng.uniform(0.001, 0.01, (64, 4, 1))).reshape(64, 128).astype(np.float32)
    bits = weights.view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")
    tensors = {"model.layers.0.mlp.up_proj.weight": rounded, "model.norm.weight": np.ones(128, "<u2")}
    header: dict[str, Any] = {}
    place = 0
    for name, values in tensors.items():
        header[name] = {"dtype": "BF16", "shape": list(values.shape), "data_offsets": [place, place + values.nbytes]}
        place += values.nbytes
    text = json.dumps(header).encode()
    folder = tmp_path / "export"
    folder.mkdir()
    body = b"".join(values.tobytes() for values in tensors.values())
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + body)
    return folder


def test_a_checkpoint_is_inspected(export: Path) -> None:
    result = inspect_checkpoint(str(export), CallProgress(), accelerators=("L4",), context_tokens=1000)
    assert result.headline.startswith("8,320 parameters in 16,640 B (16,384 B dense MLP and 256 B norms)")
    assert "L4" in result.text()


def test_a_repack_is_verified_and_both_records_are_kept(
    export: Path, project: Path, repack: Callable[..., Any]
) -> None:
    result = repack(export, "packed")
    assert result.lossless
    assert result.headline.startswith("Repacked without loss: 256 of 256 groups whole, 16,640 B to ")
    assert result.kinds[0].startswith("dense MLP: 1 tensors, 256 of 256 groups whole, ")
    assert result.kinds[1] == "copied: 1 of 1 tensors equal byte by byte"
    assert "Group size 32 was found, not assumed" in result.text()
    assert "would err by" in result.text()
    records = json.loads((project / "packed/repack.json").read_text())
    assert records["verified"]["lossless"] is True
    assert records["repacked"]["packed"] == 1


def test_a_repack_is_written_inside_the_project_or_data_directory_only(
    export: Path, tmp_path: Path, repack: Callable[..., Any]
) -> None:
    with pytest.raises(InvalidInput, match="outside"):
        repack(export, str(tmp_path / "elsewhere"))
    assert not (tmp_path / "elsewhere").exists()
