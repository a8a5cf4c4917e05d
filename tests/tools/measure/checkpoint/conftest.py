"""Checkpoints with known grids, written byte by byte here, so that no code under test makes its own input."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools.measure.checkpoint.repack import Repacked, repack

DTYPES = {"<u2": "BF16", "<f2": "F16", "<f4": "F32", "<i4": "I32", "<i8": "I64", "|i1": "I8"}


def bf16(values: Any) -> Any:
    """Round float64 to the nearest bf16 by trying the neighbours: slow, and not the way of the code under test."""
    low = (np.asarray(values, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)
    high = (low + 1).astype(np.uint16)
    as_float = [(bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64) for bits in (low, high)]
    gaps = [np.abs(each - values) for each in as_float]
    even = np.where(low % 2 == 0, low, high)
    return np.where(gaps[0] < gaps[1], low, np.where(gaps[1] < gaps[0], high, even)).astype("<u2")


def floats(bits: Any) -> Any:
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


@pytest.fixture
def as_bf16() -> Callable[[Any], Any]:
    return bf16


@pytest.fixture
def as_floats() -> Callable[[Any], Any]:
    return floats


@pytest.fixture(scope="session")
def on_grid() -> Callable[..., Any]:
    """Random bf16 weights on a grid: steps are 16-bit floats as in Q4_0, levels random with the asked peak."""

    def make(shape: tuple[int, ...], *, size: int = 32, peak: int | None = None, seed: int = 0) -> Any:
        rng = np.random.default_rng(seed)
        groups = int(np.prod(shape)) // size
        peaks = np.full(groups, peak) if peak else rng.integers(2, 9, groups)
        levels = rng.integers(-peaks[:, None], np.minimum(peaks, 7)[:, None] + 1, (groups, size))
        levels[np.arange(groups), rng.integers(0, size, groups)] = -peaks
        steps = rng.uniform(0.001, 0.01, groups).astype(np.float16).astype(np.float64)
        return bf16((levels * steps[:, None]).reshape(shape))

    return make


@pytest.fixture(scope="session")
def write() -> Callable[..., Path]:
    """Write tensors (name -> little-endian array; uint16 means bf16) as one safetensors file."""

    def make(path: Path, tensors: dict[str, Any], dtypes: dict[str, str] | None = None) -> Path:
        header: dict[str, Any] = {"__metadata__": {"format": "pt", "converted": path.name}}
        place, body = 0, []
        for name, values in tensors.items():
            data = np.ascontiguousarray(values).tobytes()
            dtype = (dtypes or {}).get(name) or DTYPES[np.asarray(values).dtype.str]
            header[name] = {
                "dtype": dtype,
                "shape": list(np.asarray(values).shape),
                "data_offsets": [place, place + len(data)],
            }
            place += len(data)
            body.append(data)
        text = json.dumps(header).encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(body))
        return path

    return make


@pytest.fixture
def model(tmp_path: Path, made_once: Path) -> Path:
    """A small mixture-of-experts model in two shards: two layers on a grid of 32, everything else off any grid."""
    return Path(shutil.copytree(made_once / "export", tmp_path / "export"))


@pytest.fixture
def out(tmp_path: Path, made_once: Path) -> Path:
    """That model, repacked."""
    return Path(shutil.copytree(made_once / "out", tmp_path / "out"))


@pytest.fixture(scope="session")
def made_once(repacked_once: tuple[Path, Repacked]) -> Path:
    """Both folders; every test works on its own copies."""
    return repacked_once[0]


@pytest.fixture(scope="session")
def repacked(repacked_once: tuple[Path, Repacked]) -> Repacked:
    """What the repack of that model said."""
    return repacked_once[1]


@pytest.fixture(scope="session")
def repacked_once(
    tmp_path_factory: pytest.TempPathFactory, write: Callable[..., Path], on_grid: Callable[..., Any]
) -> tuple[Path, Repacked]:
    root = tmp_path_factory.mktemp("checkpoint")
    return root, repack(str(export(root, write, on_grid)), root / "out", workers=2)


def export(tmp_path: Path, write: Callable[..., Path], on_grid: Callable[..., Any]) -> Path:
    rng = np.random.default_rng(7)

    def off(*shape: int) -> Any:
        return bf16(rng.normal(size=shape) * 0.02)

    folder = tmp_path / "export"
    shards: dict[str, dict[str, Any]] = {"model-00001-of-00002.safetensors": {}, "model-00002-of-00002.safetensors": {}}
    first, second = shards.values()
    for layer in (0, 1):
        at = f"model.language_model.layers.{layer}"
        place = first if layer == 0 else second
        for seed, name in enumerate(("q_proj", "k_proj", "v_proj", "o_proj")):
            place[f"{at}.self_attn.{name}.weight"] = on_grid((64, 128), seed=10 * layer + seed)
        for seed, name in enumerate(("gate_proj", "up_proj")):
            place[f"{at}.mlp.{name}.weight"] = on_grid((96, 128), seed=100 + 10 * layer + seed)
        place[f"{at}.mlp.down_proj.weight"] = on_grid((128, 96), seed=110 + layer)
        place[f"{at}.experts.gate_up_proj"] = on_grid((4, 64, 128), seed=120 + layer)
        place[f"{at}.experts.down_proj"] = on_grid((4, 128, 32), seed=130 + layer)
        place[f"{at}.router.proj.weight"] = off(4, 128)
        place[f"{at}.input_layernorm.weight"] = off(128)
    first["model.language_model.embed_tokens.weight"] = off(256, 128)
    second["model.vision_tower.encoder.layers.0.self_attn.q_proj.linear.weight"] = off(32, 32)
    second["model.vision_tower.patch_embedder.position_embedding_table"] = off(2, 16, 32)
    for name, tensors in shards.items():
        write(folder / name, tensors)
    index = {"metadata": {}, "weight_map": {tensor: name for name, held in shards.items() for tensor in held}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    config = {
        "architectures": ["Gemma4ForConditionalGeneration"],
        "text_config": {
            "num_hidden_layers": 2,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "num_experts": 4,
            "top_k_experts": 2,
        },
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text('{"version": "1.0"}')
    return folder


@pytest.fixture
def read() -> Callable[[Path], dict[str, Any]]:
    """Every tensor of a folder's files as arrays, bf16 as uint16: name -> array, in the order of the files."""
    kinds = {dtype: kind for kind, dtype in DTYPES.items()}

    def take(folder: Path) -> dict[str, Any]:
        found = {}
        for path in sorted(folder.glob("*.safetensors")):
            data = path.read_bytes()
            start = 8 + int.from_bytes(data[:8], "little")
            for name, entry in json.loads(data[8:start]).items():
                if name != "__metadata__":
                    first, last = (start + place for place in entry["data_offsets"])
                    found[name] = np.frombuffer(data[first:last], dtype=kinds[entry["dtype"]]).reshape(entry["shape"])
        return found

    return take
