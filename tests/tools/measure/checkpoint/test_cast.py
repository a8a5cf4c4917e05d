"""The F16 cast, counted tensor by tensor at the edges of what F16 holds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tools.measure.checkpoint.cast import CastCounts, f16_cast
from tools.measure.checkpoint.opening import open_checkpoint


def test_every_edge_of_f16_is_counted_once(
    tmp_path: Path, write: Callable[..., Path], as_bf16: Callable[[Any], Any]
) -> None:
    edges = np.array([65504.0, 65536.0, -70000.0, 2.0**-14, 2.0**-15, -(2.0**-24), 2.0**-25, 2.0**-26, 0.0, -1.0])
    write(
        tmp_path / "m.safetensors", {"edges": as_bf16(edges), "plain": as_bf16(np.ones(7)), "half": np.ones(3, "<f2")}
    )
    found = f16_cast(open_checkpoint(str(tmp_path / "m.safetensors")).tensors)
    # bf16 has no 65504: it is stored as 65536, which overflows with the two beside it; 2**-25 is the tie that goes to 0
    expected = CastCounts(tensor="edges", n=10, overflow=3, underflow=2, subnormal=2, absmax=70144.0)
    assert found.losing == (expected,)
    assert found.total == expected.model_copy(update={"tensor": "all", "n": 17})
    assert (found.tensors, found.losing_tensors, found.skipped) == (2, 1, 1)


def test_float32_between_the_last_half_and_infinity(tmp_path: Path, write: Callable[..., Path]) -> None:
    values = np.array([65519.0, 65520.0, 6.1e-5, 3.0e-8, 2.9e-8], dtype="<f4")
    write(tmp_path / "m.safetensors", {"a": values})
    found = f16_cast(open_checkpoint(str(tmp_path / "m.safetensors")).tensors)
    assert (found.total.overflow, found.total.underflow, found.total.subnormal) == (1, 1, 2)


def test_nan_and_infinity_are_no_overflow_of_the_cast(tmp_path: Path, write: Callable[..., Path]) -> None:
    write(tmp_path / "m.safetensors", {"a": np.array([np.nan, np.inf, 1.0], dtype="<f4")})
    total = f16_cast(open_checkpoint(str(tmp_path / "m.safetensors")).tensors).total
    assert (total.n, total.overflow, total.absmax) == (3, 0, 1.0)
