"""What stands beside the weights of a repacked checkpoint: its configuration, its index, tokenizer and templates."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

LARGEST = 100_000_000
"""Bytes of a file beside the weights above which it is not taken along."""
WEIGHTS = (".safetensors", ".gguf", ".bin", ".pt", ".pth", ".index.json", ".partial")


def write_beside(
    source: Path,
    output: Path,
    config: Mapping[str, Any],
    quantization: Mapping[str, Any],
    where: Mapping[str, str],
    total: int,
) -> None:
    """Copy what is beside the weights and write the config; the index comes last, since it makes the folder whole."""
    for path in _files(source):
        shutil.copyfile(path, output / path.name)
    made = {**config, "quantization_config": quantization}
    (output / "config.json").write_text(json.dumps(made, indent=2) + "\n", "utf-8")
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(where.items()))}
    (output / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n", "utf-8")


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        usual = path.is_file() and not path.name.startswith(".") and not path.name.endswith(WEIGHTS)
        if usual and path.name != "config.json" and path.stat().st_size <= LARGEST:
            yield path


def quantization_config(size: int, ignore: Sequence[str]) -> dict[str, Any]:
    """What engines read: symmetric 4-bit integers in groups along the input, everything in `ignore` left alone."""
    return {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "quantization_status": "compressed",
        "kv_cache_scheme": None,
        "ignore": list(ignore),
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
                    "group_size": size,
                    "dynamic": False,
                    "actorder": None,
                },
            }
        },
    }
